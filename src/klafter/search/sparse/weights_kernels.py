"""Kernel of the degree factors."""

import numpy as np

from klafter.jit.decorators import kernel
from klafter.search.sparse.kernels import at_least, mark_row, shared_strength


@kernel
def factor_step(ws, expected, own, own_sum, other, other_sum, as_source):
    """t_i <- (a + m_i) / (a + e sum_{j != i} r_j + sum_{k of i} w_k (R_k - r_i) - sum_{hidden ij} r_j u_ij), in order.

    ``own`` and ``other`` are t and r or the reverse; they are one array when the graph is undirected.
    """
    start, held, member, hidden_middle = ws.start, ws.held, ws.member, ws.hidden_middle
    a = ws.shrinkage
    everybody = 0.0
    for i in range(ws.n):
        everybody += other[i]
    shared = ws.pair_weight < 1.0
    mine = np.zeros(len(ws.size), np.bool_)
    for i in range(ws.n):
        first = start[i]
        rate = ws.background * (everybody - other[i])
        for m in range(first, first + held[i]):
            k = member[m]
            rate += ws.strength[k] * (other_sum[k] - other[i])
        low, high = ws.hidden_start[i], ws.hidden_start[i + 1]
        if as_source:
            high = hidden_middle[i]
        else:
            low = hidden_middle[i]
        if low < high:
            mark_row(ws, i, mine)
            for p in range(low, high):
                j = ws.hidden_node[p]
                rate -= other[j] * shared_strength(ws, j, mine)
            mark_row(ws, i, mine)
        change = (a + expected[i]) / (a + at_least(rate, 0.0)) - own[i]
        own[i] += change
        if shared:
            everybody += change
        for m in range(first, first + held[i]):
            own_sum[member[m]] += change
