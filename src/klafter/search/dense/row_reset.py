"""A node chooses anew: it leaves its communities, forgets its sociality, and joins again where Q falls most.

A node of two communities has many links. Where only one of the two is known, or neither, sociality accounts for the
rest, and no single flip pays: it would have to come with the other, and with less sociality. From nothing both do.
A third community that is drawn to both looks best at first, and so a node also begins with the second and third best.
"""

from typing import NamedTuple

import numpy as np

from klafter.core.line_search import Axis, gather_row, minimise_line, new_line
from klafter.core.objective import flip_gain, flip_price
from klafter.core.problem import BOUND
from klafter.core.responses import CLIP
from klafter.core.rows import load_rows, row_loss
from klafter.core.workspace import refresh_pulls
from klafter.jit.decorators import bare, kernel
from klafter.search.dense.flip_kernels import TINY_GAIN, apply_flip

NEWTON_STEPS = 5
STARTS = 3  # communities that may be the first to join: the best one may be in the way of two others


class Room(NamedTuple):
    """Room for the memberships of one node before and at its best, and for the gains of its flips."""

    before: np.ndarray  # (K,)
    best: np.ndarray  # (K,)
    firsts: np.ndarray  # (K,) from nothing
    gains: np.ndarray  # (K,)


@kernel
def choose_anew(view, nodes):
    """Nodes choose one after the other, and stay as they were if Q would rise; returns its fall."""
    k = view.z.shape[0]
    room = Room(np.empty(k, np.uint8), np.empty(k, np.uint8), np.empty(k), np.empty(k))
    return choose_rows(view, nodes, room, new_line(view.n), np.zeros(view.n))


@bare
def choose_rows(view, nodes, room, line, y):
    total = 0.0
    for i in nodes:
        if is_alone(view, i):
            continue
        load_rows(view, i)
        sender, receiver, here = view.sender[i], view.receiver[i], own_part(view, i)
        lowest = here
        for k in range(view.z.shape[0]):
            room.before[k] = room.best[k] = view.z[k, i]
        leave_all(view, i)
        find_gains(view, i, room.firsts)
        for t in range(STARTS):
            first = best_of(room.firsts)
            if t > 0:
                if first < 0:
                    break
                leave_all(view, i)
            if first >= 0:
                apply_flip(view, i, first)
                room.firsts[first] = 0.0
                join(view, i, room.gains)
            if has_moved(view, i, room.before):
                there = own_part(view, i) - fit_sociality(view, i, line, y)
                if there < lowest - TINY_GAIN:
                    lowest, sender, receiver = there, view.sender[i], view.receiver[i]
                    for k in range(view.z.shape[0]):
                        room.best[k] = view.z[k, i]
        for k in range(view.z.shape[0]):
            set_membership(view, i, k, room.best[k])
        set_sociality(view, i, sender, receiver)
        if lowest < here:
            total += here - lowest
            refresh_pulls(view, i)
    return total


@bare
def is_alone(view, i):
    """Whether a community would die if i left it."""
    alone = False
    for k in range(view.z.shape[0]):
        alone |= view.z[k, i] == 1 and view.size[k] == 1
    return alone


@bare
def has_moved(view, i, before):
    """Whether i holds other communities than before: if not, its sociality is left to the joint step."""
    moved = False
    for k in range(before.size):
        moved |= view.z[k, i] != before[k]
    return moved


@bare
def own_part(view, i):
    """The part of Q that depends on i's memberships and sociality; its rows must be loaded."""
    total = row_loss(view.law, view.out, view.links_out, i, 0) + 0.5 * view.priors.sociality * view.sender[i] ** 2
    if view.directed:
        total += row_loss(view.law, view.into, view.links_in, i, 0)
        total += 0.5 * view.priors.sociality * view.receiver[i] ** 2
    for k in range(view.z.shape[0]):
        if view.z[k, i]:
            total += flip_price(view, i, k)
    return total


@bare
def set_membership(view, i, k, held):
    view.size[k] += np.int64(held) - np.int64(view.z[k, i])
    view.z[k, i] = held


@bare
def set_sociality(view, i, sender, receiver):
    if view.has_sociality:
        view.sender[i] = sender
        view.exp_sender[i] = np.exp(min(max(sender, -CLIP), CLIP))
        if view.directed:
            view.receiver[i] = receiver
            view.exp_receiver[i] = np.exp(min(max(receiver, -CLIP), CLIP))


@bare
def leave_all(view, i):
    """Node i without communities and sociality, its rows loaded."""
    for k in range(view.z.shape[0]):
        set_membership(view, i, k, 0)
    set_sociality(view, i, 0.0, 0.0)
    load_rows(view, i)


@bare
def find_gains(view, i, gains):
    """The gain of every flip of i, 0 for a community that nobody else holds."""
    for k in range(gains.size):
        gains[k] = flip_gain(view, i, k, gains) if view.size[k] - np.int64(view.z[k, i]) > 0 else 0.0


@bare
def best_of(gains):
    """The flip that gains most, -1 if none does."""
    best = -1
    for k in range(gains.size):
        if gains[k] > TINY_GAIN and (best < 0 or gains[k] > gains[best]):
            best = k
    return best


@bare
def join(view, i, gains):
    """The flip that gains most, again and again; each makes Q fall, so there is an end."""
    while True:
        find_gains(view, i, gains)
        best = best_of(gains)
        if best < 0:
            return
        apply_flip(view, i, best)


@bare
def fit_sociality(view, i, line, y):
    """s_i, and r_i when directed, at their best; returns the fall of Q. The rows of i stay as they were."""
    total = 0.0
    if not view.has_sociality:
        return total
    for incoming in range(2 if view.directed else 1):
        row, links = (view.into, view.links_in) if incoming else (view.out, view.links_out)
        values, exps = (view.receiver, view.exp_receiver) if incoming else (view.sender, view.exp_sender)
        span = gather_row(view.law, row, links, i, y, line)
        axis = Axis(values[i], view.priors.sociality, view.lower, BOUND)
        delta, fall = minimise_line(view.law, line, span, axis, NEWTON_STEPS)
        values[i] += delta
        exps[i] = np.exp(min(max(values[i], -CLIP), CLIP))
        total += fall
    return total
