"""The convex step: all of W, sociality, offset and coefficients together, by L-BFGS with the exact gradient."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from klafter.core.problem import Priors, Problem, State, copy_state
from klafter.core.workspace import open_workspace
from klafter.search.config import SEARCH
from klafter.search.dense.lbfgs import fit_parameters
from klafter.search.dense.weights_kernels import derivatives, place

FINE, ROUGH = 1e-7, 1e-5  # relative fall of Q that ends it: for a state that is kept, and to judge a move


class Free(NamedTuple):
    """Which entries of the parameters are free, so that a state can be read as one vector."""

    rows: np.ndarray  # of W
    columns: np.ndarray
    offset: bool
    sociality: bool
    n_coefficients: int
    n: int
    directed: bool


def free_entries(problem: Problem, state: State) -> Free:
    """W between all communities (each symmetric pair once), b, s and r, g: as the problem has them."""
    k, directed = len(state.z), problem.dyads.directed
    rows, columns = np.indices((k, k)).reshape(2, -1) if directed else np.triu_indices(k)
    return Free(
        rows, columns, problem.has_offset, problem.has_sociality, state.coefficients.size, problem.dyads.n, directed
    )


def pack(free: Free, w, offset, sender, receiver, coefficients) -> np.ndarray:
    """The free entries as one vector."""
    parts = [w[free.rows, free.columns]]
    if free.offset:
        parts.append(np.atleast_1d(offset))
    if free.sociality:
        parts += [sender, receiver] if free.directed else [sender]
    return np.concatenate([*parts, coefficients])


def unpack(free: Free, state: State, theta: np.ndarray) -> State:
    """The state whose free entries are theta."""
    cuts = [len(free.rows), int(free.offset), free.n * free.sociality, free.n * free.sociality * free.directed]
    entries, offset, sender, receiver, coefficients = np.split(theta, np.cumsum(cuts))
    w = np.zeros_like(state.w)
    w[free.rows, free.columns] = entries
    if not free.directed:
        w[free.columns, free.rows] = entries
    if not free.sociality:
        sender, receiver = state.sender, state.receiver
    elif not free.directed:
        receiver = sender
    return State(state.z, w, offset if free.offset else state.offset, sender, receiver, coefficients)


def weight_precisions(priors: Priors, k: int) -> np.ndarray:
    """T / sw^2 of each entry of W."""
    precisions = np.full((k, k), priors.offdiagonal)
    np.fill_diagonal(precisions, priors.diagonal)
    return precisions


def _precisions(problem: Problem, free: Free, k: int) -> np.ndarray:
    priors, n = problem.priors, problem.dyads.n
    social = np.full(n, priors.sociality)
    coefficients = np.full(free.n_coefficients, priors.coefficient)
    return pack(free, weight_precisions(priors, k), priors.offset, social, social, coefficients)


def value_and_slope(problem: Problem, state: State) -> tuple[Free, np.ndarray, Callable]:
    """The free entries, where they stand, and the function of them that the step minimises (Q up to a constant)."""
    free = free_entries(problem, state)
    precisions = _precisions(problem, free, len(state.z))
    ws = open_workspace(problem, copy_state(state))

    def at(theta):
        place(ws, theta)
        loss, slope, _ = derivatives(ws, False)
        return loss + 0.5 * (precisions * theta**2).sum(), slope + precisions * theta

    return free, pack(free, state.w, state.offset, state.sender, state.receiver, state.coefficients), at


def fit_weights(problem: Problem, state: State, iterations: int = SEARCH.dense.iterations, tol: float = FINE) -> State:
    """The state with W, b, s, r and g nearer to the minimum of Q."""
    state = copy_state(state)
    fit_parameters(open_workspace(problem, state), iterations, tol)
    return state
