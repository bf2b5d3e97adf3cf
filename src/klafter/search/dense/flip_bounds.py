"""Flips that cannot gain, found by a bound.

Loss is convex in x, so it lies above its tangent: a flip that moves x_ij by u_ij gains at most
    sum_j (y_ij - mean_ij) u_ij - price,    u_ij = +-(W z_j)_k,
and the sum over j is W times one number for every community, the excess of links over their means among its members.
All bounds of a node take N + K^2 steps, all its gains N K.
"""

from typing import NamedTuple

import numpy as np

from klafter.core.cover_price import membership_odds
from klafter.core.objective import flip_price
from klafter.jit.decorators import bare, inlined, inner

FEW = 16  # communities up to which all gains cost no more than bounds
DRAWS = 8_000  # the same in sweeps that draw, times nodes: more flips pass their bounds
ROUNDING = 1e-7  # a bound this much below its threshold is below it


class FlipBounds(NamedTuple):
    """The members of every community, the first size[k] of members[k], and the bounds of one node."""

    size: np.ndarray  # (K,), of no length where there are no bounds
    members: np.ndarray  # (K, n)
    listed: np.ndarray  # (K, n) of 0/1: the memberships as they are listed
    excess: np.ndarray  # (K,)
    bounds: np.ndarray  # (K,)
    left: np.ndarray  # (K,)
    means: np.ndarray  # (n,)
    slopes: np.ndarray  # (K,) what joining each promises before an exchange, without its price
    found: np.ndarray  # (1,) whether bounds were found


@bare
def update_listed(ws, i, flip_bounds):
    """Bring the lists up to date after the communities of i changed."""
    size, members, listed = flip_bounds.size, flip_bounds.members, flip_bounds.listed
    for k in range(size.size):
        if listed[k, i] == ws.z[k, i]:
            continue
        listed[k, i] = ws.z[k, i]
        if ws.z[k, i]:
            members[k, size[k]] = i
            size[k] += 1
        else:
            size[k] -= 1
            at = 0
            while members[k, at] != i:
                at += 1
            members[k, at] = members[k, size[k]]


@inner
def new_flip_bounds(ws, few):
    """Lists of the memberships as they are, and room for bounds; up to ``few`` communities there are no bounds."""
    k, n = ws.z.shape[0], ws.n
    n_listed = k if k > few else 0
    flip_bounds = FlipBounds(
        np.zeros(n_listed, np.int64), np.empty((n_listed, n), np.int64), np.zeros((n_listed, n), np.uint8),
        np.empty(k), np.empty(k), np.empty(k), np.empty(n), np.empty(k), np.zeros(1, np.uint8),
    )  # fmt: skip
    if n_listed:
        for i in range(n):
            update_listed(ws, i, flip_bounds)
    return flip_bounds


@inlined
def minus_sum(values, which):
    total = 0.0
    for t in range(which.size):
        total -= values[which[t]]
    return total


@inlined
def product(one, other):
    total = 0.0
    for m in range(one.size):
        total += one[m] * other[m]
    return total


@inlined
def find_means(law, e, means):
    """Means of dyads with these e^x, by loops whose length no store may change: else they are not vectorised."""
    if law.logistic:
        for j in range(means.size):
            means[j] = e[j] / (1.0 + e[j])
    else:
        for j in range(means.size):
            means[j] = e[j]


@bare
def mark_may_gain(ws, i, first, thresholds, flip_bounds):
    """Thresholds from ``first`` on, infinite where no flip can exceed them; ``ws`` has the rows of i."""
    law, w, n_communities = ws.law, ws.w, ws.z.shape[0]
    size, members, _, excess, bounds, left, means, _, found = flip_bounds
    for k in range(first, n_communities):
        left[k] = thresholds[k]
    found[0] = 0
    clipped = ws.out.base[1] != 0.0 or (ws.directed and ws.into.base[1] != 0.0)
    if size.size == 0 or clipped or not law.linear_links or not (law.logistic or law.exponential):
        return
    found[0] = 1
    for k in range(n_communities):
        bounds[k] = 0.0
    for side in range(2 if ws.directed else 1):
        e, links = (ws.into.e, ws.links_in) if side else (ws.out.e, ws.links_out)
        find_means(law, e, means)
        for t in range(links.start[i], links.start[i + 1]):
            means[links.node[t]] -= links.value[t]
        for k in range(n_communities):
            excess[k] = minus_sum(means, members[k, : size[k]])
        for k in range(first, n_communities):
            if thresholds[k] != np.inf:
                bounds[k] += product(w[:, k], excess) if side else product(w[k], excess)
    for k in range(first, n_communities):
        if thresholds[k] != np.inf:
            joins = not ws.z[k, i] and ws.size[k] > 0
            if joins and bounds[k] < thresholds[k] - ROUNDING and membership_odds(ws, i, k) >= 1.0:
                left[k] = np.inf  # whatever the price, which takes a logarithm: it is not below 0
                continue
            d = 1 - 2 * np.int64(ws.z[k, i])
            if d * (bounds[k] - flip_price(ws, i, k)) < thresholds[k] - ROUNDING:
                left[k] = np.inf
