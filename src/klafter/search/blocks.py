"""Blocks: the dyads between two communities, which one entry of W reaches.

The rows of one community's members are loaded once; every weight of that community then reads its dyads there, and
moves them when it moves.
"""

from typing import NamedTuple

import numpy as np

from klafter.core.families import BERNOULLI
from klafter.core.kernel import inlined, inner
from klafter.core.lines import Span, put
from klafter.core.rows import load_row, mark


class Block(NamedTuple):
    """The rows of one community's members, in the order of ``list_members``."""

    x: np.ndarray  # (members, n)
    e: np.ndarray  # e^x, 0 where not observed
    y: np.ndarray
    seen: np.ndarray
    incoming: bool


@inner
def list_members(view):
    """(K, n): the members of each community, of which the first size[k] entries count."""
    members = np.empty(view.z.shape, np.int64)  # a second width would compile every callee twice
    for k in range(view.z.shape[0]):
        size = 0
        for i in range(view.n):
            if view.z[k, i]:
                members[k, size] = i
                size += 1
    return members


@inner
def largest_size(view):
    """Members of the largest community."""
    largest = 0
    for k in range(view.size.size):
        largest = max(largest, view.size[k])
    return largest


@inner
def new_block(size, n):
    """Room for the rows of so many members."""
    return Block(np.empty((size, n)), np.empty((size, n)), np.empty((size, n)), np.empty((size, n)), False)


@inner
def load_block(view, members, k, incoming, room):
    """The rows of community k, in the room of another block."""
    x, e, y, seen, _ = room
    row, links = (view.into, view.links_in) if incoming else (view.out, view.links_out)
    for s in range(view.size[k]):
        i = members[k, s]
        load_row(view, i, row)
        for j in range(view.n):
            x[s, j], e[s, j], y[s, j], seen[s, j] = row.x[j], row.e[j], 0.0, row.seen[j]
        mark(links, i, y[s], 1.0)
    return Block(x, e, y, seen, incoming)


@inlined
def take(law, block, s, j, c, line, size):
    """Add one dyad to the line; returns the line's new size. A Bernoulli dyad that was not observed has e = 0."""
    if law.code == BERNOULLI:
        line.e[size] = block.e[s, j]
        return size + 1
    if block.seen[s, j] == 0.0:
        return size
    put(line, size, block.x[s, j], block.e[s, j], block.y[s, j], c)
    return size + 1


@inner
def gather_block(view, members, block, k, m, line):
    """The dyads of community k with m. An undirected pair that is in both, both ways, counts once, and moves twice."""
    law, z, directed, n_rows, n_columns = view.law, view.z, view.directed, view.size[k], view.size[m]
    size, linear = 0, 0.0
    for s in range(n_rows):
        i = members[k, s]
        if directed or not z[m, i]:
            for u in range(n_columns):
                j = members[m, u]
                size = take(law, block, s, j, 1.0, line, size)
                linear += block.y[s, j]
        else:
            for u in range(n_columns):
                j = members[m, u]
                if j > i if k == m else not z[k, j]:
                    size = take(law, block, s, j, 1.0, line, size)
                    linear += block.y[s, j]
    ones = size
    if not directed and k != m:
        for s in range(n_rows):
            i = members[k, s]
            if z[m, i]:
                for u in range(n_columns):
                    j = members[m, u]
                    if j > i and z[k, j]:
                        size = take(law, block, s, j, 2.0, line, size)
                        linear += 2.0 * block.y[s, j]
    return Span(size, ones, linear)


@inner
def shift_block(view, members, block, k, m, delta):
    """Move the dyads of community k with m, whose weight moved."""
    factor = np.exp(delta)
    x, e = block.x, block.e
    for s in range(view.size[k]):
        for u in range(view.size[m]):
            j = members[m, u]
            x[s, j] += delta
            e[s, j] *= factor
        if not view.directed and k != m and view.z[m, members[k, s]]:
            for u in range(view.size[k]):
                j = members[k, u]
                x[s, j] += delta
                e[s, j] *= factor


@inner
def shift_weight(view, k, m, delta):
    """w_km += delta, and the pulls with it."""
    factor = np.exp(delta)
    view.w[k, m] += delta
    view.reach[k] += abs(delta)
    shift_pulls(view.z, view.pull_out, view.exp_out, k, m, delta, factor)
    if view.directed:
        view.reach[m] += abs(delta)
        shift_pulls(view.z, view.pull_in, view.exp_in, m, k, delta, factor)
    elif k != m:
        view.w[m, k] += delta
        view.reach[m] += abs(delta)
        shift_pulls(view.z, view.pull_out, view.exp_out, m, k, delta, factor)


@inner
def shift_pulls(z, pull, exps, k, m, delta, factor):
    """The pulls of k by the members of m."""
    for j in range(z.shape[1]):
        if z[m, j]:
            pull[k, j] += delta
            exps[k, j] *= factor
