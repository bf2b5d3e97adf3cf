"""Kernels of rounds over shards: proposals against a frozen state, and their acceptance in order."""

import numpy as np

from klafter.jit.decorators import kernel
from klafter.search.sparse.kernels.flips import best_flip, flip_rest, flip_scratch
from klafter.search.sparse.kernels.links import (
    ENOUGH,
    add_row_effect,
    clear_row_effect,
    flip,
    holds,
    is_symmetric,
    pair_affinity,
)

MOVED, WAITING = 1, 2  # a node that flipped, and one whose flip lost to a neighbour's


@kernel
def propose_rows(ws, own, activity, which, gain):
    """The best flip of nodes 0..own that wait, moved, or have a linked or hidden partner that moved."""
    scratch = flip_scratch(ws)
    for i in range(own):
        active = activity[i] > 0
        for p in range(ws.start[i], ws.start[i + 1]):
            active |= activity[ws.node[p]] == MOVED
        for p in range(ws.hidden_start[i], ws.hidden_start[i + 1]):
            active |= activity[ws.hidden_node[p]] == MOVED
        if active:
            which[i], gain[i] = best_flip(ws, i, scratch)


@kernel
def local_best(start, node, own, gain, which, names):
    """Which of nodes 0..own gain more than all partners in rows that propose the same; of equal ones the first in the
    network."""
    best = np.zeros(own, np.bool_)
    for i in range(own):
        best[i] = gain[i] > 0.0
        for p in range(start[i], start[i + 1]):
            j = node[p]
            if which[j] != which[i]:
                continue
            if gain[j] > gain[i] or (gain[j] == gain[i] and names[j] < names[i]):
                best[i] = False
    return best


@kernel
def hidden_rows(ws, own, rates):
    """What hidden dyads take from the rates of degree factors of nodes 0..own: as source, and as target."""
    out = np.zeros(len(ws.size))
    into = out if is_symmetric(ws) else np.zeros(len(ws.size))
    for i in range(own):
        add_row_effect(ws, i, out, into)
        for p in range(ws.hidden_start[i], ws.hidden_start[i + 1]):
            j = ws.hidden_node[p]
            if p < ws.hidden_middle[i]:
                rates[0, i] += ws.receive[j] * pair_affinity(ws, j, out)
            else:
                rates[1, i] += ws.send[j] * pair_affinity(ws, j, into)
        clear_row_effect(ws, i, out, into)


@kernel
def accept_flips(ws, nodes, which, gain, moved):
    """Make flips of nodes that are not linked, in order, if they still gain; returns the fall of the objective.

    Their link terms and hidden dyads are as proposed, because no partner changed; totals of communities are as they
    are now.
    """
    rest = np.empty(len(nodes))
    for v in range(len(nodes)):
        rest[v] = flip_rest(ws, nodes[v], which[v], holds(ws, nodes[v], which[v]), 0.0)
    total = 0.0
    for v in range(len(nodes)):
        i, k = nodes[v], which[v]
        inside = holds(ws, i, k)
        if ws.size[k] == 0 or (not inside and ws.start[i] + ws.held[i] == ws.start[i + 1]):
            continue
        value = gain[v] - rest[v] + flip_rest(ws, i, k, inside, 0.0)
        if value > ENOUGH:
            flip(ws, i, k)
            moved[i] = True
            total += value
    return total
