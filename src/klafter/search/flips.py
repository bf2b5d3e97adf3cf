"""Flips of memberships: K-LAFTER takes a flip when Q falls, a Gibbs sampler with probability sigmoid(gain)."""

import numpy as np

from klafter.core.kernel import kernel
from klafter.core.objective import flip_gain
from klafter.core.responses import CLIP
from klafter.core.rows import load_row, new_row, shift_row


@kernel
def apply_flip(problem, state, cache, rows, i, k):
    """Flip z_ik in the state and in node i's rows; the cache's columns of i are brought up to date at the end."""
    d = 1 - 2 * np.int64(state.z[k, i])
    out, into = rows
    state.z[k, i] = 1 - state.z[k, i]
    cache.size[k] += d
    shift_row(problem.law, out, cache.pull_out[k], cache.exp_out[k], d)
    if problem.dyads.directed:
        shift_row(problem.law, into, cache.pull_in[k], cache.exp_in[k], d)


@kernel
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


@kernel
def descend_column(problem, state, cache, rows, nodes, k):
    """Flips of one community over some nodes, never emptying it; returns the fall of Q."""
    total = 0.0
    for i in nodes:
        if state.z[k, i] and cache.size[k] == 1:
            continue
        load_rows(problem, state, cache, i, rows)
        gain = flip_gain(problem, state, cache, rows, i, k)
        if gain > 1e-9:
            apply_flip(problem, state, cache, rows, i, k)
            refresh_pulls(problem, state, cache, i)
            total += gain
    return total


@kernel
def descend_row(problem, state, cache, rows, i):
    """Take flips of node i, in turn, until none lowers Q; returns the fall of Q."""
    total = 0.0
    flipped = True
    changed = False
    while flipped:
        flipped = False
        for k in range(state.z.shape[0]):
            if cache.size[k] == 0:  # dead: its last member left earlier in this sweep
                continue
            gain = flip_gain(problem, state, cache, rows, i, k)
            if gain > 1e-9:
                apply_flip(problem, state, cache, rows, i, k)
                total += gain
                flipped = changed = True
    if changed:
        refresh_pulls(problem, state, cache, i)
    return total


@kernel
def descend_rows(problem, state, cache, order):
    """One sweep of descending flips over nodes in the given order; returns the fall of Q."""
    rows = (new_row(problem.dyads.n), new_row(problem.dyads.n))
    total = 0.0
    for i in order:
        load_rows(problem, state, cache, i, rows)
        total += descend_row(problem, state, cache, rows, i)
    return total


@kernel
def sample_row(problem, state, cache, rows, i, rng):
    """Gibbs draws of z_ik for every community that others hold."""
    changed = False
    for k in range(state.z.shape[0]):
        if cache.size[k] - np.int64(state.z[k, i]) == 0:
            continue
        gain = flip_gain(problem, state, cache, rows, i, k)
        if rng.random() * (1.0 + np.exp(-gain)) < 1.0:
            apply_flip(problem, state, cache, rows, i, k)
            changed = True
    if changed:
        refresh_pulls(problem, state, cache, i)
