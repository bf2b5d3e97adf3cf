"""Agreement of two covers: overlapping normalised mutual information, and the omega index.

Community i of X and j of Y are binary variables over the nodes; a, b, c, d are the shares of nodes in neither, in Y_j
only, in X_i only, in both, and h(p) = -p log p.

    H(X_i | Y_j) = h(a) + h(b) + h(c) + h(d) - H(Y_j)   if h(a) + h(d) >= h(b) + h(c), else H(X_i)
    H(X | Y) = sum_i min_j H(X_i | Y_j),   I = (H(X) - H(X|Y) + H(Y) - H(Y|X)) / 2,   ONMI = I / max(H(X), H(Y))

A. F. McDaid, D. Greene, N. Hurley (2011). Normalized mutual information to evaluate overlapping community finding
algorithms. arXiv:1110.2515.

Omega: two nodes agree when they share equally many communities in both covers. With A the number of pairs that agree,
M the number of all pairs, and N_t, N'_t the numbers of pairs that share t communities in the first and second cover,

    observed = A / M,   expected = sum_t N_t N'_t / M^2,   omega = (observed - expected) / (1 - expected)

L. M. Collins, C. W. Dent (1988). Omega: a general formulation of the Rand index of cluster recovery suitable for
non-disjoint solutions. Multivariate Behavioral Research 23, 231-242.
"""

import numpy as np
from scipy import sparse
from scipy.special import entr

from klafter.models.results.cover import sizes

CHUNK = 5_000_000  # pairs looked at together


def onmi_of(x: sparse.csr_array, y: sparse.csr_array) -> float:
    """ONMI of two covers given as (n, K) arrays."""
    if not x.shape[1] or not y.shape[1]:
        return float(x.shape[1] == y.shape[1])
    h_x, h_y = _entropies(x), _entropies(y)
    if max(h_x.sum(), h_y.sum()) == 0.0:  # nothing but communities of all nodes
        return 1.0
    row, column, joint = _joint_entropies(x, y)
    h_x_given, h_y_given = h_x.copy(), h_y.copy()
    np.minimum.at(h_x_given, row, joint - h_y[column])
    np.minimum.at(h_y_given, column, joint - h_x[row])
    information = (h_x - h_x_given).sum() + (h_y - h_y_given).sum()
    return float(information / 2 / max(h_x.sum(), h_y.sum()))


def _entropies(z) -> np.ndarray:
    share = sizes(z) / z.shape[0]
    return entr(share) + entr(1 - share)


def _joint_entropies(x, y) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of communities that may inform each other, and H(X_i, Y_j)."""
    row, column, both = _informative(x, y)
    n, size_x, size_y = x.shape[0], sizes(x), sizes(y)
    d = both / n
    c, b = size_x[row] / n - d, size_y[column] / n - d
    agree = entr((n - size_x[row] - size_y[column] + both) / n) + entr(d)
    differ = entr(np.maximum(b, 0.0)) + entr(np.maximum(c, 0.0))
    keep = agree >= differ
    return row[keep], column[keep], (agree + differ)[keep]


def _informative(x, y) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs that overlap, and those that do not but together hold over half of the nodes.

    Without overlap, h(a) >= h(b) + h(c) needs b + c > 1/2: one of the two holds over a quarter of the nodes.
    """
    big_x, big_y = (sparse.csr_array((sizes(z) > z.shape[0] / 4).astype(np.int64)[None]) for z in (x, y))
    every_x, every_y = (sparse.csr_array(np.ones((1, z.shape[1]), np.int64)) for z in (x, y))
    extra = sparse.kron(big_x.T, every_y, format="csr") + sparse.kron(every_x.T, big_y, format="csr")
    overlap = sparse.csr_array(x.T @ y)
    pattern = sparse.coo_array(overlap + extra)
    return pattern.row, pattern.col, np.asarray(overlap[pattern.row, pattern.col]).ravel()


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
