"""Births: a community grows from a seed node's unexplained links, and stays if Q falls by more than its price."""

import numpy as np

from klafter.core.cover_price import set_membership
from klafter.core.families import curvature, slope
from klafter.core.objective import flip_price
from klafter.core.rows import load_row, load_rows, x_of
from klafter.core.workspace import refresh_effects
from klafter.jit.decorators import bare, inner, kernel
from klafter.search.dense.flip_bounds import ROUNDING, new_flip_bounds
from klafter.search.dense.flip_kernels import TINY_GAIN, flip_row
from klafter.search.dense.growth import grow_inside
from klafter.search.dense.joining_bounds import joining_bound
from klafter.search.dense.weights_kernels import column_evidence, fit_column


@bare
def is_underpredicted(ws, i, j, y, x):
    """Whether the link from i to j is a standard deviation above its mean, or no community accounts for it."""
    law = ws.law
    if not law.quadratic and x <= ws.offset[0] + ws.sender[i] + ws.receiver[j] + 1.5:
        return True
    return -slope(law, y, x) > np.sqrt(curvature(law, y, x))


@kernel
def newly_underpredicted(ws, seed, failed_out, failed_in):
    """Whether a birth at the seed would begin with a link that no failure there began with; such links are noted."""
    new = False
    for incoming in range(2 if ws.directed else 1):
        links = ws.links_in if incoming else ws.links_out
        row = ws.into if incoming else ws.out
        failed = failed_in if incoming else failed_out
        load_row(ws, seed, row)
        for t in range(links.start[seed], links.start[seed + 1]):
            j = links.node[t]
            source, target = (j, seed) if incoming else (seed, j)
            if not failed[t] and is_underpredicted(ws, source, target, links.value[t], x_of(ws.law, row, j)):
                failed[t] = 1
                new = True
    return new


@bare
def seed_community(ws, k, seed, with_seed):
    """Slot k gets the partners whose link with the seed is above what it was expected to be (and the seed)."""
    ws.w[k, :] = 0.0
    ws.w[:, k] = 0.0
    ws.effect_out[k, :] = 0.0
    ws.effect_in[k, :] = 0.0
    ws.exp_out[k, :] = 1.0
    ws.exp_in[k, :] = 1.0
    ws.max_effect[k] = 0.0
    size, price = 0, 0.0
    for incoming in range(2 if ws.directed else 1):
        links = ws.links_in if incoming else ws.links_out
        row = ws.into if incoming else ws.out
        load_row(ws, seed, row)
        for t in range(links.start[seed], links.start[seed + 1]):
            j = links.node[t]
            source, target = (j, seed) if incoming else (seed, j)
            if not ws.z[k, j] and is_underpredicted(ws, source, target, links.value[t], x_of(ws.law, row, j)):
                price += flip_price(ws, j, k)
                set_membership(ws, j, k, 1)
                size += 1
    if with_seed and size > 0:
        price += flip_price(ws, seed, k)
        set_membership(ws, seed, k, 1)
        size += 1
    return size, price


@inner
def around(ws, k):
    """Members of k and the nodes linked to them."""
    near = ws.z[k].copy()
    links = ws.links_out
    for i in range(ws.n):
        if ws.z[k, i]:
            for t in range(links.start[i], links.start[i + 1]):
                near[links.node[t]] = 1
        else:
            for t in range(links.start[i], links.start[i + 1]):
                if ws.z[k, links.node[t]]:
                    near[i] = 1
    return np.flatnonzero(near)


@bare
def clear(ws, k):
    """Take community k out of the workspace."""
    ws.w[k, :] = 0.0
    ws.w[:, k] = 0.0
    for i in range(ws.n):
        if ws.z[k, i]:
            set_membership(ws, i, k, 0)
            refresh_effects(ws, i)


@bare
def revise(ws, k, nodes, members, thresholds, flip_bounds, residuals):
    """Flip z_ik of every node where Q falls, bounds permitting; k is never emptied. Returns the fall of Q."""
    size, total = 0, 0.0
    for i in nodes:
        if ws.z[k, i]:
            members[size] = i
            size += 1
    for i in nodes:
        inside = ws.z[k, i]
        if (inside and size == 1) or (
            not inside and joining_bound(ws, i, k, members, size, residuals) < TINY_GAIN - ROUNDING
        ):
            continue
        load_rows(ws, i)
        thresholds[k] = TINY_GAIN
        total += flip_row(ws, i, thresholds, flip_bounds)
        if ws.z[k, i] == inside:
            continue
        if inside:
            at = 0
            while members[at] != i:
                at += 1
            members[at] = members[size - 1]
            size -= 1
        else:
            members[size] = i
            size += 1
    return total


@inner
def grow(ws, k, price, sweeps, residuals):
    """Fit all weights of slot k and revise its members in turn; returns the fall of Q since the slot was empty."""
    gain, members, n_communities = -price, np.empty(ws.n, np.int64), ws.z.shape[0]
    thresholds, flip_bounds = np.full(n_communities, np.inf), new_flip_bounds(ws, n_communities)
    for left in range(sweeps - 1, -1, -1):
        before = gain
        gain += fit_column(ws, k, False)
        step = revise(ws, k, around(ws, k), members, thresholds, flip_bounds, residuals)
        gain += step
        if step == 0.0 or gain + left * (gain - before) < 0.0:
            break
    return gain


@inner
def propose_birth(ws, seed, k, assortative, sweeps, residuals):
    """Grow a community of column k from a seed; returns the fall of Q and the evidence of the weights that it brings.

    ``assortative`` ones have the seed inside and link inside only. Members are revised in so many ``sweeps`` at most.
    ``residuals`` are of the state in which it grows.
    """
    size, price = seed_community(ws, k, seed, assortative)
    if size < 2:
        return 0.0, 0.0
    gain = grow_inside(ws, k, price, sweeps) if assortative else grow(ws, k, price, sweeps, residuals)
    if ws.size[k] < 2:
        return 0.0, 0.0
    return gain, column_evidence(ws, k) if gain > TINY_GAIN else 0.0


@kernel
def next_birth(ws, seeds, first, k, bipartite_every, sweeps, failed, residuals):
    """The first birth in column k, at a seed from number ``first`` on, that gains more than the evidence it brings.

    Returns its number (that of all seeds where there is none), gain and evidence, and how many births were proposed.
    Every so many seeds one need not link inside; ``failed`` are the links at which births of either kind failed.
    """
    n_proposed, max_effect = 0, ws.max_effect.copy()
    for t in range(first, seeds.size):
        assortative = (t + 1) % bipartite_every != 0
        noted = failed[1] if assortative else failed[0]
        if newly_underpredicted(ws, seeds[t], noted[0], noted[1]):
            gain, evidence = propose_birth(ws, seeds[t], k, assortative, sweeps, residuals)
            n_proposed += 1
            if gain > evidence:
                return t, gain, evidence, n_proposed
            clear(ws, k)
            for m in range(max_effect.size):  # what failed has raised them: soon no e^x would count as safe
                ws.max_effect[m] = max_effect[m]
    return seeds.size, 0.0, 0.0, n_proposed


@kernel
def clear_column(ws, k):
    """Take the community of column k out of the workspace."""
    clear(ws, k)
