"""Draws of W, sociality, offset and coefficients given the rest: slices along lines, a Metropolis step for b."""

import numpy as np

from klafter.core import dyad_block as blocks
from klafter.core.exp_predictor import log_product
from klafter.core.families import curvature, loss, slope
from klafter.core.line_search import (
    Axis,
    Span,
    gather_row,
    line_loss,
    line_slopes,
    new_line,
    put,
    sample_line,
    sum_probabilities,
)
from klafter.core.problem import BOUND, FLOOR
from klafter.core.responses import CLIP
from klafter.core.rows import load_row, load_tail, mark
from klafter.core.workspace import list_members
from klafter.jit.decorators import bare, inner

WEIGHT_WIDTH, SOCIAL_WIDTH = 2.0, 1.0  # first interval of the slice sampler
CURVE_STEPS = 6  # of Newton's method, to the mode of a coefficient


@inner
def draw_affinities(ws, share, rng):
    """Free entries of W between communities with members: all of the diagonal, each other one with chance ``share``."""
    members, largest = list_members(ws), blocks.largest_size(ws)
    draw_entries(ws, members, blocks.new_block(largest, ws.n), new_line(largest * largest), share, rng)
    blocks.measure_max_effect(ws)


@bare
def draw_entries(ws, members, block, line, share, rng):
    for k in range(ws.z.shape[0]):
        if ws.size[k] == 0:
            continue
        blocks.load_block(ws, members, k, False, block)
        for m in range(0 if ws.directed else k, ws.z.shape[0]):
            if ws.size[m] > 0 and (m == k or share == 1.0 or rng.random() < share):
                span = blocks.gather_block(ws, members, block, False, k, m, line)
                precision = ws.priors.diagonal if k == m else ws.priors.offdiagonal
                axis = Axis(ws.w[k, m], precision, ws.lower, BOUND)
                delta = sample_line(ws.law, line, span, axis, WEIGHT_WIDTH, rng)
                blocks.shift_weight(ws, members, k, m, delta)
                blocks.shift_block(ws, members, block, k, m, delta)


@bare
def balance_sociality(ws, rng):
    """Move level between b and s (and r), which leaves every x as it is: only the priors speak."""
    n, priors = ws.n, ws.priors
    if ws.lower == 0.0 or priors.sociality == 0.0 or not ws.has_offset:
        return
    for side in range(2 if ws.directed else 1):
        values = ws.receiver if side else ws.sender
        exps = ws.exp_receiver if side else ws.exp_sender
        share = 1.0 if ws.directed else 0.5  # x holds s once when directed, twice when undirected
        # b + t and s_i - share t: precision offset + n sociality share^2 around its own optimum
        precision = priors.offset + n * priors.sociality * share * share
        total = 0.0
        for i in range(n):
            total += values[i]
        t = (priors.sociality * share * total - priors.offset * ws.offset[0]) / precision
        t += rng.standard_normal() / np.sqrt(precision)
        ws.offset[0] += t
        for i in range(n):
            values[i] -= share * t
            exps[i] = np.exp(min(max(values[i], -CLIP), CLIP))


@inner
def draw_sociality(ws, rng):
    """Every s_i once, and every r_i when directed."""
    draw_social(ws, new_line(ws.n), np.zeros(ws.n), rng)


@bare
def draw_social(ws, line, y, rng):
    for i in range(ws.n):
        for incoming in range(2 if ws.directed else 1):
            row = ws.into if incoming else ws.out
            load_row(ws, i, row)
            links = ws.links_in if incoming else ws.links_out
            values = ws.receiver if incoming else ws.sender
            exps = ws.exp_receiver if incoming else ws.exp_sender
            span = gather_row(ws.law, row, links, i, y, line)
            axis = Axis(values[i], ws.priors.sociality, ws.lower, BOUND)
            values[i] += sample_line(ws.law, line, span, axis, SOCIAL_WIDTH, rng)
            exps[i] = np.exp(min(max(values[i], -CLIP), CLIP))
    balance_sociality(ws, rng)


