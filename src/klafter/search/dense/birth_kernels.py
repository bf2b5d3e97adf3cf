"""Births: a community grows from a seed node's unexplained links, and lives when Q falls by more than its price."""

import numpy as np

from klafter.core.families import GAUSSIAN, curvature, slope
from klafter.core.objective import column_price
from klafter.core.rows import load_row, x_of
from klafter.core.workspace import refresh_pulls
from klafter.jit.decorators import bare, inner, kernel
from klafter.search.dense.flip_kernels import TINY_GAIN, descend
from klafter.search.dense.growth import grow_inside
from klafter.search.dense.weights_kernels import column_evidence, fit_column

PASSES = 4  # of fitting the weights and revising the members


@bare
def is_surprise(view, i, j, y, x):
    """Whether a link is a standard deviation above its mean, or no community accounts for it."""
    law = view.law
    if law.code != GAUSSIAN and x <= view.offset[0] + view.sender[i] + view.receiver[j] + 1.5:
        return True
    return -slope(law, y, x) > np.sqrt(curvature(law, y, x))


@bare
def plant(view, k, seed, with_seed):
    """Slot k gets the partners whose link with the seed is above what it was expected to be (and the seed)."""
    view.w[k, :] = 0.0
    view.w[:, k] = 0.0
    view.pull_out[k, :] = 0.0
    view.pull_in[k, :] = 0.0
    view.exp_out[k, :] = 1.0
    view.exp_in[k, :] = 1.0
    view.reach[k] = 0.0
    size = 0
    for incoming in range(2 if view.directed else 1):
        links = view.links_in if incoming else view.links_out
        row = view.into if incoming else view.out
        load_row(view, seed, row)
        for t in range(links.start[seed], links.start[seed + 1]):
            j = links.node[t]
            if not view.z[k, j] and is_surprise(view, seed, j, links.value[t], x_of(view.law, row, j)):
                view.z[k, j] = 1
                size += 1
    if with_seed and size > 0:
        view.z[k, seed] = 1
        size += 1
    view.size[k] = size
    return size


@inner
def around(view, k):
    """Members of k and the nodes linked to them."""
    near = view.z[k].copy()
    links = view.links_out
    for i in range(view.n):
        if view.z[k, i]:
            for t in range(links.start[i], links.start[i + 1]):
                near[links.node[t]] = 1
        else:
            for t in range(links.start[i], links.start[i + 1]):
                if view.z[k, links.node[t]]:
                    near[i] = 1
    return np.flatnonzero(near)


@bare
def clear(view, k):
    """Take community k out of the view."""
    view.w[k, :] = 0.0
    view.w[:, k] = 0.0
    view.size[k] = 0
    for i in range(view.n):
        if view.z[k, i]:
            view.z[k, i] = 0
            refresh_pulls(view, i)


@inner
def grow(view, k, price):
    """Fit all weights of slot k and revise its members in turn; returns the fall of Q since the slot was empty."""
    gain = -price
    for left in range(PASSES - 1, -1, -1):
        before = gain
        gain += fit_column(view, k, False)
        step = descend(view, around(view, k), k, 1)
        gain += step
        if step == 0.0 or gain + left * (gain - before) < 0.0:
            break
    return gain


@kernel
def births(view, seeds, slots):
    """Try a community at each seed while slots are free; returns the fall of Q and how many were born."""
    fall, born = 0.0, 0
    for t in range(seeds.size):
        if born == slots.size:
            break
        k = slots[born]
        assortative = t % 3 != 2  # every third seed lends its partners to a community that need not link inside
        size = plant(view, k, seeds[t], assortative)
        gain = 0.0
        if size > 1:
            price = column_price(view.priors, view.n, size)
            gain = grow_inside(view, k, price, PASSES) if assortative else grow(view, k, price)
        if gain > TINY_GAIN and view.size[k] > 1 and gain > column_evidence(view, k):
            fall += gain
            born += 1
        else:
            clear(view, k)
    return fall, born
