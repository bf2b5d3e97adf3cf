"""Flips of memberships: K-LAFTER takes a flip when Q falls, a Gibbs sampler with probability sigmoid(gain)."""

import numpy as np

from klafter.core.objective import next_gain
from klafter.core.rows import load_rows, shift_row
from klafter.core.workspace import refresh_pulls
from klafter.jit.decorators import bare, kernel

TINY_GAIN = 1e-9  # below this a gain is rounding
PASSES = 20  # over one row before the next node has its turn


@bare
def apply_flip(view, i, k):
    """Flip z_ik in the state and in node i's rows; the pulls of i are brought up to date at the end."""
    d = 1 - 2 * np.int64(view.z[k, i])
    view.z[k, i] = 1 - view.z[k, i]
    view.size[k] += d
    shift_row(view.law, view.out, view.pull_out[k], view.exp_out[k], d)
    if view.directed:
        shift_row(view.law, view.into, view.pull_in[k], view.exp_in[k], d)


@bare
def flip_row(view, i, thresholds):
    """Every z_ik in turn, flipped where its gain exceeds the threshold; returns the fall of Q."""
    total = 0.0
    k, gain = next_gain(view, i, 0, thresholds)
    if k == view.z.shape[0]:
        return total
    while k < view.z.shape[0]:
        apply_flip(view, i, k)
        total += gain
        k, gain = next_gain(view, i, k + 1, thresholds)
    refresh_pulls(view, i)
    return total


@kernel
def descend(view, nodes, only, passes):
    """Descending flips of nodes, one after the other, each until none gains; returns the fall of Q.

    ``only`` one community is touched, and never emptied; -1 is all of them.
    """
    return flip_rows(view, nodes, only, passes, np.empty(view.z.shape[0]))


@bare
def flip_rows(view, nodes, only, passes, thresholds):
    total = 0.0
    for i in nodes:
        load_rows(view, i)
        for _ in range(passes):
            for k in range(thresholds.size):
                free = view.size[k] > 0  # a community whose last member left in this sweep is dead
                if only >= 0:
                    free = k == only and (view.size[k] > 1 or view.z[k, i] == 0)
                thresholds[k] = TINY_GAIN if free else np.inf
            fall = flip_row(view, i, thresholds)
            total += fall
            if fall == 0.0:
                break
    return total


@bare
def draw_thresholds(view, i, thresholds, rng):
    """logit(u) for every community that others hold: flips that gain more are Gibbs draws of z_i."""
    for k in range(thresholds.size):
        thresholds[k] = np.inf
        if view.size[k] - np.int64(view.z[k, i]) > 0:
            u = rng.random()
            thresholds[k] = np.log(u / (1.0 - u))
