"""Growth: a community that links inside only is fitted and revised from the dyads of its members alone.

Its weight w_kk reaches no other dyads, so a candidate costs its links and members times members, whatever n is.
"""

from typing import NamedTuple

import numpy as np

from klafter.core.families import BERNOULLI, POISSON
from klafter.core.line_search import Axis, Span, line_loss, minimise_line, new_line, put
from klafter.core.problem import BOUND
from klafter.core.responses import CLIP
from klafter.core.rows import mark
from klafter.core.workspace import SAFE, refresh_column
from klafter.jit.decorators import bare, inner
from klafter.search.dense.flip_kernels import TINY_GAIN
from klafter.search.dense.weights_kernels import NEWTON_STEPS


class Room(NamedTuple):
    """Where ``gather_dyads`` unfolds what is known of a node; it leaves the first two as it found them."""

    y: np.ndarray  # (n,) of zeros
    extra: np.ndarray  # (n,) of zeros
    mine: np.ndarray  # (K,) int64


@inner
def new_room(view):
    return Room(np.zeros(view.n), np.zeros(view.n), np.empty(view.z.shape[0], np.int64))


@bare
def gather_dyads(view, i, k, others, begin, end, shift, room, line, span):
    """Add to the line node i's observed dyads with others[begin:end]: x without community k, plus the shift."""
    law, z, coefficients = view.law, view.z, view.coefficients
    y, extra, mine = room
    n_mine, reach = 0, 0.0
    for m in range(z.shape[0]):
        if z[m, i] and m != k:
            mine[n_mine] = m
            n_mine += 1
            reach += view.reach[m]
    safe = reach + abs(shift) <= SAFE and coefficients.size == 0
    size, linear = span.size, span.linear
    for side in range(2 if view.directed else 1):
        links, seen, pull, exps = view.links_out, view.seen_out[i], view.pull_out, view.exp_out
        covariates, which = view.covariates_out, view.which_out
        own, other, exp_own, exp_other = view.sender, view.receiver, view.exp_sender, view.exp_receiver
        if side == 1:
            links, seen, pull, exps = view.links_in, view.seen_in[i], view.pull_in, view.exp_in
            covariates, which = view.covariates_in, view.which_in
            own, other, exp_own, exp_other = view.receiver, view.sender, view.exp_receiver, view.exp_sender
        mark(links, i, y, 1.0)
        for t in range(covariates.start[i], covariates.start[i + 1]):
            extra[covariates.node[t]] += coefficients[which[t]] * covariates.value[t]
        constant = view.offset[0] + own[i] + shift
        factor = np.exp(view.offset[0] + shift) * exp_own[i]
        for u in range(begin, end):
            j = others[u]
            if not seen[j]:
                continue
            if law.code == BERNOULLI and safe:
                e = factor * exp_other[j]
                for t in range(n_mine):
                    e *= exps[mine[t], j]
                line.e[size] = e
            else:
                x = constant + other[j] + extra[j]
                for t in range(n_mine):
                    x += pull[mine[t], j]
                e = np.exp(min(max(x, -CLIP), CLIP)) if law.code == BERNOULLI or law.code == POISSON else 0.0
                put(line, size, x, e, y[j], 1.0)
            linear += y[j]
            size += 1
        mark(links, i, y, 0.0)
        for t in range(covariates.start[i], covariates.start[i + 1]):
            extra[covariates.node[t]] = 0.0
    return Span(size, size, linear)


@inner
def fit_inside(view, k, members, size, room):
    """Minimise Q over w_kk; returns its fall."""
    line = new_line(size * (size - 1) // 2 * (2 if view.directed else 1))
    span = Span(0, 0, 0.0)
    for s in range(size):
        span = gather_dyads(view, members[s], k, members, s + 1, size, view.w[k, k], room, line, span)
    axis = Axis(view.w[k, k], view.priors.diagonal, view.lower, BOUND)
    delta, fall = minimise_line(view.law, line, span, axis, NEWTON_STEPS)
    view.w[k, k] += delta
    return fall


@bare
def mark_near(view, members, size, near):
    """Mark the members and the nodes linked to them."""
    for s in range(size):
        i = members[s]
        near[i] = 1
        for side in range(2 if view.directed else 1):
            links = view.links_in if side else view.links_out
            for t in range(links.start[i], links.start[i + 1]):
                near[links.node[t]] = 1


@bare
def revise_inside(view, k, members, size, near, room, line):
    """Flip z_ik of every marked node where Q falls; the community is never emptied. Returns its size and the fall."""
    n, z, w, law, total = view.n, view.z, view.w[k, k], view.law, 0.0
    begin = np.int64(0)  # a literal would compile the callee twice
    for i in range(n):
        if not near[i] or (z[k, i] and size == 1):
            continue
        inside = np.int64(z[k, i])
        span = gather_dyads(view, i, k, members, begin, size, w * inside, room, line, Span(0, 0, 0.0))
        d = 1 - 2 * inside
        others = size - inside
        gain = line_loss(law, line, span, 0.0) - line_loss(law, line, span, d * w)
        gain -= d * view.priors.temperature * np.log((n - others) / others)
        if gain <= TINY_GAIN:
            continue
        total += gain
        z[k, i] = 1 - z[k, i]
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
def grow_inside(view, k, price, passes):
    """Fit w_kk and revise the members of k in turn; returns the fall of Q since k was empty.

    The pulls of k are brought up to date only where Q fell: of a community that fails they are cleared anyway.
    """
    n = view.n
    members, size, at = np.empty(n, np.int64), view.size[k], 0
    room, line = new_room(view), new_line(2 * n)
    for i in range(n):
        if view.z[k, i]:
            members[at] = i
            at += 1
    gain = -price
    for left in range(passes - 1, -1, -1):
        before = gain
        near = np.zeros(n, np.uint8)
        gain += fit_inside(view, k, members, size, room)
        mark_near(view, members, size, near)
        size, step = revise_inside(view, k, members, size, near, room, line)
        gain += step
        if step == 0.0 or gain + left * (gain - before) < 0.0:
            break
    view.size[k] = size
    if gain > 0.0:
        refresh_column(view, k)
    return gain
