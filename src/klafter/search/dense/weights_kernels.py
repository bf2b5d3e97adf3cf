"""Weights in descent: one community's by Newton steps along lines, and the slopes of all for the joint step."""

from typing import NamedTuple

import numpy as np

from klafter.core import dyad_block as blocks
from klafter.core.bernoulli_gradient import add, list_held, sum_curvatures
from klafter.core.exp_predictor import all_exp_safe
from klafter.core.families import curvature, slope
from klafter.core.line_search import Axis, minimise_line, new_line
from klafter.core.problem import BOUND
from klafter.core.responses import CLIP
from klafter.core.rows import load_row, load_tail, mark, row_loss
from klafter.core.workspace import list_members, refresh_column, refresh_columns
from klafter.jit.decorators import bare, inner, kernel

NEWTON_STEPS = 3  # along one convex line: the next sweep comes back to it


@bare
def fit_weight(ws, members, block, incoming, k, m, line):
    """Minimise Q over w_km, or w_mk where the block is of incoming dyads; returns its fall."""
    row, column = (m, k) if incoming else (k, m)
    span = blocks.gather_block(ws, members, block, incoming, k, m, line)
    precision = ws.priors.diagonal if k == m else ws.priors.offdiagonal
    axis = Axis(ws.w[row, column], precision, ws.lower, BOUND)
    delta, fall = minimise_line(ws.law, line, span, axis, NEWTON_STEPS)
    if delta != 0.0:
        blocks.shift_weight(ws, members, row, column, delta)
        blocks.shift_block(ws, members, block, k, m, delta)
    return fall


@kernel
def fit_column(ws, k, diagonal_only):
    """Minimise Q over the weights of community k, one after the other; returns its fall."""
    members = list_members(ws)
    largest = ws.size[k] if diagonal_only else blocks.largest_size(ws)
    block = blocks.new_block(ws.size[k], ws.n)
    return fit_entries(ws, k, diagonal_only, members, block, new_line(ws.size[k] * largest))


@bare
def fit_entries(ws, k, diagonal_only, members, block, line):
    fall = 0.0
    for incoming in range(2 if ws.directed and not diagonal_only else 1):
        blocks.load_block(ws, members, k, incoming == 1, block)
        if not incoming:
            fall += fit_weight(ws, members, block, False, k, k, line)
        for m in range(ws.z.shape[0]):
            if not diagonal_only and m != k and ws.size[m] > 0:
                fall += fit_weight(ws, members, block, incoming == 1, k, m, line)
    refresh_column(ws, k)
    return fall


class Sums(NamedTuple):
    """A derivative of the loss summed over dyads, an undirected pair once, met from its lower end."""

    effects: np.ndarray  # (K, n): over the dyads of each community's members with each node
    senders: np.ndarray  # (n,)
    receivers: np.ndarray  # (n,)
    coefficients: np.ndarray  # (p,), each dyad times its covariate


@inner
def new_sums(ws):
    k, n, p = ws.z.shape[0], ws.n, ws.coefficients.size
    return Sums(np.zeros((k, n)), np.zeros(n), np.zeros(n), np.zeros(p))


@bare
def add_row(ws, i, begin, values, power, sums):
    """Add a derivative of node i's dyads with nodes from ``begin`` on; covariates count to the power."""
    total, receivers = 0.0, sums.receivers[begin:]
    for j in range(values.size):
        total += values[j]
        receivers[j] += values[j]
    sums.senders[i] += total
    for k in range(ws.z.shape[0]):
        if ws.z[k, i]:
            add(sums.effects[k, begin:], values)
    covariates, which = ws.covariates_out, ws.which_out
    for t in range(covariates.start[i], covariates.start[i + 1]):
        j = covariates.node[t]
        if j >= begin:
            sums.coefficients[which[t]] += covariates.value[t] ** power * values[j - begin]


@inner
def as_vector(ws, members, sums):
    """What each free parameter collects, in the order of ``pack``."""
    vector = np.empty(n_free(ws))
    collect(ws, members, sums, vector)
    return vector


