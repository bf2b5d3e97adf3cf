"""The objective Q of a state, term by term, and the gain of a flip. See ``problem`` for the formula."""

import numpy as np
from scipy.special import gammaln

from klafter.core.families import BERNOULLI
from klafter.core.kernel import inner, kernel
from klafter.core.problem import Priors, Problem, State, keep_communities
from klafter.core.rows import load_rows, load_tail, row_loss, shift_loss, shift_odds
from klafter.core.view import look


@kernel
def data_loss(view):
    """sum over observed dyads of loss(y_ij, x_ij)."""
    total = 0.0
    for i in range(view.n):
        first = 0 if view.directed else i + 1
        load_tail(view, i, view.out, first)
        total += row_loss(view.law, view.out, view.links_out, i, first)
    return total


def column_price(priors: Priors, n: int, size) -> np.ndarray:
    """lambda^2 + T [log S + log C(N, S)] of communities with S members."""
    s = np.atleast_1d(size)
    chosen = gammaln(n + 1) - gammaln(s + 1) - gammaln(n - s + 1)
    return priors.penalty + priors.temperature * (np.log(s) + chosen)


def weight_precisions(priors: Priors, k: int) -> np.ndarray:
    """T / sw^2 of each entry of W."""
    precisions = np.full((k, k), priors.offdiagonal)
    np.fill_diagonal(precisions, priors.diagonal)
    return precisions


def weight_price(priors: Priors, w: np.ndarray, directed: bool) -> float:
    """T |W|^2 / (2 sw^2) over the free entries of W."""
    squares = weight_precisions(priors, len(w)) * w**2 / 2
    return float(squares.sum() if directed else np.triu(squares).sum())


def objective(problem: Problem, state: State) -> float:
    """Q of a state; communities without members cost nothing."""
    alive = state.z.any(axis=1)
    if not alive.all():
        state = keep_communities(state, np.flatnonzero(alive))
    priors, directed = problem.priors, problem.dyads.directed
    social = (state.sender**2).sum() + ((state.receiver**2).sum() if directed else 0.0)
    return float(
        data_loss(look(problem, state))
        + column_price(priors, problem.dyads.n, state.z.sum(axis=1)).sum()
        + weight_price(priors, state.w, directed)
        + 0.5 * (priors.sociality * social + priors.coefficient * (state.coefficients**2).sum())
        + 0.5 * priors.offset * state.offset[0] ** 2
    )


@inner
def column_weight_price(view, k):
    """T |W|^2 / (2 sw^2) over the free entries between community k and the living ones."""
    total = 0.5 * view.priors.diagonal * view.w[k, k] ** 2
    for m in range(view.w.shape[0]):
        if m != k and view.size[m] > 0:
            total += 0.5 * view.priors.offdiagonal * view.w[k, m] ** 2
            if view.directed:
                total += 0.5 * view.priors.offdiagonal * view.w[m, k] ** 2
    return total


@inner
def founder_price(view, k):
    """Rise of the prior terms of Q when a node joins community k, which has no other members."""
    return view.priors.penalty + view.priors.temperature * np.log(view.n) + column_weight_price(view, k)


@inner
def flip_price(view, i, k):
    """Rise of the prior terms of Q when i holds k instead of not."""
    others = view.size[k] - np.int64(view.z[k, i])
    return view.priors.temperature * np.log((view.n - others) / others) if others > 0 else founder_price(view, k)


@inner
def next_gain(view, i, first, thresholds):
    """The first community, from ``first`` on, whose flip lowers Q by more than its threshold, and that gain; else K.

    The view's rows must be those of node i. Arrays are taken out of the view once: inside the loop each would count.
    """
    law, directed, z, out, into = view.law, view.directed, view.z, view.out, view.into
    links_out, links_in = view.links_out, view.links_in
    pull_out, pull_in, exp_out, exp_in = view.pull_out, view.pull_in, view.exp_out, view.exp_in
    e_out, e_in, base_out, base_in = out.e, into.e, out.base[0], into.base[0]
    start_out, node_out, value_out = links_out.start, links_out.node, links_out.value
    start_in, node_in, value_in = links_in.start, links_in.node, links_in.value
    quick = law.code == BERNOULLI and out.base[1] == 0.0 and (not directed or into.base[1] == 0.0)
    for k in range(first, z.shape[0]):
        if thresholds[k] == np.inf:
            continue
        d = 1 - 2 * np.int64(z[k, i])
        gain = -d * flip_price(view, i, k)
        if quick:
            gain -= shift_odds(e_out, base_out, start_out, node_out, value_out, i, pull_out, exp_out, k, d)
            if directed:
                gain -= shift_odds(e_in, base_in, start_in, node_in, value_in, i, pull_in, exp_in, k, d)
        else:
            gain -= shift_loss(law, out, links_out, i, pull_out, exp_out, k, d)
            if directed:
                gain -= shift_loss(law, into, links_in, i, pull_in, exp_in, k, d)
        if gain > thresholds[k]:
            return k, gain
    return z.shape[0], 0.0


@inner
def flip_gain(view, i, k, thresholds):
    """Fall of Q when z_ik flips; ``thresholds`` is room for K numbers."""
    thresholds[k] = -np.inf
    return next_gain(view, i, k, thresholds)[1]


@kernel
def flip_gains(view, i):
    """The gains of all flips of node i."""
    load_rows(view, i)
    gains, room = np.empty(view.z.shape[0]), np.empty(view.z.shape[0])
    for k in range(gains.size):
        gains[k] = flip_gain(view, i, k, room)
    return gains
