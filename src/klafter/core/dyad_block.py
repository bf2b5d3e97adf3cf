"""Blocks: the dyads between two communities, that one entry of W enters.

The rows of one community's members are loaded once; every weight of that community then reads its dyads there, and
moves them when it moves.
"""

from typing import NamedTuple

import numpy as np

from klafter.core.line_search import Span, put
from klafter.core.rows import load_row, mark
from klafter.jit.decorators import bare, inlined, inner


class Block(NamedTuple):
    """The rows of one community's members, in the order of ``list_members``. Of Bernoulli rows only e counts."""

    x: np.ndarray  # (members, n)
    e: np.ndarray  # e^x, 0 where not observed
    y: np.ndarray
    seen: np.ndarray


@bare
def largest_size(ws):
    """Members of the largest community."""
    largest = 0
    for k in range(ws.size.size):
        largest = max(largest, ws.size[k])
    return largest


@inner
def new_block(size, n):
    """Arrays for the rows of so many members."""
    return Block(np.empty((size, n)), np.empty((size, n)), np.empty((size, n)), np.empty((size, n)))


@bare
def load_block(ws, members, k, incoming, block):
    """The rows of community k, in the place of another's."""
    row, links = (ws.into, ws.links_in) if incoming else (ws.out, ws.links_out)
    for s in range(ws.size[k]):
        i = members[k, s]
        load_row(ws, i, row)
        copy(block.e[s], row.e)
        if not ws.law.logistic:
            copy(block.x[s], row.x)
            copy(block.seen[s], row.seen)
            block.y[s, :] = 0.0
            mark(links, i, block.y[s], 1.0)


@inlined
def copy(target, source):
    for j in range(source.size):
        target[j] = source[j]


@inlined
def copy_some(target, source, which):
    for u in range(which.size):
        target[u] = source[which[u]]


@inlined
def take(law, block, s, j, c, line, size):
    """Add one dyad to the line; returns the line's new size. A Bernoulli dyad that was not observed has e = 0."""
    if law.logistic:
        line.e[size] = block.e[s, j]
        return size + 1
    if block.seen[s, j] == 0.0:
        return size
    put(line, size, block.x[s, j], block.e[s, j], block.y[s, j], c)
    return size + 1


@bare
def gather_block(ws, members, block, incoming, k, m, line):
    """The dyads of community k with m. An undirected pair that is in both, both ways, counts once, and moves twice."""
    law, z, directed, n_rows, n_columns = ws.law, ws.z, ws.directed, ws.size[k], ws.size[m]
    size = 0
    for s in range(n_rows):
        i = members[k, s]
        if law.logistic and (directed or not z[m, i]):
            copy_some(line.e[size : size + n_columns], block.e[s], members[m, :n_columns])
            size += n_columns
        elif directed or not z[m, i]:
            for u in range(n_columns):
                size = take(law, block, s, members[m, u], 1.0, line, size)
        else:
            for u in range(n_columns):
                j = members[m, u]
                if j > i if k == m else not z[k, j]:
                    size = take(law, block, s, j, 1.0, line, size)
    ones = size
    if not directed and k != m:
        for s in range(n_rows):
            i = members[k, s]
            if z[m, i]:
                for u in range(n_columns):
                    j = members[m, u]
                    if j > i and z[k, j]:
                        size = take(law, block, s, j, 2.0, line, size)
    return Span(size, ones, sum_links(ws, members, incoming, k, m))


@bare
def sum_links(ws, members, incoming, k, m):
    """sum of y c over the dyads of community k with m: a pair that moves twice is met from both ends."""
    links, held, total = ws.links_in if incoming else ws.links_out, ws.z[m], 0.0
    for s in range(ws.size[k]):
        i = members[k, s]
        for t in range(links.start[i], links.start[i + 1]):
            if held[links.node[t]]:
                total += links.value[t]
    return 0.5 * total if k == m and not ws.directed else total


@bare
def shift_block(ws, members, block, k, m, delta):
    """Move the dyads of community k with m, whose weight moved."""
    factor = np.exp(delta)
    for s in range(ws.size[k]):
        shift_some(ws.law, block.x[s], block.e[s], members[m, : ws.size[m]], delta, factor)
        if not ws.directed and k != m and ws.z[m, members[k, s]]:
            shift_some(ws.law, block.x[s], block.e[s], members[k, : ws.size[k]], delta, factor)


@inlined
def shift_some(law, x, e, nodes, delta, factor):
    for u in range(nodes.size):
        e[nodes[u]] *= factor
    if not law.logistic:
        for u in range(nodes.size):
            x[nodes[u]] += delta


@bare
def shift_weight(ws, members, k, m, delta):
    """w_km += delta, and the effects with it."""
    factor = np.exp(delta)
    ws.w[k, m] += delta
    ws.max_effect[k] += abs(delta)
    shift_effects(ws, members, ws.effect_out, ws.exp_out, k, m, delta, factor)
    if ws.directed:
        ws.max_effect[m] += abs(delta)
        shift_effects(ws, members, ws.effect_in, ws.exp_in, m, k, delta, factor)
    elif k != m:
        ws.w[m, k] += delta
        ws.max_effect[m] += abs(delta)
        shift_effects(ws, members, ws.effect_out, ws.exp_out, m, k, delta, factor)


@bare
def shift_effects(ws, members, effect, exps, k, m, delta, factor):
    """The effects of k by the members of m."""
    for u in range(ws.size[m]):
        j = members[m, u]
        effect[k, j] += delta
        exps[k, j] *= factor


@bare
def measure_max_effect(ws):
    """The largest effects, after many shifts each of which may have added to them."""
    for k in range(ws.z.shape[0]):
        max_effect = 0.0
        for side in range(2 if ws.directed else 1):
            effect = ws.effect_in[k] if side else ws.effect_out[k]
            for j in range(effect.size):
                max_effect = max(max_effect, abs(effect[j]))
        ws.max_effect[k] = max_effect
