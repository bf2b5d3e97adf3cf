"""Memberships in one form for all models, a cover: a sparse array of nodes x communities."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from klafter.core.draws import Matrix

AT_ONCE = 50_000  # nodes


def as_cover(memberships: Matrix) -> sparse.csr_array:
    """Memberships with a sorted row for each node and no stored zeros."""
    z = sparse.csr_array(memberships, dtype=float, copy=True)
    z.eliminate_zeros()
    z.sort_indices()
    return z


def pattern(matrix: Matrix) -> sparse.csr_array:
    """One wherever there is something."""
    ones = sparse.csr_array(matrix, dtype=float, copy=True)
    ones.eliminate_zeros()
    ones.data[:] = 1.0
    return ones


def sizes(z: sparse.csr_array) -> np.ndarray:
    """Members of each community."""
    return np.bincount(z.indices, minlength=z.shape[1])


def f1_table(x: sparse.csr_array, y: sparse.csr_array) -> sparse.csr_array:
    """2 |A and B| / (|A| + |B|) of each pair of communities, A of x and B of y, that share members."""
    overlap = sparse.coo_array(x.T @ y)
    f1 = 2 * overlap.data / (sizes(x)[overlap.row] + sizes(y)[overlap.col])
    return sparse.csr_array((f1, (overlap.row, overlap.col)), shape=overlap.shape)


def inner_degrees(matrix: Matrix, z: sparse.csr_array) -> sparse.csr_array:
    """How many entries of an (n, n) matrix lead from each member to others of its community: z * (pattern z).

    Some rows at a time: the communities of all neighbours of all nodes would take more memory than a fit.
    """
    links = sparse.csr_array(matrix)
    blocks = [slice(low, low + AT_ONCE) for low in range(0, max(z.shape[0], 1), AT_ONCE)]
    parts = [z[some].multiply(pattern(links[some]) @ z) for some in blocks]
    return sparse.csr_array(sparse.vstack(parts) if len(parts) > 1 else parts[0])


def entries(matrix: sparse.csr_array, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns and values of one row."""
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return matrix.indices[part], matrix.data[part]


def rows(matrix: sparse.csr_array, values: bool = False) -> list[list[Any]]:
    """Columns, or values, of every row as lists."""
    flat = (matrix.data if values else matrix.indices).tolist()
    return [flat[a:b] for a, b in pairwise(matrix.indptr.tolist())]
