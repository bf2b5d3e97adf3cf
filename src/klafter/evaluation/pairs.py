"""Omega index: agreement about pairs of nodes.

Two nodes agree when they share equally many communities in both covers. With A the number of pairs that agree, M the
number of all pairs, and N_t, N'_t the numbers of pairs that share t communities in the first and second cover,

    observed = A / M,   expected = sum_t N_t N'_t / M^2,   omega = (observed - expected) / (1 - expected)

L. M. Collins, C. W. Dent (1988). Omega: a general formulation of the Rand index of cluster recovery suitable for
non-disjoint solutions. Multivariate Behavioral Research 23, 231-242.
"""

import numpy as np
from scipy import sparse

from klafter.models.results.cover import sizes

CHUNK = 5_000_000  # pairs looked at together


def omega_of(x: sparse.csr_array, y: sparse.csr_array) -> float:
    """Omega index of two covers given as (n, K) arrays."""
    n_pairs = x.shape[0] * (x.shape[0] - 1) / 2
    if not n_pairs:
        return 1.0
    table = _shared_counts(x, y)
    table[0, 0] = n_pairs - table.sum()
    observed = np.trace(table) / n_pairs
    t = min(table.shape)
    expected = (table.sum(axis=1)[:t] * table.sum(axis=0)[:t]).sum() / n_pairs**2
    return 1.0 if expected == 1.0 else float((observed - expected) / (1 - expected))


def pair_cost(z) -> float:
    """Pairs of nodes inside communities."""
    return float((sizes(z).astype(float) ** 2).sum())


def _shared_counts(x, y) -> np.ndarray:
    """table[s, t]: pairs that share s communities in x and t in y; those that share none in either are left out."""
    height, width = (int(np.diff(z.indptr).max()) + 1 for z in (x, y))
    counts = np.zeros(height * width)
    step = max(1, int(CHUNK * x.shape[0] / max(pair_cost(x) + pair_cost(y), 1)))
    for start in range(0, x.shape[0], step):
        rows = slice(start, start + step)
        code = sparse.triu((x[rows] @ x.T) * width + y[rows] @ y.T, k=start + 1)
        counts += np.bincount(code.data, minlength=height * width)
    counts[0] = 0
    return counts.reshape(height, width)
