"""Subgraphs: the links among a few nodes, with what a link has apart from the communities that are exchanged.

The columns of two nodes are compared as bits of numbers, so that u + sum_c w_c z_ic z_jc is one of 2^q sums. P(link) at
each of these costs most of the time; a link keeps the one without new columns, which never changes, and the last one
with some, until strengths change.
"""

import numpy as np
from numba import types
from numba.experimental import structref

from klafter.jit.decorators import bare, inlined, inner, kernel
from klafter.jit.structs import define_reference
from klafter.search.sparse.kernels.links import (
    add_to_kind,
    clear_row_effect,
    exposure_factor,
    hidden_factor,
    holds,
    is_symmetric,
    link_mean,
    may_link_own_kind,
    pair_affinity,
    permitted_pairs,
)

SUBGRAPH = (
    "start", "node",
    "factor",  # a
    "base",  # u without the communities given up
    "base_before",  # u without their strengths, but with their off-diagonal affinities
    "value",  # y
    "hidden_start", "hidden_node", "hidden_factor",
    "free_slots",  # (m,) new communities each node may join
    "alone",  # E[y] without new columns, -1 where it is not known yet
    "mean", "known",  # E[y] with those that ``known`` tells, by strengths and bits; 0 is none
    "turn",  # (1,) how often strengths changed
    "by_kind",  # (2, kinds) scratch space for sums of t and of r by kind
)  # fmt: skip


class SubgraphType(types.StructRef):
    """The type of subgraphs in kernels."""


class Subgraph(structref.StructRefProxy):
    """Links and hidden dyads among a few nodes, each listed by both ends."""


define_reference(Subgraph, SubgraphType, list(SUBGRAPH))


@bare
def add_row_effect_without(ws, i, gone, across, out, into):
    """The effect of i without communities that are gone; ``across`` their off-diagonal affinities count."""
    first, both = ws.start[i], not is_symmetric(ws)
    for m in range(first, first + ws.held[i]):
        k = ws.member[m]
        if not gone[k]:
            out[k] += ws.strength[k]
            if both:
                into[k] += ws.strength[k]
        if not ws.diagonal:
            for q in range(ws.row_start[k], ws.row_start[k + 1]):
                if across or not (gone[k] or gone[ws.row_other[q]]):
                    out[ws.row_other[q]] += ws.off_diagonal[ws.row_place[q]]
            for q in range(ws.column_start[k], ws.column_start[k + 1]):
                if both and (across or not (gone[k] or gone[ws.column_other[q]])):
                    into[ws.column_other[q]] += ws.off_diagonal[ws.column_place[q]]


