"""Memberships in one form for all models, a cover: a sparse array of nodes x communities."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from klafter.core.draws import Matrix


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


def inner_degrees(matrix: Matrix, z: sparse.csr_array) -> sparse.csr_array:
    """Entries of an (n, n) pattern from each member to other members of its community: z * (matrix z)."""
    return sparse.csr_array(z.multiply(matrix @ z))


def entries(matrix: sparse.csr_array, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns and values of one row."""
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return matrix.indices[part], matrix.data[part]


def rows(matrix: sparse.csr_array, values: bool = False) -> list[list[Any]]:
    """Columns, or values, of every row as lists."""
    flat = (matrix.data if values else matrix.indices).tolist()
    return [flat[a:b] for a, b in pairwise(matrix.indptr.tolist())]
