"""Sweeps over W, sociality, offset and coefficients, one line at a time: minimised (descent) or drawn (sampling)."""

from typing import NamedTuple

import numpy as np

from klafter.core.families import curvature, loss, slope
from klafter.core.kernel import inner, kernel
from klafter.core.lines import Axis, line_fall, minimise_line, new_line, put, sample_line
from klafter.core.problem import BOUND, FLOOR
from klafter.core.responses import CLIP
from klafter.core.rows import load_row, new_row

NEWTON_STEPS = 3
WEIGHT_WIDTH, SOCIAL_WIDTH = 2.0, 1.0  # first interval of the slice sampler


@inner
def move_along(law, line, m, axis, sampling, width, rng):
    """delta of one parameter: a draw when sampling, else the minimum."""
    if sampling:
        return sample_line(law, line, m, axis, width, rng)
    return minimise_line(law, line, m, axis, NEWTON_STEPS)


class Lists(NamedTuple):
    """Z as lists: the members of each community and the communities of each node."""

    members: np.ndarray  # (K, n), the first size[k] entries count
    own: np.ndarray  # (n, K), the first n_own[i] entries count
    n_own: np.ndarray


@inner
def list_members(state):
    """Z as lists."""
    n_communities, n = state.z.shape
    members, size = np.empty((n_communities, n), np.int32), 0
    own, n_own = np.empty((n, n_communities), np.int32), np.zeros(n, np.int64)
    for k in range(n_communities):
        size = 0
        for i in range(n):
            if state.z[k, i]:
                members[k, size] = i
                size += 1
                own[i, n_own[i]] = k
                n_own[i] += 1
    return Lists(members, own, n_own)


@inner
def covariate_part(problem, state, i, extra):
    """extra[j] = g' v_ij."""
    covariates = problem.dyads.covariates_out
    for t in range(covariates.start[i], covariates.start[i + 1]):
        extra[covariates.node[t]] += state.coefficients[problem.dyads.which_out[t]] * covariates.value[t]


@inner
def mark(rows, i, marks, sign):
    """Write the row's values into marks, or wipe them out again (sign 0)."""
    for t in range(rows.start[i], rows.start[i + 1]):
        marks[rows.node[t]] = sign * rows.value[t]


@inner
def gather_block(problem, state, cache, lists, k, m, line, scratch):
    """The dyads that w_km reaches: i in k, j in m. An undirected pair that is in both, both ways, counts c = 2."""
    dyads, size = problem.dyads, 0
    links, hidden, extra = scratch
    for i in lists.members[k, : cache.size[k]]:
        mark(dyads.links_out, i, links, 1.0)
        mark(dyads.hidden_out, i, hidden, 1.0)
        if state.coefficients.size:
            covariate_part(problem, state, i, extra)
        constant = state.offset[0] + state.sender[i]
        for j in lists.members[m, : cache.size[m]]:
            if j == i or hidden[j] != 0.0:
                continue
            c = 1.0
            if not dyads.directed and (k == m or (state.z[m, i] and state.z[k, j])):
                if j < i:  # the pair was met from its other end
                    continue
                c = 1.0 if k == m else 2.0
            x = constant + state.receiver[j] + extra[j]
            for t in range(lists.n_own[i]):
                x += cache.pull_out[lists.own[i, t], j]
            put(problem.law, line, size, x, links[j], c)
            size += 1
        mark(dyads.links_out, i, links, 0.0)
        mark(dyads.hidden_out, i, hidden, 0.0)
        if state.coefficients.size:
            extra[:] = 0.0
    return size


@inner
def shift_weight(problem, state, cache, k, m, delta):
    """w_km += delta, and the pulls with it."""
    state.w[k, m] += delta
    for j in range(problem.dyads.n):
        if state.z[m, j]:
            cache.pull_out[k, j] += delta
    if problem.dyads.directed:
        for i in range(problem.dyads.n):
            if state.z[k, i]:
                cache.pull_in[m, i] += delta
    elif k != m:
        state.w[m, k] += delta
        for i in range(problem.dyads.n):
            if state.z[k, i]:
                cache.pull_out[m, i] += delta


@inner
def longest_line(cache):
    """Room for the dyads of the largest block."""
    largest = 1
    for size in cache.size:
        largest = max(largest, size)
    return new_line(largest * largest)


