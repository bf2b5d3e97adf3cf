"""Kernel of the degree factors."""

import numpy as np

from klafter.core.kernel import kernel
from klafter.search.sparse_kernels import mark_row, shared_strength


@kernel
def factor_step(problem, state, expected, own, other, own_sum, other_sum, as_source):
    """t_i <- (a + m_i) / (a + e sum_{j != i} r_j + sum_{k of i} w_k (R_k - r_i) - sum_{hidden ij} r_j u_ij), in order.

    ``own`` and ``other`` are t and r or the reverse; they are one array when the graph is undirected.
    """
    a = problem.shrinkage
    everybody = 0.0
    for i in range(problem.n):
        everybody += other[i]
    shared = problem.half < 1.0
    mine = np.zeros(len(state.size), np.bool_)
    for i in range(problem.n):
        first = problem.start[i]
        rate = state.background * (everybody - other[i])
        for m in range(first, first + state.held[i]):
            k = state.member[m]
            rate += state.strength[k] * (other_sum[k] - other[i])
        low, high = problem.hidden_start[i], problem.hidden_start[i + 1]
        if as_source:
            high = problem.hidden_middle[i]
        else:
            low = problem.hidden_middle[i]
        if low < high:
            mark_row(problem, state, i, mine, True)
            for p in range(low, high):
                j = problem.hidden_node[p]
                rate -= other[j] * shared_strength(problem, state, j, mine)
            mark_row(problem, state, i, mine, False)
        change = (a + expected[i]) / (a + max(rate, 0.0)) - own[i]
        own[i] += change
        if shared:
            everybody += change
        for m in range(first, first + state.held[i]):
            own_sum[state.member[m]] += change
