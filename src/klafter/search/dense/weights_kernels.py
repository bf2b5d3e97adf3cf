"""Weights in descent: one community's by Newton steps along lines, and the slopes of all for the joint step."""

from typing import NamedTuple

import numpy as np

from klafter.core import dyad_block as blocks
from klafter.core.bernoulli_gradient import add, list_held, sum_bends
from klafter.core.exp_predictor import has_odds
from klafter.core.families import BERNOULLI, EXPOSURE, GAUSSIAN, curvature, slope
from klafter.core.line_search import Axis, minimise_line, new_line
from klafter.core.problem import BOUND
from klafter.core.responses import CLIP
from klafter.core.rows import load_row, load_tail, mark, row_loss
from klafter.core.workspace import list_members, refresh_column, refresh_columns
from klafter.jit.decorators import bare, inner, kernel

NEWTON_STEPS = 3


@bare
def fit_weight(view, members, block, incoming, k, m, line):
    """Minimise Q over w_km, or w_mk where the block is of incoming dyads; returns its fall."""
    row, column = (m, k) if incoming else (k, m)
    span = blocks.gather_block(view, members, block, incoming, k, m, line)
    precision = view.priors.diagonal if k == m else view.priors.offdiagonal
    axis = Axis(view.w[row, column], precision, view.lower, BOUND)
    delta, fall = minimise_line(view.law, line, span, axis, NEWTON_STEPS)
    if delta != 0.0:
        blocks.shift_weight(view, members, row, column, delta)
        blocks.shift_block(view, members, block, k, m, delta)
    return fall


@kernel
def fit_column(view, k, diagonal_only):
    """Minimise Q over the weights of community k, one after the other; returns its fall."""
    members = list_members(view)
    largest = view.size[k] if diagonal_only else blocks.largest_size(view)
    block = blocks.new_block(view.size[k], view.n)
    return fit_entries(view, k, diagonal_only, members, block, new_line(view.size[k] * largest))


@bare
def fit_entries(view, k, diagonal_only, members, block, line):
    fall = 0.0
    for incoming in range(2 if view.directed and not diagonal_only else 1):
        blocks.load_block(view, members, k, incoming == 1, block)
        if not incoming:
            fall += fit_weight(view, members, block, False, k, k, line)
        for m in range(view.z.shape[0]):
            if not diagonal_only and m != k and view.size[m] > 0:
                fall += fit_weight(view, members, block, incoming == 1, k, m, line)
    refresh_column(view, k)
    return fall


class Sums(NamedTuple):
    """A derivative of the loss summed over dyads, an undirected pair once, met from its lower end."""

    pulls: np.ndarray  # (K, n): over the dyads of each community's members with each node
    senders: np.ndarray  # (n,)
    receivers: np.ndarray  # (n,)
    coefficients: np.ndarray  # (p,), each dyad times its covariate


@inner
def new_sums(view):
    k, n, p = view.z.shape[0], view.n, view.coefficients.size
    return Sums(np.zeros((k, n)), np.zeros(n), np.zeros(n), np.zeros(p))


@bare
def add_row(view, i, begin, values, power, sums):
    """Add a derivative of node i's dyads with nodes from ``begin`` on; covariates count to the power."""
    total, receivers = 0.0, sums.receivers[begin:]
    for j in range(values.size):
        total += values[j]
        receivers[j] += values[j]
    sums.senders[i] += total
    for k in range(view.z.shape[0]):
        if view.z[k, i]:
            add(sums.pulls[k, begin:], values)
    covariates, which = view.covariates_out, view.which_out
    for t in range(covariates.start[i], covariates.start[i + 1]):
        j = covariates.node[t]
        if j >= begin:
            sums.coefficients[which[t]] += covariates.value[t] ** power * values[j - begin]


@inner
def as_vector(view, members, sums):
    """What each free parameter collects, in the order of ``pack``."""
    vector = np.empty(n_free(view))
    collect(view, members, sums, vector)
    return vector


