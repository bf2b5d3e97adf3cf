"""Moves that change communities as a whole: merge, split, death. Each is tried on a copy, polished, kept if Q fell."""

from collections.abc import Iterator

import numpy as np

from klafter.core.objective import objective
from klafter.core.problem import Problem, State, add_communities, copy_state, keep_communities
from klafter.core.rows import make_cache
from klafter.search.flips import PASSES, descend_rows
from klafter.search.weights_kernels import fit_column, refresh_exponentials

POLISH = 2  # rounds of weights and flips before a move is judged
WORTHWHILE = 1e-6  # fall of Q below which a move is not taken


def drop_empty(state: State) -> State:
    """Without the communities that lost their last member."""
    alive = state.z.any(axis=1)
    return state if alive.all() else keep_communities(state, np.flatnonzero(alive))


def polish(problem: Problem, state: State, columns, nodes: np.ndarray, rng) -> State:
    """Fit the weights of some communities and the memberships of some nodes."""
    cache = make_cache(state, problem.dyads.directed)
    for _ in range(POLISH):
        for k in columns:
            if cache.size[k] > 0:
                fit_column(problem, state, cache, k, False, rng)
        refresh_exponentials(problem, cache)
        if descend_rows(problem, state, cache, nodes, PASSES) == 0.0:
            break
    return drop_empty(state)


def without(state: State, k: int) -> State:
    """The state after the death of community k."""
    return copy_state(keep_communities(state, np.delete(np.arange(len(state.z)), k)))


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


def try_move(
    problem: Problem, state: State, value: float, candidate: State, columns, nodes, rng
) -> tuple[State, float]:
    """The polished candidate if Q fell, else the state as it was."""
    candidate = polish(problem, candidate, columns, nodes, rng)
    there = objective(problem, candidate)
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
    inner = np.zeros((len(members), len(members)))
    for row, i in enumerate(members):
        columns = position[links.node[links.start[i] : links.start[i + 1]]]
        inner[row, columns[columns >= 0]] = 1.0
    inner = np.maximum(inner, inner.T) + 0.1 / len(members)
    scale = 1 / np.sqrt(inner.sum(axis=1))
    vector = np.linalg.eigh(scale[:, None] * inner * scale)[1][:, -2] * scale
    side = np.zeros(problem.dyads.n, np.uint8)
    side[members[vector > np.median(vector) if (vector > 0).all() or (vector < 0).all() else vector > 0]] = 1
    return side


def try_deaths(problem: Problem, state: State, value: float, rng) -> tuple[State, float]:
    """Each community, smallest first, may die."""
    for k in np.argsort(-state.z.sum(axis=1), kind="stable").tolist()[::-1]:
        if k < len(state.z):
            members = np.flatnonzero(state.z[k])
            state, value = try_move(problem, state, value, without(state, k), (), members, rng)
    return state, value


def try_merges(problem: Problem, state: State, value: float, rng) -> tuple[State, float]:
    """The likeliest pairs may become one; indices are looked up anew after each success."""
    before = None
    while before is not state:
        before = state
        for k, m in list(similar_pairs(state, len(state.z))):
            nodes = np.flatnonzero(state.z[k] | state.z[m])
            column = k if k < m else k - 1
            state, value = try_move(problem, state, value, merged(state, k, m), (column,), nodes, rng)
            if state is not before:
                break
    return state, value


def try_splits(problem: Problem, state: State, value: float, rng) -> tuple[State, float]:
    """Each community of four or more may become two."""
    for k in range(len(state.z)):
        if k >= len(state.z) or state.z[k].sum() < 4:
            continue
        second = halves(problem, state, k)
        if 0 < second.sum() < state.z[k].sum():
            nodes = np.flatnonzero(state.z[k])
            columns = (k, len(state.z))
            state, value = try_move(problem, state, value, split_in_two(state, k, second), columns, nodes, rng)
    return state, value
