"""Sweeps of the latent feature relational model: Gibbs on shared memberships, Metropolis on private ones."""

import numpy as np

from klafter.core.kernel import inner, kernel
from klafter.core.rows import load_rows, row_loss
from klafter.core.view import refresh_column, refresh_pulls
from klafter.search.flips import draw_thresholds, flip_row
from klafter.search.screens import flip_hopeful, new_screen, relist


@inner
def draw_weight(view, precision, rng):
    """A weight from its prior, folded to the positive half where the family asks for it."""
    value = rng.standard_normal() / np.sqrt(precision)
    return abs(value) if view.lower == 0.0 else value


@inner
def draw_community(view, k, rng):
    """Fresh weights from the prior between slot k and all living communities, and the pulls of the slot."""
    directed, priors = view.directed, view.priors
    for m in range(view.w.shape[0]):
        if view.size[m] == 0 and m != k:
            continue
        precision = priors.diagonal if m == k else priors.offdiagonal
        view.w[k, m] = draw_weight(view, precision, rng)
        view.w[m, k] = draw_weight(view, precision, rng) if directed and m != k else view.w[k, m]
    refresh_column(view, k)


@inner
def rows_loss(view, i):
    """Loss of all of node i's dyads."""
    total = row_loss(view.law, view.out, view.links_out, i, 0)
    if view.directed:
        total += row_loss(view.law, view.into, view.links_in, i, 0)
    return total


@inner
def sample_private(view, i, fresh, rng):
    """The communities that only i holds, all at once: so many fresh ones in their place.

    Accepted with the likelihood ratio. Returns False when there was no free slot for a fresh community.
    """
    held = 0
    for k in range(view.z.shape[0]):
        if view.z[k, i] and view.size[k] == 1:
            held += 1
    if fresh == 0 and held == 0:
        return True
    slots = np.empty(fresh, np.int64)
    found = 0
    for k in range(view.z.shape[0]):
        if view.size[k] == 0 and found < fresh:
            slots[found] = k
            found += 1
    if found < fresh:
        return False
    before = rows_loss(view, i)
    old = np.empty(held, np.int64)
    t = 0
    for k in range(view.z.shape[0]):
        if view.z[k, i] and view.size[k] == 1:
            old[t] = k
            t += 1
    for m in old:
        view.z[m, i] = 0
        view.size[m] = 0
    refresh_pulls(view, i)
    for m in slots:
        draw_community(view, m, rng)
        view.z[m, i] = 1
        view.size[m] = 1
        refresh_pulls(view, i)
    load_rows(view, i)
    if np.log(rng.random()) >= before - rows_loss(view, i):
        for m in slots:
            view.z[m, i] = 0
            view.size[m] = 0
        for m in old:
            view.z[m, i] = 1
            view.size[m] = 1
        refresh_pulls(view, i)
        load_rows(view, i)
    return True


@kernel
def sample_memberships(view, fresh, rng):
    """One sweep over the nodes: shared communities by Gibbs, private ones by Metropolis.

    fresh[i] ~ Poisson(alpha / N) is how many new private communities node i proposes. Counts those without a slot.
    """
    thresholds = np.empty(view.z.shape[0])
    full = 0
    for i in range(view.n):
        load_rows(view, i)
        draw_thresholds(view, i, thresholds, rng)
        flip_row(view, i, thresholds)
        if not sample_private(view, i, fresh[i], rng):
            full += 1
    return full


@kernel
def sample_many(view, fresh, rng):
    """The same for many communities. A kernel of its own, which small networks need not compile."""
    thresholds, screen = np.empty(view.z.shape[0]), new_screen(view)
    full = 0
    for i in range(view.n):
        load_rows(view, i)
        draw_thresholds(view, i, thresholds, rng)
        flip_hopeful(view, i, thresholds, screen)
        if not sample_private(view, i, fresh[i], rng):
            full += 1
        relist(view, i, screen)
    return full