@bare
def n_free(view):
    """How many parameters are free."""
    n_communities, n = view.z.shape[0], view.n
    size = n_communities**2 if view.directed else n_communities * (n_communities + 1) // 2
    social = (2 * n if view.directed else n) if view.has_sociality else 0
    return size + (1 if view.has_offset else 0) + social + view.coefficients.size


@bare
def collect(view, members, sums, vector):
    sizes, directed, n_communities, n = view.size, view.directed, view.z.shape[0], view.n
    t = 0
    for k in range(n_communities):
        for m in range(0 if directed else k, n_communities):
            total = 0.0
            for s in range(sizes[m]):
                total += sums.pulls[k, members[m, s]]
            if not directed and k != m:
                for s in range(sizes[k]):
                    total += sums.pulls[m, members[k, s]]
            vector[t] = total
            t += 1
    if view.has_offset:
        vector[t] = 0.0
        for i in range(n):
            vector[t] += sums.senders[i]
        t += 1
    if view.has_sociality:
        for i in range(n):
            vector[t + i] = sums.senders[i]
            if directed:
                vector[t + n + i] = sums.receivers[i]
            else:
                vector[t + i] += sums.receivers[i]
        t += 2 * n if directed else n
    for p in range(sums.coefficients.size):
        vector[t + p] = sums.coefficients[p]


@kernel
def derivatives(view, bend):
    """The loss, its slope in every free parameter and, where ``bend`` is set, its curvature along each."""
    slopes, bends, members, room = new_sums(view), new_sums(view), list_members(view), np.zeros((3, view.n))
    total = sum_derivatives(view, bend, slopes, bends, room, True)
    slope_vector = as_vector(view, members, slopes)
    return total, slope_vector, as_vector(view, members, bends) if bend else slope_vector


@kernel
def evidence(view, among):
    """T/2 sum of log(1 + curvature / precision) over the weights that touch the communities that are marked.

    What Laplace's method charges for weights that are free: Q is a mode and gives every further weight away, so a move
    that adds communities must also pay for the weights that they bring.
    """
    if view.priors.temperature == 0.0 or not among.any():
        return 0.0
    members, bends = list_members(view), new_sums(view)
    if has_odds(view):
        sum_bends(view, list_held(view), bends.pulls, view.out.e)
    else:
        sum_derivatives(view, True, new_sums(view), bends, np.zeros((3, view.n)), view.law.code == EXPOSURE)
    curvatures = as_vector(view, members, bends)
    return sum_evidence(view, among, curvatures)


@bare
def sum_evidence(view, among, curvatures):
    total, t = 0.0, 0
    for k in range(view.z.shape[0]):
        for m in range(0 if view.directed else k, view.z.shape[0]):
            if among[k] or among[m]:
                precision = view.priors.diagonal if m == k else view.priors.offdiagonal
                total += np.log1p(curvatures[t] / precision)
            t += 1
    return 0.5 * view.priors.temperature * total


@bare
def sum_derivatives(view, bend, slopes, bends, room, linked):
    """Add up both derivatives over all dyads; returns the loss. Of the room the last row is zeros.

    Where nothing is ``linked`` all dyads count as non-links: ``add_links`` knows the rest.
    """
    row, law, links, marks, total = view.out, view.law, view.links_out, room[2], 0.0
    for i in range(view.n):
        begin = 0 if view.directed else i + 1
        load_tail(view, i, row, begin)
        total += row_loss(law, row, links, i, begin) if linked else row.base[0]
        first, second = room[0, begin:], room[1, begin:]
        if linked:
            mark(links, i, marks, 1.0)
        row_derivatives(law, row, marks, begin, first, second[: second.size if bend else 0], linked)
        if linked:
            mark(links, i, marks, 0.0)
        add_row(view, i, begin, first, 1, slopes)
        if bend:
            add_row(view, i, begin, second, 2, bends)
    return total


@bare
def row_derivatives(law, row, y, begin, first, second, linked):
    """Slope and, where there is room, curvature of the loss of a row's dyads from ``begin`` on, 0 if not observed."""
    x, e, seen, y = row.x[begin:], row.e[begin:], row.seen[begin:], y[begin:]
    if law.code == BERNOULLI:  # e^x is there already
        for j in range(y.size):
            first[j] = e[j] / (1.0 + e[j])
        for j in range(second.size):
            second[j] = first[j] * (1.0 - first[j])
        for j in range(y.size if linked else 0):
            first[j] -= y[j]
    else:
        for j in range(y.size):
            first[j] = seen[j] * slope(law, y[j], x[j])
        for j in range(second.size):
            second[j] = seen[j] * curvature(law, y[j], x[j])


