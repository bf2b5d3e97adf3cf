"""Flips that cannot pay, told apart without their gain.

Loss is convex in x, so it lies above its tangent: a flip that moves x_ij by u_ij gains at most
    sum_j (y_ij - mean_ij) u_ij - price,    u_ij = +-(W z_j)_k,
and the sum over j is W times one number for every community, the excess of links over their means among its members.
All bounds of a node take N + K^2 steps, all its gains N K.
"""

from typing import NamedTuple

import numpy as np

from klafter.core.families import BERNOULLI, POISSON
from klafter.core.kernel import inner
from klafter.core.objective import flip_price

ROUNDING = 1e-7  # a bound this much below its threshold is below it


class Screen(NamedTuple):
    """Which communities every node holds, the first n_held[i] of held[i], and room for one node's bounds."""

    n_held: np.ndarray  # (n,)
    held: np.ndarray  # (n, K)
    means: np.ndarray  # (n,)
    excess: np.ndarray  # (K,)
    left: np.ndarray  # (K,)


@inner
def new_screen(view):
    """A screen for the memberships as they are."""
    k, n = view.z.shape
    screen = Screen(np.zeros(n, np.int64), np.empty((n, k), np.int32), np.empty(n), np.empty(k), np.empty(k))
    for m in range(k):
        for i in range(n):
            if view.z[m, i]:
                screen.held[i, screen.n_held[i]] = m
                screen.n_held[i] += 1
    return screen


@inner
def relist(view, i, screen):
    """After the memberships of i changed."""
    size = 0
    for m in range(view.z.shape[0]):
        if view.z[m, i]:
            screen.held[i, size] = m
            size += 1
    screen.n_held[i] = size


@inner
def sum_excess(law, row, links, i, screen):
    """The excess of links over their means, summed over the members of every community."""
    n_held, held, means, excess, e = screen.n_held, screen.held, screen.means, screen.excess, row.e
    for j in range(e.size):
        means[j] = e[j] / (1.0 + e[j]) if law.code == BERNOULLI else e[j]
    for t in range(links.start[i], links.start[i + 1]):
        means[links.node[t]] -= links.value[t]
    excess[:] = 0.0
    for j in range(e.size):
        for t in range(n_held[j]):
            excess[held[j, t]] -= means[j]


@inner
def sum_bounds(view, i, first, screen):
    """What the flips of i from ``first`` on can gain in loss when it joins; when it leaves, the opposite."""
    w, excess, n_communities = view.w, screen.excess, view.z.shape[0]
    bounds = np.zeros(n_communities)
    sum_excess(view.law, view.out, view.links_out, i, screen)
    for k in range(first, n_communities):
        for m in range(n_communities):
            bounds[k] += w[k, m] * excess[m]
    if view.directed:
        sum_excess(view.law, view.into, view.links_in, i, screen)
        for m in range(n_communities):
            for k in range(n_communities):
                bounds[k] += w[m, k] * excess[m]
    return bounds


@inner
def leave_hopeful(view, i, first, thresholds, screen, few):
    """Thresholds from ``first`` on, infinite where the bound of a flip is below; the view's rows are those of i.

    Of ``few`` communities all are left: their gains cost no more than bounds.
    """
    left, code, n_communities = screen.left, view.law.code, view.z.shape[0]
    for k in range(first, n_communities):
        left[k] = thresholds[k]
    clipped = view.out.base[1] != 0.0 or (view.directed and view.into.base[1] != 0.0)
    if n_communities <= few or clipped or code not in (BERNOULLI, POISSON):
        return
    bounds = sum_bounds(view, i, first, screen)
    for k in range(first, n_communities):
        if thresholds[k] != np.inf:
            d = 1 - 2 * np.int64(view.z[k, i])
            if d * (bounds[k] - flip_price(view, i, k)) < thresholds[k] - ROUNDING:
                left[k] = np.inf
