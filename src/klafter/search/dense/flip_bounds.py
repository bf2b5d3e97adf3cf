"""Flips that cannot gain, found by a bound.

Loss is convex in x, so it lies above its tangent: a flip that moves x_ij by u_ij gains at most
    sum_j (y_ij - mean_ij) u_ij - price,    u_ij = +-(W z_j)_k,
and the sum over j is W times one number for every community, the excess of links over their means among its members.
All bounds of a node take N + K^2 steps, all its gains N K.
"""

from typing import NamedTuple

import numpy as np

from klafter.core.objective import flip_price
from klafter.jit.decorators import bare, inner

FEW = 16  # communities up to which all gains cost no more than bounds
DRAWS = 30_000  # the same in sweeps that draw, times nodes: more flips pass their bounds
ROUNDING = 1e-7  # a bound this much below its threshold is below it


class FlipBounds(NamedTuple):
    """Which communities every node holds, the first n_held[i] of held[i], and the bounds of one node."""

    n_held: np.ndarray  # (n,)
    held: np.ndarray  # (n, K)
    excess: np.ndarray  # (K,)
    bounds: np.ndarray  # (K,)
    left: np.ndarray  # (K,)
    means: np.ndarray  # (n,)


@bare
def update_held(ws, i, flip_bounds):
    """List the communities of i again after they changed."""
    size = 0
    for m in range(ws.z.shape[0] if flip_bounds.n_held.size > 0 else 0):
        if ws.z[m, i]:
            flip_bounds.held[i, size] = m
            size += 1
    if flip_bounds.n_held.size > 0:
        flip_bounds.n_held[i] = size


@inner
def new_flip_bounds(ws, few):
    """Lists of the memberships as they are, and room for bounds; up to ``few`` communities there are no bounds."""
    k, n = ws.z.shape[0], ws.n
    n_listed = n if k > few else 0
    flip_bounds = FlipBounds(
        np.zeros(n_listed, np.int32), np.empty((n_listed, k), np.int32),
        np.empty(k), np.empty(k), np.empty(k), np.empty(n),
    )  # fmt: skip
    for i in range(n_listed):
        update_held(ws, i, flip_bounds)
    return flip_bounds


@bare
def mark_may_gain(ws, i, first, thresholds, flip_bounds):
    """Thresholds from ``first`` on, infinite where no flip can exceed them; ``ws`` has the rows of i."""
    law, w, n_communities = ws.law, ws.w, ws.z.shape[0]
    n_held, held, excess, bounds, left, means = flip_bounds
    for k in range(first, n_communities):
        left[k] = thresholds[k]
    clipped = ws.out.base[1] != 0.0 or (ws.directed and ws.into.base[1] != 0.0)
    if n_held.size == 0 or clipped or not law.linear_links or not (law.logistic or law.exponential):
        return
    bounds[:] = 0.0
    for side in range(2 if ws.directed else 1):
        e, links = (ws.into.e, ws.links_in) if side else (ws.out.e, ws.links_out)
        for j in range(ws.n):
            means[j] = e[j] / (1.0 + e[j]) if law.logistic else e[j]
        for t in range(links.start[i], links.start[i + 1]):
            means[links.node[t]] -= links.value[t]
        for k in range(n_communities):
            excess[k] = 0.0
        for j in range(ws.n):
            for t in range(n_held[j]):
                excess[held[j, t]] -= means[j]
        for k in range(first, n_communities):
            for m in range(n_communities):
                bounds[k] += (w[m, k] if side else w[k, m]) * excess[m]
    for k in range(first, n_communities):
        if thresholds[k] != np.inf:
            d = 1 - 2 * np.int64(ws.z[k, i])
            if d * (bounds[k] - flip_price(ws, i, k)) < thresholds[k] - ROUNDING:
                left[k] = np.inf
