"""Kernels of the client: which exchanges are carried out, and memberships that are replaced."""

import numpy as np

from klafter.jit.decorators import kernel
from klafter.search.sparse.kernels.links import ENOUGH, holds, join, leave


@kernel
def choose(ws, plans, shared, alike, busy, room):
    """Which exchanges, in their order, gain whatever those taken before them changed, each community once.

    ``shared`` and ``alike`` are tables of pairs of exchanges by rows: links that lie inside both, and whether they are
    parts of one community. ``room`` is how many communities more each node may join.
    """
    number = len(plans.gain)
    taken = np.zeros(number, np.bool_)
    for e in range(number):
        free = True
        for c in range(plans.out_start[e], plans.out_start[e + 1]):
            free &= not busy[plans.out[c]]
        for q in range(alike.start[e], alike.start[e + 1]):
            free &= not taken[alike.other[q]]
        links = 0.0
        for q in range(shared.start[e], shared.start[e + 1]):
            if taken[shared.other[q]]:
                links += shared.value[q]
        if not free or plans.gain[e] - links * plans.doubt[e] <= ENOUGH:
            continue
        low, high = plans.node_start[e], plans.node_start[e + 1]
        for v in range(low, high):
            free &= more_held(ws, plans, e, v) <= room[plans.nodes[v]]
        if not free:
            continue
        for v in range(low, high):
            room[plans.nodes[v]] -= more_held(ws, plans, e, v)
        for c in range(plans.out_start[e], plans.out_start[e + 1]):
            busy[plans.out[c]] = True
        taken[e] = True
    return taken


@kernel
def more_held(ws, plans, e, v):
    """How many communities more a node holds after an exchange."""
    more, count = 0, plans.node_start[e + 1] - plans.node_start[e]
    first = plans.z_start[e] + v - plans.node_start[e]
    for place in range(first, plans.z_start[e + 1], count):
        more += plans.z[place]
    for c in range(plans.out_start[e], plans.out_start[e + 1]):
        more -= holds(ws, plans.nodes[v], plans.out[c])
    return more


@kernel
def carry_out_all(ws, plans, taken, into, into_start):
    """Give up communities of the exchanges taken; their columns become communities ``into``."""
    for e in range(len(taken)):
        if not taken[e]:
            continue
        count = plans.node_start[e + 1] - plans.node_start[e]
        for v in range(count):
            i = np.int64(plans.nodes[plans.node_start[e] + v])
            for c in range(plans.out_start[e], plans.out_start[e + 1]):
                if holds(ws, i, plans.out[c]):
                    leave(ws, i, plans.out[c])
        for v in range(count):
            i = np.int64(plans.nodes[plans.node_start[e] + v])
            for c in range(into_start[e], into_start[e + 1]):
                if plans.z[plans.z_start[e] + (c - into_start[e]) * count + v]:
                    join(ws, i, into[c])


@kernel
def replace_rows(ws, nodes, held, flat, own):
    """Replace the communities of some nodes, where there is room, with all sums; ``own`` takes the change of
    sum_i t_i r_i z_ik."""
    at = 0
    for v in range(len(nodes)):
        i, first = np.int64(nodes[v]), ws.start[nodes[v]]
        if held[v] <= ws.start[i + 1] - first:
            both = ws.send[i] * ws.receive[i]
            for m in range(first, first + ws.held[i]):
                k = ws.member[m]
                ws.size[k] -= 1
                ws.send_sum[k] -= ws.send[i]
                ws.receive_sum[k] -= ws.receive[i]
                own[k] -= both
            for m in range(held[v]):
                k = flat[at + m]
                ws.member[first + m] = k
                ws.size[k] += 1
                ws.send_sum[k] += ws.send[i]
                ws.receive_sum[k] += ws.receive[i]
                own[k] += both
            ws.held[i] = held[v]
        at += held[v]
