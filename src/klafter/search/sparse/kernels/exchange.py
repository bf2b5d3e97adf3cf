"""Exchanges: some communities are given up for others, judged by the exact change of the objective.

An exchange touches only links between the nodes concerned, so these are cut out as a subgraph with u as it is without
the communities given up and their off-diagonal affinities. On it, with new columns z_c of strength w_c,

    loss = -sum_links h(y, a (u + sum_c w_c z_ic z_jc)) + sum_c [w_c P_c + price(S_c)]

is minimised by flips and weight steps.
"""

import math

import numpy as np
from numba import types
from numba.experimental import structref

from klafter.jit.decorators import bare, inner, kernel
from klafter.jit.structs import define_reference
from klafter.search.sparse.kernels.links import (
    ENOUGH,
    clear_row_effect,
    expected_count,
    exposure_factor,
    hidden_factor,
    holds,
    is_symmetric,
    join,
    leave,
    link_change,
    link_mean,
    link_term,
    pair_affinity,
    price,
)

SUBGRAPH = (
    "start", "node",
    "factor",  # a
    "base",  # u without the communities given up
    "base_before",  # u without their strengths, but with their off-diagonal affinities
    "value",  # y
    "hidden_start", "hidden_node", "hidden_factor",
    "free_slots",  # (m,) new communities each node may join
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
    near, factor, base, value = np.zeros(links, np.int64), np.empty(links), np.empty(links), np.empty(links)
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
        for across in range(1 if ws.diagonal else 2):
            add_row_effect_without(ws, i, gone, across == 1, as_source, as_target)
            at = stop[v]
            for p in range(start[i], start[i + 1]):
                j = node[p]
                if local[j] >= 0:
                    u = pair_affinity(ws, j, as_source if p < ws.middle[i] else as_target)
                    if across == 1:
                        before[at] = u
                    else:
                        near[at], value[at] = local[j], ws.value[p]
                        factor[at] = exposure_factor(ws, i, p)
                        base[at] = u
                    at += 1
            clear_row_effect(ws, i, as_source, as_target)
        stop[v + 1] = at
        for p in range(ws.hidden_start[i], ws.hidden_start[i + 1]):
            if local[hidden_node[p]] >= 0:
                hidden_near[hidden_at] = local[hidden_node[p]]
                hidden_a[hidden_at] = hidden_factor(ws, i, p)
                hidden_at += 1
        hidden_stop[v + 1] = hidden_at
    for v in range(len(nodes)):
        local[nodes[v]] = -1
    return Subgraph(stop, near, factor, base, before, value, hidden_stop, hidden_near, hidden_a, free_slots), old


@bare
def subgraph_pairs(ws, nodes, subgraph, z, c):
    """P_c and the size of column c."""
    send, receive = ws.send, ws.receive
    size, send_sum, receive_sum, own, hidden = np.int64(0), 0.0, 0.0, 0.0, 0.0
    for v in range(len(nodes)):
        if z[c, v]:
            size += 1
            t, r = send[nodes[v]], receive[nodes[v]]
            send_sum, receive_sum, own = send_sum + t, receive_sum + r, own + t * r
            for p in range(subgraph.hidden_start[v], subgraph.hidden_start[v + 1]):
                if z[c, subgraph.hidden_node[p]]:
                    hidden += 0.5 * subgraph.hidden_factor[p]
    return ws.pair_weight * (send_sum * receive_sum - own) - hidden, size


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


@kernel
def subgraph_loss(ws, nodes, subgraph, before, z, w):
    """-sum_links h(y, a (u + sum_c w_c z_ic z_jc)) + sum_c [w_c P_c + price(S_c)], u as it is before or after."""
    base = subgraph.base_before if before else subgraph.base
    start, node, factor, value = subgraph.start, subgraph.node, subgraph.factor, subgraph.value
    loss, counts, bits, added = 0.0, ws.counts, as_bits(z), summed_strengths(w)
    for v in range(len(nodes)):
        for p in range(start[v], start[v + 1]):
            if node[p] > v:
                x = factor[p] * (base[p] + added[bits[v] & bits[node[p]]])
                loss -= link_term(counts, value[p], x, link_mean(counts, x))
    for c in range(len(w)):
        pairs, size = subgraph_pairs(ws, nodes, subgraph, z, c)
        loss += w[c] * pairs + price(ws, size)
    return loss


@kernel
def subgraph_weights(ws, nodes, subgraph, z, w):
    """w_c <- sum_{links in c} m_ij w_c / u_ij / P_c."""
    start, node, factor, base, value = subgraph.start, subgraph.node, subgraph.factor, subgraph.base, subgraph.value
    bits, added, counts = as_bits(z), summed_strengths(w), ws.counts
    credit = np.zeros(len(added))
    for v in range(len(nodes)):
        if bits[v] != 0:
            for p in range(start[v], start[v + 1]):
                both = bits[v] & bits[node[p]] if node[p] > v else 0
                if both != 0:
                    u = added[both] + base[p]
                    x = factor[p] * u
                    credit[both] += expected_count(counts, value[p], x, link_mean(counts, x)) / u
    for c in range(len(w)):
        pairs, _ = subgraph_pairs(ws, nodes, subgraph, z, c)
        if pairs > 0.0:
            total = 0.0
            for both in range(len(credit)):
                if (both >> c) & 1:
                    total += credit[both]
            w[c] *= total / pairs


@kernel
def subgraph_flips(ws, nodes, subgraph, z, w):
    """Flip every membership of the subgraph that gains, column by column; returns how many did."""
    send, receive, counts = ws.send, ws.receive, ws.counts
    start, node, factor, base, value = subgraph.start, subgraph.node, subgraph.factor, subgraph.base, subgraph.value
    hidden_start, hidden_node, hidden_a, free_slots = (
        subgraph.hidden_start,
        subgraph.hidden_node,
        subgraph.hidden_factor,
        subgraph.free_slots,
    )
    flips, bits, added = 0, as_bits(z), summed_strengths(w)
    for c in range(len(w)):
        size, send_sum, receive_sum, bit = 0, 0.0, 0.0, 1 << c
        for v in range(len(nodes)):
            if z[c, v]:
                size += 1
                send_sum += send[nodes[v]]
                receive_sum += receive[nodes[v]]
        for v in range(len(nodes)):
            t, r, inside = send[nodes[v]], receive[nodes[v]], z[c, v]
            others = size - inside
            if others < 2 or (not inside and free_slots[v] <= 0):
                continue
            gain, back = 0.0, 0.0
            for p in range(start[v], start[v + 1]):
                if bits[node[p]] & bit:
                    a = factor[p]
                    x = a * (base[p] + added[bits[v] & bits[node[p]]])
                    step = -a * w[c] if inside else a * w[c]
                    gain += link_change(counts, value[p], x, link_mean(counts, x), step)
            for p in range(hidden_start[v], hidden_start[v + 1]):
                if z[c, hidden_node[p]]:
                    back += hidden_a[p]
            pairs = ws.pair_weight * (t * (receive_sum - inside * r) + r * (send_sum - inside * t)) - back
            rest = w[c] * pairs + ws.temperature * math.log((ws.n - others) / others)
            gain += rest if inside else -rest
            if gain > ENOUGH:
                d = -1 if inside else 1
                z[c, v] = not inside
                bits[v] ^= bit
                free_slots[v] -= d
                size, send_sum, receive_sum = size + d, send_sum + d * t, receive_sum + d * r
                flips += 1
    return flips


@kernel
def improve_exchange(ws, nodes, out, z, w, rounds, most_loss, local):
    """Improve columns z (q, m) of strengths w in place; returns what they gain in the place of ``out``, links and
    prices of communities.

    Flips come after strengths that fit the columns. Where the first round leaves a loss of more than ``most_loss``,
    there is no other.
    """
    subgraph, old = cut_subgraph(ws, nodes, out, local)
    strength = np.empty(len(out))
    for c in range(len(out)):
        strength[c] = ws.strength[out[c]]
    before = subgraph_loss(ws, nodes, subgraph, True, old, strength)
    free_slots = subgraph.free_slots
    for c in range(len(w)):
        for v in range(len(nodes)):
            z[c, v] = z[c, v] and free_slots[v] > 0
            free_slots[v] -= z[c, v]
    for turn in range(rounds):
        for _ in range(4 if turn == 0 else 1):
            subgraph_weights(ws, nodes, subgraph, z, w)
        flips = subgraph_flips(ws, nodes, subgraph, z, w)
        if turn == 0 and before - subgraph_loss(ws, nodes, subgraph, False, z, w) < -most_loss:
            break
        if flips == 0 and turn > 0:
            break
    return before - subgraph_loss(ws, nodes, subgraph, False, z, w)


@kernel
def apply_exchange(ws, nodes, out, into, z, w):
    """Give up ``out`` for columns z, which become communities ``into``."""
    for v in range(len(nodes)):
        i = np.int64(nodes[v])
        for c in range(len(out)):
            if holds(ws, i, out[c]):
                leave(ws, i, out[c])
        for c in range(len(into)):
            if z[c, v]:
                join(ws, i, into[c])
    for c in range(len(into)):
        ws.strength[into[c]] = w[c]
