"""The objective Q of a state, term by term, and the gain of a flip. See ``problem`` for the formula."""

from math import lgamma

import numpy as np

from klafter.core.kernel import inner, kernel
from klafter.core.problem import Priors, Problem, State, keep_communities
from klafter.core.rows import Cache, load_row, make_cache, new_row, row_loss, shift_loss


@kernel
def data_loss(problem, state, cache):
    """sum over observed dyads of loss(y_ij, x_ij)."""
    n = problem.dyads.n
    row = new_row(n)
    total = 0.0
    for i in range(n):
        load_row(problem, state, cache, i, False, row)
        total += row_loss(problem.law, row, problem.dyads.links_out, i)
    return total if problem.dyads.directed else total / 2


def column_price(priors: Priors, n: int, size) -> np.ndarray:
    """lambda^2 + T [log S + log C(N, S)] of communities with S members."""
    prices = [np.log(s) + lgamma(n + 1) - lgamma(s + 1) - lgamma(n - s + 1) for s in np.atleast_1d(size)]
    return priors.penalty + priors.temperature * np.array(prices)


def weight_precisions(priors: Priors, k: int) -> np.ndarray:
    """T / sw^2 of each entry of W."""
    precisions = np.full((k, k), priors.offdiagonal)
    np.fill_diagonal(precisions, priors.diagonal)
    return precisions


def weight_price(priors: Priors, w: np.ndarray, directed: bool) -> float:
    """T |W|^2 / (2 sw^2) over the free entries of W."""
    squares = weight_precisions(priors, len(w)) * w**2 / 2
    return float(squares.sum() if directed else np.triu(squares).sum())


def objective(problem: Problem, state: State, cache: Cache | None = None) -> float:
    """Q of a state; communities without members cost nothing."""
    alive = state.z.any(axis=1)
    if not alive.all():
        state, cache = keep_communities(state, np.flatnonzero(alive)), None
    priors, directed = problem.priors, problem.dyads.directed
    if cache is None:
        cache = make_cache(state, directed)
    social = (state.sender**2).sum() + ((state.receiver**2).sum() if directed else 0.0)
    return float(
        data_loss(problem, state, cache)
        + column_price(priors, problem.dyads.n, state.z.sum(axis=1)).sum()
        + weight_price(priors, state.w, directed)
        + 0.5 * (priors.sociality * social + priors.coefficient * (state.coefficients**2).sum())
        + 0.5 * priors.offset * state.offset[0] ** 2
    )


@inner
def column_weight_price(problem, state, cache, k):
    """T |W|^2 / (2 sw^2) over the free entries between community k and the living ones."""
    total = 0.5 * problem.priors.diagonal * state.w[k, k] ** 2
    for m in range(state.w.shape[0]):
        if m != k and cache.size[m] > 0:
            total += 0.5 * problem.priors.offdiagonal * state.w[k, m] ** 2
            if problem.dyads.directed:
                total += 0.5 * problem.priors.offdiagonal * state.w[m, k] ** 2
    return total


@inner
def membership_price(problem, state, cache, others, k):
    """Rise of the prior terms of Q when a node joins community k of so many others."""
    n, priors = problem.dyads.n, problem.priors
    if others > 0:
        return priors.temperature * np.log((n - others) / others)
    return priors.penalty + priors.temperature * np.log(n) + column_weight_price(problem, state, cache, k)


@kernel
def flip_gain(problem, state, cache, rows, i, k):
    """Fall of Q when z_ik flips; rows are node i's dyads, outgoing and incoming."""
    d = 1 - 2 * np.int64(state.z[k, i])
    out, into = rows
    others = cache.size[k] - np.int64(state.z[k, i])
    gain = -d * membership_price(problem, state, cache, others, k)
    gain -= shift_loss(problem.law, out, problem.dyads.links_out, i, cache.pull_out[k], cache.exp_out[k], d)
    if problem.dyads.directed:
        gain -= shift_loss(problem.law, into, problem.dyads.links_in, i, cache.pull_in[k], cache.exp_in[k], d)
    return gain
