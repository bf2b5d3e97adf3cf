"""What a graph accepts at the door: links, hidden dyads, labels, attributes and covariates."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from scipy import sparse

FEW, PARTS = 100_000, 8  # entries that are compared with their mirrors at once; parts of more
OTHERWISE = "Pairs of nodes make a network by networkx.Graph(pairs), two kinds of nodes by Graph.from_biadjacency(X)."
WASTED = 1_000_000  # characters that an array of names may be larger than the names


def square(matrix: Any) -> sparse.csr_array:
    """A square array of real numbers as CSR."""
    if not sparse.issparse(matrix):
        refuse_masked(matrix)
        matrix = np.asarray(matrix)
    if matrix.dtype.kind == "c":
        raise ValueError("Complex data not supported: links are real numbers. Pass matrix.real, or its modulus.")
    if matrix.ndim == 0:
        kind = type(matrix.item()).__name__
        raise ValueError(
            "A network is a Graph, a square matrix, a graph of networkx or igraph, or a table of pandas, polars or "
            f"Arrow; this is {kind}."
        )
    if matrix.dtype.kind in "SUMmO":
        matrix = _numbers(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"A graph needs a square array of links; this one has shape {matrix.shape}. {OTHERWISE}")
    return narrow(sparse.csr_array(matrix, dtype=float))


def _numbers(matrix: Any) -> Any:
    """An array of numbers that numpy holds as objects; None is NaN."""
    try:
        return matrix.astype(np.dtype("O")).astype(float)
    except (TypeError, ValueError):
        some = next(value for value in matrix.ravel().tolist() if not isinstance(value, (int, float)))
        raise ValueError(f"Links are numbers; this array holds {some!r}. {OTHERWISE}") from None


def refuse_masked(matrix: Any) -> None:
    """What a mask hides would be read as if it were there."""
    if isinstance(matrix, np.ma.MaskedArray) and np.ma.is_masked(matrix):
        raise ValueError(
            "A mask hides entries of this array. Pass X.filled(0) and, for unobserved dyads, hidden=X.mask."
        )


def narrow(csr: sparse.csr_array) -> sparse.csr_array:
    """The same matrix with indices of 32 bits, where these are enough."""
    most = np.iinfo(np.int32).max
    if csr.indices.dtype == csr.indptr.dtype == np.int32 or max(csr.nnz, *csr.shape) > most:
        return csr
    narrowed = sparse.csr_array(csr.shape, dtype=csr.dtype)
    narrowed.data, narrowed.indices, narrowed.indptr = (
        csr.data,
        csr.indices.astype(np.int32, copy=False),
        csr.indptr.astype(np.int32, copy=False),
    )
    return narrowed


def clean_links(links: sparse.csr_array, directed: bool) -> sparse.csr_array:
    """No diagonal, no stored zeros; both directions when undirected."""
    if not np.isfinite(links.data).all():
        raise ValueError(
            "Links need finite values; this graph has NaN or infinity. Pass unobserved dyads as hidden=numpy.isnan(X), "
            "and 0 in their place."
        )
    links = tidy(off_diagonal(links))
    return links if directed else tidy(_symmetric(links))


def _symmetric(links: sparse.csr_array) -> sparse.csr_array:
    """Either triangle, or both when they agree."""
    if is_symmetric(links):
        return links
    if _is_upper(links):
        return sparse.csr_array(links + links.T.tocsr())
    mirror = links.T.tocsr()
    both = sparse.csr_array(links.multiply(mirror != 0))
    differ = sparse.coo_array(both - both.T)
    differ.eliminate_zeros()
    if differ.nnz:
        i, j = sorted((int(differ.row[0]), int(differ.col[0])))
        raise ValueError(
            f"An undirected graph needs the same value both ways; ({i}, {j}) and ({j}, {i}) differ. "
            "Use directed=True, or make the links symmetric."
        )
    return sparse.csr_array(links + mirror - both)


def _is_upper(links: sparse.csr_array) -> bool:
    """Whether every link is given once, from the node that comes first; of sorted rows."""
    some = np.diff(links.indptr) > 0
    return bool((links.indices[links.indptr[:-1][some]] > np.flatnonzero(some)).all())


def is_symmetric(links: sparse.csr_array) -> bool:
    """Whether every entry has a mirror of the same value; some rows at a time, so that no second graph is made."""
    n = links.shape[0]
    clean = links.has_canonical_format and links.data.all()
    if clean and not np.array_equal(np.diff(links.indptr), np.bincount(links.indices, minlength=n)):
        return False
    rows = max(1, n if links.nnz < FEW else -(-n // PARTS))
    return all((links[low : low + rows] != links[:, low : low + rows].T.tocsr()).nnz == 0 for low in range(0, n, rows))


def off_diagonal(matrix: sparse.sparray) -> sparse.csr_array:
    """The same entries without self-links, in arrays of their own."""
    if isinstance(matrix, sparse.csr_array) and matrix.has_canonical_format and not _has_loops(matrix):
        return matrix.copy()
    coo = sparse.coo_array(matrix)
    keep = coo.row != coo.col
    return sparse.csr_array((coo.data[keep], (coo.row[keep], coo.col[keep])), shape=coo.shape)


def _has_loops(csr: sparse.csr_array) -> bool:
    """Whether an entry lies on the diagonal."""
    return bool((csr.indices == np.repeat(np.arange(csr.shape[0], dtype=csr.indices.dtype), np.diff(csr.indptr))).any())


def tidy(csr: sparse.csr_array) -> sparse.csr_array:
    """Each entry once, none of them zero, in order."""
    csr.sum_duplicates()
    csr.eliminate_zeros()
    csr.sort_indices()
    return csr


def freeze(csr: sparse.csr_array) -> sparse.csr_array:
    """The same matrix, closed for writing: its arrays are views of those that kernels may have as their own."""
    for name in ("data", "indices", "indptr"):
        view = getattr(csr, name).view()
        view.flags.writeable = False
        setattr(csr, name, view)
    return csr


def hidden_pattern(hidden: Any, n: int, directed: bool) -> sparse.csr_array:
    """Hidden dyads as a boolean pattern without diagonal, symmetric when undirected."""
    if hidden is None:
        return sparse.csr_array((n, n), dtype=bool)
    if not sparse.issparse(hidden):
        array = np.asarray(hidden)
        # for two nodes a 2 x 2 array could be either: only a boolean one is a pattern
        is_pattern = array.shape == (n, n) and (array.dtype == bool or n != 2)
        hidden = sparse.csr_array(array != 0) if is_pattern else _pairs_pattern(array, n)
    if hidden.shape != (n, n):
        raise ValueError(f"hidden needs pairs of shape (m, 2) or an {n} x {n} pattern; this has shape {hidden.shape}.")
    pattern = off_diagonal(hidden).astype(bool)
    if not directed:
        pattern = sparse.csr_array(pattern + pattern.T)
    return tidy(pattern)


def _pairs_pattern(pairs: np.ndarray, n: int) -> sparse.csr_array:
    if pairs.size == 0:
        return sparse.csr_array((n, n), dtype=bool)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"hidden needs pairs of shape (m, 2) or an {n} x {n} pattern; this has shape {pairs.shape}.")
    if pairs.dtype.kind not in "iu":
        raise ValueError(f"hidden needs pairs of node numbers; these are {pairs.dtype}. Use as_graph for labels.")
    low, high = int(pairs.min()), int(pairs.max())
    if low < 0 or high >= n:
        raise ValueError(f"hidden names node {high if high >= n else low}; nodes are 0 to {n - 1}.")
    return sparse.csr_array((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), shape=(n, n))


def without(links: sparse.csr_array, hidden: sparse.csr_array) -> sparse.csr_array:
    """The links that are not hidden: a hidden dyad's value is unknown."""
    if not hidden.nnz or not links.nnz:
        return links
    return tidy(sparse.csr_array(links - links.multiply(hidden)))


