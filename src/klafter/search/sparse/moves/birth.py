"""Births: sets grown around seeds in parallel, accepted one after the other by their exact gain."""

from functools import partial

import numpy as np

from klafter.search.config import SEARCH
from klafter.search.moves.proposal import CHECKED, is_accepted
from klafter.search.sparse.exchange import NOTHING, Exchange, carry_out, checked, exchange_gain, own_local
from klafter.search.sparse.kernels.growth import Scratch, around_set, grow, scratch_space, walk_set
from klafter.search.sparse.kernels.responsibility import responsibility_rows
from klafter.search.sparse.nonbacktracking import nearest, nonbacktracking_embedding, unexplained
from klafter.search.sparse.state import Problem, State, with_slots
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.workspace import open_workspace

WINDOW = 4096  # nodes of the order of seeds that are read at a time


def births(
    problem: Problem,
    state: State,
    rng: np.random.Generator,
    pool: ThreadPool,
    *,
    background_discount: float = 1.0,
    from_embedding: bool = False,
    among: np.ndarray | None = None,
) -> tuple[State, int]:
    """Try seeds until as many as there are communities bring nothing in a row; returns the number of births too.

    With ``background_discount`` below 1 a community is accepted if it gains at that share of the background. Growth
    starts from a walk around the seed or, with ``from_embedding``, from the nodes most like it. With ``among`` only
    links of some nodes count as unexplained, and few seeds are tried.
    """
    responsibility, residual = background_responsibility(problem, state, pool, among)
    links = unexplained(problem, responsibility) if from_embedding else None
    rows = None if links is None else nonbacktracking_embedding(links, rng, kinds_of(problem))
    seeds = seed_order(problem, residual, rng)
    fresh = np.ones(problem.n, bool)
    used, born, idle, at = len(state.size), 0, 0, 0
    brief = from_embedding or among is not None
    while idle < (SEARCH.sparse.birth_patience if brief else max(SEARCH.sparse.birth_patience, used)) and at < len(
        seeds
    ):
        ahead = at + np.flatnonzero(fresh[seeds[at : at + WINDOW]])[: SEARCH.sparse.birth_batch]
        at = ahead[-1] + 1 if len(ahead) == SEARCH.sparse.birth_batch else at + WINDOW
        work = partial(grown, problem, state, responsibility, residual, rows, background_discount, pool)
        for birth in pool.map(work, seeds[ahead]):
            idle += 1
            if birth is None or not is_accepted(judged_gain(problem, state, birth, background_discount, pool)):
                continue
            if used == len(state.size):
                state = with_slots(state, used + 64)
            claimed = _gain(problem, state, birth, pool) if CHECKED else 0.0
            state, inside = checked(problem, pool, state, birth, claimed, np.array([used])), birth.nodes[birth.z[0]]
            responsibility_rows(open_workspace(problem, state), inside, responsibility, residual)
            fresh[inside] = False
            used, born, idle = used + 1, born + 1, 0
    return state, born


def kinds_of(problem: Problem) -> np.ndarray:
    """The kind of each node, of a two-mode network or by a rule; empty where every pair is possible."""
    return problem.kind if len(problem.kind) else problem.second_kind


def grown(problem, state, responsibility, residual, rows, background_discount, pool: ThreadPool, seed):
    """The set around a seed and the nodes that might join it, as a column for nothing; None if it cannot gain."""
    ws, growth = open_workspace(problem, state), own_growth(problem, pool)
    first = (
        walk_set(ws, responsibility, residual, seed, SEARCH.sparse.walk_size, SEARCH.sparse.hub, growth)
        if rows is None
        else nearest(rows, seed, SEARCH.sparse.embedding_size)
    )
    inside, w, gain = grow(
        ws, responsibility, first, SEARCH.sparse.growth, SEARCH.sparse.early, background_discount, growth
    )
    if gain <= 0 or len(inside) < 2:
        return None
    around = around_set(ws, responsibility, inside, 2 * len(inside), growth)
    nodes = np.union1d(inside, around).astype(np.int32)
    return Exchange("birth", 0.0, NOTHING, nodes, np.isin(nodes, inside)[None, :], np.array([w]))


def own_growth(problem: Problem, pool: ThreadPool) -> Scratch:
    """This thread's scratch space for growth."""
    rows = len(problem.start) - 1
    return pool.scratch(lambda: scratch_space(np.zeros(rows, np.int8)), ("growth", rows))


def judged_gain(problem: Problem, state: State, birth: Exchange, background_discount: float, pool: ThreadPool) -> float:
    """Improve a birth in place; its gain at a share of the background."""
    gain = _gain(problem, state, birth, pool, SEARCH.sparse.birth_rounds)
    if background_discount == 1.0:
        return gain
    return _gain(problem, state._replace(background=background_discount * state.background), birth, pool)


def _gain(problem: Problem, state: State, birth: Exchange, pool: ThreadPool, rounds: int = 0) -> float:
    local = own_local(problem, pool)
    return exchange_gain(problem, state, birth.nodes, birth.out, birth.z, birth.w, rounds, local)


def background_responsibility(
    problem: Problem, state: State, pool: ThreadPool, among: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """rho of every entry, and its sum by node; nothing but in the rows of some nodes if these are given."""
    responsibility, residual = np.zeros(len(problem.node), np.float32), np.zeros(problem.n)
    every = np.arange(problem.n, dtype=np.int32) if among is None else among.astype(np.int32)
    ws = pool.opener(partial(open_workspace, problem, state))
    pool.blocks(lambda low, high: responsibility_rows(ws(), every[low:high], responsibility, residual), len(every))
    return responsibility, residual


def share_unexplained(problem: Problem, state: State, pool: ThreadPool) -> float:
    """The share of links that the background explains."""
    _, residual = background_responsibility(problem, state, pool)
    return float(residual.sum() / max(problem.value.sum(), 1.0))


def seed_order(problem: Problem, residual: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Nodes with unexplained links, at random, those with a larger share of them sooner."""
    rows = len(residual)
    share = residual / np.maximum(np.diff(problem.start[: rows + 1]), 1)
    with np.errstate(divide="ignore"):
        key = rng.exponential(size=rows) / share
    return np.argsort(key, kind="stable")[: np.count_nonzero(share)]


def births_among(
    problem: Problem,
    state: State,
    responsibility,
    residual,
    seeds: np.ndarray,
    background_discount: float,
    pool: ThreadPool,
) -> list[Exchange]:
    """The communities born around some seeds; each changes the state for the next."""
    first = len(state.size)
    state = with_slots(state, len(seeds))
    born: list[Exchange] = []
    for seed in seeds:
        if residual[seed] <= 0:
            continue
        birth = grown(problem, state, responsibility, residual, None, background_discount, pool, seed)
        gain = 0.0 if birth is None else judged_gain(problem, state, birth, background_discount, pool)
        if not is_accepted(gain):
            continue
        inside = birth.nodes[birth.z[0]]
        state = carry_out(problem, state, birth, np.array([first + len(born)]))
        responsibility_rows(open_workspace(problem, state), inside, responsibility, residual)
        born.append(Exchange("birth", gain, NOTHING, inside, np.ones((1, len(inside)), bool), birth.w))
    return born
