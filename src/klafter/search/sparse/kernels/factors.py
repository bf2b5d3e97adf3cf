"""Kernel of the degree factors."""

# ruff: noqa: E741 - k and l are communities, as in the papers

import numpy as np

from klafter.jit.decorators import bare, kernel
from klafter.search.sparse.kernels.links import (
    add_row_effect,
    at_least,
    clear_row_effect,
    holds,
    is_symmetric,
    may_link_own_kind,
    pair_affinity,
    seen_sum,
)


@kernel
def factor_step(ws, expected, own, own_sum, other, other_sum, as_source):
    """t_i <- (a + m_i) / (a + e sum_{j != i} r_j + sum_{k of i, l} L_kl (R_l - r_i z_il) - sum_{hidden ij} r_j u_ij),
    in order.

    ``own`` and ``other`` are t and r, or the reverse with L' for L; they are one array when the graph is undirected.
    """
    start, held, member, hidden_middle = ws.start, ws.held, ws.member, ws.hidden_middle
    a = ws.shrinkage
    everybody, n_kinds = 0.0, len(ws.linkable)
    by_kind = np.zeros((1, n_kinds))
    for i in range(ws.n):
        everybody += other[i]
        if n_kinds > 0:
            by_kind[0, ws.kind[i]] += other[i]
    shared, size, marks = ws.pair_weight < 1.0, len(ws.size), np.zeros(ws.n if len(ws.hidden_node) else 0, np.int64)
    own_by_kind = ws.send_by_kind if as_source else ws.receive_by_kind
    other_by_kind = ws.send_by_kind if shared or not as_source else ws.receive_by_kind
    mark_communities(ws, marks)
    out = np.zeros(size)
    into = out if is_symmetric(ws) else np.zeros(size)
    for i in range(ws.n):
        if own[i] == 0.0:  # of a kind that does not send, or does not receive
            continue
        first = start[i]
        itself = other[i] if may_link_own_kind(ws, i) else 0.0
        rate = ws.background * ((everybody if n_kinds == 0 else seen_sum(ws, i, by_kind, 0, as_source)) - itself)
        for m in range(first, first + held[i]):
            k = member[m]
            seen = other_sum[k] if n_kinds == 0 else seen_sum(ws, i, other_by_kind, k, as_source)
            rate += ws.strength[k] * (seen - itself)
            if not ws.diagonal:
                rate += off_diagonal_rate(ws, i, k, other, other_sum, as_source)
        low, high = ws.hidden_start[i], ws.hidden_start[i + 1]
        if as_source:
            high = hidden_middle[i]
        else:
            low = hidden_middle[i]
        if low < high:
            add_row_effect(ws, i, out, into)
            rate -= hidden_rate(ws, low, high, other, out if as_source else into, marks[i], marks)
            clear_row_effect(ws, i, out, into)
        change = (a + expected[i]) / (a + at_least(rate, 0.0)) - own[i]
        own[i] += change
        if shared:
            everybody += change
            if n_kinds > 0:
                by_kind[0, ws.kind[i]] += change
        for m in range(first, first + held[i]):
            own_sum[member[m]] += change
            if n_kinds > 0:
                own_by_kind[member[m], ws.kind[i]] += change


@bare
def mark_communities(ws, marks):
    """Bits of the communities of each node, those of all numbers modulo 64: nodes without one in common share none."""
    for i in range(len(marks)):
        for m in range(ws.start[i], ws.start[i] + ws.held[i]):
            marks[i] |= np.int64(1) << (ws.member[m] & 63)


@bare
def hidden_rate(ws, low, high, other, row_effect, mine, marks):
    """sum_{hidden ij} r_j u_ij; of most pairs, which share no community, the background's part alone."""
    everybody, some = 0.0, 0.0
    for p in range(low, high):
        j = ws.hidden_node[p]
        everybody += other[j]
        if not ws.diagonal or marks[j] & mine:
            some += other[j] * (pair_affinity(ws, j, row_effect) - ws.background)
    return ws.background * everybody + some


@bare
def off_diagonal_rate(ws, i, k, other, other_sum, as_source):
    """sum_{l != k} L_kl (R_l - r_i z_il); with L_lk if i is a target."""
    first, partner, place = ws.column_start, ws.column_other, ws.column_place
    if as_source:
        first, partner, place = ws.row_start, ws.row_other, ws.row_place
    rate = 0.0
    for q in range(first[k], first[k + 1]):
        l = partner[q]
        rate += ws.off_diagonal[place[q]] * (other_sum[l] - (other[i] if holds(ws, i, l) else 0.0))
    return rate
