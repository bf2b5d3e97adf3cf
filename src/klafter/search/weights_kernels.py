"""Weights in descent: one community's by Newton steps along lines, and the slopes of all for the joint step."""

from typing import NamedTuple

import numpy as np

from klafter.core.families import BERNOULLI, curvature, slope
from klafter.core.kernel import inlined, inner, kernel
from klafter.core.lines import Axis, line_fall, minimise_line, new_line, put
from klafter.core.problem import BOUND
from klafter.core.responses import CLIP
from klafter.core.rows import load_row, mark, row_loss
from klafter.core.view import SAFE, refresh_column

NEWTON_STEPS = 3


class Lists(NamedTuple):
    """Z as lists: the members of each community and the communities of each node."""

    members: np.ndarray  # (K, n), the first size[k] entries count
    own: np.ndarray  # (n, K), the first n_own[i] entries count
    n_own: np.ndarray


@inner
def list_members(view):
    """Z as lists."""
    n_communities, n = view.z.shape
    members, size = np.empty((n_communities, n), np.int32), 0
    own, n_own = np.empty((n, n_communities), np.int32), np.zeros(n, np.int64)
    for k in range(n_communities):
        size = 0
        for i in range(n):
            if view.z[k, i]:
                members[k, size] = i
                size += 1
                own[i, n_own[i]] = k
                n_own[i] += 1
    return Lists(members, own, n_own)


@inner
def new_scratch(n):
    """Marks of one node's links and hidden dyads, and its covariates' part of x."""
    return np.zeros(n), np.zeros(n), np.zeros(n)


@inlined
def add_covariates(covariates, which, coefficients, i, extra, wipe):
    """extra_j += g' v_ij, or wiped out again."""
    start, node, value = covariates
    for t in range(start[i], start[i + 1]):
        j = node[t]
        extra[j] = 0.0 if wipe else extra[j] + coefficients[which[t]] * value[t]


@inner
def gather_block(view, lists, k, m, line, scratch):
    """The dyads that w_km reaches: i in k, j in m. An undirected pair that is in both, both ways, counts c = 2."""
    z, directed, size = view.z, view.directed, 0
    marks, hidden, extra = scratch
    links_out, hidden_out = view.links_out, view.hidden_out
    covariates, which, coefficients = view.covariates_out, view.which_out, view.coefficients
    pull, exps, reaches, n_own = view.pull_out, view.exp_out, view.reach, lists.n_own
    members, own = lists.members, lists.own
    sender, receiver, exp_sender, exp_receiver = view.sender, view.receiver, view.exp_sender, view.exp_receiver
    base, exp_base = view.offset[0], np.exp(view.offset[0])
    for s in range(view.size[k]):
        i = members[k, s]
        mark(links_out, i, marks, 1.0)
        mark(hidden_out, i, hidden, 1.0)
        add_covariates(covariates, which, coefficients, i, extra, False)
        constant, factor = base + sender[i], exp_base * exp_sender[i]
        reach = 0.0 if coefficients.size == 0 else np.inf
        for t in range(n_own[i]):
            reach += reaches[own[i, t]]
        for u in range(view.size[m]):
            j = members[m, u]
            if j == i or hidden[j] != 0.0:
                continue
            c = 1.0
            if not directed and (k == m or (z[m, i] and z[k, j])):
                if j < i:  # the pair was met from its other end
                    continue
                c = 1.0 if k == m else 2.0
            x, e = constant + receiver[j] + extra[j], factor * exp_receiver[j]
            for t in range(n_own[i]):
                x += pull[own[i, t], j]
                e *= exps[own[i, t], j]
            put(line, size, x, e if reach <= SAFE else np.exp(min(max(x, -CLIP), CLIP)), marks[j], c)
            size += 1
        mark(links_out, i, marks, 0.0)
        mark(hidden_out, i, hidden, 0.0)
        add_covariates(covariates, which, coefficients, i, extra, True)
    return size


