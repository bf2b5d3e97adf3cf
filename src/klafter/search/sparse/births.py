"""Births: sets grown around seeds in parallel, accepted one after the other by their exact gain."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from klafter.search.sparse.births_kernels import Scratch, around_set, grow, scratch_space, walk_set
from klafter.search.sparse.exchange import exchange_gain
from klafter.search.sparse.exchange_kernels import apply_exchange
from klafter.search.sparse.nonbacktracking import nearest, nonbacktracking_embedding, unexplained
from klafter.search.sparse.responsibility_kernels import responsibility_rows
from klafter.search.sparse.state import Problem, State, with_room
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.workspace import open_workspace

BATCH, LOOK = 16, 4096  # seeds grown at once, against the same state; nodes among which they are sought
FIRST, NEAREST, FACTOR = 10, 80, 1.5  # size of the first set, from a walk or from echoes, and its growth
PATIENCE = 64  # seeds in a row without a birth, at least
NOTHING = np.zeros(0, np.int64)


class Proposal(NamedTuple):
    """Communities ``out`` for columns z (q, m) of strengths w on some nodes."""

    gain: float
    out: np.ndarray
    nodes: np.ndarray
    z: np.ndarray
    w: np.ndarray


class Space(NamedTuple):
    """Scratch space of one thread: for growth, and (n,) -1 for trades."""

    growth: Scratch
    local: np.ndarray


def own_space(problem: Problem, pool: ThreadPool) -> Space:
    """This thread's scratch space for the rows of a problem."""
    rows = len(problem.start) - 1
    return pool.scratch(lambda: Space(scratch_space(np.zeros(rows, np.int8)), np.full(rows, -1)), rows)


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

    With ``hope`` below 1 a community is accepted if it would pay at that share of the background. Growth starts from
    a walk around the seed or, with ``echo``, from the nodes most like it. With ``among`` only links of some nodes count
    as unexplained, and few seeds are tried.
    """
    responsibility, residual = background_responsibility(problem, state, pool, among)
    rows = nonbacktracking_embedding(unexplained(problem, responsibility), rng) if from_embedding else None
    seeds = seed_order(problem, residual, rng)
    fresh = np.ones(problem.n, bool)
    used, born, idle, at = len(state.size), 0, 0, 0
    brief = from_embedding or among is not None
    while idle < (PATIENCE if brief else max(PATIENCE, used)) and at < len(seeds):
        ahead = at + np.flatnonzero(fresh[seeds[at : at + LOOK]])[:BATCH]
        at = ahead[-1] + 1 if len(ahead) == BATCH else at + LOOK
        work = partial(_grown, problem, state, responsibility, residual, rows, background_discount, pool)
        for nodes, z, w in pool.map(work, seeds[ahead]):
            idle += 1
            if nodes is None or _gain(problem, state, nodes, z, w, background_discount, pool) <= 0:
                continue
            if used == len(state.size):
                state = with_room(state, used + 64)
            ws = open_workspace(problem, state)
            apply_exchange(ws, nodes, NOTHING, np.array([used]), z, w)
            responsibility_rows(ws, nodes[z[0]], responsibility, residual)
            fresh[nodes[z[0]]] = False
            used, born, idle = used + 1, born + 1, 0
    return state, born


def background_responsibility(
    problem: Problem, state: State, pool: ThreadPool, among: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """rho of every entry, and its sum by node; nothing but in the rows of some nodes if these are given."""
    if among is not None:
        responsibility, residual = np.zeros(len(problem.node), np.float32), np.zeros(problem.n)
        responsibility_rows(open_workspace(problem, state), among.astype(np.int32), responsibility, residual)
        return responsibility, residual
    responsibility, residual = np.empty(len(problem.node), np.float32), np.empty(problem.n)
    every = np.arange(problem.n, dtype=np.int32)
    pool.blocks(
        lambda low, high: responsibility_rows(
            open_workspace(problem, state), every[low:high], responsibility, residual
        ),
        problem.n,
    )
    return responsibility, residual


def seed_order(problem: Problem, residual: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Nodes with links, at random, those that owe a larger share of them sooner."""
    share = residual / np.maximum(np.diff(problem.start), 1)
    with np.errstate(divide="ignore"):
        key = rng.exponential(size=problem.n) / share
    return np.argsort(key, kind="stable")[: np.count_nonzero(share)]


def _grown(
    problem, state, responsibility, residual, rows, background_discount, pool: ThreadPool, seed
) -> tuple[Any, Any, Any]:
    """The set around a seed and the nodes that might join it, as a column to trade for nothing."""
    ws, growth = open_workspace(problem, state), own_space(problem, pool).growth
    first = (
        walk_set(ws, responsibility, residual, seed, FIRST, growth) if rows is None else nearest(rows, seed, NEAREST)
    )
    inside, w, gain = grow(ws, responsibility, first, FACTOR, background_discount, growth)
    if gain <= 0 or len(inside) < 2:
        return None, None, None
    around = around_set(ws, responsibility, inside, 2 * len(inside), growth)
    nodes = np.union1d(inside, around).astype(np.int32)
    return nodes, np.isin(nodes, inside)[None, :], np.array([w])


def _gain(problem, state, nodes, z, w, background_discount, pool: ThreadPool) -> float:
    space = own_space(problem, pool)
    gain = exchange_gain(problem, state, nodes, NOTHING, z, w, 8, space.local)
    if background_discount == 1.0:
        return gain
    discounted = state._replace(background=background_discount * state.background)
    return exchange_gain(problem, discounted, nodes, NOTHING, z, w, 0, space.local)


def births_among(
    problem: Problem,
    state: State,
    responsibility,
    residual,
    seeds: np.ndarray,
    background_discount: float,
    pool: ThreadPool,
) -> list[Proposal]:
    """The communities born around some seeds, as trades for nothing; each changes the state for the next."""
    first = len(state.size)
    state = with_room(state, len(seeds))
    born: list[Proposal] = []
    for seed in seeds:
        if residual[seed] <= 0:
            continue
        nodes, z, w = _grown(problem, state, responsibility, residual, None, background_discount, pool, seed)
        if nodes is None or (gain := _gain(problem, state, nodes, z, w, background_discount, pool)) <= 0:
            continue
        ws = open_workspace(problem, state)
        apply_exchange(ws, nodes, NOTHING, np.array([first + len(born)]), z, w)
        inside = nodes[np.flatnonzero(z[0])]
        responsibility_rows(ws, inside, responsibility, residual)
        born.append(Proposal(gain, NOTHING, inside, np.ones((1, len(inside)), bool), w))
    return born