@inner
def move_weight(problem, state, cache, lists, k, m, line, scratch, sampling, rng):
    """w_km along its line; returns the fall of Q."""
    size = gather_block(problem, state, cache, lists, k, m, line, scratch)
    precision = problem.priors.diagonal if k == m else problem.priors.offdiagonal
    axis = Axis(state.w[k, m], precision, problem.lower, BOUND)
    delta = move_along(problem.law, line, size, axis, sampling, WEIGHT_WIDTH, rng)
    if delta == 0.0:
        return 0.0
    shift_weight(problem, state, cache, k, m, delta)
    return line_fall(problem.law, line, size, axis, delta)


@inner
def new_scratch(n):
    return np.zeros(n), np.zeros(n), np.zeros(n)


@inner
def sweep_affinities(problem, state, cache, sampling, rng):
    """Every free entry of W between living communities once."""
    lists, line, scratch = list_members(state), longest_line(cache), new_scratch(problem.dyads.n)
    for k in range(state.z.shape[0]):
        for m in range(0 if problem.dyads.directed else k, state.z.shape[0]):
            if cache.size[k] > 0 and cache.size[m] > 0:
                move_weight(problem, state, cache, lists, k, m, line, scratch, sampling, rng)


@kernel
def fit_column(problem, state, cache, k, diagonal_only, rng):
    """Minimise Q over the weights of community k; returns its fall."""
    lists, line, scratch = list_members(state), longest_line(cache), new_scratch(problem.dyads.n)
    fall = move_weight(problem, state, cache, lists, k, k, line, scratch, False, rng)
    if not diagonal_only:
        for m in range(state.z.shape[0]):
            if m != k and cache.size[m] > 0:
                fall += move_weight(problem, state, cache, lists, k, m, line, scratch, False, rng)
                if problem.dyads.directed:
                    fall += move_weight(problem, state, cache, lists, m, k, line, scratch, False, rng)
    return fall


@inner
def gather_row(problem, row, links, i, line):
    """The observed dyads of node i's row."""
    size = 0
    y = np.zeros(row.x.size)
    mark(links, i, y, 1.0)
    for j in range(row.x.size):
        if row.seen[j] != 0.0:
            put(problem.law, line, size, row.x[j], y[j], 1.0)
            size += 1
    return size


@inner
def sweep_sociality(problem, state, cache, sampling, rng):
    """Every s_i once, and every r_i when directed."""
    n = problem.dyads.n
    row, line = new_row(n), new_line(n)
    for i in range(n):
        for incoming in range(2 if problem.dyads.directed else 1):
            load_row(problem, state, cache, i, incoming == 1, row)
            links = problem.dyads.links_in if incoming else problem.dyads.links_out
            values = state.receiver if incoming else state.sender
            size = gather_row(problem, row, links, i, line)
            axis = Axis(values[i], problem.priors.sociality, problem.lower, BOUND)
            values[i] += move_along(problem.law, line, size, axis, sampling, SOCIAL_WIDTH, rng)


@inner
def totals_of_shift(problem, state, cache, delta):
    """Loss, slope and curvature, over all observed dyads, when b moves by delta."""
    n = problem.dyads.n
    row, y = new_row(n), np.zeros(n)
    total = first = second = 0.0
    for i in range(n):
        load_row(problem, state, cache, i, False, row)
        mark(problem.dyads.links_out, i, y, 1.0)
        for j in range(0 if problem.dyads.directed else i + 1, n):
            if row.seen[j] != 0.0:
                x = row.x[j] + delta
                total += loss(problem.law, y[j], x)
                first += slope(problem.law, y[j], x)
                second += curvature(problem.law, y[j], x)
        mark(problem.dyads.links_out, i, y, 0.0)
    b = state.offset[0] + delta
    precision = problem.priors.offset
    return total + 0.5 * precision * b * b, first + precision * b, second + precision


@inner
def minimise_offset(problem, state, cache):
    """Newton steps on b, halved until Q falls."""
    here, first, second = totals_of_shift(problem, state, cache, 0.0)
    lower = FLOOR if problem.lower == 0.0 else -BOUND
    for _ in range(NEWTON_STEPS):
        step = min(max(-first / max(second, 1e-10), -3.0), 3.0)
        if abs(step) < 1e-7:
            return
        for _ in range(12):
            trial = min(max(step, lower - state.offset[0]), BOUND - state.offset[0])
            there, first, second = totals_of_shift(problem, state, cache, trial)
            if there < here:
                state.offset[0] += trial
                here = there
                break
            step *= 0.5
        else:
            return


