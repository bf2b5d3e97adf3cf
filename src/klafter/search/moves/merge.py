"""Moves that change communities as a whole: merge, split, death. Each is tried on a copy, polished, kept if Q fell."""

from collections.abc import Callable, Iterator

import numpy as np

from klafter.core.objective import total
from klafter.core.problem import Problem, State, add_communities, copy_state, keep_communities
from klafter.core.workspace import Workspace, open_workspace
from klafter.search.dense.flip_kernels import PASSES, descend
from klafter.search.dense.row_reset import choose_anew
from klafter.search.dense.weights import ROUGH, fit_weights
from klafter.search.dense.weights_kernels import evidence, fit_column

POLISH = 2  # rounds of weights and flips before a move is judged
LARGE = 0.15  # share of the nodes from which the death of a community calls for new weights everywhere
FEW, SHARE, TENTH = 3, 1 / 20, 1 / 10  # members, or share of all nodes, of a handful; more than a tenth are none
NEAR, HEAVY = 20.0, 0.05  # rise up to which a death is tried with new weights everywhere; share of Q if large
WORTHWHILE = 1e-6  # fall of Q below which a move is not taken


def drop_empty(state: State) -> State:
    """Without the communities that lost their last member."""
    alive = state.z.any(axis=1)
    return state if alive.all() else keep_communities(state, np.flatnonzero(alive))


def polish(problem: Problem, state: State, columns, nodes: np.ndarray) -> tuple[State, float]:
    """Fit the weights of some communities and the memberships of some nodes; the state, and Q there."""
    ws = open_workspace(problem, state)
    for _ in range(POLISH):
        for k in columns:
            if state.z[k].any():
                fit_column(ws, k, False)
        if descend(ws, nodes, -1, PASSES) == 0.0:
            break
    return drop_empty(state), total(ws)


def without(state: State, k: int) -> State:
    """The state after the death of community k."""
    return copy_state(keep_communities(state, np.arange(len(state.z)) != k))


def bereft(problem: Problem, state: State, k: int) -> tuple[State, Workspace]:
    """The same, after its members chose anew: a few that hold two communities often have one of their own instead."""
    members, state = np.flatnonzero(state.z[k]), without(state, k)
    ws = open_workspace(problem, state)
    choose_anew(ws, members)
    return state, ws


def folded(problem: Problem, state: State, k: int) -> State:
    """The state after the death of community k, what it did to the average node moved into offset and sociality.

    For a community of everyone this leaves every x as it is.
    """
    share, rest = state.z[k].mean(), np.arange(len(state.z)) != k
    z, w = state.z[rest].astype(float), state.w
    state = without(state, k)
    if problem.has_offset:
        state.offset[0] += share**2 * w[k, k]
    if problem.has_sociality:
        state.sender[:] += share * (w[rest, k] @ z)
        if problem.dyads.directed:
            state.receiver[:] += share * (w[k, rest] @ z)
    return state


def without_majorities(problem: Problem, state: State) -> State:
    """The state without communities of more than half of the nodes: they say what offset and sociality can say."""
    for k in np.flatnonzero(2 * state.z.sum(axis=1) > problem.dyads.n)[::-1]:
        state = folded(problem, state, int(k))
    return state


def largest(state: State, most: int) -> State:
    """The state with its largest communities only."""
    if len(state.z) <= most:
        return state
    return copy_state(keep_communities(state, np.sort(np.argsort(-state.z.sum(axis=1), kind="stable")[:most])))


def merged(state: State, k: int, m: int) -> State:
    """Communities k and m as one, with their weights averaged by size."""
    state = copy_state(state)
    share = state.z[k].sum() / (state.z[k].sum() + state.z[m].sum())
    state.w[k] = share * state.w[k] + (1 - share) * state.w[m]
    state.w[:, k] = share * state.w[:, k] + (1 - share) * state.w[:, m]
    state.z[k] |= state.z[m]
    return without(state, m)


def split_in_two(state: State, k: int, second: np.ndarray) -> State:
    """Community k gives up some members (0/1 of n) to a new community with the same weights."""
    state = add_communities(copy_state(state), second[None], state.w[k, k])
    state.z[k] &= 1 - second
    state.w[-1, :-1], state.w[:-1, -1] = state.w[k, :-1], state.w[:-1, k]
    return state


def try_move(problem: Problem, state: State, value: float, candidate: State, columns, nodes) -> tuple[State, float]:
    """The polished candidate if Q fell, else the state as it was."""
    candidate, there = polish(problem, candidate, columns, nodes)
    return (candidate, there) if there < value - WORTHWHILE else (state, value)


def similar_pairs(state: State, n_pairs: int) -> Iterator[tuple[int, int]]:
    """Pairs of communities that share members, or that link across as they do inside, likeliest to merge first."""
    z = state.z.astype(float)
    size = z.sum(axis=1)
    overlap = (z @ z.T) / np.minimum.outer(size, size)
    inside = np.minimum.outer(np.diag(state.w), np.diag(state.w))
    across = np.clip((state.w + state.w.T) / 2 / np.maximum(np.abs(inside), 1.0), 0, 1) * (inside > 0)
    likeness = np.triu(np.maximum(overlap, across), 1)
    order = np.argsort(-likeness, axis=None, kind="stable")[:n_pairs]
    for k, m in zip(*np.unravel_index(order, likeness.shape)):
        if likeness[k, m] > 0.1:
            yield int(k), int(m)