def label_array(labels: Iterable[Any], n: int) -> np.ndarray:
    """Labels as an array that keeps them as they are: no number turned to text, no tuple to a row."""
    array = np.asarray(labels) if isinstance(labels, np.ndarray) else _as_column(list(labels))
    if array.shape != (n,):
        raise ValueError(f"labels needs one name for each of {n} nodes; this has shape {array.shape}.")
    if array.dtype == object and any(label is None for label in array):
        raise ValueError("Node labels need a name for each node; one is None. Give it a name.")
    for label in array.tolist() if array.dtype.kind in "fcOmM" else ():
        if not _hashable(label):
            raise ValueError(f"Node labels are text, numbers or tuples; {label!r} is none of them. Name it by one.")
        if label != label:
            raise ValueError("Node labels need a name for each node; one is NaN. Give it a name.")
    if len(set(array.tolist())) != n:
        seen: set[Hashable] = set()
        for label in array.tolist():
            if label in seen:
                raise ValueError(f"Node labels must differ; {label!r} stands twice. Make the names unique.")
            seen.add(label)
    return _frozen(array)


def _hashable(label: Any) -> bool:
    try:
        hash(label)
    except TypeError:
        return False
    return True


def column(name: str, values: Iterable[Any], n: int) -> np.ndarray:
    """One value for each node."""
    array = np.asarray(values) if isinstance(values, np.ndarray) else _as_column(list(values))
    if array.shape != (n,):
        raise ValueError(f"Attribute {name!r} needs one value for each of {n} nodes; this has shape {array.shape}.")
    return _frozen(array)


def _as_column(values: list[Any]) -> np.ndarray:
    kinds = {bool if isinstance(v, (bool, np.bool_)) else str if isinstance(v, str) else type(v) for v in values}
    numbers = all(issubclass(k, (int, float, np.number)) and k is not bool for k in kinds)
    if numbers or kinds == {bool} or (kinds == {str} and _alike_in_length(values)):
        array = np.asarray(values)
        if array.dtype.kind != "O" and array.ndim == 1:
            return array
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _alike_in_length(words: list[str]) -> bool:
    """Whether an array of one width for all keeps the words, which it fills up with zeros, and is little larger than
    they are: one long name would widen all."""
    return not any(word.endswith("\0") for word in words) and len(words) * max(map(len, words)) <= WASTED + 8 * sum(
        map(len, words)
    )


def _frozen(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.flags.writeable = False
    return array


def covariate(name: str, matrix: Any, n: int, directed: bool) -> sparse.csr_array:
    """One number for each dyad, the same both ways when undirected."""
    csr = square(matrix)
    if csr.shape[0] != n:
        raise ValueError(f"Covariate {name!r} needs shape ({n}, {n}); this has shape {csr.shape}.")
    if not np.isfinite(csr.data).all():
        raise ValueError(f"Covariate {name!r} has NaN or infinity; covariates need finite values.")
    csr = tidy(off_diagonal(csr))
    if not directed and (csr != csr.T).nnz:
        raise ValueError(f"Covariate {name!r} differs between (i, j) and (j, i), but the graph is undirected.")
    return freeze(csr)