@inner
def sample_offset(problem, state, cache, rng):
    """b by a Metropolis step whose proposal is the normal curve at the current value, corrected both ways."""
    here, first, second = totals_of_shift(problem, state, cache, 0.0)
    second = max(second, 1e-6)
    delta = -first / second + rng.standard_normal() / np.sqrt(second)
    lower = FLOOR if problem.lower == 0.0 else -BOUND
    if state.offset[0] + delta < lower or state.offset[0] + delta > BOUND:
        return
    there, back_first, back_second = totals_of_shift(problem, state, cache, delta)
    back_second = max(back_second, 1e-6)
    forth = 0.5 * np.log(second) - 0.5 * second * (delta + first / second) ** 2
    back = 0.5 * np.log(back_second) - 0.5 * back_second * (-delta + back_first / back_second) ** 2
    if np.log(rng.random()) < here - there + back - forth:
        state.offset[0] += delta


@inner
def balance_sociality(problem, state, sampling, rng):
    """Move level between b and s (and r), which leaves every x as it is: only the priors speak."""
    n, priors = problem.dyads.n, problem.priors
    if problem.lower == 0.0 or priors.sociality == 0.0 or not problem.has_offset:
        return
    for side in range(2 if problem.dyads.directed else 1):
        values = state.receiver if side else state.sender
        share = 1.0 if problem.dyads.directed else 0.5  # x holds s once when directed, twice when undirected
        # b + t and s_i - share t: precision offset + n sociality share^2 around its own optimum
        precision = priors.offset + n * priors.sociality * share * share
        t = (priors.sociality * share * values.sum() - priors.offset * state.offset[0]) / precision
        if sampling:
            t += rng.standard_normal() / np.sqrt(precision)
        state.offset[0] += t
        for i in range(n):
            values[i] -= share * t


@inner
def sweep_coefficients(problem, state, cache, sampling, rng):
    """Every g_p once, along the dyads where its covariate is not 0."""
    covariates, which = problem.dyads.covariates_out, problem.dyads.which_out
    n = problem.dyads.n
    row, y = new_row(n), np.zeros(n)
    line = new_line(covariates.node.size)
    for p in range(state.coefficients.size):
        size = 0
        for i in range(n):
            load_row(problem, state, cache, i, False, row)
            mark(problem.dyads.links_out, i, y, 1.0)
            for t in range(covariates.start[i], covariates.start[i + 1]):
                j = covariates.node[t]
                if which[t] == p and row.seen[j] != 0.0 and (problem.dyads.directed or i < j):
                    put(problem.law, line, size, row.x[j], y[j], covariates.value[t])
                    size += 1
            mark(problem.dyads.links_out, i, y, 0.0)
        axis = Axis(state.coefficients[p], problem.priors.coefficient, problem.lower, BOUND)
        state.coefficients[p] += move_along(problem.law, line, size, axis, sampling, SOCIAL_WIDTH, rng)


@kernel
def sweep_weights(problem, state, cache, sampling, rng):
    """W, sociality, offset and coefficients once each; the exponentials of the cache are brought up to date after."""
    sweep_affinities(problem, state, cache, sampling, rng)
    if problem.has_sociality:
        sweep_sociality(problem, state, cache, sampling, rng)
        balance_sociality(problem, state, sampling, rng)
    if problem.has_offset:
        if sampling:
            sample_offset(problem, state, cache, rng)
        else:
            minimise_offset(problem, state, cache)
    if state.coefficients.size:
        sweep_coefficients(problem, state, cache, sampling, rng)
    refresh_exponentials(problem, cache)


@kernel
def refresh_exponentials(problem, cache):
    """e^pull where pulls moved."""
    for k in range(cache.pull_out.shape[0]):
        for j in range(problem.dyads.n):
            cache.exp_out[k, j] = np.exp(min(max(cache.pull_out[k, j], -CLIP), CLIP))
            if problem.dyads.directed:
                cache.exp_in[k, j] = np.exp(min(max(cache.pull_in[k, j], -CLIP), CLIP))
