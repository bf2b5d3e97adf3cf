"""What matrices hold beside links: sums at their edges, codes for what is missing, values for every pair."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from klafter.graph.io.errors import quote

_LEAST = 3  # rows or columns that can have a sum
_CODES = (9, 99, 999, 9999)
_NEGATIVE_CODES = (-1, -9, -99, -999)
_FAR = 4  # times the largest other value


def total_line(values: sparse.csr_array) -> bool:
    """Whether the last row is the sum of the others and holds more than any of their values.

    Examples
    --------
    >>> total_line(sparse.csr_array(np.array([[0, 1], [1, 1], [1, 0], [2, 2]])))
    True
    """
    rest = values[:-1]
    if rest.shape[0] < _LEAST or not rest.nnz or np.isnan(values.data).any():
        return False
    last, sums = values[[-1]].toarray()[0], np.asarray(rest.sum(axis=0)).ravel()
    return bool(np.allclose(last, sums, rtol=1e-6, atol=1e-9) and last.max() > rest.data.max())


def same_nodes(values: sparse.csr_array, down: tuple[str, ...], across: tuple[str, ...]) -> str:
    """Why other names across the top are those of the same nodes; empty if nothing says so."""
    rows, columns = values.shape
    if rows != columns or rows < _LEAST or set(down) & set(across):
        return ""
    diagonal, prefix = values.diagonal(), across[0].removesuffix(down[0])
    alike = bool((diagonal == diagonal[0]).all())  # answers of people to items differ there
    if prefix and alike and all(wide == prefix + name for wide, name in zip(across, down)):
        return f"they are those down the side behind {quote(prefix)}"
    links = sparse.csr_array(values)
    links.eliminate_zeros()
    apart = diagonal.any() or (links != links.T.tocsr()).nnz
    return "" if apart or links.nnz < rows else "the matrix is symmetric"


def weights_note(values: np.ndarray) -> list[str]:
    """What weights links have, unless all are 1."""
    if not len(values) or (values == 1).all():
        return []
    return [f"Links have weights from {values.min():g} to {values.max():g}."]


def missing_code(values: np.ndarray) -> str:
    """A question about a value that looks like a code for what nobody knows; empty without one.

    Examples
    --------
    >>> missing_code(np.array([1.0, 0.0, 99.0]))
    'The value 99 stands once, the others are 1 at most; write NA there if it means that nobody knows.'
    """
    distinct, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    if len(distinct) < 2 or len(distinct) > 100:
        return ""
    high, below, low = distinct[-1], distinct[-2], distinct[0]
    times = "once" if counts[-1] == 1 else f"{counts[-1]:,} times"
    if high in _CODES and low >= 0 and high > _FAR * below:
        said = f"The value {high:g} stands {times}, the others are {below:g} at most"
    elif low in _NEGATIVE_CODES and distinct[1] >= 0:
        times = "once" if counts[0] == 1 else f"{counts[0]:,} times"
        said = f"The value {low:g} stands {times}, the others are not negative"
    else:
        return ""
    return f"{said}; write NA there if it means that nobody knows."


def every_pair(links: sparse.csr_array) -> str:
    """A question about a matrix in which every pair has a value; empty if some have none."""
    n = links.shape[0]
    diagonal = links.diagonal()
    if n < _LEAST + 1 or links.nnz - np.count_nonzero(diagonal) < n * (n - 1) or len(np.unique(links.data)) < 3:
        return ""
    alike = "correlations" if diagonal[0] and (diagonal == diagonal[0]).all() else "distances or correlations"
    return f"Every pair has a value, as in {alike}; write 0 where there is no link, such as below a threshold."