@bare
def add_links(view, sums):
    """What links add to the slopes of non-links, y times a constant: not for the exposure link.

    loss(y, x) - loss(0, x) is -y x, up to a term in y and times the precision, if any: linear in all parameters.
    """
    links, z, scale = view.links_out, view.z, view.law.precision if view.law.code == GAUSSIAN else 1.0
    for i in range(view.n):
        for t in range(links.start[i], links.start[i + 1]):
            j, y = links.node[t], scale * links.value[t]
            if view.directed or j > i:
                sums.senders[i] -= y
                sums.receivers[j] -= y
                for k in range(z.shape[0]):
                    if z[k, i]:
                        sums.pulls[k, j] -= y


@inner
def column_evidence(view, k):
    """T/2 sum of log(1 + curvature / precision) over the weights of community k, from the dyads of its members.

    The part of ``evidence`` that a birth brings.
    """
    if view.priors.temperature == 0.0:
        return 0.0
    bends = np.zeros((2 if view.directed else 1, view.z.shape[0]))
    add_bends(view, k, bends, np.zeros((3, view.n)))
    total = 0.0
    for side in range(bends.shape[0]):
        for m in range(bends.shape[1]):
            precision = view.priors.diagonal if m == k else view.priors.offdiagonal
            total += np.log1p(bends[side, m] / precision)
    return 0.5 * view.priors.temperature * total


@bare
def add_bends(view, k, bends, room):
    """Curvatures of the loss along w_km and, where directed, along w_mk for every m (w_kk once)."""
    first, second, y, z = room[0], room[1], room[2], view.z
    for side in range(bends.shape[0]):
        row, links = (view.into, view.links_in) if side else (view.out, view.links_out)
        for i in range(view.n):
            if not z[k, i]:
                continue
            load_row(view, i, row)
            mark(links, i, y, 1.0)
            row_derivatives(view.law, row, y, 0, first, second, True)
            mark(links, i, y, 0.0)
            for m in range(z.shape[0]):
                if side and m == k:
                    continue
                for j in range(second.size):
                    bends[side, m] += second[j] * z[m, j]
    if not view.directed:
        bends[0, k] *= 0.5


@kernel
def place(view, theta):
    """Give every free parameter its value, in the order of ``pack``."""
    spread(view, theta, list_members(view))


@bare
def spread(view, theta, members):
    t = 0
    for k in range(view.z.shape[0]):
        for m in range(0 if view.directed else k, view.z.shape[0]):
            view.w[k, m] = theta[t]
            if not view.directed:
                view.w[m, k] = theta[t]
            t += 1
    if view.has_offset:
        view.offset[0] = theta[t]
        t += 1
    for side in range(2 if view.directed else 1):
        values, exps = (view.receiver, view.exp_receiver) if side else (view.sender, view.exp_sender)
        for i in range(view.n if view.has_sociality else 0):
            values[i] = theta[t]
            exps[i] = np.exp(min(max(values[i], -CLIP), CLIP))
            t += 1
    for p in range(view.coefficients.size):
        view.coefficients[p] = theta[t + p]
    refresh_columns(view, members)


@bare
def gather(view, theta):
    """The value of every free parameter, in the order of ``pack``."""
    t = 0
    for k in range(view.z.shape[0]):
        for m in range(0 if view.directed else k, view.z.shape[0]):
            theta[t] = view.w[k, m]
            t += 1
    if view.has_offset:
        theta[t] = view.offset[0]
        t += 1
    for side in range(2 if view.directed else 1):
        values = view.receiver if side else view.sender
        for i in range(view.n if view.has_sociality else 0):
            theta[t] = values[i]
            t += 1
    for p in range(view.coefficients.size):
        theta[t + p] = view.coefficients[p]
