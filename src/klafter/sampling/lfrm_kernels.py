"""Sweeps of the latent feature relational model: Gibbs on shared memberships, Metropolis on private ones."""

import numpy as np

from klafter.core.kernel import inner, kernel
from klafter.core.responses import CLIP
from klafter.core.rows import new_row, row_loss
from klafter.search.flips import load_rows, refresh_pulls, sample_row


@inner
def draw_weight(problem, precision, rng):
    """A weight from its prior, folded to the positive half where the family asks for it."""
    value = rng.standard_normal() / np.sqrt(precision)
    return abs(value) if problem.lower == 0.0 else value


@inner
def draw_community(problem, state, cache, k, rng):
    """Fresh weights from the prior between slot k and all living communities, and the pulls of the slot."""
    directed, priors = problem.dyads.directed, problem.priors
    for m in range(state.w.shape[0]):
        if cache.size[m] == 0 and m != k:
            continue
        precision = priors.diagonal if m == k else priors.offdiagonal
        state.w[k, m] = draw_weight(problem, precision, rng)
        state.w[m, k] = draw_weight(problem, precision, rng) if directed and m != k else state.w[k, m]
    for j in range(problem.dyads.n):
        out = into = 0.0
        for m in range(state.z.shape[0]):
            if state.z[m, j]:
                out += state.w[k, m]
                into += state.w[m, k]
        cache.pull_out[k, j] = out
        cache.exp_out[k, j] = np.exp(min(max(out, -CLIP), CLIP))
        if directed:
            cache.pull_in[k, j] = into
            cache.exp_in[k, j] = np.exp(min(max(into, -CLIP), CLIP))


@inner
def rows_loss(problem, rows, i):
    """Loss of all of node i's dyads."""
    out, into = rows
    total = row_loss(problem.law, out, problem.dyads.links_out, i)
    if problem.dyads.directed:
        total += row_loss(problem.law, into, problem.dyads.links_in, i)
    return total


@inner
def sample_private(problem, state, cache, rows, i, fresh, rng):
    """The communities that only i holds, all at once: so many fresh ones in their place.

    Accepted with the likelihood ratio. Returns False when there was no free slot for a fresh community.
    """
    held = 0
    for k in range(state.z.shape[0]):
        if state.z[k, i] and cache.size[k] == 1:
            held += 1
    if fresh == 0 and held == 0:
        return True
    slots = np.empty(fresh, np.int64)
    found = 0
    for k in range(state.z.shape[0]):
        if cache.size[k] == 0 and found < fresh:
            slots[found] = k
            found += 1
    if found < fresh:
        return False
    before = rows_loss(problem, rows, i)
    old = np.empty(held, np.int64)
    t = 0
    for k in range(state.z.shape[0]):
        if state.z[k, i] and cache.size[k] == 1:
            old[t] = k
            t += 1
    for m in old:
        state.z[m, i] = 0
        cache.size[m] = 0
    refresh_pulls(problem, state, cache, i)
    for m in slots:
        draw_community(problem, state, cache, m, rng)
        state.z[m, i] = 1
        cache.size[m] = 1
        refresh_pulls(problem, state, cache, i)
    load_rows(problem, state, cache, i, rows)
    if np.log(rng.random()) >= before - rows_loss(problem, rows, i):
        for m in slots:
            state.z[m, i] = 0
            cache.size[m] = 0
        for m in old:
            state.z[m, i] = 1
            cache.size[m] = 1
        refresh_pulls(problem, state, cache, i)
        load_rows(problem, state, cache, i, rows)
    return True


@kernel
def sample_memberships(problem, state, cache, fresh, rng):
    """One sweep over the nodes: shared communities by Gibbs, private ones by Metropolis.

    fresh[i] ~ Poisson(alpha / N) is how many new private communities node i proposes. Counts those without a slot.
    """
    rows = (new_row(problem.dyads.n), new_row(problem.dyads.n))
    thresholds = np.empty(state.z.shape[0])
    full = 0
    for i in range(problem.dyads.n):
        load_rows(problem, state, cache, i, rows)
        sample_row(problem, state, cache, rows, i, thresholds, rng)
        if not sample_private(problem, state, cache, rows, i, fresh[i], rng):
            full += 1
    return full
