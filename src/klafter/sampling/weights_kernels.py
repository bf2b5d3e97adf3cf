"""Draws of W, sociality, offset and coefficients given the rest: slices along lines, a Metropolis step for b."""

import numpy as np

from klafter.core.families import BERNOULLI, curvature, loss, slope
from klafter.core.kernel import inner, kernel
from klafter.core.lines import Axis, new_line, put, sample_line
from klafter.core.problem import BOUND, FLOOR
from klafter.core.responses import CLIP
from klafter.core.rows import load_row, log_product, mark
from klafter.search.weights_kernels import gather_block, list_members, longest_line, new_scratch, shift_weight

WEIGHT_WIDTH, SOCIAL_WIDTH = 2.0, 1.0  # first interval of the slice sampler


@inner
def draw_affinities(view, rng):
    """Every free entry of W between living communities once."""
    lists, line, scratch = list_members(view), longest_line(view), new_scratch(view.n)
    for k in range(view.z.shape[0]):
        for m in range(0 if view.directed else k, view.z.shape[0]):
            if view.size[k] > 0 and view.size[m] > 0:
                size = gather_block(view, lists, k, m, line, scratch)
                precision = view.priors.diagonal if k == m else view.priors.offdiagonal
                axis = Axis(view.w[k, m], precision, view.lower, BOUND)
                shift_weight(view, k, m, sample_line(view.law, line, size, axis, WEIGHT_WIDTH, rng))


@inner
def gather_row(row, y, line):
    """The observed dyads of a row."""
    size = 0
    for j in range(row.x.size):
        if row.seen[j] != 0.0:
            put(line, size, row.x[j], row.e[j], y[j], 1.0)
            size += 1
    return size


@inner
def draw_sociality(view, rng):
    """Every s_i once, and every r_i when directed."""
    n = view.n
    line, y = new_line(n), np.zeros(n)
    for i in range(n):
        for incoming in range(2 if view.directed else 1):
            row = view.into if incoming else view.out
            load_row(view, i, row)
            links = view.links_in if incoming else view.links_out
            values = view.receiver if incoming else view.sender
            exps = view.exp_receiver if incoming else view.exp_sender
            mark(links, i, y, 1.0)
            size = gather_row(row, y, line)
            mark(links, i, y, 0.0)
            axis = Axis(values[i], view.priors.sociality, view.lower, BOUND)
            values[i] += sample_line(view.law, line, size, axis, SOCIAL_WIDTH, rng)
            exps[i] = np.exp(min(max(values[i], -CLIP), CLIP))


@inner
def totals_of_shift(view, delta):
    """Loss, slope and curvature, over all observed dyads and the prior, when b moves by delta."""
    n, row, y = view.n, view.out, np.zeros(view.n)
    f, factors = np.exp(delta), np.full((1, n), np.exp(delta))
    total = first = second = 0.0
    for i in range(n):
        load_row(view, i, row)
        if view.law.code == BERNOULLI and row.base[1] == 0.0:
            total += log_product(row.e, factors, 0)
            for j in range(n):
                odds = f * row.e[j]
                p = odds / (1.0 + odds)
                first += p
                second += p * (1.0 - p)
            links = view.links_out
            for t in range(links.start[i], links.start[i + 1]):
                total -= links.value[t] * (row.x[links.node[t]] + delta)
                first -= links.value[t]
        else:
            mark(view.links_out, i, y, 1.0)
            for j in range(n):
                if row.seen[j] != 0.0:
                    x = row.x[j] + delta
                    total += loss(view.law, y[j], x)
                    first += slope(view.law, y[j], x)
                    second += curvature(view.law, y[j], x)
            mark(view.links_out, i, y, 0.0)
    share = 1.0 if view.directed else 0.5  # an undirected pair was met from both ends
    b, precision = view.offset[0] + delta, view.priors.offset
    return share * total + 0.5 * precision * b * b, share * first + precision * b, share * second + precision


@inner
def draw_offset(view, rng):
    """b by a Metropolis step whose proposal is the normal curve at the current value, corrected both ways."""
    here, first, second = totals_of_shift(view, 0.0)
    second = max(second, 1e-6)
    delta = -first / second + rng.standard_normal() / np.sqrt(second)
    lower = FLOOR if view.lower == 0.0 else -BOUND
    if view.offset[0] + delta < lower or view.offset[0] + delta > BOUND:
        return
    there, back_first, back_second = totals_of_shift(view, delta)
    back_second = max(back_second, 1e-6)
    forth = 0.5 * np.log(second) - 0.5 * second * (delta + first / second) ** 2
    back = 0.5 * np.log(back_second) - 0.5 * back_second * (-delta + back_first / back_second) ** 2
    if np.log(rng.random()) < here - there + back - forth:
        view.offset[0] += delta


@inner
def balance_sociality(view, rng):
    """Move level between b and s (and r), which leaves every x as it is: only the priors speak."""
    n, priors = view.n, view.priors
    if view.lower == 0.0 or priors.sociality == 0.0 or not view.has_offset:
        return
    for side in range(2 if view.directed else 1):
        values = view.receiver if side else view.sender
        exps = view.exp_receiver if side else view.exp_sender
        share = 1.0 if view.directed else 0.5  # x holds s once when directed, twice when undirected
        # b + t and s_i - share t: precision offset + n sociality share^2 around its own optimum
        precision = priors.offset + n * priors.sociality * share * share
        t = (priors.sociality * share * values.sum() - priors.offset * view.offset[0]) / precision
        t += rng.standard_normal() / np.sqrt(precision)
        view.offset[0] += t
        for i in range(n):
            values[i] -= share * t
            exps[i] = np.exp(min(max(values[i], -CLIP), CLIP))


@inner
def draw_coefficients(view, rng):
    """Every g_p once, along the dyads where its covariate is not 0."""
    covariates, which = view.covariates_out, view.which_out
    row, y, line = view.out, np.zeros(view.n), new_line(covariates.node.size)
    for p in range(view.coefficients.size):
        size = 0
        for i in range(view.n):
            load_row(view, i, row)
            mark(view.links_out, i, y, 1.0)
            for t in range(covariates.start[i], covariates.start[i + 1]):
                j = covariates.node[t]
                if which[t] == p and row.seen[j] != 0.0 and (view.directed or i < j):
                    put(line, size, row.x[j], row.e[j], y[j], covariates.value[t])
                    size += 1
            mark(view.links_out, i, y, 0.0)
        axis = Axis(view.coefficients[p], view.priors.coefficient, view.lower, BOUND)
        view.coefficients[p] += sample_line(view.law, line, size, axis, SOCIAL_WIDTH, rng)


@kernel
def draw_weights(view, rng):
    """W, sociality, offset and coefficients once each."""
    draw_affinities(view, rng)
    if view.has_sociality:
        draw_sociality(view, rng)
        balance_sociality(view, rng)
    if view.has_offset:
        draw_offset(view, rng)
    if view.coefficients.size:
        draw_coefficients(view, rng)
