"""The dense engine of K-LAFTER: any family, full W, one row of dyads at a time; to about 5,000 nodes.

    init(problem, rng) -> State         step(problem, state, rng) -> State         objective(problem, state) -> Q

A step is a round of flips and weights, births, merges, splits and deaths. Q never rises.
"""

import numpy as np

from klafter.core.objective import objective
from klafter.core.problem import Problem, State, add_communities, copy_state, empty_state
from klafter.core.rows import make_cache
from klafter.search.births import births
from klafter.search.flips import PASSES, descend_rows
from klafter.search.moves import drop_empty, try_deaths, try_merges, try_splits
from klafter.search.weights_kernels import sweep_weights

__all__ = ["init", "objective", "settle", "step"]

SLOTS = 10  # communities that one round of births may add
SWEEPS = 3  # of flips and weights between moves


def init(problem: Problem, rng, memberships: np.ndarray | None = None) -> State:
    """A first state: no communities, or the given ones, with fitted weights."""
    state = empty_state(problem)
    if memberships is not None and len(memberships):
        state = add_communities(state, memberships, 1.0)
    cache = make_cache(state, problem.dyads.directed)
    for _ in range(SWEEPS):
        sweep_weights(problem, state, cache, False, rng)
    return state


def settle(problem: Problem, state: State, rng, sweeps: int = SWEEPS) -> State:
    """Flips and weights in turn, in place, until neither moves much."""
    cache = make_cache(state, problem.dyads.directed)
    for _ in range(sweeps):
        fall = descend_rows(problem, state, cache, rng.permutation(problem.dyads.n), PASSES)
        sweep_weights(problem, state, cache, False, rng)
        if fall < 1e-6:
            break
    return drop_empty(state)


def give_birth(problem: Problem, state: State, rng, max_communities: int) -> State:
    """One round of births over all nodes as seeds, in random order."""
    n, k = problem.dyads.n, len(state.z)
    slots = min(SLOTS, max_communities - k)
    if slots <= 0:
        return state
    state = add_communities(state, np.zeros((slots, n)), 0.0)
    cache = make_cache(state, problem.dyads.directed)
    births(problem, state, cache, rng.permutation(n), np.arange(k, k + slots), rng)
    return drop_empty(state)


def step(problem: Problem, state: State, rng, *, max_communities: int = 2**31, fixed: bool = False) -> State:
    """One round of all moves; ``fixed`` keeps the number of communities."""
    state = copy_state(state)
    if not fixed:
        state = give_birth(problem, state, rng, max_communities)
    state = settle(problem, state, rng)
    if not fixed:
        value = objective(problem, state)
        state, value = try_merges(problem, state, value, rng)
        if len(state.z) < max_communities:
            state, value = try_splits(problem, state, value, rng)
        state, value = try_deaths(problem, state, value, rng)
    return state
