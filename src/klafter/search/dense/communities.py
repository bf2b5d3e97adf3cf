"""States with communities removed, merged into offset and sociality, or limited in number."""

import numpy as np

from klafter.core.problem import Problem, State, copy_state, keep_communities


def drop_empty(state: State) -> State:
    """Without the communities that lost their last member."""
    alive = state.z.any(axis=1)
    return state if alive.all() else keep_communities(state, np.flatnonzero(alive))


def without(state: State, k: int) -> State:
    """The state after the death of community k."""
    return copy_state(keep_communities(state, np.arange(len(state.z)) != k))


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
    """The state without communities of more than half of the nodes: offset and sociality explain the same."""
    for k in np.flatnonzero(2 * state.z.sum(axis=1) > problem.dyads.n)[::-1]:
        state = folded(problem, state, int(k))
    return state


def largest(state: State, most: int) -> State:
    """The state with its largest communities only."""
    if len(state.z) <= most:
        return state
    return copy_state(keep_communities(state, np.sort(np.argsort(-state.z.sum(axis=1), kind="stable")[:most])))
