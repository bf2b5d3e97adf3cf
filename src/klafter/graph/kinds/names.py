"""Kinds of nodes: which pairs are possible follows from these, which is a rule and never a list.

A two-mode network says nothing of pairs within a kind: they are neither links, nor non-links, nor hidden dyads. With
n_1 and n_2 nodes of each kind there are n_1 n_2 possible pairs. Other rules name pairs of kinds; see ``rule``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from klafter.graph.kinds.rule import MOST_KINDS, Pairs, Rule, find_table, in_words, normal_pairs

NAMES = ("row", "column")  # of kinds that nobody named


def kind_array(kinds: Iterable[Any] | None, n: int) -> np.ndarray | None:
    """The name of each node's kind, as text; None where there is one kind."""
    if kinds is None:
        return None
    array = np.array([str(kind) for kind in kinds])
    if array.shape != (n,):
        raise ValueError(f"kinds needs one name for each of {n} nodes; this has shape {array.shape}.")
    array.flags.writeable = False
    return array


def checked_pairs(kinds: np.ndarray | None, kind_pairs: Any, directed: bool) -> Pairs | None:
    """Which kinds may be linked; None without kinds, and for links across two kinds: a two-mode network."""
    if kinds is None:
        if kind_pairs is not None:
            raise ValueError("kind_pairs says which kinds may be linked, and this graph has no kinds. Pass kinds too.")
        return None
    found = names_of(kinds)
    if kind_pairs is not None:
        if not len(kinds):
            return None
        if len(found) > MOST_KINDS:
            raise ValueError(f"There are at most {MOST_KINDS} kinds of nodes; this has {len(found):,}.")
        pairs = normal_pairs(kind_pairs, found, directed)
        return None if not directed and len(found) == 2 and pairs == (found,) else pairs
    if len(kinds) and len(found) != 2:
        raise ValueError(
            f"kinds names two kinds of nodes; this has {len(found)}: {', '.join(found[:4])}. "
            "Say with kind_pairs which may be linked, such as kind_pairs='across', or pass them as an attribute: then "
            "every pair is possible."
        )
    if directed:
        raise ValueError(
            "Links across two kinds need no direction: kinds say which end is which. Use directed=False with kinds, or "
            "say with kind_pairs which way links may go."
        )
    return None


def find_rule(kinds: np.ndarray | None, pairs: Pairs | None, directed: bool) -> Rule | None:
    """The kinds as numbers and the table of those that may be linked; None where every pair is possible."""
    if kinds is None or not len(kinds):
        return None
    names = names_of(kinds)
    table = find_table(names, pairs, directed)
    if table.all():
        return None
    number = {name: k for k, name in enumerate(names)}
    return Rule(names, np.array([number[kind] for kind in kinds.tolist()], np.int8), table, directed)


def names_of(kinds: np.ndarray) -> tuple[str, ...]:
    """The kinds, in the order in which nodes have them."""
    return tuple(dict.fromkeys(kinds.tolist()))


def within(matrix: sparse.sparray, second: np.ndarray) -> np.ndarray:
    """Which stored entries, in the order of their rows, are of two nodes of one kind."""
    coo = sparse.coo_array(matrix)
    found: np.ndarray = second[coo.row] == second[coo.col]
    return found


def permitted(matrix: sparse.csr_array, rule: Rule) -> sparse.csr_array:
    """The entries of pairs that are possible."""
    coo = sparse.coo_array(matrix)
    keep = rule.allows(coo.row, coo.col)
    return sparse.csr_array((coo.data[keep], (coo.row[keep], coo.col[keep])), shape=coo.shape)


def check_permitted(links: sparse.csr_array, rule: Rule, pairs: Pairs | None) -> None:
    """A sentence for links between kinds that cannot be linked."""
    coo = sparse.coo_array(links)
    allowed = rule.allows(coo.row, coo.col)
    if pairs is not None:
        allowed |= coo.row == coo.col  # links of a node with itself are dropped
    if allowed.all():
        return
    at = int(np.argmin(allowed))
    i, j = int(coo.row[at]), int(coo.col[at])
    first, second = (rule.names[rule.kind[node]] for node in (i, j))
    if pairs is None:
        raise ValueError(
            f"Links go across kinds; nodes {i} and {j} are linked and both {first!r}. "
            "Leave out kinds, or pass them as an attribute."
        )
    told = in_words(pairs, directed=rule.directed)
    raise ValueError(
        f"Node {i}, of kind {first!r}, has a link to node {j}, of kind {second!r}; only these kinds may be linked: "
        f"{told}. Add the pair to kind_pairs, or leave out the link."
    )


def grown_kinds(
    kinds: np.ndarray | None, pairs: Pairs | None, links: sparse.csr_array, directed: bool
) -> np.ndarray | None:
    """Kinds of a graph that got new links, and new nodes at its end: each of the only kind that its partners allow.

    Rows of new nodes are visited twice, since a partner may be new as well.
    """
    if kinds is None:
        return None
    names, back = names_of(kinds), sparse.csr_array(links.T)
    table = find_table(names, pairs, directed)
    known = {name: k for k, name in enumerate(names)}
    grown = np.array([*(known[kind] for kind in kinds.tolist()), *[-1] * (links.shape[0] - len(kinds))])
    for i in [*range(len(kinds), len(grown))] * 2:
        to, by = (grown[m.indices[m.indptr[i] : m.indptr[i + 1]]] for m in (links, back))
        to, by = to[to >= 0], by[by >= 0]
        possible = table[:, to].all(axis=1) & table[by].all(axis=0)
        if grown[i] < 0 and len(to) + len(by) and (possible.sum() == 1 or pairs is None):
            grown[i] = int(np.argmax(possible))
    if (grown < 0).any():
        cure = "" if pairs is None else " Make a new graph with its kind in kinds."
        raise ValueError(f"Which kind is a new node of? {_unclear(pairs)}{cure}")
    found = kind_array([names[k] for k in grown], len(grown))
    rule = find_rule(found, pairs, directed)
    if rule is not None:
        check_permitted(links, rule, pairs)
    return found


def _unclear(pairs: Pairs | None) -> str:
    if pairs is None:
        return "None of its links leads to a node that was known before."
    return "Its links to nodes that were known before do not leave just one."


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
