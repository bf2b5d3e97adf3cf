"""Sweeps of the latent feature relational model: Gibbs on shared memberships, Metropolis on private ones.

Under learned counts a node also exchanges one community that it shares for another: either flip alone raises Q.
"""

import numpy as np

from klafter.core.cover_price import cover_price, set_membership
from klafter.core.rows import load_rows, row_loss
from klafter.core.workspace import open_workspace, refresh_column, refresh_effects
from klafter.jit.decorators import bare, inlined, inner, kernel
from klafter.sampling.membership_kernels import exchange
from klafter.sampling.weights_kernels import draw_parameters
from klafter.search.dense.flip_bounds import DRAWS, new_flip_bounds, update_listed
from klafter.search.dense.flip_kernels import draw_thresholds, flip_row


@bare
def draw_weight(ws, precision, rng):
    """A weight from its prior, folded to the positive half where the family asks for it."""
    value = rng.standard_normal() / np.sqrt(precision)
    return abs(value) if ws.lower == 0.0 else value


@bare
def draw_community(ws, k, rng):
    """Fresh weights from the prior between slot k and all communities with members, and the effects of the slot."""
    directed, priors = ws.directed, ws.priors
    for m in range(ws.w.shape[0]):
        if ws.size[m] == 0 and m != k:
            continue
        precision = priors.diagonal if m == k else priors.offdiagonal
        ws.w[k, m] = draw_weight(ws, precision, rng)
        ws.w[m, k] = draw_weight(ws, precision, rng) if directed and m != k else ws.w[k, m]
    refresh_column(ws, k)


@bare
def rows_loss(ws, i):
    """Loss of all of node i's dyads."""
    total = row_loss(ws.law, ws.out, ws.links_out, i, 0)
    if ws.directed:
        total += row_loss(ws.law, ws.into, ws.links_in, i, 0)
    return total


@bare
def sample_private(ws, i, fresh, scratch, rng):
    """The communities that only i holds, q of them, all at once: q' fresh ones in their place, q' ~ Poisson(alpha / N).

    A class of Z has the probability exp(-price) / prod_h K_h!, K_h communities with the same members, so that q! goes
    with that of the proposal and the move is accepted with
        L' / L  exp(price - price')  (alpha / N)^(q - q').
    Under the buffet the last two factors cancel. Returns False when there was no free slot for a fresh community.
    ``scratch`` is for two lists of communities.
    """
    old, slots, held, found = scratch[0], scratch[1], 0, 0
    for k in range(ws.z.shape[0]):
        if ws.z[k, i] and ws.size[k] == 1:
            old[held] = k
            held += 1
        elif ws.size[k] == 0 and found < fresh:
            slots[found] = k
            found += 1
    if fresh == 0 and held == 0:
        return True
    if found < fresh:
        return False
    before = rows_loss(ws, i) + (cover_price(ws) if ws.counts else 0.0)
    if ws.counts:
        before += (fresh - held) * (ws.priors.penalty + np.log(ws.n))
    for t in range(held):
        leave(ws, i, old[t])
    refresh_effects(ws, i)
    for t in range(fresh):
        draw_community(ws, slots[t], rng)
        enter(ws, i, slots[t])
        refresh_effects(ws, i)
    load_rows(ws, i)
    if np.log(rng.random()) >= before - rows_loss(ws, i) - (cover_price(ws) if ws.counts else 0.0):
        for t in range(fresh):
            leave(ws, i, slots[t])
        for t in range(held):
            enter(ws, i, old[t])
        refresh_effects(ws, i)
        load_rows(ws, i)
    return True


@inlined
def enter(ws, i, k):
    """Node i alone holds k."""
    set_membership(ws, i, k, 1)


@inlined
def leave(ws, i, k):
    """No node holds k."""
    set_membership(ws, i, k, 0)


@inner
def sample_memberships(ws, fresh, rng):
    """One sweep over the nodes: shared communities by Gibbs, private ones by Metropolis.

    fresh[i] ~ Poisson(alpha / N) is how many new private communities node i proposes. Counts those without a slot.
    """
    k = ws.z.shape[0]
    return visit(ws, fresh, np.empty((2, k)), new_flip_bounds(ws, DRAWS // ws.n), np.empty((2, k), np.int64), rng)


@bare
def visit(ws, fresh, rows, flip_bounds, scratch, rng):
    full = 0
    for i in range(ws.n):
        load_rows(ws, i)
        draw_thresholds(ws, i, rows[0], rng)
        flip_row(ws, i, rows[0], flip_bounds)
        if ws.counts:
            exchange(ws, i, rows, rng)
        if not sample_private(ws, i, fresh[i], scratch, rng):
            full += 1
        update_listed(ws, i, flip_bounds)
    return full


@kernel
def sweep(problem, state, fresh, share, rng):
    """Memberships, then parameters, in place. One call: on small networks most of a sweep was calling kernels."""
    ws = open_workspace(problem, state)
    sample_memberships(ws, fresh, rng)
    draw_parameters(ws, share, rng)
