"""Row resets: a node leaves its communities, its sociality is set to 0, and joins again where Q falls most.

A node of two communities has many links. Where only one of the two is known, or neither, sociality accounts for the
rest, and no single flip gains: it would have to come with the other, and with less sociality. From nothing both do.
A third community with affinities to both has the best gain at first, and so a node also begins with
the second and third best.
"""

from typing import NamedTuple

import numpy as np

from klafter.core.cover_price import set_membership
from klafter.core.line_search import Axis, gather_row, minimise_line, new_line
from klafter.core.objective import flip_gain, flip_price
from klafter.core.problem import BOUND
from klafter.core.responses import CLIP
from klafter.core.rows import load_rows, row_loss
from klafter.core.workspace import refresh_effects
from klafter.jit.decorators import bare, kernel
from klafter.search.dense.flip_kernels import TINY_GAIN, apply_flip

SOCIALITY_STEPS = 5  # of Newton, along one convex line


class Scratch(NamedTuple):
    """The memberships of one node before and at its best, and the gains of its flips."""

    before: np.ndarray  # (K,)
    best: np.ndarray  # (K,)
    firsts: np.ndarray  # (K,) from nothing
    gains: np.ndarray  # (K,)


@kernel
def reset_rows(ws, nodes, starts):
    """Nodes choose one after the other, and stay as they were if Q would rise; returns its fall.

    As many communities as ``starts`` says may be the first to join: the best one may be in the way of two others.
    """
    k = ws.z.shape[0]
    scratch = Scratch(np.empty(k, np.uint8), np.empty(k, np.uint8), np.empty(k), np.empty(k))
    return choose_rows(ws, nodes, starts, scratch, new_line(ws.n), np.zeros(ws.n))


@bare
def choose_rows(ws, nodes, starts, scratch, line, y):
    total = 0.0
    for i in nodes:
        if is_alone(ws, i):
            continue
        load_rows(ws, i)
        sender, receiver, here = ws.sender[i], ws.receiver[i], own_loss(ws, i)
        for k in range(ws.z.shape[0]):
            scratch.before[k] = scratch.best[k] = ws.z[k, i]
        here += leave_all(ws, i)
        lowest = here
        find_gains(ws, i, scratch.firsts)
        for t in range(starts):
            first = best_of(scratch.firsts)
            if t > 0:
                if first < 0:
                    break
                leave_all(ws, i)
            price = 0.0
            if first >= 0:
                price = priced_flip(ws, i, first)
                scratch.firsts[first] = 0.0
                price += join(ws, i, scratch.gains)
            if has_moved(ws, i, scratch.before):
                there = own_loss(ws, i) + price - fit_sociality(ws, i, line, y)
                if there < lowest - TINY_GAIN:
                    lowest, sender, receiver = there, ws.sender[i], ws.receiver[i]
                    for k in range(ws.z.shape[0]):
                        scratch.best[k] = ws.z[k, i]
        for k in range(ws.z.shape[0]):
            set_membership(ws, i, k, scratch.best[k])
        set_sociality(ws, i, sender, receiver)
        if lowest < here:
            total += here - lowest
            refresh_effects(ws, i)
    return total


@bare
def is_alone(ws, i):
    """Whether i is the only member of a community."""
    alone = False
    for k in range(ws.z.shape[0]):
        alone |= ws.z[k, i] == 1 and ws.size[k] == 1
    return alone


@bare
def has_moved(ws, i, before):
    """Whether i holds other communities than before: if not, its sociality is left to the joint step."""
    moved = False
    for k in range(before.size):
        moved |= ws.z[k, i] != before[k]
    return moved


@bare
def own_loss(ws, i):
    """The part of Q that depends on i's rows and sociality; the rows must be loaded."""
    total = row_loss(ws.law, ws.out, ws.links_out, i, 0) + 0.5 * ws.priors.sociality * ws.sender[i] ** 2
    if ws.directed:
        total += row_loss(ws.law, ws.into, ws.links_in, i, 0)
        total += 0.5 * ws.priors.sociality * ws.receiver[i] ** 2
    return total


@bare
def set_sociality(ws, i, sender, receiver):
    if ws.has_sociality:
        ws.sender[i] = sender
        ws.exp_sender[i] = np.exp(min(max(sender, -CLIP), CLIP))
        if ws.directed:
            ws.receiver[i] = receiver
            ws.exp_receiver[i] = np.exp(min(max(receiver, -CLIP), CLIP))


@bare
def leave_all(ws, i):
    """Node i without communities and sociality, its rows loaded; returns the price of what it held."""
    price = 0.0
    for k in range(ws.z.shape[0]):
        if ws.z[k, i]:
            price += flip_price(ws, i, k)
            set_membership(ws, i, k, 0)
    set_sociality(ws, i, 0.0, 0.0)
    load_rows(ws, i)
    return price


@bare
def priced_flip(ws, i, k):
    """Flip z_ik; returns the rise of the price."""
    rise = (1 - 2 * np.int64(ws.z[k, i])) * flip_price(ws, i, k)
    apply_flip(ws, i, k)
    return rise


@bare
def find_gains(ws, i, gains):
    """The gain of every flip of i, 0 for a community without other members."""
    for k in range(gains.size):
        gains[k] = flip_gain(ws, i, k, gains) if ws.size[k] - np.int64(ws.z[k, i]) > 0 else 0.0


@bare
def best_of(gains):
    """The flip that gains most, -1 if none does."""
    best = -1
    for k in range(gains.size):
        if gains[k] > TINY_GAIN and (best < 0 or gains[k] > gains[best]):
            best = k
    return best


@bare
def join(ws, i, gains):
    """The flip that gains most, again and again; each makes Q fall, so there is an end. Returns the price's rise."""
    price = 0.0
    while True:
        find_gains(ws, i, gains)
        best = best_of(gains)
        if best < 0:
            return price
        price += priced_flip(ws, i, best)


@bare
def fit_sociality(ws, i, line, y):
    """s_i, and r_i when directed, at their best; returns the fall of Q. The rows of i stay as they were."""
    total = 0.0
    if not ws.has_sociality:
        return total
    for incoming in range(2 if ws.directed else 1):
        row, links = (ws.into, ws.links_in) if incoming else (ws.out, ws.links_out)
        values, exps = (ws.receiver, ws.exp_receiver) if incoming else (ws.sender, ws.exp_sender)
        span = gather_row(ws.law, row, links, i, y, line)
        axis = Axis(values[i], ws.priors.sociality, ws.lower, BOUND)
        delta, fall = minimise_line(ws.law, line, span, axis, SOCIALITY_STEPS)
        values[i] += delta
        exps[i] = np.exp(min(max(values[i], -CLIP), CLIP))
        total += fall
    return total
