"""Births: a community grows from a seed node's unexplained links, and lives when Q falls by more than its price."""

from math import lgamma

import numpy as np

from klafter.core.kernel import inner, kernel
from klafter.core.responses import CLIP
from klafter.core.rows import load_row, new_row
from klafter.search.flips import descend_column, refresh_pulls
from klafter.search.weights_kernels import fit_column

PASSES = 4  # of fitting the weights and revising the members


@inner
def column_price_of(problem, size):
    """lambda^2 + T [log S + log C(N, S)]."""
    n = problem.dyads.n
    choose = lgamma(n + 1.0) - lgamma(size + 1.0) - lgamma(n - size + 1.0)
    return problem.priors.penalty + problem.priors.temperature * (np.log(size) + choose)


@inner
def plant(problem, state, cache, row, k, seed, with_seed):
    """Slot k gets the seed's linked partners (and the seed), those whose link is still a surprise."""
    state.w[k, :] = 0.0
    state.w[:, k] = 0.0
    cache.pull_out[k, :] = 0.0
    cache.pull_in[k, :] = 0.0
    cache.exp_out[k, :] = 1.0
    cache.exp_in[k, :] = 1.0
    size = 0
    for incoming in range(2 if problem.dyads.directed else 1):
        links = problem.dyads.links_in if incoming else problem.dyads.links_out
        load_row(problem, state, cache, seed, incoming == 1, row)
        typical = state.offset[0] + state.sender[seed] + 1.5
        for t in range(links.start[seed], links.start[seed + 1]):
            j = links.node[t]
            if row.x[j] <= typical + state.receiver[j] and not state.z[k, j]:
                state.z[k, j] = 1
                size += 1
    if with_seed and size > 0:
        state.z[k, seed] = 1
        size += 1
    cache.size[k] = size
    return size


@inner
def around(problem, state, k):
    """Members of k and the nodes linked to them."""
    near = state.z[k].copy()
    links = problem.dyads.links_out
    for i in range(problem.dyads.n):
        if state.z[k, i]:
            for t in range(links.start[i], links.start[i + 1]):
                near[links.node[t]] = 1
        else:
            for t in range(links.start[i], links.start[i + 1]):
                if state.z[k, links.node[t]]:
                    near[i] = 1
    return np.flatnonzero(near)


@inner
def refresh_column_exponentials(problem, cache, k):
    for j in range(problem.dyads.n):
        cache.exp_out[k, j] = np.exp(min(max(cache.pull_out[k, j], -CLIP), CLIP))
        if problem.dyads.directed:
            cache.exp_in[k, j] = np.exp(min(max(cache.pull_in[k, j], -CLIP), CLIP))


@inner
def clear(problem, state, cache, k):
    """Take community k out of the state."""
    state.w[k, :] = 0.0
    state.w[:, k] = 0.0
    cache.size[k] = 0
    for i in range(problem.dyads.n):
        if state.z[k, i]:
            state.z[k, i] = 0
            refresh_pulls(problem, state, cache, i)


@inner
def grow(problem, state, cache, rows, k, diagonal_only, rng):
    """Fit the weights of slot k and revise its members in turn; returns the fall of Q since the slot was empty."""
    gain = -column_price_of(problem, cache.size[k])
    for _ in range(PASSES):
        gain += fit_column(problem, state, cache, k, diagonal_only, rng)
        for i in range(problem.dyads.n):
            if state.z[k, i] and not diagonal_only:
                refresh_pulls(problem, state, cache, i)
        refresh_column_exponentials(problem, cache, k)
        step = descend_column(problem, state, cache, rows, around(problem, state, k), k)
        gain += step
        if step == 0.0 or cache.size[k] < 2:
            break
    return gain


@kernel
def births(problem, state, cache, seeds, slots, rng):
    """Try a community at each seed while slots are free; returns the fall of Q and how many were born."""
    rows = (new_row(problem.dyads.n), new_row(problem.dyads.n))
    fall, born = 0.0, 0
    for t in range(seeds.size):
        if born == slots.size:
            break
        k = slots[born]
        assortative = t % 3 != 2  # every third seed lends its partners to a community that need not link inside
        size = plant(problem, state, cache, rows[0], k, seeds[t], assortative)
        if size < 2:
            clear(problem, state, cache, k)
            continue
        gain = grow(problem, state, cache, rows, k, assortative, rng)
        if gain > 1e-9 and cache.size[k] > 1:
            fall += gain
            born += 1
        else:
            clear(problem, state, cache, k)
    return fall, born