@bare
def n_free(ws):
    """How many parameters are free."""
    n_communities, n = ws.z.shape[0], ws.n
    size = n_communities**2 if ws.directed else n_communities * (n_communities + 1) // 2
    social = (2 * n if ws.directed else n) if ws.has_sociality else 0
    return size + (1 if ws.has_offset else 0) + social + ws.coefficients.size


@bare
def collect(ws, members, sums, vector):
    sizes, directed, n_communities, n = ws.size, ws.directed, ws.z.shape[0], ws.n
    t = 0
    for k in range(n_communities):
        for m in range(0 if directed else k, n_communities):
            total = 0.0
            for s in range(sizes[m]):
                total += sums.effects[k, members[m, s]]
            if not directed and k != m:
                for s in range(sizes[k]):
                    total += sums.effects[m, members[k, s]]
            vector[t] = total
            t += 1
    if ws.has_offset:
        vector[t] = 0.0
        for i in range(n):
            vector[t] += sums.senders[i]
        t += 1
    if ws.has_sociality:
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
def derivatives(ws, with_curvature):
    """The loss, its slope in every free parameter and, where ``bend`` is set, its curvature along each."""
    slopes, curvatures, members, scratch = new_sums(ws), new_sums(ws), list_members(ws), np.zeros((3, ws.n))
    total = sum_derivatives(ws, with_curvature, slopes, curvatures, scratch, True)
    slope_vector = as_vector(ws, members, slopes)
    return total, slope_vector, as_vector(ws, members, curvatures) if with_curvature else slope_vector


@kernel
def laplace_evidence(ws):
    """T/2 sum of log(1 + curvature / precision) over all free parameters, those of empty communities left out.

    Q is a mode and gives every further parameter away; integrated out, each costs what it was free to do.
    """
    if ws.priors.temperature == 0.0:
        return 0.0
    members, curvatures = list_members(ws), new_sums(ws)
    if all_exp_safe(ws):
        sum_curvatures(ws, list_held(ws), curvatures, ws.out.e)
    else:
        sum_derivatives(ws, True, new_sums(ws), curvatures, np.zeros((3, ws.n)), not ws.law.linear_links)
    vector = as_vector(ws, members, curvatures)
    return sum_evidence(ws, vector, np.empty(vector.size))


@bare
def sum_evidence(ws, curvatures, precisions):
    total = 0.0
    fill_precisions(ws, precisions)
    for t in range(curvatures.size):
        total += np.log1p(curvatures[t] / precisions[t])
    return 0.5 * ws.priors.temperature * total


@bare
def fill_precisions(ws, precisions):
    """The precision of every free parameter's prior, in the order of ``gather``."""
    priors, t = ws.priors, 0
    for k in range(ws.z.shape[0]):
        for m in range(0 if ws.directed else k, ws.z.shape[0]):
            precisions[t] = priors.diagonal if k == m else priors.offdiagonal
            t += 1
    if ws.has_offset:
        precisions[t] = priors.offset
        t += 1
    rest = precisions[t:]
    for u in range(rest.size):
        rest[u] = priors.coefficient if u >= rest.size - ws.coefficients.size else priors.sociality


@bare
def sum_derivatives(ws, with_curvature, slopes, curvatures, scratch, linked):
    """Add up both derivatives over all dyads; returns the loss. The last row of the scratch space is zeros.

    Where nothing is ``linked`` all dyads count as non-links: ``add_links`` adds the rest.
    """
    row, law, links, marks, total = ws.out, ws.law, ws.links_out, scratch[2], 0.0
    for i in range(ws.n):
        begin = 0 if ws.directed else i + 1
        load_tail(ws, i, row, begin)
        total += row_loss(law, row, links, i, begin) if linked else row.base[0]
        first, second = scratch[0, begin:], scratch[1, begin:]
        if linked:
            mark(links, i, marks, 1.0)
        row_derivatives(law, row, marks, begin, first, second[: second.size if with_curvature else 0], linked)
        if linked:
            mark(links, i, marks, 0.0)
        add_row(ws, i, begin, first, 1, slopes)
        if with_curvature:
            add_row(ws, i, begin, second, 2, curvatures)
    return total


