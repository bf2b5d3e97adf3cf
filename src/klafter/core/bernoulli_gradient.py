"""Slopes over all dyads from their odds e^x: the quick way of the joint step for Bernoulli links without covariates.

What ``weights_kernels.sum_derivatives`` does for every family, in fewer passes over a row, as if no dyad were linked.
"""

from typing import NamedTuple

import numpy as np

from klafter.core.exp_predictor import BLOCK, HUGE, fill, log_sum, multiply
from klafter.jit.decorators import bare, inlined, inner


class Held(NamedTuple):
    """The communities of every node: the first size[i] of which[i]."""

    size: np.ndarray  # (n,)
    which: np.ndarray  # (n, K)


@inner
def list_held(view):
    """The memberships as they are."""
    held = Held(np.zeros(view.n, np.int64), np.empty((view.n, view.z.shape[0]), np.int64))
    sort_held(view.z, held)
    return held


@bare
def sort_held(z, held):
    for k in range(z.shape[0]):
        for i in range(z.shape[1]):
            if z[k, i]:
                held.which[i, held.size[i]] = k
                held.size[i] += 1


@bare
def sum_chances(view, held, bend, slopes, bends, room):
    """Add up the chance p of a link, the slope of a non-link, and p (1 - p), the curvature; returns the loss."""
    total, product, odds, scale = 0.0, 1.0, view.out.e, np.exp(view.offset[0])
    for i in range(view.n):
        begin = 0 if view.directed else i + 1
        e, p, q, communities = odds[begin:], room[0, begin:], room[1, begin:], held.which[i, : held.size[i]]
        fill(view.seen_out[i, begin:], view.exp_receiver[begin:], scale * view.exp_sender[i], e)
        for k in communities:
            multiply(e, view.exp_out[k, begin:])
        for start in range(0, e.size, BLOCK):
            stop = min(start + BLOCK, e.size)
            factor, chance = take_chances(e[start:stop], p[start:stop], slopes.receivers[begin + start : begin + stop])
            slopes.senders[i] += chance
            if factor < HUGE:
                product *= factor
            else:
                total += log_sum(e[start:stop])
            if product > HUGE:
                total += np.log(product)
                product = 1.0
        for k in communities:
            add(slopes.pulls[k, begin:], p)
        if bend:
            bends.senders[i] += take_bends(p, q, bends.receivers[begin:])
            for k in communities:
                add(bends.pulls[k, begin:], q)
    return total + np.log(product)


@bare
def sum_bends(view, held, pulls, odds):
    """The same for p (1 - p) and weights of communities only: nodes that are in none have no part in it."""
    scale = np.exp(view.offset[0])
    for i in range(view.n):
        if held.size[i] == 0:
            continue
        begin = 0 if view.directed else i + 1
        e, communities = odds[begin:], held.which[i, : held.size[i]]
        fill(view.seen_out[i, begin:], view.exp_receiver[begin:], scale * view.exp_sender[i], e)
        for k in communities:
            multiply(e, view.exp_out[k, begin:])
        for j in range(e.size):
            chance = e[j] / (1.0 + e[j])
            e[j] = chance * (1.0 - chance)
        for k in communities:
            add(pulls[k, begin:], e)


@inlined
def take_chances(e, p, receivers):
    """The chances of some dyads, added to those of the receivers; the product of 1 + e, and the sum of the chances."""
    product, total = 1.0, 0.0
    for j in range(e.size):
        one_and_odds = 1.0 + e[j]
        chance = e[j] / one_and_odds
        product *= one_and_odds
        p[j] = chance
        receivers[j] += chance
        total += chance
    return product, total


@inlined
def take_bends(p, bends, receivers):
    total = 0.0
    for j in range(p.size):
        bend = p[j] * (1.0 - p[j])
        bends[j] = bend
        receivers[j] += bend
        total += bend
    return total


@inlined
def add(sums, values):
    for j in range(values.size):
        sums[j] += values[j]
