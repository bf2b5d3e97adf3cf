"""Kernel of splits: the direction in which a community falls apart."""

import math

import numpy as np

from klafter.core.kernel import kernel
from klafter.search.sparse_parallel import inner
from klafter.search.sparse_trades_kernels import cut_patch


@kernel
def second_vector(problem, state, nodes, k, local, vector, turns):
    """Second eigenvector of the links that community k explains; returns its eigenvalue and the mean degree d.

    With c_ij = w_k / u_ij, D its row sums and d their mean, power iteration on (1 + M) / 2 without the first vector,
    M = (D + d)^-1/2 (c + d/m) (D + d)^-1/2. The constant d keeps loose ends from passing for parts (Amini et al. 2013).
    """
    m = len(nodes)
    out = np.zeros(1, np.int64)
    out[0] = k
    patch = cut_patch(problem, state, nodes, out, local)
    strength = state.strength[k]
    share, root = np.empty(len(patch.base)), np.zeros(m)
    for v in range(m):
        for p in range(patch.start[v], patch.start[v + 1]):
            share[p] = strength / (strength + patch.base[p])
            root[v] += share[p]
    degree = 0.0
    for v in range(m):
        degree += root[v] / m
    for v in range(m):
        root[v] = math.sqrt(max(root[v] + degree, 1e-12))
    value = 0.0
    for _ in range(turns):
        clear_first(vector, root)
        value = multiply(patch, share, degree, root, vector)
    return value, degree


@inner
def clear_first(vector, root):
    """Take the first eigenvector out, and make the length 1."""
    along, mass, norm = 0.0, 0.0, 0.0
    for v in range(len(root)):
        along += vector[v] * root[v]
        mass += root[v] ** 2
    for v in range(len(root)):
        vector[v] -= along * root[v] / mass
        norm += vector[v] ** 2
    norm = math.sqrt(max(norm, 1e-300))
    for v in range(len(root)):
        vector[v] /= norm


@inner
def multiply(patch, share, degree, root, vector):
    """vector <- (1 + M) vector / 2; returns vector' M vector."""
    m = len(root)
    scaled, mean, value = np.empty(m), 0.0, 0.0
    for v in range(m):
        scaled[v] = vector[v] / root[v]
        mean += scaled[v] / m
    for v in range(m):
        total = degree * mean
        for p in range(patch.start[v], patch.start[v + 1]):
            total += share[p] * scaled[patch.node[p]]
        total /= root[v]
        value += vector[v] * total
        vector[v] = 0.5 * (vector[v] + total)
    return value
