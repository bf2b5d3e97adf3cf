"""The dense engine of K-LAFTER: any family, full W, one row of dyads at a time; to some thousand nodes.

    init(problem, rng) -> State      step(problem, state, value, rng) -> State, F      score(problem, state) -> F

A step is a round of flips and weights, births, merges, splits and deaths. The score never rises.
"""

import numpy as np

from klafter.core.problem import Problem, State, add_communities, empty_state
from klafter.search.config import SEARCH
from klafter.search.dense.score import score
from klafter.search.dense.weights import FINE, fit_weights
from klafter.search.moves.birth import give_birth
from klafter.search.moves.death import deaths
from klafter.search.moves.failures import Failures
from klafter.search.moves.flip import sweep
from klafter.search.moves.merge import merges
from klafter.search.moves.split import splits

__all__ = ["grow", "init", "score", "step"]


def init(problem: Problem, rng, memberships: np.ndarray | None = None) -> State:
    """A first state: no communities, or the given ones, with fitted weights."""
    state = fit_weights(problem, empty_state(problem))
    if memberships is not None and len(memberships):
        state = fit_weights(problem, add_communities(state, memberships, 1.0))
    return state


def grow(
    problem: Problem, state: State, value: float, rng, max_communities: int = 2**31, nodes=None, tol: float = FINE,
    failures: Failures | None = None,
) -> tuple[State, float]:  # fmt: skip
    """Births until none lowers the score, flips and weights between them; ``nodes`` are seeds and flip (None: all)."""
    failures = failures or Failures()
    for _ in range(SEARCH.dense.birth_rounds):
        n_before = len(state.z)
        state, value = give_birth(problem, state, value, rng, max_communities, nodes, failures)
        if len(state.z) == n_before:
            break
        state, value = sweep(problem, state, value, rng, 1, nodes, tol)
    return sweep(problem, state, value, rng, SEARCH.dense.sweeps, nodes, tol)


def step(
    problem: Problem, state: State, value: float, rng, *, max_communities: int = 2**31, fixed: bool = False,
    failures: Failures | None = None,
) -> tuple[State, float]:  # fmt: skip
    """One round of all moves but those that failed before; ``fixed`` keeps the number of communities."""
    if fixed:
        return sweep(problem, state, value, rng)
    failures = failures or Failures()
    state, value = grow(problem, state, value, rng, max_communities, failures=failures)
    state, value = merges(problem, state, value, failures)
    state, value = splits(problem, state, value, max_communities, failures)
    return deaths(problem, state, value, failures)
