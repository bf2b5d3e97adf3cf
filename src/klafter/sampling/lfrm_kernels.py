"""Sweeps of the latent feature relational model: Gibbs on shared memberships, Metropolis on private ones."""

import numpy as np

from klafter.core.rows import load_rows, row_loss
from klafter.core.workspace import look, refresh_column, refresh_pulls
from klafter.jit.decorators import bare, inlined, inner, kernel
from klafter.sampling.weights_kernels import draw_parameters
from klafter.search.dense.flip_bounds import flip_hopeful, new_screen, relist
from klafter.search.dense.flip_kernels import draw_thresholds, flip_row


@bare
def draw_weight(view, precision, rng):
    """A weight from its prior, folded to the positive half where the family asks for it."""
    value = rng.standard_normal() / np.sqrt(precision)
    return abs(value) if view.lower == 0.0 else value


@bare
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


@bare
def rows_loss(view, i):
    """Loss of all of node i's dyads."""
    total = row_loss(view.law, view.out, view.links_out, i, 0)
    if view.directed:
        total += row_loss(view.law, view.into, view.links_in, i, 0)
    return total


@bare
def sample_private(view, i, fresh, room, rng):
    """The communities that only i holds, all at once: so many fresh ones in their place.

    Accepted with the likelihood ratio. Returns False when there was no free slot for a fresh community.
    ``room`` is for two lists of communities.
    """
    old, slots, held, found = room[0], room[1], 0, 0
    for k in range(view.z.shape[0]):
        if view.z[k, i] and view.size[k] == 1:
            old[held] = k
            held += 1
        elif view.size[k] == 0 and found < fresh:
            slots[found] = k
            found += 1
    if fresh == 0 and held == 0:
        return True
    if found < fresh:
        return False
    before = rows_loss(view, i)
    for t in range(held):
        leave(view, i, old[t])
    refresh_pulls(view, i)
    for t in range(fresh):
        draw_community(view, slots[t], rng)
        enter(view, i, slots[t])
        refresh_pulls(view, i)
    load_rows(view, i)
    if np.log(rng.random()) >= before - rows_loss(view, i):
        for t in range(fresh):
            leave(view, i, slots[t])
        for t in range(held):
            enter(view, i, old[t])
        refresh_pulls(view, i)
        load_rows(view, i)
    return True


@inlined
def enter(view, i, k):
    """Node i alone holds k."""
    view.z[k, i] = 1
    view.size[k] = 1


@inlined
def leave(view, i, k):
    """Nobody holds k."""
    view.z[k, i] = 0
    view.size[k] = 0


@inner
def sample_memberships(view, fresh, rng):
    """One sweep over the nodes: shared communities by Gibbs, private ones by Metropolis.

    fresh[i] ~ Poisson(alpha / N) is how many new private communities node i proposes. Counts those without a slot.
    """
    k = view.z.shape[0]
    return visit(view, fresh, np.empty(k), np.empty((2, k), np.int64), rng)


@bare
def visit(view, fresh, thresholds, room, rng):
    full = 0
    for i in range(view.n):
        load_rows(view, i)
        draw_thresholds(view, i, thresholds, rng)
        flip_row(view, i, thresholds)
        if not sample_private(view, i, fresh[i], room, rng):
            full += 1
    return full


@inner
def sample_many(view, fresh, rng):
    """The same for many communities."""
    k = view.z.shape[0]
    return visit_many(view, fresh, np.empty(k), new_screen(view), np.empty((2, k), np.int64), rng)


@bare
def visit_many(view, fresh, thresholds, screen, room, rng):
    full = 0
    for i in range(view.n):
        load_rows(view, i)
        draw_thresholds(view, i, thresholds, rng)
        flip_hopeful(view, i, thresholds, screen)
        if not sample_private(view, i, fresh[i], room, rng):
            full += 1
        relist(view, i, screen)
    return full


@kernel
def sweep(problem, state, fresh, rng):
    """Memberships, then all parameters, in place. One call: on small networks most of a sweep was calling kernels."""
    view = look(problem, state)
    sample_memberships(view, fresh, rng)
    draw_parameters(view, rng)


@kernel
def sweep_many(problem, state, fresh, rng):
    """The same for many communities. A kernel of its own, which small networks need not compile."""
    view = look(problem, state)
    sample_many(view, fresh, rng)
    draw_parameters(view, rng)
