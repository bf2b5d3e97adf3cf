"""Kernel of splits: the second eigenvector of a community."""

import math

import numpy as np

from klafter.jit.decorators import bare, kernel
from klafter.search.sparse.kernels.links import at_least


@kernel
def second_vector(subgraph, strength, vector, turns):
    """Second eigenvector of the links that a community explains; returns its eigenvalue and the mean degree d.

    With c_ij = w_k / u_ij, D its row sums and d their mean, power iteration on (1 + M) / 2 without the first vector,
    M = (D + d)^-1/2 (c + d/m) (D + d)^-1/2. The constant d keeps loose ends from passing for parts (Amini et al. 2013).
    """
    m, start, base = len(vector), subgraph.start, subgraph.base
    share, root = np.empty(len(base)), np.zeros(m)
    for v in range(m):
        for p in range(start[v], start[v + 1]):
            share[p] = strength / (strength + base[p])
            root[v] += share[p]
    degree = 0.0
    for v in range(m):
        degree += root[v] / m
    for v in range(m):
        root[v] = math.sqrt(at_least(root[v] + degree, 1e-12))
    scaled, value = np.empty(m), 0.0
    for _ in range(turns):
        mean = clear_first(vector, root, scaled)
        value = multiply(subgraph, share, degree * mean, root, vector, scaled)
    return value, degree


@bare
def clear_first(vector, root, scaled):
    """Take the first eigenvector out, and make the length 1; ``scaled`` is (D + d)^-1/2 vector, whose mean returns."""
    along, mass, norm, mean = 0.0, 0.0, 0.0, 0.0
    for v in range(len(root)):
        along += vector[v] * root[v]
        mass += root[v] * root[v]
    for v in range(len(root)):
        vector[v] -= along * root[v] / mass
        norm += vector[v] * vector[v]
    norm = math.sqrt(at_least(norm, 1e-300))
    for v in range(len(root)):
        vector[v] /= norm
        scaled[v] = vector[v] / root[v]
        mean += scaled[v] / len(root)
    return mean


@bare
def multiply(subgraph, share, constant, root, vector, scaled):
    """vector <- (1 + M) vector / 2; returns vector' M vector."""
    value, start, node = 0.0, subgraph.start, subgraph.node
    for v in range(len(root)):
        total = constant
        for p in range(start[v], start[v + 1]):
            total += share[p] * scaled[node[p]]
        total /= root[v]
        value += vector[v] * total
        vector[v] = 0.5 * (vector[v] + total)
    return value
