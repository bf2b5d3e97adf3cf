"""The objective Q of a state, term by term, and the gain of a flip. See ``problem`` for the formula."""

import numpy as np

from klafter.core.cover_price import cover_price, membership_price
from klafter.core.exp_predictor import all_exp_safe, sum_exp_losses
from klafter.core.problem import Problem, State
from klafter.core.rows import load_rows, load_tail, row_loss, shift_exp, shift_loss
from klafter.core.workspace import open_workspace
from klafter.jit.decorators import bare, kernel


def objective(problem: Problem, state: State) -> float:
    """Q of a state; communities without members cost nothing."""
    return float(total(open_workspace(problem, state)))


@kernel
def data_loss(ws):
    """sum over observed dyads of loss(y_ij, x_ij)."""
    return sum_losses(ws)


@kernel
def total(ws):
    """Q, term by term."""
    return sum_losses(ws) + sum_prices(ws)


@bare
def sum_losses(ws):
    if all_exp_safe(ws):
        return sum_exp_losses(ws, ws.out.e)
    total = 0.0
    for i in range(ws.n):
        first = 0 if ws.directed else i + 1
        load_tail(ws, i, ws.out, first)
        total += row_loss(ws.law, ws.out, ws.links_out, i, first)
    return total


@bare
def sum_prices(ws):
    """The prior terms of Q: of communities, of W between those that have members, and of the other parameters."""
    priors, total = ws.priors, 0.5 * ws.priors.offset * ws.offset[0] ** 2 + cover_price(ws)
    for k in range(ws.z.shape[0]):
        if ws.size[k] > 0:
            for m in range(0 if ws.directed else k, ws.z.shape[0]):
                precision = priors.diagonal if k == m else priors.offdiagonal
                total += 0.5 * precision * ws.w[k, m] ** 2 if ws.size[m] > 0 else 0.0
    for side in range(2 if ws.directed else 1):
        values = ws.receiver if side else ws.sender
        for i in range(ws.n):
            total += 0.5 * priors.sociality * values[i] ** 2
    for p in range(ws.coefficients.size):
        total += 0.5 * priors.coefficient * ws.coefficients[p] ** 2
    return total


@bare
def column_weight_price(ws, k):
    """T |W|^2 / (2 sw^2) over the free entries between community k and those that have members."""
    total = 0.5 * ws.priors.diagonal * ws.w[k, k] ** 2
    for m in range(ws.w.shape[0]):
        if m != k and ws.size[m] > 0:
            total += 0.5 * ws.priors.offdiagonal * ws.w[k, m] ** 2
            if ws.directed:
                total += 0.5 * ws.priors.offdiagonal * ws.w[m, k] ** 2
    return total


@bare
def flip_price(ws, i, k):
    """Rise of the prior terms of Q when i holds k instead of not; a founder also brings the weights of k."""
    price = membership_price(ws, i, k)
    return price if ws.size[k] > np.int64(ws.z[k, i]) else price + column_weight_price(ws, k)


@bare
def next_gain(ws, i, first, thresholds):
    """The first community, from ``first`` on, whose flip lowers Q by more than its threshold, and that gain; else K.

    The workspace's rows must be those of node i.
    """
    law, directed, z, out, into = ws.law, ws.directed, ws.z, ws.out, ws.into
    quick = law.logistic and out.base[1] == 0.0 and (not directed or into.base[1] == 0.0)
    for k in range(first, z.shape[0]):
        if thresholds[k] == np.inf:
            continue
        d = 1 - 2 * np.int64(z[k, i])
        gain = -d * flip_price(ws, i, k)
        if quick:
            gain -= shift_exp(out, ws.links_out, i, ws.effect_out, ws.exp_out, k, d)
            if directed:
                gain -= shift_exp(into, ws.links_in, i, ws.effect_in, ws.exp_in, k, d)
        else:
            gain -= shift_loss(law, out, ws.links_out, i, ws.effect_out, ws.exp_out, k, d)
            if directed:
                gain -= shift_loss(law, into, ws.links_in, i, ws.effect_in, ws.exp_in, k, d)
        if gain > thresholds[k]:
            return k, gain
    return z.shape[0], 0.0


@bare
def flip_gain(ws, i, k, thresholds):
    """Fall of Q when z_ik flips; ``thresholds`` is scratch space, (K,)."""
    thresholds[k] = -np.inf
    return next_gain(ws, i, k, thresholds)[1]


@kernel
def flip_gains(ws, i):
    """The gains of all flips of node i."""
    load_rows(ws, i)
    gains, scratch = np.empty(ws.z.shape[0]), np.empty(ws.z.shape[0])
    for k in range(gains.size):
        gains[k] = flip_gain(ws, i, k, scratch)
    return gains
