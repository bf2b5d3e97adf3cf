"""Kernel of splits: the direction in which a community falls apart."""

import math

import numpy as np

from klafter.core.kernel import kernel
from klafter.search.sparse_trades_kernels import cut_patch


@kernel
def second_vector(problem, state, nodes, k, local, vector, turns):
    """Second eigenvector of the normalised links that community k explains; returns its eigenvalue and the mean degree.

    Weights are q_ij = w_k / u_ij; power iteration on (1 + D^-1/2 q D^-1/2) / 2 without its first vector D^1/2.
    """
    m = len(nodes)
    out = np.zeros(1, np.int64)
    out[0] = k
    patch = cut_patch(problem, state, nodes, out, local)
    w = state.strength[k]
    root, mass = np.zeros(m), 0.0
    for v in range(m):
        for p in range(patch.start[v], patch.start[v + 1]):
            root[v] += w / (w + patch.base[p])
        mass += root[v]
        root[v] = math.sqrt(root[v])
    new, value = np.zeros(m), 0.0
    for _ in range(turns):
        along, norm = 0.0, 0.0
        for v in range(m):
            along += vector[v] * root[v]
        for v in range(m):
            vector[v] -= along * root[v] / max(mass, 1e-12)
            norm += vector[v] ** 2
        norm = math.sqrt(max(norm, 1e-300))
        for v in range(m):
            vector[v] /= norm
        value = 0.0
        for v in range(m):
            total = 0.0
            if root[v] > 0.0:
                for p in range(patch.start[v], patch.start[v + 1]):
                    q = patch.node[p]
                    if root[q] > 0.0:
                        total += w / (w + patch.base[p]) * vector[q] / root[q]
                total /= root[v]
            value += vector[v] * total
            new[v] = 0.5 * (vector[v] + total)
        for v in range(m):
            vector[v] = new[v]
    return value, mass / max(m, 1)
