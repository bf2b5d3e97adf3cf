"""Merges: two communities that share members, or link to each other as they do inside, become one."""

from collections.abc import Iterator

import numpy as np

from klafter.core.problem import Problem, State, copy_state
from klafter.search.config import SEARCH
from klafter.search.dense.communities import without
from klafter.search.moves.failures import Failures
from klafter.search.moves.flip import polish
from klafter.search.moves.proposal import Proposal, accept


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
        if likeness[k, m] > SEARCH.dense.merge_likeness:
            yield int(k), int(m)


def merged(state: State, k: int, m: int) -> State:
    """Communities k and m as one, with their weights averaged by size."""
    state = copy_state(state)
    share = state.z[k].sum() / (state.z[k].sum() + state.z[m].sum())
    state.w[k] = share * state.w[k] + (1 - share) * state.w[m]
    state.w[:, k] = share * state.w[:, k] + (1 - share) * state.w[:, m]
    state.z[k] |= state.z[m]
    return without(state, m)


def propose_merge(problem: Problem, state: State, k: int, m: int, goal: float = np.inf) -> Proposal:
    """One community in the place of k and m, its weights and its members fitted."""
    nodes = np.flatnonzero(state.z[k] | state.z[m])
    candidate, value = polish(problem, merged(state, k, m), (k if k < m else k - 1,), nodes, goal)
    return Proposal("merge", candidate, nodes, value)


def merges(problem: Problem, state: State, value: float, failures: Failures | None = None) -> tuple[State, float]:
    """The likeliest pairs first; pairs are listed again after each accepted merge."""
    before, failures = None, failures or Failures()
    while before is not state:
        before = state
        for k, m in list(similar_pairs(state, len(state.z))):
            if failures.has("merge", state.z[k], state.z[m]):
                continue
            state, value = accept(problem, state, value, propose_merge(problem, state, k, m, value))
            if state is not before:
                break
            failures.add("merge", state.z[k], state.z[m])
    return state, value
