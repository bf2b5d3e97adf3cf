"""Kernels that say what each link still owes to the background: rho_ij = y e / u_ij, unexplained by communities."""

import math

import numpy as np

from klafter.core.kernel import kernel
from klafter.search.sparse_kernels import look_ahead, mark_row, shared_strength
from klafter.search.sparse_parallel import inner


@kernel
def owe_rows(problem, state, low, high, owed, residual):
    """rho of every entry of the rows low..high, and its sum by row."""
    mine = np.zeros(len(state.size), np.bool_)
    for i in range(low, high):
        owe_row(problem, state, i, mine, owed, residual)


@inner
def owe_row(problem, state, i, mine, owed, residual):
    """rho_ij = y e / u_ij of the row of i."""
    mark_row(problem, state, i, mine, True)
    first, stop = problem.start[i], problem.start[i + 1]
    total = 0.0 if look_ahead(problem, state, first, stop) >= 0.0 else math.inf
    for p in range(first, stop):
        u = shared_strength(problem, state, problem.node[p], mine)
        owed[p] = problem.value[p] * state.background / u
        total += owed[p]
    residual[i] = total
    mark_row(problem, state, i, mine, False)


@kernel
def owe_some(problem, state, nodes, owed, residual):
    """rho of the rows of some nodes, after they changed."""
    mine = np.zeros(len(state.size), np.bool_)
    for v in range(len(nodes)):
        owe_row(problem, state, np.int64(nodes[v]), mine, owed, residual)
