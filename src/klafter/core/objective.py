"""The objective Q of a state, term by term, and the gain of a flip. See ``problem`` for the formula."""

import math

import numpy as np

from klafter.core.exp_predictor import has_odds, sum_odds_losses
from klafter.core.families import BERNOULLI
from klafter.core.problem import Problem, State
from klafter.core.rows import load_rows, load_tail, row_loss, shift_loss, shift_odds
from klafter.core.workspace import look
from klafter.jit.decorators import bare, kernel


def objective(problem: Problem, state: State) -> float:
    """Q of a state; communities without members cost nothing."""
    return total(look(problem, state))


@kernel
def data_loss(view):
    """sum over observed dyads of loss(y_ij, x_ij)."""
    return sum_losses(view)


@kernel
def total(view):
    """Q, term by term."""
    return sum_losses(view) + sum_prices(view)


@bare
def sum_losses(view):
    if has_odds(view):
        return sum_odds_losses(view, view.out.e)
    total = 0.0
    for i in range(view.n):
        first = 0 if view.directed else i + 1
        load_tail(view, i, view.out, first)
        total += row_loss(view.law, view.out, view.links_out, i, first)
    return total


@bare
def sum_prices(view):
    """The prior terms of Q: of communities, of W between those that live, and of the other parameters."""
    priors, total = view.priors, 0.5 * view.priors.offset * view.offset[0] ** 2
    for k in range(view.z.shape[0]):
        if view.size[k] > 0:
            total += column_price(priors, view.n, view.size[k])
            for m in range(0 if view.directed else k, view.z.shape[0]):
                precision = priors.diagonal if k == m else priors.offdiagonal
                total += 0.5 * precision * view.w[k, m] ** 2 if view.size[m] > 0 else 0.0
    for side in range(2 if view.directed else 1):
        values = view.receiver if side else view.sender
        for i in range(view.n):
            total += 0.5 * priors.sociality * values[i] ** 2
    for p in range(view.coefficients.size):
        total += 0.5 * priors.coefficient * view.coefficients[p] ** 2
    return total


@bare
def column_price(priors, n, size):
    """lambda^2 + T [log S + log C(N, S)] of a community with S members."""
    chosen = math.lgamma(n + 1.0) - math.lgamma(size + 1.0) - math.lgamma(n - size + 1.0)
    return priors.penalty + priors.temperature * (np.log(size) + chosen)


@bare
def column_weight_price(view, k):
    """T |W|^2 / (2 sw^2) over the free entries between community k and the living ones."""
    total = 0.5 * view.priors.diagonal * view.w[k, k] ** 2
    for m in range(view.w.shape[0]):
        if m != k and view.size[m] > 0:
            total += 0.5 * view.priors.offdiagonal * view.w[k, m] ** 2
            if view.directed:
                total += 0.5 * view.priors.offdiagonal * view.w[m, k] ** 2
    return total


@bare
def founder_price(view, k):
    """Rise of the prior terms of Q when a node joins community k, which has no other members."""
    return view.priors.penalty + view.priors.temperature * np.log(view.n) + column_weight_price(view, k)


@bare
def flip_price(view, i, k):
    """Rise of the prior terms of Q when i holds k instead of not."""
    others = view.size[k] - np.int64(view.z[k, i])
    return view.priors.temperature * np.log((view.n - others) / others) if others > 0 else founder_price(view, k)


@bare
def next_gain(view, i, first, thresholds):
    """The first community, from ``first`` on, whose flip lowers Q by more than its threshold, and that gain; else K.

    The view's rows must be those of node i.
    """
    law, directed, z, out, into = view.law, view.directed, view.z, view.out, view.into
    quick = law.code == BERNOULLI and out.base[1] == 0.0 and (not directed or into.base[1] == 0.0)
    for k in range(first, z.shape[0]):
        if thresholds[k] == np.inf:
            continue
        d = 1 - 2 * np.int64(z[k, i])
        gain = -d * flip_price(view, i, k)
        if quick:
            gain -= shift_odds(out, view.links_out, i, view.pull_out, view.exp_out, k, d)
            if directed:
                gain -= shift_odds(into, view.links_in, i, view.pull_in, view.exp_in, k, d)
        else:
            gain -= shift_loss(law, out, view.links_out, i, view.pull_out, view.exp_out, k, d)
            if directed:
                gain -= shift_loss(law, into, view.links_in, i, view.pull_in, view.exp_in, k, d)
        if gain > thresholds[k]:
            return k, gain
    return z.shape[0], 0.0


@bare
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
