"""P(z_ik = 1 | y) around a cover: a short chain that keeps its communities and draws who is in them, and all weights.

What is averaged is not the memberships drawn but the probabilities by which they are drawn, which vary less.
"""

import numpy as np

from klafter.core.problem import Problem, State, copy_state
from klafter.sampling.lfrm import at_temperature_one
from klafter.sampling.membership_kernels import sweep_fixed

BURN, SWEEPS, LARGE_SWEEPS = 10, 60, 30  # sweeps to leave the optimum; those averaged, up to MANY nodes and beyond
MANY = 500


def membership_posterior(problem: Problem, state: State, rng: np.random.Generator) -> np.ndarray:
    """(n, K) probabilities of memberships, columns as in the state; at T = 0, where nothing is chance, memberships."""
    if problem.priors.temperature == 0.0 or not len(state.z):
        return state.z.T.astype(float)
    problem, state = at_temperature_one(problem), copy_state(state)
    n_sweeps = SWEEPS if problem.dyads.n <= MANY else LARGE_SWEEPS
    for n_more in (BURN, n_sweeps):
        proba = np.zeros(state.z.shape)
        for _ in range(n_more):
            sweep_fixed(problem, state, proba, rng)
    return np.ascontiguousarray(proba.T) / n_sweeps
