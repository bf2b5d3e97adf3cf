"""Kernels of flips: the best flip of each node, sweeps of flips, and the probabilities of memberships."""

# ruff: noqa: E741 - k and l are communities, as in the papers

import math

import numpy as np
from numba import types
from numba.experimental import structref

from klafter.jit.decorators import bare, inlined, kernel
from klafter.jit.structs import define_reference
from klafter.search.sparse.kernels.links import (
    ENOUGH,
    OVERFLOW,
    TINY,
    UNDERFLOW,
    add_row_effect,
    at_least,
    clear_row_effect,
    exposure_factor,
    flip,
    hidden_factor,
    hidden_factors,
    holds,
    is_symmetric,
    link_mean,
    look_ahead,
    mark_row,
    may_link_own_kind,
    n_hidden_partners,
    one_more_price,
    pair_affinity,
    price,
    receivers,
    senders,
)

FAINT = 1e-3  # a probability below this is left out
LEAST_ODDS = math.log(FAINT / (1.0 - FAINT))
CLIP = 50.0  # of log odds: beyond it exp says 0 or 1
SCRATCH = (
    "mine", "seen",
    "out", "into",  # effects as source and as target
    "gain", "product",  # a bound of the link terms of each flip, and the factor whose logarithm is still to be added
    "back",  # what hidden dyads give back
    "step",  # what a membership adds to u of one dyad
    "near",  # communities with a step
    "touched",  # communities with a gain
)  # fmt: skip


class FlipScratchType(types.StructRef):
    """The type of scratch space in kernels."""


class FlipScratch(structref.StructRefProxy):
    """Arrays by community, 0 between nodes (products 1)."""


define_reference(FlipScratch, FlipScratchType, list(SCRATCH))


@kernel
def flip_scratch(ws):
    """Scratch space for flips of one node after the other."""
    size = len(ws.size)
    out = np.zeros(size)
    return FlipScratch(
        np.zeros(size, np.bool_), np.zeros(size, np.bool_), out, out if is_symmetric(ws) else np.zeros(size),
        np.zeros(size), np.ones(size), np.zeros(size), np.zeros(size), np.zeros(size, np.int64),
        np.zeros(size + 1, np.int64),
    )  # fmt: skip


@bare
def take_steps(ws, j, is_target, scratch):
    """(L z_j)_k for every k where it is above 0, listed in ``near``; (L' z_j)_k if j is the source. Their number."""
    first, other, place = ws.row_start, ws.row_other, ws.row_place
    if is_target:
        first, other, place = ws.column_start, ws.column_other, ws.column_place
    step, near, number = scratch.step, scratch.near, 0
    for m in range(ws.start[j], ws.start[j] + ws.held[j]):
        l = ws.member[m]
        for q in range(first[l] - 1, first[l + 1]):  # the diagonal, then the rest of the row
            k = l if q < first[l] else other[q]
            value = ws.strength[l] if q < first[l] else ws.off_diagonal[place[q]]
            if value > 0.0:
                if step[k] == 0.0:
                    near[number] = k
                    number += 1
                step[k] += value
    return number


@inlined
def touch(scratch, k, n_touched):
    """Remember k; returns how many are. Without a branch, which would often be taken for the other one."""
    scratch.touched[n_touched] = k
    n_touched += not scratch.seen[k]
    scratch.seen[k] = True
    return n_touched


@inlined
def mean_bound(y):
    """1 - e^-y is no larger: its series up to y^5, which is good to 1% up to y = 1.5."""
    series = y * (1.0 - y * (1 / 2 - y * (1 / 6 - y * (1 / 24 - y / 120))))
    return at_least(series if series < 1.0 else 1.0, TINY)


