"""Graphs that grow: new nodes, new links and removed ones. Only what changes is checked, so the cost is a copy."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from klafter.graph import checks
from klafter.graph.graph import Graph
from klafter.graph.kinds.names import grown_kinds
from klafter.graph.units import distinct


class Change(NamedTuple):
    """A graph after a change, and where it changed."""

    graph: Graph
    nodes: np.ndarray  # rows of the ends of links that came or went, in order
    n_added: int
    n_removed: int


def change_graph(graph: Graph, links: Any = (), removed: Any = (), *, add: bool = False) -> Change:
    """The graph with more links and without others; nodes it does not know yet are added.

    Parameters
    ----------
    links : (m, 2) integer array of rows, or list of pairs (node, node) or triples (node, node, value)
        A hidden dyad becomes an observed one.
    removed : (m, 2) integer array of rows, or list of pairs
        Links that are observed to be gone.
    add : bool
        Whether the value of a link that is there already is added to; otherwise the new value stands.

    Examples
    --------
    >>> graph = Graph(np.array([[0, 1], [1, 0]]), labels=["ann", "bob"])
    >>> change_graph(graph, [("bob", "eve")], removed=[("ann", "bob")]).graph.labels.tolist()
    ['ann', 'bob', 'eve']
    """
    pairs, values, names = _rows(graph, links)
    gone, _, unknown = _rows(graph, removed)
    n, extra = graph.n_nodes, len(names)
    if unknown:
        raise KeyError(f"There is no node {next(iter(unknown))!r} to remove a link from.")
    known = _values(graph.links, gone)
    if (known == 0).any():
        i, j = gone[np.argmin(known != 0)]
        raise KeyError(f"There is no link {graph.label(i)!r} - {graph.label(j)!r} to remove; only links can go.")
    pairs, values = _once(pairs, values, n + extra, graph.directed, add)
    gone, known = _once(gone, known, n + extra, graph.directed, False)
    before = _resized(graph.links, n + extra)
    steps = values if add else values - _values(before, pairs)
    moved = steps != 0
    change = _matrix(np.vstack([pairs[moved], gone]), np.append(steps[moved], -known), n + extra, graph.directed)
    after = sparse.csr_array(before + change)
    hidden = _resized(graph.hidden, n + extra)
    if hidden.nnz:
        seen = _matrix(pairs, np.ones(len(pairs), bool), n + extra, graph.directed)
        hidden = checks.tidy((hidden.astype(np.int8) - hidden.multiply(seen)).astype(bool))
    nodes = distinct(np.concatenate([pairs[moved].ravel(), gone.ravel(), n + np.arange(extra)]))
    grown = _rebuilt(graph, checks.tidy(after), hidden, names)
    return Change(grown, nodes.astype(np.int64), int(moved.sum()), len(gone))


def _rows(graph: Graph, links: Any) -> tuple[np.ndarray, np.ndarray, dict[Any, int]]:
    """Pairs of rows, their values, and new names with the rows they get."""
    names: dict[Any, int] = {}
    if isinstance(links, np.ndarray) and links.dtype.kind in "iu":
        pairs = _array_rows(graph, links, names)
        return pairs, np.ones(len(pairs)), names
    if isinstance(links, (str, bytes)) or not isinstance(links, Iterable):
        raise ValueError(f"Links need two nodes each; {links!r} is not a list of pairs.")
    rows, values = [], []
    for link in links:
        if isinstance(link, (str, bytes)) or not hasattr(link, "__len__") or len(link) not in (2, 3):
            raise ValueError(f"Links need two nodes each, and may have a value; {link!r} has not.")
        value = float(link[2]) if len(link) == 3 else 1.0
        if not np.isfinite(value) or value == 0:
            raise ValueError(f"The link {link!r} has the value {value}; a value is finite and not 0. Use removed=.")
        rows.append([_row(graph, end, names) for end in link[:2]])
        values.append(value)
    pairs = np.array(rows, np.int64).reshape(-1, 2)
    if graph.labels is None:
        pairs = _array_rows(graph, pairs, names)
    return pairs, np.array(values), names


def _row(graph: Graph, node: Any, names: dict[Any, int]) -> int:
    """The row of a node; a name not seen before gets the next one."""
    try:
        return graph.index(node)
    except KeyError:
        pass
    text = str(node)
    whole = text.isascii() and text.isdigit() and len(text) < 18
    if graph.labels is None:
        if not whole:
            raise KeyError(
                f"The new node {node!r} has a name, but the nodes of this graph are numbers. Give the graph labels."
            ) from None
        return int(text)
    if isinstance(node, np.generic):
        node = node.item()
    if whole and graph.labels.dtype.kind in "iu":
        node = int(text)
    return names.setdefault(node, graph.n_nodes + len(names))


def _array_rows(graph: Graph, pairs: np.ndarray, names: dict[Any, int]) -> np.ndarray:
    """Rows as given; numbers beyond the last node are new nodes, if the graph has no labels."""
    if pairs.size == 0:
        return np.zeros((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"Links need two nodes each, shape (m, 2); these have shape {pairs.shape}.")
    low, high, n = int(pairs.min()), int(pairs.max()), graph.n_nodes
    limit = n if graph.labels is not None else n + pairs.size
    if low < 0 or high >= limit:
        cure = (
            "Pass new nodes as a list of pairs of labels." if graph.labels is not None else "Number them without gaps."
        )
        raise KeyError(f"There is no row {low if low < 0 else high} among {n}, and it cannot be a new node. {cure}")
    names.update((row, row) for row in range(n, high + 1))
    return pairs.astype(np.int64)


def _values(links: sparse.csr_array, pairs: np.ndarray) -> np.ndarray:
    """Link values at pairs."""
    return np.asarray(links[pairs[:, 0], pairs[:, 1]], float).ravel() if len(pairs) else np.zeros(0)


def _once(pairs: np.ndarray, values: np.ndarray, n: int, directed: bool, add: bool) -> tuple[np.ndarray, np.ndarray]:
    """Each dyad once, without self-links; of several values the last or, with ``add``, the sum."""
    apart = pairs[:, 0] != pairs[:, 1]
    pairs, values = pairs[apart], values[apart]
    ends = pairs if directed else np.sort(pairs, axis=1)
    _, last, which = np.unique((ends[:, 0] * n + ends[:, 1])[::-1], return_index=True, return_inverse=True)
    kept = len(values) - 1 - last
    return ends[kept], np.bincount(which, values[::-1], len(kept)) if add else values[kept]


def _matrix(pairs: np.ndarray, values: np.ndarray, n: int, directed: bool) -> sparse.csr_array:
    i, j = pairs.T
    if not directed:
        i, j, values = np.concatenate([i, j]), np.concatenate([j, i]), np.concatenate([values, values])
    return sparse.csr_array((values, (i, j)), shape=(n, n))


def _resized(matrix: sparse.csr_array, n: int) -> sparse.csr_array:
    """The same entries among n nodes."""
    start = np.concatenate([matrix.indptr, np.full(n - matrix.shape[0], matrix.indptr[-1], matrix.indptr.dtype)])
    return sparse.csr_array((matrix.data, matrix.indices, start), shape=(n, n))


def _rebuilt(graph: Graph, links: sparse.csr_array, hidden: sparse.csr_array, names: dict[Any, int]) -> Graph:
    """A graph from parts that were checked before, with new nodes at its end."""
    n, extra = links.shape[0], len(names)
    labels = graph.labels
    if labels is not None and extra:
        labels = checks.label_array([*labels.tolist(), *names], n)
    blank = [None] * extra
    columns = {k: checks.column(k, [*v.tolist(), *blank], n) if extra else v for k, v in graph.attributes.items()}
    dyadic = {k: checks.freeze(_resized(v, n)) for k, v in graph.covariates.items()}
    return Graph.trusted(
        links,
        hidden,
        directed=graph.directed,
        labels=labels,
        attributes=MappingProxyType(columns),
        covariates=MappingProxyType(dyadic),
        kinds=grown_kinds(graph.kinds, graph.kind_pairs, links, graph.directed),
        kind_pairs=graph.kind_pairs,
        notes=(),
    )
