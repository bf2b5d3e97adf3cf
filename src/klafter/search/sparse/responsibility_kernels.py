"""Kernels that say what each link still owes to the background: rho_ij = y e / u_ij, unexplained by communities."""

import math

import numpy as np

from klafter.jit.decorators import kernel
from klafter.search.sparse.kernels import look_ahead, mark_row, shared_strength


@kernel
def responsibility_rows(ws, nodes, responsibility, residual):
    """rho of every entry in the rows of some nodes, and its sum by row."""
    start, node, value, background = ws.start, ws.node, ws.value, ws.background
    mine = np.zeros(len(ws.size), np.bool_)
    for v in range(len(nodes)):
        i = np.int64(nodes[v])
        mark_row(ws, i, mine)
        first, stop = start[i], start[i + 1]
        total = 0.0 if look_ahead(ws, first, stop) >= 0.0 else math.inf
        for p in range(first, stop):
            responsibility[p] = value[p] * background / shared_strength(ws, node[p], mine)
            total += responsibility[p]
        residual[i] = total
        mark_row(ws, i, mine)