def halves(problem: Problem, state: State, k: int) -> np.ndarray:
    """The side of community k that the second eigenvector of its inner links marks, as 0/1 of n."""
    members = np.flatnonzero(state.z[k])
    links = problem.dyads.links_out
    position = np.full(problem.dyads.n, -1)
    position[members] = np.arange(len(members))
    entries = np.concatenate([links.node[links.start[i] : links.start[i + 1]] for i in members.tolist()])
    rows = np.repeat(np.arange(len(members)), links.start[members + 1] - links.start[members])
    columns = position[entries]
    inner = np.zeros((len(members), len(members)))
    inner[rows[columns >= 0], columns[columns >= 0]] = 1.0
    inner = np.maximum(inner, inner.T) + 0.1 / len(members)
    scale = 1 / np.sqrt(inner.sum(axis=1))
    vector = np.linalg.eigh(scale[:, None] * inner * scale)[1][:, -2] * scale
    side = np.zeros(problem.dyads.n, np.uint8)
    side[members[vector > np.median(vector) if (vector > 0).all() or (vector < 0).all() else vector > 0]] = 1
    return side


def try_deaths(problem: Problem, state: State, value: float) -> tuple[State, float]:
    """Each community, smallest first, may die; where that is a near thing, all weights may take over its part."""
    for k in np.argsort(-state.z.sum(axis=1), kind="stable").tolist()[::-1]:
        if k >= len(state.z):
            continue
        members = np.flatnonzero(state.z[k])
        large = len(members) > LARGE * problem.dyads.n
        candidate = folded(problem, state, k) if large else bereft(problem, state, k)[0]
        candidate, there = polish(problem, candidate, (), members)
        if value - WORTHWHILE < there < value + (max(NEAR, HEAVY * abs(value)) if large else NEAR):
            candidate, there = polish(problem, fit_weights(problem, candidate, tol=ROUGH), (), members)
        if there < value - WORTHWHILE:
            state, value = candidate, there
    return state, value


def is_handful(state: State) -> np.ndarray:
    """Which communities have so few members that they may be one node's oddity."""
    n = state.z.shape[1]
    return state.z.sum(axis=1) <= max(min(FEW, TENTH * n), SHARE * n)


def worth(problem: Problem, state: State, among: np.ndarray, most: float = np.inf) -> float:
    """Q, and the price of the free weights of the communities that are marked; Q alone if that is above ``most``."""
    return worth_of(open_workspace(problem, state), among, most)


def worth_of(ws: Workspace, among: np.ndarray, most: float = np.inf) -> float:
    value = total(ws)
    return value + evidence(ws, among) if value < most else value


def free_price(problem: Problem, state: State) -> float:
    """The price of all free weights."""
    return evidence(open_workspace(problem, state), everyone(state))


def everyone(state: State) -> np.ndarray:
    """All communities, as marks."""
    return np.ones(len(state.z), bool)


def without_idlers(problem: Problem, state: State, judged: Callable = everyone) -> State:
    """The state without those communities that would not pay for their weights, smallest first. Q may rise.

    ``judged`` marks those that must pay. Others take over their part where that is a near thing.
    """
    state = keep_communities(state, np.argsort(-state.z.sum(axis=1), kind="stable"))
    here, before = worth(problem, state, judged(state)), state
    for k in range(len(state.z) - 1, -1, -1):
        if not judged(state)[k]:
            continue
        candidate, ws = bereft(problem, state, k)
        there = worth_of(ws, judged(candidate), here + NEAR)
        if here <= there < here + NEAR:
            candidate = fit_weights(problem, candidate, tol=ROUGH)
            there = worth(problem, candidate, judged(candidate))
        if there < here:
            state, here = candidate, there
    return state if state is before else fit_weights(problem, state)


def try_merges(problem: Problem, state: State, value: float) -> tuple[State, float]:
    """The likeliest pairs may become one; indices are looked up anew after each success."""
    before = None
    while before is not state:
        before = state
        for k, m in list(similar_pairs(state, len(state.z))):
            nodes = np.flatnonzero(state.z[k] | state.z[m])
            column = k if k < m else k - 1
            state, value = try_move(problem, state, value, merged(state, k, m), (column,), nodes)
            if state is not before:
                break
    return state, value


def try_splits(problem: Problem, state: State, value: float, most: int = 2**31) -> tuple[State, float]:
    """Each community of four or more may become two, as long as there are fewer than ``most``."""
    for k in range(len(state.z)):
        if not k < len(state.z) < most or state.z[k].sum() < 4:
            continue
        second = halves(problem, state, k)
        if 0 < second.sum() < state.z[k].sum():
            nodes = np.flatnonzero(state.z[k])
            columns = (k, len(state.z))
            candidate, there = try_move(problem, state, value, split_in_two(state, k, second), columns, nodes)
            if there < value and value - there > free_price(problem, candidate) - free_price(problem, state):
                state, value = candidate, there
    return state, value
