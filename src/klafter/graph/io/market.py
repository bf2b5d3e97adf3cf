"""The body of a MatrixMarket file, every index looked at: SciPy's reader follows damaged ones into foreign memory."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from klafter.graph.archives import ArchiveError


def read_body(
    data: bytes, shape: tuple[int, int], entries: int, layout: str, field: str, symmetry: str
) -> sparse.coo_array:
    """The matrix of a file whose header says how it is laid out; square unless it has coordinates."""
    lines = [line for line in data.splitlines() if line.strip() and not line.lstrip().startswith(b"%")]
    try:
        numbers = np.array([float(word) for line in lines[1:] for word in line.split()])
    except ValueError as error:
        raise ArchiveError(f"{str(error)[:60]}") from None
    if layout != "coordinate":
        return _full(numbers, shape[0], symmetry)
    width = 2 if field == "pattern" else 3
    if len(numbers) != entries * width:
        raise ArchiveError(f"{entries:,} entries announced and others given")
    table = numbers.reshape(-1, width)
    ends = table[:, :2]
    if not ((ends >= 1) & (ends <= shape) & (ends == np.floor(ends))).all():
        raise ArchiveError(f"rows and columns that are not whole numbers from 1 to {shape[0]} and {shape[1]}")
    row, column = ends.T.astype(np.int64) - 1
    return _both(row, column, table[:, 2] if width == 3 else np.ones(len(table)), shape, symmetry)


def _full(numbers: np.ndarray, n: int, symmetry: str) -> sparse.coo_array:
    """Columns one after the other; of a symmetric matrix from the diagonal down."""
    column, row = np.triu_indices(n, {"symmetric": 0, "skew-symmetric": 1}.get(symmetry, -n))
    if len(numbers) != len(row):
        raise ArchiveError(f"{len(numbers):,} values for {len(row):,} places")
    return _both(row, column, numbers, (n, n), symmetry)


def _both(
    row: np.ndarray, column: np.ndarray, value: np.ndarray, shape: tuple[int, int], symmetry: str
) -> sparse.coo_array:
    if symmetry in ("symmetric", "skew-symmetric"):
        apart = row != column
        sign = 1.0 if symmetry == "symmetric" else -1.0
        row, column = np.append(row, column[apart]), np.append(column, row[apart])
        value = np.append(value, sign * value[apart])
    return sparse.coo_array((value, (row, column)), shape=shape)
