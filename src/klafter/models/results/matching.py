"""Communities of one cover matched with those of another, by their members."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import sparse

from klafter.core.draws import Matrix

MANY = 1_000  # communities up to which the best matching of all is found; beyond, the best pairs first


def match_columns(first: Matrix, second: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Columns of two covers that belong together, none twice, so that the sum of their Jaccard indices is highest.

    Columns without a common member are not matched.

    Examples
    --------
    >>> one, other = np.array([[1, 0], [1, 0], [0, 1]]), np.array([[0, 1, 0], [0, 1, 0], [1, 0, 0]])
    >>> [columns.tolist() for columns in match_columns(one, other)]
    [[0, 1], [1, 0]]
    """
    if max(first.shape[1], second.shape[1]) > MANY:
        return _best_first(jaccard(first, second))
    if sparse.issparse(first) or sparse.issparse(second):
        table = jaccard(first, second).toarray()
    else:
        table = _table(np.asarray(first, np.float64), np.asarray(second, np.float64))
    from scipy.optimize import linear_sum_assignment  # takes long to load

    rows, columns = linear_sum_assignment(-table)
    found = table[rows, columns] > 0
    return rows[found], columns[found]


def jaccard(first: Matrix, second: Matrix) -> sparse.csr_array:
    """|A and B| / |A or B| of every pair of communities that share members."""
    a, b = (sparse.csr_array(cover, dtype=np.float64) for cover in (first, second))
    common = sparse.coo_array(a.T @ b)
    sizes = [np.asarray(cover.sum(axis=0)).ravel() for cover in (a, b)]
    either = sizes[0][common.row] + sizes[1][common.col] - common.data
    return sparse.csr_array((common.data / either, (common.row, common.col)), shape=common.shape)


def _table(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The same for arrays, which is quicker for small ones."""
    common = first.T @ second
    either = first.sum(axis=0)[:, None] + second.sum(axis=0) - common
    return np.asarray(common / np.maximum(either, 1.0))


def _best_first(overlap: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    pairs = sparse.coo_array(overlap)
    match: dict[int, int] = {}
    taken: set[int] = set()
    for t in np.argsort(-pairs.data, kind="stable"):
        row, column = int(pairs.row[t]), int(pairs.col[t])
        if row not in match and column not in taken:
            match[row] = column
            taken.add(column)
    rows = np.array(sorted(match), np.int64)
    return rows, np.array([match[row] for row in rows.tolist()], np.int64)


def average_memberships(shown: np.ndarray, covers: Iterable[Matrix], finest: np.ndarray | None = None) -> np.ndarray:
    """How often each node is in each community, over covers whose columns are matched to those of the one shown.

    Where a cover has no community for one that is shown, nobody is in it. Covers as fine as ``finest`` are matched to
    that, and a community that is shown is the union of those finest ones of which it holds most.
    """
    finest = shown if finest is None else finest
    parts = holders(finest, shown)
    total, n_covers = np.zeros(shown.shape), 0
    for cover in covers:
        rows, columns = match_columns(finest, cover)
        dense = cover.toarray() if sparse.issparse(cover) else np.asarray(cover)
        total += (dense[:, columns] > 0).astype(float) @ parts[rows] > 0
        n_covers += 1
    return total / max(n_covers, 1)


def holders(finest: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """(columns of the finest, columns of the one shown) of 0/1: which community holds most of each finer one."""
    if finest is shown or not finest.shape[1] or not shown.shape[1]:
        return np.eye(finest.shape[1], shown.shape[1])
    common = finest.T.astype(float) @ shown
    return np.asarray(np.arange(shown.shape[1]) == common.argmax(axis=1)[:, None], float)