@inlined
def add_bound(counts, value, x, per_mean, step, sign, k, scratch):
    """Add a bound of h(y, x + step) - h(y, x) from above to the gain of k, or take it back by sign -1; of counts the
    change itself. One logarithm for many."""
    gain, product = scratch.gain, scratch.product
    ratio = (at_least(x + step, TINY) if counts else mean_bound(x + step)) * per_mean
    if counts or not UNDERFLOW < ratio < OVERFLOW:
        gain[k] += sign * (value * math.log(ratio) if counts else step + math.log(ratio))
        return
    gain[k] += sign * step
    product[k] *= ratio if sign > 0.0 else 1.0 / ratio
    if not UNDERFLOW < product[k] < OVERFLOW:
        gain[k] += math.log(product[k])
        product[k] = 1.0


@inlined
def links_bound(scratch, k):
    """The link terms of the flip of k add no more."""
    return scratch.gain[k] + math.log(scratch.product[k])


@bare
def links_gain(ws, i, k, scratch):
    """The link terms of the flip of k, those of counts as they were added up."""
    if ws.counts:
        return links_bound(scratch, k)
    gain, product, middle, inside = 0.0, 1.0, ws.middle[i], scratch.mine[k]
    add_row_effect(ws, i, scratch.out, scratch.into)
    for p in range(ws.start[i], ws.start[i + 1]):
        j = ws.node[p]
        step = affinity_to(ws, j, k, p < middle)
        if step == 0.0:
            continue
        a = exposure_factor(ws, i, p)
        x = a * pair_affinity(ws, j, scratch.out if p < middle else scratch.into)
        step *= -a if inside else a
        gain += step
        product *= link_mean(False, x + step) / link_mean(False, x)
        if not UNDERFLOW < product < OVERFLOW:
            gain += math.log(product)
            product = 1.0
    clear_row_effect(ws, i, scratch.out, scratch.into)
    return gain + math.log(product)


@bare
def affinity_to(ws, j, k, is_target):
    """(L z_j)_k, or (L' z_j)_k if j is the source."""
    total = ws.strength[k] if holds(ws, j, k) else 0.0
    if not ws.diagonal:
        first, other, place = ws.column_start, ws.column_other, ws.column_place
        if is_target:
            first, other, place = ws.row_start, ws.row_other, ws.row_place
        for q in range(first[k], first[k + 1]):
            if holds(ws, j, other[q]):
                total += ws.off_diagonal[place[q]]
    return total


@inlined
def tally_flips(ws, i, scratch):
    """Bounds of the link terms of the flips of i into its communities and those with an affinity to its neighbours',
    which are marked; returns their number."""
    start, held, member, counts, strength = ws.start, ws.held, ws.member, ws.counts, ws.strength
    mine, middle = scratch.mine, ws.middle[i]
    first, stop = start[i], start[i + 1]
    n_touched = 0 if look_ahead(ws, first, stop) >= 0.0 else -1
    mark_row(ws, i, mine)
    add_row_effect(ws, i, scratch.out, scratch.into)
    for m in range(first, first + held[i]):
        n_touched = touch(scratch, member[m], n_touched)
    for p in range(first, stop):
        j = ws.node[p]
        if held[j] == 0:
            continue
        a = exposure_factor(ws, i, p)
        x = a * pair_affinity(ws, j, scratch.out if p < middle else scratch.into)
        per_mean = 1.0 / link_mean(counts, x)
        if ws.diagonal:
            for m in range(start[j], start[j] + held[j]):
                k = member[m]
                n_touched = touch(scratch, k, n_touched)
                step = a * strength[k]
                add_bound(counts, ws.value[p], x, per_mean, -step if mine[k] else step, 1.0, k, scratch)
        else:
            for q in range(take_steps(ws, j, p < middle, scratch)):
                k = scratch.near[q]
                n_touched = touch(scratch, k, n_touched)
                step = a * scratch.step[k]
                add_bound(counts, ws.value[p], x, per_mean, -step if mine[k] else step, 1.0, k, scratch)
                scratch.step[k] = 0.0
    clear_row_effect(ws, i, scratch.out, scratch.into)
    tally_hidden(ws, i, scratch)
    return n_touched


