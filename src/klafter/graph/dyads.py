"""The arrays of a graph that kernels read."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from klafter.graph.kinds.rule import Rule

ONE_KIND = np.zeros(0, np.int8)
NO_TABLE = np.zeros((0, 0), np.bool_)


class Rows(NamedTuple):
    """A sparse matrix by rows: row i is ``node[start[i]:start[i + 1]]`` with the same slice of ``value``."""

    start: np.ndarray  # int64
    node: np.ndarray  # int32
    value: np.ndarray  # float64


class Dyads(NamedTuple):
    """What was observed. Every dyad that is neither linked, hidden nor on the diagonal is an observed non-link.

    Where only some kinds of nodes may be linked, (i, j) is a dyad if ``linkable[kind[i], kind[j]]``.

    ``*_out`` lists by source, ``*_in`` by target; they are the same arrays when the graph is undirected.
    Dyad covariates stand row by row, ``which`` of them each entry belongs to beside it.
    """

    n: int
    directed: bool
    links_out: Rows
    links_in: Rows
    hidden_out: Rows
    hidden_in: Rows
    covariates_out: Rows
    covariates_in: Rows
    which_out: np.ndarray  # int32, aligned with covariates_out
    which_in: np.ndarray
    kind: np.ndarray = ONE_KIND  # (n,) int8, number of the kind of each node; empty where all may be linked
    linkable: np.ndarray = NO_TABLE  # (kinds, kinds) of bool, by kind of source and of target


def as_rows(matrix: sparse.sparray) -> Rows:
    """The CSR arrays of a matrix, in the types that kernels are compiled for.

    A graph's arrays are closed for writing, and Numba would compile every kernel again for such ones: what they are
    views of is taken instead, or a copy. Kernels only read them.
    """
    csr = sparse.csr_array(matrix)
    csr.sort_indices()
    return Rows(
        _opened(csr.indptr, np.dtype(np.int64)),
        _opened(csr.indices, np.dtype(np.int32)),
        _opened(csr.data, np.dtype(np.float64)),
    )


def _opened(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The array that one closed for writing is a view of, if it is of that type; else a copy."""
    base = array.base
    if not isinstance(base, np.ndarray) or not base.flags.writeable or array.dtype != dtype:
        return array.astype(dtype)
    same = base.dtype == dtype and base.shape == array.shape and base.ctypes.data == array.ctypes.data
    return base if same and base.flags.c_contiguous else array.astype(dtype)


def stack_covariates(matrices: Sequence[sparse.sparray], n: int) -> tuple[Rows, np.ndarray]:
    """Several sparse matrices as one list of entries by row."""
    if not matrices:
        return as_rows(sparse.csr_array((n, n))), np.zeros(0, np.int32)
    coos = [sparse.coo_array(m) for m in matrices]
    row = np.concatenate([m.row for m in coos])
    which = np.repeat(np.arange(len(coos), dtype=np.int32), [m.nnz for m in coos])
    order = np.lexsort((which, np.concatenate([m.col for m in coos]), row))
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))]).astype(np.int64)
    node = np.concatenate([m.col for m in coos])[order].astype(np.int32)
    value = np.concatenate([m.data for m in coos])[order].astype(np.float64)
    return Rows(start, node, value), which[order]


def as_dyads(
    links: sparse.csr_array, hidden: sparse.csr_array, covariates: Sequence[sparse.csr_array], directed: bool,
    rule: Rule | None = None,
) -> Dyads:  # fmt: skip
    """The kernel arrays of links, hidden dyads and covariates, all n x n and sparse."""
    n = links.shape[0]
    links_out, hidden_out = as_rows(links), as_rows(hidden)
    covariates_out, which_out = stack_covariates(covariates, n)
    links_in, hidden_in, covariates_in, which_in = links_out, hidden_out, covariates_out, which_out
    if directed:
        links_in, hidden_in = as_rows(links.T), as_rows(hidden.T)
        covariates_in, which_in = stack_covariates([m.T for m in covariates], n)
    kind, linkable = (ONE_KIND, NO_TABLE) if rule is None else (rule.kind, rule.table)
    return Dyads(
        n, directed, links_out, links_in, hidden_out, hidden_in, covariates_out, covariates_in, which_out, which_in,
        kind, linkable,
    )  # fmt: skip