@bare
def row_derivatives(law, row, y, begin, first, second, linked):
    """Slope and, where there is space, curvature of the loss of a row's dyads from ``begin`` on, 0 if not observed."""
    x, e, seen, y = row.x[begin:], row.e[begin:], row.seen[begin:], y[begin:]
    if law.logistic:  # e^x is there already
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
def add_links(ws, sums):
    """What links add to the slopes of non-links where the family has ``linear_links``: y times a constant.

    loss(y, x) - loss(0, x) is -y x, up to a term in y and times the precision, if any: linear in all parameters.
    """
    links, z, scale = ws.links_out, ws.z, ws.law.precision if ws.law.quadratic else 1.0
    for i in range(ws.n):
        for t in range(links.start[i], links.start[i + 1]):
            j, y = links.node[t], scale * links.value[t]
            if ws.directed or j > i:
                sums.senders[i] -= y
                sums.receivers[j] -= y
                for k in range(z.shape[0]):
                    if z[k, i]:
                        sums.effects[k, j] -= y


@inner
def column_evidence(ws, k):
    """T/2 sum of log(1 + curvature / precision) over the weights of community k, from the dyads of its members.

    The part of ``evidence`` that a birth brings.
    """
    if ws.priors.temperature == 0.0:
        return 0.0
    curvatures = np.zeros((2 if ws.directed else 1, ws.z.shape[0]))
    add_curvatures(ws, k, curvatures, np.zeros((3, ws.n)))
    total = 0.0
    for side in range(curvatures.shape[0]):
        for m in range(curvatures.shape[1]):
            precision = ws.priors.diagonal if m == k else ws.priors.offdiagonal
            total += np.log1p(curvatures[side, m] / precision)
    return 0.5 * ws.priors.temperature * total


@bare
def add_curvatures(ws, k, curvatures, scratch):
    """Curvatures of the loss along w_km and, where directed, along w_mk for every m (w_kk once)."""
    first, second, y, z = scratch[0], scratch[1], scratch[2], ws.z
    for side in range(curvatures.shape[0]):
        row, links = (ws.into, ws.links_in) if side else (ws.out, ws.links_out)
        for i in range(ws.n):
            if not z[k, i]:
                continue
            load_row(ws, i, row)
            mark(links, i, y, 1.0)
            row_derivatives(ws.law, row, y, 0, first, second, True)
            mark(links, i, y, 0.0)
            for m in range(z.shape[0]):
                if side and m == k:
                    continue
                for j in range(second.size):
                    curvatures[side, m] += second[j] * z[m, j]
    if not ws.directed:
        curvatures[0, k] *= 0.5


@kernel
def place(ws, theta):
    """Give every free parameter its value, in the order of ``pack``."""
    scatter(ws, theta, list_members(ws))


@bare
def scatter(ws, theta, members):
    t = 0
    for k in range(ws.z.shape[0]):
        for m in range(0 if ws.directed else k, ws.z.shape[0]):
            ws.w[k, m] = theta[t]
            if not ws.directed:
                ws.w[m, k] = theta[t]
            t += 1
    if ws.has_offset:
        ws.offset[0] = theta[t]
        t += 1
    for side in range(2 if ws.directed else 1):
        values, exps = (ws.receiver, ws.exp_receiver) if side else (ws.sender, ws.exp_sender)
        for i in range(ws.n if ws.has_sociality else 0):
            values[i] = theta[t]
            exps[i] = np.exp(min(max(values[i], -CLIP), CLIP))
            t += 1
    for p in range(ws.coefficients.size):
        ws.coefficients[p] = theta[t + p]
    refresh_columns(ws, members)


@bare
def gather(ws, theta):
    """The value of every free parameter, in the order of ``pack``."""
    t = 0
    for k in range(ws.z.shape[0]):
        for m in range(0 if ws.directed else k, ws.z.shape[0]):
            theta[t] = ws.w[k, m]
            t += 1
    if ws.has_offset:
        theta[t] = ws.offset[0]
        t += 1
    for side in range(2 if ws.directed else 1):
        values = ws.receiver if side else ws.sender
        for i in range(ws.n if ws.has_sociality else 0):
            theta[t] = values[i]
            t += 1
    for p in range(ws.coefficients.size):
        theta[t + p] = ws.coefficients[p]
