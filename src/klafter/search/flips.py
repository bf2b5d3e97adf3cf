"""Flips of memberships: K-LAFTER takes a flip when Q falls, a Gibbs sampler with probability sigmoid(gain)."""

import numpy as np

from klafter.core.kernel import inner, kernel
from klafter.core.objective import flip_gain
from klafter.core.responses import CLIP
from klafter.core.rows import load_row, new_row, shift_row

TINY_GAIN = 1e-9  # below this a gain is rounding
PASSES = 20  # over one row before the next node has its turn


@inner
def apply_flip(problem, state, cache, rows, i, k):
    """Flip z_ik in the state and in node i's rows; the cache's columns of i are brought up to date at the end."""
    d = 1 - 2 * np.int64(state.z[k, i])
    out, into = rows
    state.z[k, i] = 1 - state.z[k, i]
    cache.size[k] += d
    shift_row(problem.law, out, cache.pull_out[k], cache.exp_out[k], d)
    if problem.dyads.directed:
        shift_row(problem.law, into, cache.pull_in[k], cache.exp_in[k], d)


@inner
def refresh_pulls(problem, state, cache, i):
    """(W z_i)_k and (W' z_i)_k for all k, after z_i changed."""
    n_communities = state.z.shape[0]
    for k in range(n_communities):
        out = into = 0.0
        for m in range(n_communities):
            if state.z[m, i]:
                out += state.w[k, m]
                into += state.w[m, k]
        cache.pull_out[k, i] = out
        cache.exp_out[k, i] = np.exp(min(max(out, -CLIP), CLIP))
        if problem.dyads.directed:
            cache.pull_in[k, i] = into
            cache.exp_in[k, i] = np.exp(min(max(into, -CLIP), CLIP))


@kernel
def load_rows(problem, state, cache, i, rows):
    """Both rows of node i."""
    out, into = rows
    load_row(problem, state, cache, i, False, out)
    if problem.dyads.directed:
        load_row(problem, state, cache, i, True, into)


@inner
def next_flip(problem, state, cache, rows, i, start, thresholds):
    """The first community from ``start`` on whose flip gains more than its threshold, and that gain; else K."""
    for k in range(start, state.z.shape[0]):
        if thresholds[k] < np.inf:
            gain = flip_gain(problem, state, cache, rows, i, k)
            if gain > thresholds[k]:
                return k, gain
    return state.z.shape[0], 0.0


@inner
def flip_row(problem, state, cache, rows, i, thresholds):
    """Every z_ik in turn, flipped where its gain exceeds the threshold; returns the fall of Q."""
    total = 0.0
    k, gain = next_flip(problem, state, cache, rows, i, 0, thresholds)
    if k == state.z.shape[0]:
        return total
    while k < state.z.shape[0]:
        apply_flip(problem, state, cache, rows, i, k)
        total += gain
        k, gain = next_flip(problem, state, cache, rows, i, k + 1, thresholds)
    refresh_pulls(problem, state, cache, i)
    return total


@kernel
def descend_column(problem, state, cache, rows, nodes, k):
    """Flips of one community over some nodes, never emptying it; returns the fall of Q."""
    thresholds = np.full(state.z.shape[0], np.inf)
    thresholds[k] = TINY_GAIN
    total = 0.0
    for i in nodes:
        if not state.z[k, i] or cache.size[k] > 1:
            load_rows(problem, state, cache, i, rows)
            total += flip_row(problem, state, cache, rows, i, thresholds)
    return total


@kernel
def descend_rows(problem, state, cache, order, passes):
    """One sweep of descending flips over nodes in the given order, a row until none gains; returns the fall of Q."""
    rows = (new_row(problem.dyads.n), new_row(problem.dyads.n))
    thresholds = np.empty(state.z.shape[0])
    total = 0.0
    for i in order:
        load_rows(problem, state, cache, i, rows)
        for _ in range(passes):
            for k in range(thresholds.size):  # a community whose last member left in this sweep is dead
                thresholds[k] = TINY_GAIN if cache.size[k] > 0 else np.inf
            fall = flip_row(problem, state, cache, rows, i, thresholds)
            total += fall
            if fall == 0.0:
                break
    return total


@kernel
def sample_row(problem, state, cache, rows, i, thresholds, rng):
    """Gibbs draws of z_ik for every community that others hold: a flip when gain > logit(u)."""
    for k in range(state.z.shape[0]):
        thresholds[k] = np.inf
        if cache.size[k] - np.int64(state.z[k, i]) > 0:
            u = rng.random()
            thresholds[k] = np.log(u) - np.log1p(-u)
    flip_row(problem, state, cache, rows, i, thresholds)
