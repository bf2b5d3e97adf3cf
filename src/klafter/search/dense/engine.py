"""The dense engine of K-LAFTER: any family, full W, one row of dyads at a time; to some thousand nodes.

    init(problem, rng) -> State         step(problem, state, rng) -> State         objective(problem, state) -> Q

A step is a round of flips and weights, births, merges, splits and deaths. Q never rises.
"""

import numpy as np

from klafter.core.objective import objective
from klafter.core.problem import Problem, State, add_communities, copy_state, empty_state
from klafter.core.workspace import open_workspace
from klafter.search.dense.birth_kernels import births
from klafter.search.dense.flip_kernels import PASSES, descend
from klafter.search.dense.row_reset import choose_anew
from klafter.search.dense.weights import FINE, ITERATIONS, fit_parameters, fit_weights
from klafter.search.moves.merge import drop_empty, try_deaths, try_merges, try_splits

__all__ = ["grow", "init", "objective", "reconsider", "settle", "step"]

ROUNDS = 6  # of births before communities are merged, split and buried; of choices
WORTH_A_ROUND = 0.1  # fall of Q by choices from which weights follow
SWEEPS = 3  # of flips and weights between moves


def init(problem: Problem, rng, memberships: np.ndarray | None = None) -> State:
    """A first state: no communities, or the given ones, with fitted weights."""
    state = fit_weights(problem, empty_state(problem))
    if memberships is not None and len(memberships):
        state = fit_weights(problem, add_communities(state, memberships, 1.0))
    return state


def settle(problem: Problem, state: State, rng, sweeps: int = SWEEPS, nodes=None, tol: float = FINE) -> State:
    """Flips (of some nodes; None is all) and weights in turn until neither moves much. Changes the state in place."""
    nodes, ws = problem.dyads.n if nodes is None else nodes, open_workspace(problem, state)
    for _ in range(sweeps):
        fall = descend(ws, rng.permutation(nodes), -1, PASSES)
        alive = drop_empty(state)
        if alive is not state:
            state, ws = alive, open_workspace(problem, alive)
        fit_parameters(ws, ITERATIONS, tol)
        if fall < 1e-6:
            break
    return state


def reconsider(problem: Problem, state: State, rng, tol: float = FINE) -> State:
    """All nodes choose their communities anew, with flips and weights after each round, until none gains."""
    for _ in range(ROUNDS):
        state = copy_state(state)
        ws = open_workspace(problem, state)
        if choose_anew(ws, rng.permutation(problem.dyads.n)) < WORTH_A_ROUND:
            break
        fit_parameters(ws, ITERATIONS, tol)
        state = settle(problem, state, rng, tol=tol)
    return state


def give_birth(problem: Problem, state: State, rng, max_communities: int, seeds=None) -> State:
    """One round of births from seeds (None: all nodes), in random order."""
    n, k = problem.dyads.n, len(state.z)
    slots = min(1 + k // 4, max_communities - k)
    if slots <= 0:
        return state
    state = add_communities(state, np.zeros((slots, n)), 0.0)
    births(open_workspace(problem, state), rng.permutation(n if seeds is None else seeds), np.arange(k, k + slots))
    return drop_empty(state)


def grow(problem: Problem, state: State, rng, max_communities: int = 2**31, nodes=None, tol: float = FINE) -> State:
    """Births until none pays, with flips and weights between them; ``nodes`` are seeds and flip (None is all)."""
    for _ in range(ROUNDS):
        n_before = len(state.z)
        state = give_birth(problem, state, rng, max_communities, nodes)
        if len(state.z) == n_before:
            break
        state = settle(problem, state, rng, 1, nodes, tol)
    return settle(problem, state, rng, SWEEPS, nodes, tol)


def step(problem: Problem, state: State, rng, *, max_communities: int = 2**31, fixed: bool = False) -> State:
    """One round of all moves; ``fixed`` keeps the number of communities."""
    state = copy_state(state)
    if fixed:
        return settle(problem, state, rng)
    state = grow(problem, state, rng, max_communities)
    value = objective(problem, state)
    state, value = try_merges(problem, state, value)
    state, value = try_splits(problem, state, value, max_communities)
    return try_deaths(problem, state, value)[0]