@bare
def tally_hidden(ws, i, scratch):
    """What hidden dyads give back of the pairs of each flip: sum of a over those inside, times (L z_j)_k off the
    diagonal."""
    start, held, member, seen, back = ws.start, ws.held, ws.member, scratch.seen, scratch.back
    low = ws.hidden_start[i]
    partners = n_hidden_partners(ws, i) if ws.diagonal else ws.hidden_start[i + 1] - low
    for p in range(low, low + partners):
        j = ws.hidden_node[p]
        if ws.diagonal:
            a = hidden_factors(ws, i, p, partners)
            for m in range(start[j], start[j] + held[j]):
                back[member[m]] += a * seen[member[m]]
        else:
            for q in range(take_steps(ws, j, p < ws.hidden_middle[i], scratch)):
                k = scratch.near[q]
                if seen[k]:
                    back[k] += hidden_factor(ws, i, p) * scratch.step[k]
                scratch.step[k] = 0.0


@bare
def flip_rest(ws, i, k, inside, back):
    """The part of a flip's gain that is not links, with d = +1 to join, -1 to leave, and s, T', R' without i:

    -d {half sum_l (t_i L_kl R_l' + r_i L_lk T_l') - hidden + T log((N - s)/s)}

    The last member's leaving gives the whole price back. Where there are off-diagonal affinities it stays: communities
    die with these, by another move.
    """
    t, r, s = ws.send[i], ws.receive[i], ws.size[k]
    if inside and s == 1:
        return price(ws, s) + one_more_price(ws, ws.held[i] - 1) if ws.diagonal else -math.inf
    send_sum, receive_sum = senders(ws, i, k), receivers(ws, i, k)
    if inside:
        s -= 1
        if may_link_own_kind(ws, i):
            send_sum, receive_sum = send_sum - t, receive_sum - r
    pairs = ws.pair_weight * (t * receive_sum + r * send_sum)
    if ws.diagonal:
        pairs = ws.strength[k] * (pairs - back)
    else:
        pairs = ws.strength[k] * pairs + ws.pair_weight * off_diagonal_rate(ws, i, k) - back
    rest = pairs + ws.temperature * math.log((ws.n - s) / s) + one_more_price(ws, ws.held[i] - (1 if inside else 0))
    return rest if inside else -rest


@bare
def off_diagonal_rate(ws, i, k):
    """sum_{l != k} (t_i L_kl R_l' + r_i L_lk T_l')."""
    t, r, rate = ws.send[i], ws.receive[i], 0.0
    for q in range(ws.row_start[k], ws.row_start[k + 1]):
        l = ws.row_other[q]
        rate += ws.off_diagonal[ws.row_place[q]] * t * (ws.receive_sum[l] - (r if holds(ws, i, l) else 0.0))
    for q in range(ws.column_start[k], ws.column_start[k + 1]):
        l = ws.column_other[q]
        rate += ws.off_diagonal[ws.column_place[q]] * r * (ws.send_sum[l] - (t if holds(ws, i, l) else 0.0))
    return rate


@bare
def choose_flip(ws, i, n_touched, scratch):
    """The flip of z_ik with the largest gain among the communities that ``tally_flips`` marked: (k, gain), or (-1, 0).

    gain = sum_{j in N(i)} [h(x + d a s_j) - h(x)] + rest,   s_j = (L z_j)_k, d = +1 to join, -1 to leave

    Only where the bound leaves hope the gain itself is worked out.
    """
    full = ws.start[i] + ws.held[i] == ws.start[i + 1]
    best, best_gain = -1, ENOUGH
    for m in range(n_touched):
        k = scratch.touched[m]
        inside = scratch.mine[k]
        if not (full and not inside):
            rest = flip_rest(ws, i, k, inside, scratch.back[k])
            if links_bound(scratch, k) + rest > best_gain:
                value = links_gain(ws, i, k, scratch) + rest
                if value > best_gain:
                    best, best_gain = k, value
    return best, best_gain


