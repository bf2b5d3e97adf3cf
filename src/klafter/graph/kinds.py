"""Nodes of two kinds: only pairs across kinds are possible, which is a rule and never a list.

A two-mode network says nothing of pairs within a kind: they are neither links, nor non-links, nor hidden dyads. With
n_1 and n_2 nodes of each kind there are n_1 n_2 possible pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

NAMES = ("row", "column")  # of kinds that nobody named


def kind_array(kinds: Iterable[Any] | None, n: int, directed: bool) -> np.ndarray | None:
    """The name of each node's kind, as text; None where there is one kind."""
    if kinds is None:
        return None
    array = np.array([str(kind) for kind in kinds])
    if array.shape != (n,):
        raise ValueError(f"kinds needs one name for each of {n} nodes; this has shape {array.shape}.")
    found = names_of(array)
    if n and len(found) != 2:
        raise ValueError(
            f"kinds names two kinds of nodes; this has {len(found)}: {', '.join(found[:4])}. "
            "Pass more kinds, or one, as an attribute: then every pair is possible."
        )
    if directed:
        raise ValueError(
            "Links across two kinds need no direction: kinds say which end is which. Use directed=False with kinds."
        )
    array.flags.writeable = False
    return array


def names_of(kinds: np.ndarray) -> tuple[str, ...]:
    """The kinds, in the order in which nodes have them."""
    return tuple(dict.fromkeys(kinds.tolist()))


def within(matrix: sparse.sparray, second: np.ndarray) -> np.ndarray:
    """Which stored entries, in the order of their rows, are of two nodes of one kind."""
    coo = sparse.coo_array(matrix)
    found: np.ndarray = second[coo.row] == second[coo.col]
    return found


def across(matrix: sparse.csr_array, second: np.ndarray) -> sparse.csr_array:
    """The entries of pairs that are possible."""
    coo, keep = sparse.coo_array(matrix), ~within(matrix, second)
    return sparse.csr_array((coo.data[keep], (coo.row[keep], coo.col[keep])), shape=coo.shape)


def check_across(links: sparse.csr_array, kinds: np.ndarray) -> None:
    """A sentence for links that two nodes of one kind have."""
    inside = within(links, kinds == kinds[0])
    if inside.any():
        coo, at = sparse.coo_array(links), int(np.argmax(inside))
        i, j = int(coo.row[at]), int(coo.col[at])
        raise ValueError(
            f"Links go across kinds; nodes {i} and {j} are linked and both {str(kinds[i])!r}. "
            "Leave out kinds, or pass them as an attribute."
        )


def grown_kinds(kinds: np.ndarray | None, links: sparse.csr_array) -> np.ndarray | None:
    """Kinds of a graph that got new links, and new nodes at its end: these are of the kind that their partners are not.

    Rows of new nodes are visited twice, since a partner may be new as well.
    """
    if kinds is None:
        return None
    names, grown = names_of(kinds), [*kinds.tolist(), *[""] * (links.shape[0] - len(kinds))]
    for i in [*range(len(kinds), len(grown))] * 2:
        known = {grown[j] for j in links.indices[links.indptr[i] : links.indptr[i + 1]]} - {""}
        if known and not grown[i]:
            grown[i] = names[known == {names[0]}]
    if "" in grown:
        raise ValueError("Which kind is a new node of? None of its links leads to a node that was known before.")
    found = kind_array(grown, len(grown), False)
    check_across(links, np.array(grown))
    return found


def biadjacency(matrix: Any) -> tuple[sparse.csr_array, np.ndarray]:
    """A rectangular array of links as a square one, rows first, and which nodes are columns."""
    if not sparse.issparse(matrix):
        matrix = np.asarray(matrix)
    if matrix.ndim != 2:
        raise ValueError(f"A biadjacency matrix has rows and columns; this one has shape {matrix.shape}.")
    coo, n_rows = sparse.coo_array(matrix, dtype=float), matrix.shape[0]
    n = n_rows + matrix.shape[1]
    return sparse.csr_array((coo.data, (coo.row, n_rows + coo.col)), shape=(n, n)), np.arange(n) >= n_rows


def names_apart(rows: Sequence[Any], columns: Sequence[Any], names: tuple[str, str] = NAMES) -> tuple[list[Any], ...]:
    """Names of rows and of columns; one that is both is told apart, "7 (row)" and "7 (column)"."""
    both = set(rows) & set(columns)
    return tuple(
        [f"{name} ({kind})" if name in both else name for name in side]
        for side, kind in zip((rows, columns), names, strict=True)
    )


def names_of_sides(matrix: Any) -> tuple[list[Any], ...] | tuple[None, None]:
    """The names that a pandas table has down its side and on top; None where both are mere numbers."""
    if not hasattr(matrix, "index") or not hasattr(matrix, "columns"):
        return None, None
    sides = list(matrix.index), list(matrix.columns)
    return (None, None) if all(side == list(range(len(side))) for side in sides) else names_apart(*sides)
