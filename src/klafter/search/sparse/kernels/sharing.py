"""Kernels of sums over links where nodes share their links among their communities, affinities diagonal.

    x_ij = t_i r_j u_ij,   u_ij = e + s_i s_j sum_k w_k z_ik z_jk,   s_i = 1 / max(m_i, 1)

with m_i the communities that i holds. Sums by community are of shares: T_k = sum_i t_i s_i z_ik.
"""

import numpy as np

from klafter.jit.decorators import bare, inlined, kernel
from klafter.search.sparse.kernels.links import (
    add_row_effect,
    at_least,
    clear_row_effect,
    expected_count,
    exposure_factor,
    hidden_factor,
    link_mean,
    link_term,
    mark_row,
    may_link_own_kind,
    seen_sum,
)


@inlined
def share(ws, i):
    """s_i."""
    return 1.0 / (1 if ws.held[i] < 1 else ws.held[i])


@inlined
def shared_affinity(ws, j, effect, own_share):
    """u_ij, from the effect of row i."""
    u = 0.0
    for m in range(ws.start[j], ws.start[j] + ws.held[j]):
        u += effect[ws.member[m]]
    return ws.background + own_share * share(ws, j) * u


@bare
def shared_pairs(ws, i, mine, totals):
    """The row's part of the second and third totals; see ``totals.tally_pairs``."""
    last, own, s = totals.shape[1] - 1, ws.send[i] * ws.receive[i], share(ws, i)
    own = own if may_link_own_kind(ws, i) else 0.0
    totals[1, last] += own
    for m in range(ws.start[i], ws.start[i] + ws.held[i]):
        totals[1, ws.member[m]] += own * s * s
    for p in range(ws.hidden_start[i], ws.hidden_start[i + 1]):
        j, a = ws.hidden_node[p], 0.5 * hidden_factor(ws, i, p)
        totals[2, last] += a
        for m in range(ws.start[j], ws.start[j] + ws.held[j]):
            if mine[ws.member[m]]:
                totals[2, ws.member[m]] += a * s * share(ws, j)


@kernel
def shared_tally(ws, low, high, totals, sent, received):
    """Sums over the rows low..high that the weights need; returns sum_links h."""
    size, last = len(ws.size), totals.shape[1] - 1
    mine, effect, fit = np.zeros(size, np.bool_), np.zeros(size), 0.0
    for i in range(low, high):
        mark_row(ws, i, mine)
        add_row_effect(ws, i, effect, effect)
        shared_pairs(ws, i, mine, totals)
        s, sent[i], received[i] = share(ws, i), 0.0, 0.0
        for p in range(ws.start[i], ws.start[i + 1]):
            j = ws.node[p]
            u = shared_affinity(ws, j, effect, s)
            x = exposure_factor(ws, i, p) * u
            mean = link_mean(ws.counts, x)
            fit += 0.5 * link_term(ws.counts, ws.value[p], x, mean)
            expected = expected_count(ws.counts, ws.value[p], x, mean)
            if p < ws.middle[i]:
                sent[i] += expected
            else:
                received[i] += expected
            credit = 0.5 * expected / u
            totals[0, last] += credit * ws.background
            for m in range(ws.start[j], ws.start[j] + ws.held[j]):
                k = ws.member[m]
                if mine[k]:
                    totals[0, k] += credit * ws.strength[k] * s * share(ws, j)
        clear_row_effect(ws, i, effect, effect)
        mark_row(ws, i, mine)
    return fit


@kernel
def shared_factor_step(ws, expected, own, own_sum, other, other_sum, as_source):
    """t_i <- (a + m_i) / (a + sum_j r_j u_ij over observed j), in order; see ``factors.factor_step``."""
    everybody, undirected, effect = other.sum(), ws.pair_weight < 1.0, np.zeros(len(ws.size))
    n_kinds = len(ws.linkable)
    by_kind = np.zeros((1, n_kinds))
    for i in range(len(ws.kind)):
        by_kind[0, ws.kind[i]] += other[i]
    own_by_kind = ws.send_by_kind if as_source else ws.receive_by_kind
    other_by_kind = ws.send_by_kind if undirected or not as_source else ws.receive_by_kind
    for i in range(ws.n):
        if own[i] == 0.0:  # of a kind that does not send, or does not receive
            continue
        first, s = ws.start[i], share(ws, i)
        itself = other[i] if may_link_own_kind(ws, i) else 0.0
        rate = ws.background * ((everybody if n_kinds == 0 else seen_sum(ws, i, by_kind, 0, as_source)) - itself)
        for m in range(first, first + ws.held[i]):
            k = ws.member[m]
            seen = other_sum[k] if n_kinds == 0 else seen_sum(ws, i, other_by_kind, k, as_source)
            rate += s * ws.strength[k] * (seen - s * itself)
        low, high = ws.hidden_start[i], ws.hidden_start[i + 1]
        low, high = (low, ws.hidden_middle[i]) if as_source else (ws.hidden_middle[i], high)
        add_row_effect(ws, i, effect, effect)
        for p in range(low, high):
            rate -= other[ws.hidden_node[p]] * shared_affinity(ws, ws.hidden_node[p], effect, s)
        clear_row_effect(ws, i, effect, effect)
        change = (ws.shrinkage + expected[i]) / (ws.shrinkage + at_least(rate, 0.0)) - own[i]
        own[i] += change
        everybody += change if undirected else 0.0
        if n_kinds > 0 and undirected:
            by_kind[0, ws.kind[i]] += change
        for m in range(first, first + ws.held[i]):
            own_sum[ws.member[m]] += s * change
            if n_kinds > 0:
                own_by_kind[ws.member[m], ws.kind[i]] += s * change
