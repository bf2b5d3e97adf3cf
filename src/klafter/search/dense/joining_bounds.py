"""Which nodes cannot gain by joining a community that grows, found by a bound.

Loss is convex in x, so that node i, which joins community k and moves x_ij by u_j = (W z_j)_k, gains at most

    sum_j (y_ij - p_ij) u_j - price
    = sum_{m != k} w_km R_im + sum_{j in k} [(y_ij - p_ij) u_j - (y_ij - q_ij) (u_j - w_kk)] - price

with p the link probabilities, q those without k, and R_im = sum_{j in m} (y_ij - q_ij). R is the same for all
communities that grow in vain from one state, so a row of it is worked out once; the rest takes the members of k.
"""

from typing import NamedTuple

import numpy as np

from klafter.core.bernoulli_gradient import Held, sort_held
from klafter.core.exp_predictor import load_exp
from klafter.core.objective import flip_price
from klafter.core.rows import mark
from klafter.core.workspace import SAFE
from klafter.jit.decorators import bare, inner, kernel


class Residuals(NamedTuple):
    """R, as far as it is known, of a state and a community that grows in it."""

    known: np.ndarray  # (n,) of 0/1
    out: np.ndarray  # (n, K) over the dyads from i
    into: np.ndarray  # over those to i; the same array when undirected
    held: Held  # the communities of every node, without the one that grows
    y: np.ndarray  # (n,) of zeros


@inner
def no_residuals(n, n_communities, directed):
    out = np.empty((n, n_communities))
    into = np.empty((n, n_communities)) if directed else out
    held = Held(np.zeros(n, np.int64), np.empty((n, n_communities), np.int64))
    return Residuals(np.zeros(n, np.uint8), out, into, held, np.zeros(n))


@kernel
def new_residuals(ws):
    """None known yet, of the state as it is."""
    residuals = no_residuals(ws.n, ws.z.shape[0], ws.directed)
    sort_held(ws.z, residuals.held)
    return residuals


@bare
def learn_row(ws, i, k, residuals):
    """R of node i, which does not hold k; False where some x may have to be clipped."""
    law, held = ws.law, residuals.held
    if not law.logistic or ws.coefficients.size > 0:
        return False
    for side in range(2 if ws.directed else 1):
        sums, links, e = residuals.out[i], ws.links_out, ws.out.e
        inward = ws.exp_in[k, i]  # what the membership of j in k multiplies the odds of (i, j) by
        if side:
            sums, links, e, inward = residuals.into[i], ws.links_in, ws.into.e, ws.exp_out[k, i]
        if load_exp(ws, i, 0, side == 1, e) + ws.max_effect[k] > SAFE:
            return False
        sums[:] = 0.0
        for j in range(ws.n):
            if ws.z[k, j]:
                e[j] /= inward
        for j in range(ws.n):
            e[j] = e[j] / (1.0 + e[j])
        for t in range(links.start[i], links.start[i + 1]):
            e[links.node[t]] -= links.value[t]
        for j in range(ws.n):
            for t in range(held.size[j]):
                sums[held.which[j, t]] -= e[j]
    residuals.known[i] = 1
    return True


@bare
def joining_bound(ws, i, k, members, size, residuals):
    """Node i, which does not hold k, gains no more by joining; the first ``size`` of members hold k."""
    if not residuals.known[i] and not learn_row(ws, i, k, residuals):
        return np.inf
    held, y, w = residuals.held, residuals.y, ws.w
    total = -flip_price(ws, i, k)
    for side in range(2 if ws.directed else 1):
        sums, links, effect, exps, inward = residuals.out[i], ws.links_out, ws.effect_out, ws.exp_out, ws.exp_in[k, i]
        seen, exp_own, exp_other = ws.seen_out[i], ws.exp_sender[i], ws.exp_receiver
        if side:
            sums, links, effect, exps = residuals.into[i], ws.links_in, ws.effect_in, ws.exp_in
            inward, seen, exp_own, exp_other = ws.exp_out[k, i], ws.seen_in[i], ws.exp_receiver[i], ws.exp_sender
        for m in range(w.shape[0]):
            if m != k:
                total += (w[m, k] if side else w[k, m]) * sums[m]
        mark(links, i, y, 1.0)
        scale = np.exp(ws.offset[0]) * exp_own
        for s in range(size):
            j = members[s]
            e = scale * exp_other[j] * seen[j]
            for t in range(held.size[i]):
                e *= exps[held.which[i, t], j]
            without = e / inward
            total += (y[j] - e / (1.0 + e)) * effect[k, j]
            total -= (y[j] - without / (1.0 + without)) * (effect[k, j] - w[k, k])
        mark(links, i, y, 0.0)
    return total