@bare
def forget_flips(ws, i, n_touched, scratch):
    """Scratch space as it was before ``tally_flips``."""
    for m in range(n_touched):
        k = scratch.touched[m]
        scratch.seen[k], scratch.gain[k], scratch.product[k], scratch.back[k] = False, 0.0, 1.0, 0.0
    mark_row(ws, i, scratch.mine)


@bare
def best_flip(ws, i, scratch):
    """The flip of z_ik with the largest gain, and that; (-1, 0) if none gains."""
    n_touched = tally_flips(ws, i, scratch)
    k, gain = choose_flip(ws, i, n_touched, scratch)
    forget_flips(ws, i, n_touched, scratch)
    return k, gain


@bare
def flip_again(ws, i, flipped, scratch):
    """Link terms of the flips of i after one of them: those of neighbours in that community are taken back, and added
    as they are now. A node of many links that joins many communities is then not gone through for each."""
    start, held, member, strength, mine = ws.start, ws.held, ws.member, ws.strength, scratch.mine
    for sign in (-1.0, 1.0):
        for p in range(start[i], start[i + 1]):
            j = ws.node[p]
            if holds(ws, j, flipped):
                a, u = exposure_factor(ws, i, p), ws.background
                for m in range(start[j], start[j] + held[j]):
                    if mine[member[m]]:
                        u += strength[member[m]]
                per_mean = 1.0 / link_mean(ws.counts, a * u)
                for m in range(start[j], start[j] + held[j]):
                    k = member[m]
                    step = -a * strength[k] if mine[k] else a * strength[k]
                    add_bound(ws.counts, ws.value[p], a * u, per_mean, step, sign, k, scratch)
        if sign < 0.0:
            mine[flipped] ^= True


@bare
def take_flips(ws, i, scratch):
    """Flip memberships of i, the one that gains most first, until none gains; returns what they gain."""
    n_touched, total = tally_flips(ws, i, scratch), 0.0
    k, value = choose_flip(ws, i, n_touched, scratch)
    while k >= 0:
        total += value
        if ws.diagonal:
            flip(ws, i, k)
            flip_again(ws, i, k, scratch)
        else:
            forget_flips(ws, i, n_touched, scratch)
            flip(ws, i, k)
            n_touched = tally_flips(ws, i, scratch)
        k, value = choose_flip(ws, i, n_touched, scratch)
    forget_flips(ws, i, n_touched, scratch)
    return total


@kernel
def flip_sweep_rows(ws, low, high, flags, around):
    """Take the best flips of each flagged node of low..high until none gains; flag neighbours of those that changed.

    With an empty ``around`` nothing is changed: flags stay only where some flip gains. Returns the total gain, the
    exact fall of the objective.
    """
    start, node = ws.start, ws.node
    scratch, total = flip_scratch(ws), 0.0
    for i in range(low, high):
        if not flags[i]:
            continue
        if len(around) == 0:
            flags[i] = best_flip(ws, i, scratch)[0] >= 0
            continue
        gain = take_flips(ws, i, scratch)
        if gain > 0.0:
            total += gain
            for p in range(start[i], start[i + 1]):
                around[node[p]] = True
        flags[i] = False
    return total


@kernel
def posterior_rows(ws, low, high, which, proba, ends):
    """P(z_ik = 1) given the rest, of the nodes low..high and the communities that a flip of theirs is tried for."""
    scratch, total = flip_scratch(ws), 0
    for i in range(low, high):
        n_touched = tally_flips(ws, i, scratch)
        for m in range(n_touched):
            k = scratch.touched[m]
            inside = scratch.mine[k]
            rest = flip_rest(ws, i, k, inside, scratch.back[k])
            if not inside and links_bound(scratch, k) + rest < LEAST_ODDS:
                continue
            value = links_gain(ws, i, k, scratch) + rest
            p = 1.0 / (1.0 + math.exp(min(max(value if inside else -value, -CLIP), CLIP)))
            if p > FAINT:
                which[total], proba[total] = k, p
                total += 1
        forget_flips(ws, i, n_touched, scratch)
        ends[i - low] = total
    return total
