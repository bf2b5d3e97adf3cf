"""Kernels of flips with bridges: best flips of nodes, and the chances of memberships."""

# ruff: noqa: E741 - k and l are communities, as in the papers

import math
from typing import NamedTuple

import numpy as np

from klafter.jit.decorators import bare, kernel
from klafter.search.sparse.bridges_kernels import reached, spread, withdraw
from klafter.search.sparse.kernels import (
    ENOUGH,
    exposure_factor,
    flip,
    hidden_factor,
    link_chance,
    link_change,
    mark_row,
)
from klafter.search.sparse.membership_posterior import CLIP, FAINT


class Scratch(NamedTuple):
    """Scratch space of one thread, by community."""

    mine: np.ndarray
    seen: np.ndarray
    out: np.ndarray  # reach as source
    into: np.ndarray  # reach as target
    step: np.ndarray  # what a membership adds to u of one dyad
    gain: np.ndarray
    back: np.ndarray  # what hidden dyads give back
    near: np.ndarray  # communities with a step
    touched: np.ndarray  # communities with a gain


def make_scratch(k: int) -> Scratch:
    """An empty desk for k communities."""
    kinds = [np.bool_] * 2 + [np.float64] * 5 + [np.int64] * 2
    return Scratch._make(np.zeros(k, kind) for kind in kinds)


@bare
def take_steps(ws, j, first, other, strength, scratch):
    """(L z_j)_k for every k with one above 0, listed in ``near``; with rows of L for columns, (L' z_j)_k."""
    number = 0
    for m in range(ws.start[j], ws.start[j] + ws.held[j]):
        l = ws.member[m]
        for q in range(first[l], first[l + 1]):
            if strength[q] > 0.0:
                k = other[q]
                if scratch.step[k] == 0.0:
                    scratch.near[number] = k
                    number += 1
                scratch.step[k] += strength[q]
    return number


@bare
def steps_from(ws, ties, j, source, scratch):
    """Steps of a node's memberships in its dyad with j, as source or as target."""
    if source:
        return take_steps(ws, j, ties.into_start, ties.into_other, ties.into_strength, scratch)
    return take_steps(ws, j, ties.start, ties.other, ties.strength, scratch)


@bare
def tally_tie_flips(ws, ties, i, scratch):
    """Link terms of the flips of i into its communities and those that reach its neighbours; returns their number."""
    mine, seen, gain, back, touched = scratch.mine, scratch.seen, scratch.gain, scratch.back, scratch.touched
    mark_row(ws, i, mine)
    spread(ws, i, ties.start, ties.other, ties.strength, scratch.out)
    spread(ws, i, ties.into_start, ties.into_other, ties.into_strength, scratch.into)
    n_touched = 0
    for m in range(ws.start[i], ws.start[i] + ws.held[i]):
        k = ws.member[m]
        seen[k], gain[k], back[k] = True, 0.0, 0.0
        touched[n_touched] = k
        n_touched += 1
    for p in range(ws.start[i], ws.start[i + 1]):
        j, source = ws.node[p], p < ws.middle[i]
        number = steps_from(ws, ties, j, source, scratch)
        a = exposure_factor(ws, i, p)
        x = a * (ws.background + reached(ws, j, scratch.out if source else scratch.into))
        chance = link_chance(ws.counts, x)
        for q in range(number):
            k = scratch.near[q]
            if not seen[k]:
                seen[k], gain[k], back[k] = True, 0.0, 0.0
                touched[n_touched] = k
                n_touched += 1
            step = a * scratch.step[k]
            gain[k] += link_change(ws.counts, ws.value[p], x, chance, -step if mine[k] else step)
            scratch.step[k] = 0.0
    for p in range(ws.hidden_start[i], ws.hidden_start[i + 1]):
        number = steps_from(ws, ties, ws.hidden_node[p], p < ws.hidden_middle[i], scratch)
        for q in range(number):
            k = scratch.near[q]
            if seen[k]:
                back[k] += hidden_factor(ws, i, p) * scratch.step[k]
            scratch.step[k] = 0.0
    withdraw(ws, i, ties.start, ties.other, scratch.out)
    withdraw(ws, i, ties.into_start, ties.into_other, scratch.into)
    return n_touched


@bare
def tie_flip_gain(ws, ties, i, k, scratch):
    """gain = sum_links [h(x + d a s_j) - h(x)]
              - d {half sum_l (t_i L_kl R_l' + r_i L_lk T_l') - hidden + T log((N - s)/s)}

    with s_j = (L z_j)_k, d = +1 to join, -1 to leave, and s, T', R' without i. The last member stays: whole communities
    with their bridges die elsewhere.
    """
    mine = scratch.mine
    t, r, inside = ws.send[i], ws.receive[i], mine[k]
    s = ws.size[k] - (1 if inside else 0)
    if s == 0:
        return -math.inf
    pairs = 0.0
    for q in range(ties.start[k], ties.start[k + 1]):
        l = ties.other[q]
        pairs += ties.strength[q] * t * (ws.receive_sum[l] - (r if mine[l] else 0.0))
    for q in range(ties.into_start[k], ties.into_start[k + 1]):
        l = ties.into_other[q]
        pairs += ties.into_strength[q] * r * (ws.send_sum[l] - (t if mine[l] else 0.0))
    rest = ws.pair_weight * pairs - scratch.back[k] + ws.temperature * math.log((ws.n - s) / s)
    return scratch.gain[k] + (rest if inside else -rest)


@bare
def best_tie_flip(ws, ties, i, scratch):
    """The flip of z_ik with the largest gain: (k, gain), or (-1, 0)."""
    n_touched = tally_tie_flips(ws, ties, i, scratch)
    full = ws.start[i] + ws.held[i] == ws.start[i + 1]
    best, best_gain = -1, ENOUGH
    for m in range(n_touched):
        k = scratch.touched[m]
        scratch.seen[k] = False
        if not (full and not scratch.mine[k]):
            value = tie_flip_gain(ws, ties, i, k, scratch)
            if value > best_gain:
                best, best_gain = k, value
    mark_row(ws, i, scratch.mine)
    return best, best_gain


@kernel
def flip_sweep_affinities(ws, ties, low, high, flags, around, scratch):
    """Take the best flips of each flagged node of low..high until none gains; flag neighbours of those that changed.

    With an empty ``around`` nothing is changed: flags stay only where some flip gains. Returns the total gain.
    """
    total = 0.0
    for i in range(low, high):
        while flags[i]:
            k, value = best_tie_flip(ws, ties, i, scratch)
            flags[i] = k >= 0
            if k < 0 or len(around) == 0:
                break
            total += value
            flip(ws, i, k)
            for p in range(ws.start[i], ws.start[i + 1]):
                around[ws.node[p]] = True
    return total


@kernel
def posterior_affinities(ws, ties, low, high, which, chance, ends, scratch):
    """The chances of the nodes low..high to hold the communities that a flip of theirs is tried for."""
    total = 0
    for i in range(low, high):
        for m in range(tally_tie_flips(ws, ties, i, scratch)):
            k = scratch.touched[m]
            scratch.seen[k] = False
            value = tie_flip_gain(ws, ties, i, k, scratch)
            p = 1.0 / (1.0 + math.exp(min(max(value if scratch.mine[k] else -value, -CLIP), CLIP)))
            if p > FAINT:
                which[total], chance[total] = k, p
                total += 1
        mark_row(ws, i, scratch.mine)
        ends[i - low] = total
    return total