@bare
def totals_of_shift(ws, delta, factors, y):
    """Loss, slope and curvature, over all observed dyads and the prior, when b moves by delta."""
    row, links, law = ws.out, ws.links_out, ws.law
    f = np.exp(delta)
    factors[:] = f
    total = first = second = 0.0
    for i in range(ws.n):
        begin = 0 if ws.directed else i + 1
        load_tail(ws, i, row, begin)
        x, e, seen = row.x[begin:], row.e[begin:], row.seen[begin:]
        if law.logistic and row.base[1] == 0.0:
            total += log_product(e, factors, 0)
            slopes = sum_probabilities(e, 0, e.size, f)
            first += slopes[0]
            second += slopes[1]
            for t in range(links.start[i], links.start[i + 1]):
                if links.node[t] >= begin:
                    total -= links.value[t] * (np.log(row.e[links.node[t]]) + delta)
                    first -= links.value[t]
        else:
            mark(links, i, y, 1.0)
            for j in range(x.size):
                if seen[j] != 0.0:
                    total += loss(law, y[begin + j], x[j] + delta)
                    first += slope(law, y[begin + j], x[j] + delta)
                    second += curvature(law, y[begin + j], x[j] + delta)
            mark(links, i, y, 0.0)
    b, precision = ws.offset[0] + delta, ws.priors.offset
    return total + 0.5 * precision * b * b, first + precision * b, second + precision


@inner
def draw_offset(ws, rng):
    """b by a Metropolis step whose proposal is the normal curve at the current value, corrected both ways."""
    lower = FLOOR if ws.lower == 0.0 else -BOUND
    here = forth = delta = 0.0
    factors, y = np.empty((1, ws.n)), np.zeros(ws.n)
    for back in range(2):
        total, first, second = totals_of_shift(ws, delta, factors, y)
        second = max(second, 1e-6)
        if not back:
            here, delta = total, -first / second + rng.standard_normal() / np.sqrt(second)
            if ws.offset[0] + delta < lower or ws.offset[0] + delta > BOUND:
                return
        there = -delta if back else delta
        density = 0.5 * np.log(second) - 0.5 * second * (there + first / second) ** 2
        if not back:
            forth = density
        elif np.log(rng.random()) < here - total + density - forth:
            ws.offset[0] += delta


@inner
def draw_coefficients(ws, rng):
    """Every g_p once, along the dyads where its covariate is not 0."""
    covariates, which = ws.covariates_out, ws.which_out
    row, y, line = ws.out, np.zeros(ws.n), new_line(covariates.node.size)
    for p in range(ws.coefficients.size):
        size = 0
        for i in range(ws.n):
            load_row(ws, i, row)
            mark(ws.links_out, i, y, 1.0)
            for t in range(covariates.start[i], covariates.start[i + 1]):
                j = covariates.node[t]
                if which[t] == p and row.seen[j] != 0.0 and (ws.directed or i < j):
                    put(line, size, row.x[j], row.e[j], y[j], covariates.value[t])
                    size += 1
            mark(ws.links_out, i, y, 0.0)
        span = Span(size, -1, 0.0)
        if ws.selects and include_or_drop(ws, p, line, span, rng):
            continue
        axis = Axis(ws.coefficients[p], ws.priors.coefficient, ws.lower, BOUND)
        ws.coefficients[p] += sample_line(ws.law, line, span, axis, SOCIAL_WIDTH, rng)


@bare
def include_or_drop(ws, p, line, span, rng):
    """A Metropolis step of g_p between 0 and the normal curve at its mode, each 1/2 a priori; True where g_p is done.

    With f the curve's density and N the prior's, to include is to drop as  exp(-loss(g)) N(g)  to  exp(-loss(0)) f(g).
    """
    was, precision = ws.coefficients[p], ws.priors.coefficient
    mode = curvature_there = 0.0
    for _ in range(CURVE_STEPS):  # from 0, so that the curve does not depend on g_p
        slope_there, curvature_there = line_slopes(ws.law, line, span, mode - was)
        curvature_there += precision
        mode -= min(max((slope_there + precision * mode) / curvature_there, -1.0), 1.0)
    g = was if was != 0.0 else mode + rng.standard_normal() / np.sqrt(curvature_there)
    fall = line_loss(ws.law, line, span, -was) - line_loss(ws.law, line, span, g - was)
    gain = fall - 0.5 * precision * g * g + 0.5 * curvature_there * (g - mode) ** 2
    gain += 0.5 * (np.log(precision) - np.log(curvature_there))
    if np.log(rng.random()) < (gain if was == 0.0 else -gain):
        ws.coefficients[p] = g if was == 0.0 else 0.0
    return was == 0.0 or ws.coefficients[p] == 0.0


@inner
def draw_parameters(ws, share, rng):
    """W (``share``: how much off the diagonal), sociality, offset and coefficients, as far as the problem has them."""
    draw_affinities(ws, share, rng)
    if ws.has_sociality:
        draw_sociality(ws, rng)
    if ws.has_offset:
        draw_offset(ws, rng)
    if ws.coefficients.size > 0:
        draw_coefficients(ws, rng)