@inner
def shift_weight(view, k, m, delta):
    """w_km += delta, and the pulls with it."""
    factor = np.exp(delta)
    view.w[k, m] += delta
    view.reach[k] += abs(delta)
    shift_pulls(view.z, view.pull_out, view.exp_out, k, m, delta, factor)
    if view.directed:
        view.reach[m] += abs(delta)
        shift_pulls(view.z, view.pull_in, view.exp_in, m, k, delta, factor)
    elif k != m:
        view.w[m, k] += delta
        view.reach[m] += abs(delta)
        shift_pulls(view.z, view.pull_out, view.exp_out, m, k, delta, factor)


@inner
def shift_pulls(z, pull, exps, k, m, delta, factor):
    """The pulls of k by the members of m."""
    for j in range(z.shape[1]):
        if z[m, j]:
            pull[k, j] += delta
            exps[k, j] *= factor


@inner
def longest_line(view):
    """Room for the dyads of the largest block."""
    largest = 1
    for size in view.size:
        largest = max(largest, size)
    return new_line(largest * largest)


@inner
def fit_weight(view, lists, k, m, line, scratch):
    """Minimise Q over w_km; returns its fall."""
    size = gather_block(view, lists, k, m, line, scratch)
    precision = view.priors.diagonal if k == m else view.priors.offdiagonal
    axis = Axis(view.w[k, m], precision, view.lower, BOUND)
    delta = minimise_line(view.law, line, size, axis, NEWTON_STEPS)
    if delta == 0.0:
        return 0.0
    shift_weight(view, k, m, delta)
    return line_fall(view.law, line, size, axis, delta)


@kernel
def fit_column(view, k, diagonal_only):
    """Minimise Q over the weights of community k, one after the other; returns its fall."""
    lists, line, scratch = list_members(view), longest_line(view), new_scratch(view.n)
    fall = fit_weight(view, lists, k, k, line, scratch)
    if not diagonal_only:
        for m in range(view.z.shape[0]):
            if m != k and view.size[m] > 0:
                fall += fit_weight(view, lists, k, m, line, scratch)
                if view.directed:
                    fall += fit_weight(view, lists, m, k, line, scratch)
    refresh_column(view, k)
    return fall


@kernel
def sum_slopes(view):
    """Loss, and sums of its slope and curvature over the observed dyads of each community and node, of each node, and
    of each covariate: (K, n), (n,), (n,), (p,). An undirected pair is met from both ends, except in the loss."""
    n, k, q = view.n, view.z.shape[0], view.coefficients.size
    z, row, y = view.z, view.out, np.zeros(n)
    covariates, which = view.covariates_out, view.which_out
    first, second = np.empty(n), np.empty(n)
    slopes, by_sender, by_receiver, by_covariate = np.zeros((k, n)), np.zeros(n), np.zeros(n), np.zeros(q)
    bends, sender_bends, receiver_bends, covariate_bends = np.zeros((k, n)), np.zeros(n), np.zeros(n), np.zeros(q)
    total = 0.0
    for i in range(n):
        load_row(view, i, row)
        mark(view.links_out, i, y, 1.0)
        total += row_loss(view.law, row, view.links_out, i)
        if view.law.code == BERNOULLI:  # e^x is there already
            for j in range(n):
                p = row.e[j] / (1.0 + row.e[j])
                first[j] = p - row.seen[j] * y[j]
                second[j] = p * (1.0 - p)
        else:
            for j in range(n):
                first[j] = row.seen[j] * slope(view.law, y[j], row.x[j])
                second[j] = row.seen[j] * curvature(view.law, y[j], row.x[j])
        mark(view.links_out, i, y, 0.0)
        for j in range(n):
            by_sender[i] += first[j]
            sender_bends[i] += second[j]
            by_receiver[j] += first[j]
            receiver_bends[j] += second[j]
        for m in range(k):
            if z[m, i]:
                for j in range(n):
                    slopes[m, j] += first[j]
                    bends[m, j] += second[j]
        for t in range(covariates.start[i], covariates.start[i + 1]):
            v, j = covariates.value[t], covariates.node[t]
            by_covariate[which[t]] += v * first[j]
            covariate_bends[which[t]] += v * v * second[j]
    if not view.directed:
        total /= 2
    first_sums = (slopes, by_sender, by_receiver, by_covariate)
    return total, first_sums, (bends, sender_bends, receiver_bends, covariate_bends)
