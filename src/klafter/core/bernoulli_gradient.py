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
def list_held(ws):
    """The memberships as they are."""
    held = Held(np.zeros(ws.n, np.int64), np.empty((ws.n, ws.z.shape[0]), np.int64))
    sort_held(ws.z, held)
    return held


@bare
def sort_held(z, held):
    for k in range(z.shape[0]):
        for i in range(z.shape[1]):
            if z[k, i]:
                held.which[i, held.size[i]] = k
                held.size[i] += 1


@bare
def sum_probabilities(ws, held, with_curvature, slopes, curvatures, scratch):
    """Add up the probability p of a link, the slope of a non-link, and p (1 - p), the curvature; returns the loss."""
    total, product, odds, scale = 0.0, 1.0, ws.out.e, np.exp(ws.offset[0])
    for i in range(ws.n):
        begin = 0 if ws.directed else i + 1
        e, p, q, communities = odds[begin:], scratch[0, begin:], scratch[1, begin:], held.which[i, : held.size[i]]
        fill(ws.seen_out[i, begin:], ws.exp_receiver[begin:], scale * ws.exp_sender[i], e)
        for k in communities:
            multiply(e, ws.exp_out[k, begin:])
        for start in range(0, e.size, BLOCK):
            stop = min(start + BLOCK, e.size)
            factor, probability = take_probabilities(
                e[start:stop], p[start:stop], slopes.receivers[begin + start : begin + stop]
            )
            slopes.senders[i] += probability
            if factor < HUGE:
                product *= factor
            else:
                total += log_sum(e[start:stop])
            if product > HUGE:
                total += np.log(product)
                product = 1.0
        for k in communities:
            add(slopes.effects[k, begin:], p)
        if with_curvature:
            curvatures.senders[i] += take_curvatures(p, q, curvatures.receivers[begin:])
            for k in communities:
                add(curvatures.effects[k, begin:], q)
    return total + np.log(product)


@bare
def sum_curvatures(ws, held, curvatures, odds):
    """The same for p (1 - p) alone."""
    scale = np.exp(ws.offset[0])
    for i in range(ws.n):
        begin = 0 if ws.directed else i + 1
        e, communities = odds[begin:], held.which[i, : held.size[i]]
        fill(ws.seen_out[i, begin:], ws.exp_receiver[begin:], scale * ws.exp_sender[i], e)
        for k in communities:
            multiply(e, ws.exp_out[k, begin:])
        for j in range(e.size):
            e[j] = e[j] / (1.0 + e[j])
        curvatures.senders[i] += take_curvatures(e, e, curvatures.receivers[begin:])
        for k in communities:
            add(curvatures.effects[k, begin:], e)


@inlined
def take_probabilities(e, p, receivers):
    """Link probabilities of some dyads, added to those of the receivers; the product of 1 + e, and the sum of these."""
    product, total = 1.0, 0.0
    for j in range(e.size):
        one_and_odds = 1.0 + e[j]
        probability = e[j] / one_and_odds
        product *= one_and_odds
        p[j] = probability
        receivers[j] += probability
        total += probability
    return product, total


@inlined
def take_curvatures(p, curvatures, receivers):
    total = 0.0
    for j in range(p.size):
        curvature = p[j] * (1.0 - p[j])
        curvatures[j] = curvature
        receivers[j] += curvature
        total += curvature
    return total


@inlined
def add(sums, values):
    for j in range(values.size):
        sums[j] += values[j]
