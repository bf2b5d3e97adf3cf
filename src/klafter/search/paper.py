"""K-LAFTER as the paper states it (Arora et al., IJCAI 2018, Algorithm 1), nothing added.

Each iteration (1) sets every z_ik to its better value, or in the variant K-LAFTER-I every row to the best of its 2^K
patterns; (2) minimises Q over W; (3) tries one more community: one random node, weights from N(0, sigma^2), W and then
Z optimised, kept if Q fell. T = 0, and x_ij = z_i' W z_j alone.
"""

import numpy as np
from scipy.optimize import minimize

from klafter.core.families import slope
from klafter.core.kernel import kernel
from klafter.core.objective import flip_gain, objective
from klafter.core.problem import BOUND, Problem, State, add_communities, copy_state, empty_state
from klafter.core.rows import load_row, make_cache, new_row
from klafter.search.flips import apply_flip, descend_rows, load_rows, refresh_pulls
from klafter.search.moves import drop_empty
from klafter.search.starts import coin_flips
from klafter.search.weights_kernels import mark

MAX_ROW_SEARCH = 12  # communities up to which all 2^K patterns of a row are tried
EVALUATIONS = 2_000  # of Q that one derivative-free search may ask for


@kernel
def best_rows(problem, state, cache, order):
    """Every row to the best of its 2^K patterns, visited in Gray code order, one flip apart."""
    n_communities = state.z.shape[0]
    rows = (new_row(problem.dyads.n), new_row(problem.dyads.n))
    for i in order:
        load_rows(problem, state, cache, i, rows)
        gain = best = 0.0
        pattern = state.z[:, i].copy()
        for code in range(1, 2**n_communities):
            k = 0
            while (code >> k) & 1 == 0:
                k += 1
            gain += flip_gain(problem, state, cache, rows, i, k)
            apply_flip(problem, state, cache, rows, i, k)
            if gain > best + 1e-9:
                best = gain
                pattern[:] = state.z[:, i]
        for k in range(n_communities):
            if state.z[k, i] != pattern[k]:
                apply_flip(problem, state, cache, rows, i, k)
        refresh_pulls(problem, state, cache, i)


@kernel
def affinity_gradient(problem, state, cache):
    """dQ/dW = Z' R Z with R the slope of the loss on observed dyads, before any prior."""
    n, n_communities = problem.dyads.n, state.z.shape[0]
    row, y = new_row(n), np.zeros(n)
    gradient = np.zeros((n_communities, n_communities))
    for i in range(n):
        load_row(problem, state, cache, i, False, row)
        mark(problem.dyads.links_out, i, y, 1.0)
        for j in range(n):
            row.e[j] = slope(problem.law, y[j], row.x[j]) if row.seen[j] != 0.0 else 0.0
        for m in range(n_communities):
            total = 0.0
            for j in range(n):
                if state.z[m, j]:
                    total += row.e[j]
            for k in range(n_communities):
                if state.z[k, i]:
                    gradient[k, m] += total
        mark(problem.dyads.links_out, i, y, 0.0)
    return gradient


def fit_affinities(problem: Problem, state: State, method: str = "gradient") -> State:
    """W that minimises Q for the memberships given, within bounds: by L-BFGS-B, or by Powell's search of values."""
    k, directed = len(state.z), problem.dyads.directed
    if k == 0:
        return state
    corner = np.indices((k, k)).reshape(2, -1).T if directed else np.argwhere(np.triu(np.ones((k, k))))
    rows, columns = corner.T

    def at(entries) -> State:
        w = np.zeros((k, k))
        w[rows, columns] = entries
        if not directed:
            w[columns, rows] = entries
        return state._replace(w=w)

    def value(entries):
        return objective(problem, at(entries))

    def value_and_slope(entries):
        candidate = at(entries)
        cache = make_cache(candidate, directed)
        g = affinity_gradient(problem, candidate, cache)
        g = g if directed else np.where(np.eye(k, dtype=bool), g / 2, (g + g.T) / 2)
        precisions = np.where(rows == columns, problem.priors.diagonal, problem.priors.offdiagonal)
        return objective(problem, candidate, cache), g[rows, columns] + precisions * entries

    bounds = [(max(problem.lower, -BOUND), BOUND)] * len(rows)
    if method == "gradient":
        found = minimize(
            value_and_slope,
            state.w[rows, columns],
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": 100},
        )
    else:
        options = {"maxfev": EVALUATIONS, "xtol": 1e-2, "ftol": 1e-6}
        found = minimize(value, state.w[rows, columns], method="Powell", bounds=bounds, options=options)
    return at(found.x) if found.fun < objective(problem, state) else state


def flip(problem: Problem, state: State, whole_rows: bool) -> State:
    """Step 4 of the algorithm; a community that lost its last member is gone."""
    cache = make_cache(state, problem.dyads.directed)
    order = np.arange(problem.dyads.n)
    if whole_rows and len(state.z) <= MAX_ROW_SEARCH:
        best_rows(problem, state, cache, order)
    else:
        descend_rows(problem, state, cache, order, 1)
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
