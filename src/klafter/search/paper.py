"""K-LAFTER as the paper states it (Arora et al., IJCAI 2018, Algorithm 1), nothing added.

Each iteration (1) sets every z_ik to its better value, or in the variant K-LAFTER-I every row to the best of its 2^K
patterns; (2) minimises Q over W; (3) tries one more community: one random node, weights from N(0, sigma^2), W and then
Z optimised, kept if Q fell. T = 0, and x_ij = z_i' W z_j alone.
"""

import numpy as np

from klafter.core.objective import flip_gain, objective
from klafter.core.problem import BOUND, Problem, State, add_communities, copy_state, empty_state
from klafter.core.rows import load_rows
from klafter.core.workspace import open_workspace, refresh_effects
from klafter.jit.decorators import kernel
from klafter.search.dense.communities import drop_empty
from klafter.search.dense.flip_kernels import apply_flip, descend
from klafter.search.dense.weights import fit_weights, unpack, value_and_slope
from klafter.search.starts import coin_flips

MAX_ROW_SEARCH = 12  # communities up to which all 2^K patterns of a row are tried
GRADIENT_STEPS = 100  # of L-BFGS in the convex step of the paper
EVALUATIONS = 2_000  # of Q that one derivative-free search may ask for


@kernel
def best_rows(ws, order):
    """Every row to the best of its 2^K patterns, visited in Gray code order, one flip apart."""
    n_communities = ws.z.shape[0]
    thresholds = np.empty(n_communities)
    for i in order:
        load_rows(ws, i)
        gain = best = 0.0
        pattern = ws.z[:, i].copy()
        for code in range(1, 2**n_communities):
            k = 0
            while (code >> k) & 1 == 0:
                k += 1
            gain += flip_gain(ws, i, k, thresholds)
            apply_flip(ws, i, k)
            if gain > best + 1e-9:
                best = gain
                pattern[:] = ws.z[:, i]
        for k in range(n_communities):
            if ws.z[k, i] != pattern[k]:
                apply_flip(ws, i, k)
        refresh_effects(ws, i)


def fit_affinities(problem: Problem, state: State, method: str = "gradient") -> State:
    """W that minimises Q for the memberships given, within bounds: by L-BFGS-B, or by Powell's search of values."""
    if not len(state.z):
        return state
    if method == "gradient":
        return fit_weights(problem, state, GRADIENT_STEPS)
    from scipy.optimize import minimize  # takes long to load, and is seldom asked for

    free, theta, at = value_and_slope(problem, state)
    found = minimize(
        lambda entries: at(entries)[0],
        theta,
        method="Powell",
        bounds=[(max(problem.lower, -BOUND), BOUND)] * len(theta),
        options={"maxfev": EVALUATIONS, "xtol": 1e-2, "ftol": 1e-6},
    )
    return unpack(free, state, found.x) if found.fun < at(theta)[0] else state


def flip(problem: Problem, state: State, whole_rows: bool) -> State:
    """Step 4 of the algorithm; a community that lost its last member is gone."""
    ws, order = open_workspace(problem, state), np.arange(problem.dyads.n)
    if whole_rows and len(state.z) <= MAX_ROW_SEARCH:
        best_rows(ws, order)
    else:
        descend(ws, order, -1, 1)
    return drop_empty(state)


def symmetric_normal(k: int, sigma: float, directed: bool, rng) -> np.ndarray:
    w = rng.normal(0.0, sigma, (k, k))
    return w if directed else np.triu(w) + np.triu(w, 1).T


def init(problem: Problem, rng, n_communities: int, sigma: float) -> State:
    """Steps 1 and 2: coin flips for Z, normal weights."""
    state = add_communities(empty_state(problem), coin_flips(problem, n_communities, rng), 0.0)
    state.w[:] = symmetric_normal(n_communities, sigma, problem.dyads.directed, rng)
    return state._replace(offset=np.zeros(1))


def step(problem: Problem, state: State, rng, *, sigma: float, whole_rows: bool, method: str) -> State:
    """One iteration of the algorithm."""
    state = flip(problem, copy_state(state), whole_rows)
    state = fit_affinities(problem, state, method)
    trial = add_communities(
        copy_state(state), np.eye(problem.dyads.n, dtype=np.uint8)[[rng.integers(problem.dyads.n)]], 0.0
    )
    fresh = symmetric_normal(len(trial.z), sigma, problem.dyads.directed, rng)
    trial.w[-1], trial.w[:, -1] = fresh[-1], fresh[:, -1]
    trial = fit_affinities(problem, trial, method)
    trial = flip(problem, trial, whole_rows)
    return trial if objective(problem, trial) < objective(problem, state) - 1e-9 else state
