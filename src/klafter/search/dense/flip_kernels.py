"""Flips of memberships: K-LAFTER takes a flip when Q falls, a Gibbs sampler with probability sigmoid(gain)."""

import numpy as np

from klafter.core.cover_price import set_membership
from klafter.core.objective import flip_gain, flip_price, next_gain
from klafter.core.rows import load_rows, shift_row
from klafter.core.workspace import refresh_effects
from klafter.jit.decorators import bare, kernel
from klafter.search.dense.flip_bounds import FEW, ROUNDING, mark_may_gain, new_flip_bounds, update_listed

TINY_GAIN = 1e-9  # below this a gain is rounding
DEAREST = 1e6  # rise of Q by leaving, beyond which a swap's gain would be the small difference of large numbers


@bare
def apply_flip(ws, i, k):
    """Flip z_ik in the state and in node i's rows; the effects of i are brought up to date at the end."""
    d = 1 - 2 * np.int64(ws.z[k, i])
    set_membership(ws, i, k, 1 - ws.z[k, i])
    shift_row(ws.law, ws.out, ws.effect_out[k], ws.exp_out[k], d)
    if ws.directed:
        shift_row(ws.law, ws.into, ws.effect_in[k], ws.exp_in[k], d)


@bare
def flip_row(ws, i, thresholds, flip_bounds):
    """Every z_ik in turn, flipped where its gain exceeds the threshold; returns the fall of Q.

    Gains are worked out where the bound exceeds it.
    """
    total = 0.0
    mark_may_gain(ws, i, 0, thresholds, flip_bounds)
    k, gain = next_gain(ws, i, 0, flip_bounds.left)
    if k == ws.z.shape[0]:
        return total
    while k < ws.z.shape[0]:
        apply_flip(ws, i, k)
        total += gain
        mark_may_gain(ws, i, k + 1, thresholds, flip_bounds)
        k, gain = next_gain(ws, i, k + 1, flip_bounds.left)
    refresh_effects(ws, i)
    update_listed(ws, i, flip_bounds)
    return total


@kernel
def descend(ws, nodes, only, sweeps):
    """Descending flips of nodes, one after the other, each until none gains; returns the fall of Q.

    ``only`` one community is touched, and never emptied; -1 is all of them. Of one the gain costs less than its bound.
    """
    few = ws.z.shape[0] if only >= 0 else FEW
    return flip_rows(ws, nodes, only, sweeps, np.empty(ws.z.shape[0]), new_flip_bounds(ws, few))


@bare
def flip_rows(ws, nodes, only, sweeps, thresholds, flip_bounds):
    total = 0.0
    for i in nodes:
        load_rows(ws, i)
        for _ in range(sweeps):
            for k in range(thresholds.size):
                free = ws.size[k] > 0  # a community whose last member left in this sweep is dead
                if only >= 0:
                    free = k == only and (ws.size[k] > 1 or ws.z[k, i] == 0)
                thresholds[k] = TINY_GAIN if free else np.inf
            fall = flip_row(ws, i, thresholds, flip_bounds)
            if fall == 0.0 and only < 0:
                fall = swap_row(ws, i, thresholds, flip_bounds)
            total += fall
            if fall == 0.0:
                break
    return total


@bare
def swap_row(ws, i, thresholds, flip_bounds):
    """The exchange of one community of i for another that lowers Q most, though either flip alone may raise it.

    Returns the fall of Q, 0 if none falls.
    """
    n_communities, best, leave, join = ws.z.shape[0], TINY_GAIN, -1, -1
    if ws.n_held[i] == 0:
        return 0.0
    for k in range(n_communities):
        flip_bounds.slopes[k] = flip_bounds.bounds[k]
    for k in range(n_communities):
        if not ws.z[k, i] or ws.size[k] == 1 or swap_bound(ws, i, k, flip_bounds) < best - ROUNDING:
            continue
        gone = flip_gain(ws, i, k, thresholds)
        if gone < -DEAREST:
            continue
        apply_flip(ws, i, k)
        for m in range(n_communities):
            joinable = m != k and not ws.z[m, i] and ws.size[m] > 0
            thresholds[m] = best - gone if joinable else np.inf
        mark_may_gain(ws, i, 0, thresholds, flip_bounds)
        m, gain = next_gain(ws, i, 0, flip_bounds.left)
        while m < n_communities:
            if gone + gain > best:
                best, leave, join = gone + gain, k, m
            m, gain = next_gain(ws, i, m + 1, flip_bounds.left)
        apply_flip(ws, i, k)
    if leave < 0:
        return 0.0
    apply_flip(ws, i, leave)
    apply_flip(ws, i, join)
    refresh_effects(ws, i)
    update_listed(ws, i, flip_bounds)
    return best


@bare
def swap_bound(ws, i, k, flip_bounds):
    """No exchange of k for another community lowers Q by more; the rows of i must be as its bounds were found at.

    Loss lies above its tangent at x, wherever x moves, so that what leaving and joining promise may be added up.
    """
    if not flip_bounds.found[0]:
        return np.inf
    leaving, joining = flip_price(ws, i, k) - flip_bounds.slopes[k], -np.inf
    set_membership(ws, i, k, 0)
    for m in range(ws.z.shape[0]):
        if m != k and not ws.z[m, i] and ws.size[m] > 0:
            joining = max(joining, flip_bounds.slopes[m] - flip_price(ws, i, m))
    set_membership(ws, i, k, 1)
    return leaving + joining


@bare
def draw_thresholds(ws, i, thresholds, rng):
    """logit(u) for every community that others hold: flips that gain more are Gibbs draws of z_i."""
    for k in range(thresholds.size):
        thresholds[k] = np.inf
        if ws.size[k] - np.int64(ws.z[k, i]) > 0:
            u = rng.random()
            thresholds[k] = np.log(u / (1.0 - u))
