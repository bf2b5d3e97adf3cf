"""Growth: a community that links inside only is fitted and revised from the dyads of its members alone.

Its weight w_kk enters no other dyads, so a candidate costs its links and members times members, whatever n is.
"""

from typing import NamedTuple

import numpy as np

from klafter.core.cover_price import membership_price, set_membership
from klafter.core.line_search import Axis, Span, line_loss, minimise_line, new_line, put
from klafter.core.problem import BOUND
from klafter.core.responses import CLIP
from klafter.core.rows import mark
from klafter.core.workspace import SAFE, refresh_column
from klafter.jit.decorators import bare, inner
from klafter.search.dense.flip_kernels import TINY_GAIN
from klafter.search.dense.weights_kernels import NEWTON_STEPS


class Scratch(NamedTuple):
    """Where ``gather_dyads`` unfolds what is known of a node; it leaves the first two as it found them."""

    y: np.ndarray  # (n,) of zeros
    extra: np.ndarray  # (n,) of zeros
    mine: np.ndarray  # (K,) int64


@inner
def new_scratch(ws):
    return Scratch(np.zeros(ws.n), np.zeros(ws.n), np.empty(ws.z.shape[0], np.int64))


@bare
def gather_dyads(ws, i, k, others, begin, end, shift, scratch, line, span):
    """Add to the line node i's observed dyads with others[begin:end]: x without community k, plus the shift."""
    law, z, coefficients = ws.law, ws.z, ws.coefficients
    y, extra, mine = scratch
    n_mine, max_effect = 0, 0.0
    for m in range(z.shape[0]):
        if z[m, i] and m != k:
            mine[n_mine] = m
            n_mine += 1
            max_effect += ws.max_effect[m]
    safe = max_effect + abs(shift) <= SAFE and coefficients.size == 0
    size, linear = span.size, span.linear
    for side in range(2 if ws.directed else 1):
        links, seen, effect, exps = ws.links_out, ws.seen_out[i], ws.effect_out, ws.exp_out
        covariates, which = ws.covariates_out, ws.which_out
        own, other, exp_own, exp_other = ws.sender, ws.receiver, ws.exp_sender, ws.exp_receiver
        if side == 1:
            links, seen, effect, exps = ws.links_in, ws.seen_in[i], ws.effect_in, ws.exp_in
            covariates, which = ws.covariates_in, ws.which_in
            own, other, exp_own, exp_other = ws.receiver, ws.sender, ws.exp_receiver, ws.exp_sender
        mark(links, i, y, 1.0)
        for t in range(covariates.start[i], covariates.start[i + 1]):
            extra[covariates.node[t]] += coefficients[which[t]] * covariates.value[t]
        constant = ws.offset[0] + own[i] + shift
        factor = np.exp(ws.offset[0] + shift) * exp_own[i]
        for u in range(begin, end):
            j = others[u]
            if not seen[j]:
                continue
            if law.logistic and safe:
                e = factor * exp_other[j]
                for t in range(n_mine):
                    e *= exps[mine[t], j]
                line.e[size] = e
            else:
                x = constant + other[j] + extra[j]
                for t in range(n_mine):
                    x += effect[mine[t], j]
                e = np.exp(min(max(x, -CLIP), CLIP)) if law.logistic or law.exponential else 0.0
                put(line, size, x, e, y[j], 1.0)
            linear += y[j]
            size += 1
        mark(links, i, y, 0.0)
        for t in range(covariates.start[i], covariates.start[i + 1]):
            extra[covariates.node[t]] = 0.0
    return Span(size, size, linear)


@inner
def fit_inside(ws, k, members, size, scratch):
    """Minimise Q over w_kk; returns its fall."""
    line = new_line(size * (size - 1) // 2 * (2 if ws.directed else 1))
    span = Span(0, 0, 0.0)
    for s in range(size):
        span = gather_dyads(ws, members[s], k, members, s + 1, size, ws.w[k, k], scratch, line, span)
    axis = Axis(ws.w[k, k], ws.priors.diagonal, ws.lower, BOUND)
    delta, fall = minimise_line(ws.law, line, span, axis, NEWTON_STEPS)
    ws.w[k, k] += delta
    return fall


@bare
def mark_near(ws, members, size, near):
    """Mark the members and the nodes linked to them."""
    for s in range(size):
        i = members[s]
        near[i] = 1
        for side in range(2 if ws.directed else 1):
            links = ws.links_in if side else ws.links_out
            for t in range(links.start[i], links.start[i + 1]):
                near[links.node[t]] = 1


@bare
def add_linked(ws, i, sign, linked):
    """Add node i's links, or take them away again, to what each other node has with the members."""
    for side in range(2 if ws.directed else 1):
        links = ws.links_in if side else ws.links_out
        for t in range(links.start[i], links.start[i + 1]):
            linked[links.node[t]] += sign * links.value[t]


@bare
def revise_inside(ws, k, members, size, near, linked, scratch, line):
    """Flip z_ik of every marked node where Q falls; the community is never emptied. Returns its size and the fall.

    Where a non-link only loses by w_kk > 0, who joins gains no more than w_kk times the links with members.
    """
    n, z, w, law, total = ws.n, ws.z, ws.w[k, k], ws.law, 0.0
    begin = np.int64(0)  # a literal would compile the callee twice
    bounded = w > 0.0 and law.linear_links and (law.logistic or law.exponential)
    linked[:] = 0.0
    for s in range(size if bounded else 0):
        add_linked(ws, members[s], 1.0, linked)
    for i in range(n):
        if not near[i] or (z[k, i] and size == 1):
            continue
        inside = np.int64(z[k, i])
        if bounded and not inside and w * linked[i] - membership_price(ws, i, k) <= TINY_GAIN:
            continue
        span = gather_dyads(ws, i, k, members, begin, size, w * inside, scratch, line, Span(0, 0, 0.0))
        d = 1 - 2 * inside
        gain = line_loss(law, line, span, 0.0) - line_loss(law, line, span, d * w)
        gain -= d * membership_price(ws, i, k)
        if gain <= TINY_GAIN:
            continue
        total += gain
        set_membership(ws, i, k, 1 - z[k, i])
        if bounded:
            add_linked(ws, i, 1.0 * d, linked)
        if inside:
            at = 0
            while members[at] != i:
                at += 1
            members[at] = members[size - 1]
        else:
            members[size] = i
        size += d
    return size, total


@inner
def grow_inside(ws, k, price, sweeps):
    """Fit w_kk and revise the members of k in turn; returns the fall of Q since k was empty.

    The effects of k are brought up to date only where Q fell: of a community that fails they are cleared anyway.
    """
    n = ws.n
    members, size, at = np.empty(n, np.int64), ws.size[k], 0
    scratch, line, linked = new_scratch(ws), new_line(2 * n), np.empty(n)
    for i in range(n):
        if ws.z[k, i]:
            members[at] = i
            at += 1
    gain = -price
    for left in range(sweeps - 1, -1, -1):
        before = gain
        near = np.zeros(n, np.uint8)
        gain += fit_inside(ws, k, members, size, scratch)
        mark_near(ws, members, size, near)
        size, step = revise_inside(ws, k, members, size, near, linked, scratch, line)
        gain += step
        if step == 0.0 or gain + left * (gain - before) < 0.0:
            break
    if gain > 0.0:
        refresh_column(ws, k)
    return gain
