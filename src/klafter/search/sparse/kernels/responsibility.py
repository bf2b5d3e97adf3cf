"""Kernel of the responsibility of the background for each link, rho_ij = y e / u_ij: what no affinity explains."""

import math

import numpy as np

from klafter.jit.decorators import kernel
from klafter.search.sparse.kernels.links import (
    add_row_effect,
    clear_row_effect,
    is_symmetric,
    look_ahead,
    pair_affinity,
)


@kernel
def responsibility_rows(ws, nodes, responsibility, residual):
    """rho of every entry in the rows of some nodes, and its sum by row."""
    start, node, value, background = ws.start, ws.node, ws.value, ws.background
    out = np.zeros(len(ws.size))
    into = out if is_symmetric(ws) else np.zeros(len(ws.size))
    for v in range(len(nodes)):
        i = np.int64(nodes[v])
        add_row_effect(ws, i, out, into)
        first, middle, stop = start[i], ws.middle[i], start[i + 1]
        total = 0.0 if look_ahead(ws, first, stop) >= 0.0 else math.inf
        for p in range(first, stop):
            responsibility[p] = value[p] * background / pair_affinity(ws, node[p], out if p < middle else into)
            total += responsibility[p]
        residual[i] = total
        clear_row_effect(ws, i, out, into)