@kernel
def cut_subgraph(ws, nodes, out, local):
    """The subgraph of ``nodes`` without communities ``out``, and the columns of these (q, m).

    ``local`` is (n,), -1 everywhere before and after.
    """
    start, node, hidden_node, links, hidden = ws.start, ws.node, ws.hidden_node, np.int64(0), np.int64(0)
    gone, old = np.zeros(len(ws.size), np.bool_), np.zeros((len(out), len(nodes)), np.bool_)
    free_slots = np.zeros(len(nodes), np.int64)
    for c in range(len(out)):
        gone[out[c]] = True
    for v in range(len(nodes)):
        i = np.int64(nodes[v])
        local[i] = v
        links += start[i + 1] - start[i]
        hidden += ws.hidden_start[i + 1] - ws.hidden_start[i]
    near, factor, base, value = np.empty(links, np.int64), np.empty(links), np.empty(links), np.empty(links)
    entry = np.empty(links, np.int64)
    before = base if ws.diagonal else np.empty(links)
    hidden_near, hidden_a = np.zeros(hidden, np.int64), np.empty(hidden)
    stop, hidden_stop = np.zeros(len(nodes) + 1, np.int64), np.zeros(len(nodes) + 1, np.int64)
    as_source = np.zeros(len(ws.size))
    as_target = as_source if is_symmetric(ws) else np.zeros(len(ws.size))
    at, hidden_at = 0, 0
    for v in range(len(nodes)):
        i = np.int64(nodes[v])
        free_slots[v] = start[i + 1] - start[i] - ws.held[i]
        for c in range(len(out)):
            old[c, v] = holds(ws, i, out[c])
            free_slots[v] += old[c, v]
        for p in range(start[i], start[i + 1]):
            entry[at] = p  # without a branch, which would often be taken for the other one
            at += local[node[p]] >= 0
        for across in range(1 if ws.diagonal else 2):
            add_row_effect_without(ws, i, gone, across == 1, as_source, as_target)
            kept = base if across == 0 else before
            for q in range(stop[v], at):
                p = entry[q]
                kept[q] = pair_affinity(ws, node[p], as_source if p < ws.middle[i] else as_target)
            clear_row_effect(ws, i, as_source, as_target)
        for q in range(stop[v], at):
            p = entry[q]
            near[q], value[q], factor[q] = local[node[p]], ws.value[p], exposure_factor(ws, i, p)
        stop[v + 1] = at
        for p in range(ws.hidden_start[i], ws.hidden_start[i + 1]):
            if local[hidden_node[p]] >= 0:
                hidden_near[hidden_at] = local[hidden_node[p]]
                hidden_a[hidden_at] = hidden_factor(ws, i, p)
                hidden_at += 1
        hidden_stop[v + 1] = hidden_at
    for v in range(len(nodes)):
        local[nodes[v]] = -1
    return Subgraph(
        stop, near, factor, base, before, value, hidden_stop, hidden_near, hidden_a, free_slots,
        np.full(at, -1.0), np.empty(at), np.zeros(at, np.int64), np.ones(1, np.int64),
        np.zeros((2, len(ws.linkable))),
    ), old  # fmt: skip


@bare
def subgraph_pairs(ws, nodes, subgraph, z, c):
    """P_c and the size of column c."""
    send, receive, n_kinds = ws.send, ws.receive, len(ws.linkable)
    size, send_sum, receive_sum, own, hidden = np.int64(0), 0.0, 0.0, 0.0, 0.0
    by_kind = subgraph.by_kind
    by_kind[:] = 0.0
    for v in range(len(nodes)):
        if z[c, v]:
            size += 1
            t, r = send[nodes[v]], receive[nodes[v]]
            send_sum, receive_sum = send_sum + t, receive_sum + r
            own += t * r if may_link_own_kind(ws, nodes[v]) else 0.0
            if n_kinds > 0:
                add_to_kind(ws, nodes[v], t, r, by_kind)
            for p in range(subgraph.hidden_start[v], subgraph.hidden_start[v + 1]):
                if z[c, subgraph.hidden_node[p]]:
                    hidden += 0.5 * subgraph.hidden_factor[p]
    pairs = send_sum * receive_sum if n_kinds == 0 else permitted_pairs(ws, by_kind)
    return ws.pair_weight * (pairs - own) - hidden, size


@inner
def as_bits(z):
    """The columns of each node as bits of one number, so that those of two nodes are compared at once."""
    bits = np.zeros(z.shape[1], np.int64)
    for c in range(z.shape[0]):
        for v in range(z.shape[1]):
            bits[v] |= np.int64(z[c, v]) << c
    return bits


@inner
def summed_strengths(w):
    """What the new columns add to u of two nodes, by the bits that these have in common."""
    sums = np.zeros(1 << len(w))
    for c in range(len(w)):
        for some in range(1 << c):
            sums[some | (1 << c)] = sums[some] + w[c]
    return sums


@inlined
def mean_alone(counts, subgraph, p):
    """E[y] of link p without new columns."""
    alone = subgraph.alone
    if alone[p] < 0.0:
        alone[p] = link_mean(counts, subgraph.factor[p] * subgraph.base[p])
    return alone[p]


@inlined
def mean_with(counts, subgraph, p, both, added):
    """E[y] of link p whose ends have the columns ``both`` in common."""
    if both == 0:
        return mean_alone(counts, subgraph, p)
    code = subgraph.turn[0] * len(added) + both
    if subgraph.known[p] != code:
        subgraph.mean[p] = link_mean(counts, subgraph.factor[p] * (subgraph.base[p] + added[both]))
        subgraph.known[p] = code
    return subgraph.mean[p]
