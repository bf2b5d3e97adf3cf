"""What nodes and spectra say of pairs, beside their surroundings: features that need a pair's link to be hidden.

With A the visible links (either way, of a directed graph), d the degrees, c the common neighbours of a pair:

    shares      c over d_i d_j, over the root of that, over d_i + d_j, over the smaller and over the larger degree
    nodes       PageRank, clustering, eigenvector centrality, and their means over neighbours: smaller and larger of two
    low rank    B = V L V', the largest sqrt(n) eigenvalues: b_ij, its mean over the neighbours of either end, the angle
                between the rows, and Katz's walks through them, V (1 / (1 - beta L) - 1) V' with beta = 1 / (2 max L)

Unlike those of ``klafter.prediction.features`` these cannot be had exactly for each pair without itself: links to learn
from are hidden a part at a time (Ghasemian et al., PNAS 2020).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from klafter.prediction.features import FLOOR, Neighbourhoods

DAMPING, STEPS = 0.85, 40
MOST_RANKS, SPARE, POWERS = 50, 10, 15  # eigenvectors, columns more than these, and rounds of block power iteration
LOW, HIGH, COMMON = 0, 1, 4  # columns of the features
TINY, TRACE = 1e-9, 1e-4


class Topology:
    """What the features of any pair without a visible link are read from."""

    def __init__(self, links: sparse.csr_array, *, directed: bool = False):
        self.near = Neighbourhoods(links, directed=directed)
        self.a = self.near.adjacency()
        self.values, self.vectors = largest_eigenvectors(self.a)
        self.of_nodes = _nodes(self.a, self.near.degree, self.vectors[:, 0])

    def features(self, pairs: np.ndarray) -> np.ndarray:
        """(m, 32), or (m, 36) of a directed graph."""
        around = self.near.features(pairs)
        shares = [np.log(share + FLOOR) for share in _shares(around)]
        ends = [of[pairs] for of in self.of_nodes]
        sides = [side for two in ends for side in (two.min(axis=1), two.max(axis=1))]
        return np.column_stack([around, *shares, *sides, *self._spectral(pairs)])

    def _spectral(self, pairs: np.ndarray) -> list[np.ndarray]:
        """Of each pair, (m,): entry of low rank, its means over neighbours, angle of rows, walks."""
        (i, j), values, vectors = pairs.T, self.values, self.vectors
        scaled = vectors * values
        mean = (self.a @ vectors) / np.maximum(self.near.degree, 1.0)[:, None]
        walks = 1.0 / (1.0 - 0.5 * values / max(values.max(), TINY)) - 1.0
        size = np.maximum(np.linalg.norm(scaled, axis=1), TINY)
        entries = _products(scaled, vectors, i, j)
        means = _products(mean, scaled, i, j) + _products(mean, scaled, j, i)
        angles = _products(scaled, scaled, i, j) / (size[i] * size[j])
        return [entries, means, angles, np.log(np.maximum(_products(vectors * walks, vectors, i, j), 0.0) + TRACE)]


def _shares(around: np.ndarray) -> list[np.ndarray]:
    """LHN, Salton, Sorensen, hub promoted, hub depressed."""
    low, high = (np.maximum(np.expm1(around[:, column]), 1.0) for column in (LOW, HIGH))
    common = np.expm1(around[:, COMMON])
    return [common / by for by in (low * high, np.sqrt(low * high), low + high, low, high)]


def _nodes(a: sparse.csr_array, degree: np.ndarray, first: np.ndarray) -> list[np.ndarray]:
    """Of each node, (n,): log PageRank, clustering, log centrality, and the means of these over neighbours."""
    d, n = np.maximum(degree, 1.0), len(degree)
    rank = np.full(n, 1.0)
    for _ in range(STEPS):
        rank = (1.0 - DAMPING) + DAMPING * (a @ (rank / d))
    triangles = np.asarray((a @ a).multiply(a).sum(axis=1)).ravel() / np.maximum(d * (d - 1.0), 1.0)
    own = [np.log(rank), triangles, np.log(np.abs(first) * np.sqrt(n) + 1e-3)]
    return own + [a @ of / d for of in own]


def _products(one: np.ndarray, other: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    return np.asarray(np.einsum("mk,mk->m", one[i], other[j]))


def largest_eigenvectors(a: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of largest size and their vectors, nearly, by block power iteration from a fixed start.

    Examples
    --------
    >>> values, vectors = largest_eigenvectors(sparse.csr_array(np.ones((4, 4))))
    >>> round(float(values[0]), 6), np.abs(vectors[:, 0]).round(6).tolist()
    (4.0, [0.5, 0.5, 0.5, 0.5])
    """
    n = a.shape[0]
    kept = min(MOST_RANKS, max(1, round(n**0.5)))
    block = np.random.default_rng(0).standard_normal((n, min(n, kept + SPARE)))
    for _ in range(POWERS):
        block = np.linalg.qr(a @ block)[0]
    values, turn = np.linalg.eigh(block.T @ (a @ block))
    order = np.argsort(-np.abs(values), kind="stable")[:kept]
    return values[order], block @ turn[:, order]
