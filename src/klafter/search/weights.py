"""The convex step: all of W, sociality, offset and coefficients together, by L-BFGS with the exact gradient."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from klafter.core.objective import weight_precisions
from klafter.core.problem import BOUND, FLOOR, Problem, State
from klafter.core.view import look
from klafter.search.weights_kernels import sum_slopes

ITERATIONS = 15  # of L-BFGS between two rounds of flips
MEMORY = 15


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


def _totals(free: Free, state: State, sums) -> np.ndarray:
    """Sums of a derivative over dyads, as one vector: each parameter collects the dyads it reaches."""
    pulls, senders, receivers, coefficients = sums
    w = pulls @ state.z.T.astype(float)
    share = 1.0 if free.directed else 0.5  # an undirected pair was met from both ends
    if not free.directed:
        w[np.diag_indices(len(w))] *= 0.5
    return pack(free, w, share * senders.sum(), senders, receivers, share * coefficients)


def _precisions(problem: Problem, free: Free, k: int) -> np.ndarray:
    priors, n = problem.priors, problem.dyads.n
    social = np.full(n, priors.sociality)
    coefficients = np.full(free.n_coefficients, priors.coefficient)
    return pack(free, weight_precisions(priors, k), priors.offset, social, social, coefficients)


def _bounds(problem: Problem, free: Free, k: int) -> tuple[np.ndarray, np.ndarray]:
    lower, n = max(problem.lower, -BOUND), problem.dyads.n
    floor = FLOOR if problem.lower == 0.0 else lower
    lows = pack(
        free,
        np.full((k, k), lower),
        floor,
        np.full(n, lower),
        np.full(n, lower),
        np.full(free.n_coefficients, lower),
    )
    return lows, np.full(len(lows), BOUND)


def value_and_slope(problem: Problem, state: State) -> tuple[Free, np.ndarray, Callable]:
    """The free entries, where they stand, and the function of them that L-BFGS minimises (Q up to a constant)."""
    free = free_entries(problem, state)
    precisions = _precisions(problem, free, len(state.z))

    def at(theta):
        there = unpack(free, state, theta)
        loss, first, _ = sum_slopes(look(problem, there))
        return loss + 0.5 * (precisions * theta**2).sum(), _totals(free, there, first) + precisions * theta

    return free, pack(free, state.w, state.offset, state.sender, state.receiver, state.coefficients), at


def fit_weights(problem: Problem, state: State, iterations: int = ITERATIONS, tol: float = 1e-7) -> State:
    """The state with W, b, s, r and g nearer to the minimum of Q: in units of the curvature where the search begins."""
    free, theta, at = value_and_slope(problem, state)
    if not len(theta):
        return state
    here, _, second = sum_slopes(look(problem, state))
    precisions = _precisions(problem, free, len(state.z))
    unit = 1.0 / np.sqrt(np.maximum(_totals(free, state, second) + precisions, 1e-3))
    here += 0.5 * (precisions * theta**2).sum()
    lows, highs = _bounds(problem, free, len(state.z))

    def scaled(u):
        value, slope = at(theta + unit * u)
        return value, slope * unit

    bounds = np.column_stack([(lows - theta) / unit, (highs - theta) / unit])
    found = minimize(
        scaled,
        np.zeros(len(theta)),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": iterations, "maxcor": MEMORY, "ftol": tol, "gtol": 1e-6},
    )
    if not found.fun < here:
        return state
    return unpack(free, state, np.clip(theta + unit * found.x, lows, highs))


def evidence_price(problem: Problem, state: State, among: np.ndarray | None = None) -> float:
    """T/2 sum over W of log(1 + curvature / precision): what Laplace's method charges for weights that are free.

    Q is a mode and gives every further weight away, so a move that adds communities must also pay for the weights that
    they bring: all of W, or the entries that touch some communities.
    """
    if problem.priors.temperature == 0.0 or not len(state.z):
        return 0.0
    free = free_entries(problem, state)._replace(offset=False, sociality=False, n_coefficients=0)
    _, _, (bends, senders, receivers, _) = sum_slopes(look(problem, state))
    h = _totals(free, state, (bends, senders, receivers, np.zeros(0)))
    prices = np.log1p(h / _precisions(problem, free, len(state.z)))
    if among is not None:
        prices = prices[np.isin(free.rows, among) | np.isin(free.columns, among)]
    return 0.5 * problem.priors.temperature * float(prices.sum())
