"""Whatever holds a network, as a Graph."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from klafter.graph.assemble import Edges, assemble
from klafter.graph.checks import is_symmetric, off_diagonal, square
from klafter.graph.graph import Graph
from klafter.graph.kinds.modes import bipartite_list, told_by, told_by_graph, with_rule
from klafter.graph.kinds.names import names_apart

log = logging.getLogger("klafter")
SOURCE_NAMES = ("source", "from", "src", "node1", "node_1", "source_id", "id1", "id_1", "u", "i", "sender", "ego")
TARGET_NAMES = ("target", "to", "dst", "node2", "node_2", "target_id", "id2", "id_2", "v", "j", "receiver", "alter")
WEIGHT_NAMES = ("weight", "weights", "value", "count", "counts", "w", "strength")
_ROLES = (SOURCE_NAMES, TARGET_NAMES, WEIGHT_NAMES)


def as_graph(
    X: Any, hidden: Any = None, covariates: Any = None, directed: bool | None = None, *, two_mode: bool = False,
    kinds: Any = None, kind_pairs: Any = None,
) -> Graph:  # fmt: skip
    """A graph from a matrix, a table of links, a graph of networkx or igraph, or a Graph.

    Parameters
    ----------
    X : Graph, (n, n) numpy or scipy.sparse array, networkx or igraph graph, or pandas, polars or Arrow table
        A table has columns source, target and perhaps weight, or is a square adjacency matrix.
    hidden : (m, 2) array of rows, list of pairs of labels, or (n, n) pattern, optional
        Dyads that nobody observed, besides those of X.
    covariates : mapping of name to (n, n) array, or one such array, optional
        What is known of each dyad.
    directed : bool, optional
        By default a symmetric or strictly triangular matrix is undirected, any other directed; for tables see
        `read_graph`.
    two_mode : bool
        Whether sources and targets of a table, or rows and columns of a matrix, are two kinds of nodes; a name of both
        kinds becomes two nodes. A table of two or three columns without names down its side, or with source and
        target, is a list. A networkx graph says so itself by the node attribute ``bipartite``, an igraph by ``type``.
    kinds : str or (n,) sequence, optional
        The kind of each node, or the attribute of nodes that says it; see ``Graph``.
    kind_pairs : "across", "within" or list of (str, str), optional
        Which kinds may be linked; see ``Graph``.

    Returns
    -------
    Graph

    Examples
    --------
    >>> as_graph(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    Graph(3 nodes, 2 links, undirected)
    >>> as_graph(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]), hidden=[(0, 2)])
    Graph(3 nodes, 3 links, directed, 1 hidden dyads)
    >>> import networkx as nx
    >>> as_graph(nx.karate_club_graph()).binarize()  # its links have weights
    Graph(34 nodes, 78 links, undirected)
    """
    graph = _two_mode(X) if two_mode else _convert(X, directed)
    if kinds is not None:
        graph = with_rule(graph, kinds, kind_pairs)
    elif kind_pairs is not None:
        graph = graph.replace(kind_pairs=kind_pairs)
    if covariates is not None:
        graph = graph.replace(covariates={**graph.covariates, **_named(covariates)})
    return graph if hidden is None else graph.hide(hidden)


def _convert(X: Any, directed: bool | None) -> Graph:
    if isinstance(X, Graph):
        return _redirect(X, directed)
    if hasattr(X, "is_directed") and hasattr(X, "adjacency"):
        return from_networkx(X, directed)
    if _is_igraph(X):
        return from_igraph(X, directed)
    if isinstance(X, (str, os.PathLike)):
        raise ValueError(f"A network, not the name of a file, is needed here. Use klafter.read_graph({str(X)!r}).")
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return _from_table(X, directed)
    if hasattr(X, "to_pandas"):  # polars and Arrow
        return _from_table(_as_pandas(X), directed)
    if hasattr(X, "collect_schema"):
        raise ValueError(f"A {type(X).__name__} holds no links yet. Use klafter.as_graph(X.collect()).")
    return _from_matrix(X, directed)


def is_foreign_graph(X: Any) -> bool:
    """Whether it is a graph of networkx or igraph, where weights are attributes that may be ignored."""
    return (hasattr(X, "is_directed") and hasattr(X, "adjacency")) or _is_igraph(X)


def without_weights(graph: Graph, counted: bool = True) -> Graph:
    """The graph with every link 1, and a note where that lost something: who counts it, or that the model does not."""
    values = graph.links.data
    if not len(values) or (values == 1).all():
        return graph
    cure = "family='poisson' counts them" if counted else "KLafter(family='poisson') counts them"
    low, high = values.min(), values.max()
    some = f"weights of {low:g}" if low == high else f"weights from {low:g} to {high:g}"
    note = f"The links' {some} are ignored; {cure}."
    log.warning(note)
    return graph.binarize().replace(notes=(*graph.notes, note))


def _is_igraph(X: Any) -> bool:
    return hasattr(X, "is_directed") and hasattr(X, "get_edgelist")


def _as_pandas(X: Any) -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError(f"A {type(X).__name__} is read by way of pandas: pip install pandas") from None
    names = X.column_names if hasattr(X, "column_names") else X.columns
    columns = {name: X[name] for name in names}
    return pandas.DataFrame(
        {str(k): c.to_list() if hasattr(c, "to_list") else c.to_pylist() for k, c in columns.items()}
    )


def _two_mode(X: Any) -> Graph:
    """A table of links, or a rectangle, whose two sides are two kinds of nodes."""
    if hasattr(X, "to_pandas"):  # polars and Arrow
        X = _as_pandas(X)
    if not hasattr(X, "columns"):
        return Graph.from_biadjacency(X)
    found = _link_columns(X)
    if found is None and len(X.columns) in (2, 3) and list(X.index) == list(range(len(X))):
        found = (X.columns[0], X.columns[1], X.columns[2] if len(X.columns) == 3 else None)
    if found is None:
        rows, columns = names_apart(list(X.index), list(X.columns))
        return Graph.from_biadjacency(X.to_numpy(dtype=float), rows=rows, columns=columns)
    edges, labels = _edges(X, *found)
    return bipartite_list(edges, len(labels), labels, (str(found[0]), str(found[1])))


def _redirect(graph: Graph, directed: bool | None) -> Graph:
    if directed is None or directed == graph.directed:
        return graph
    if directed:
        return graph.replace(directed=True)
    raise ValueError("directed=False, but this graph is directed. Use klafter.as_graph(X).symmetrize().")


def _from_matrix(X: Any, directed: bool | None, labels: list[Any] | None = None) -> Graph:
    links = square(X)
    if directed is None:
        links = off_diagonal(links)
        directed = not (_is_triangular(links) or is_symmetric(links))
    return Graph(links, directed=directed, labels=labels)


def _is_triangular(links: sparse.csr_array) -> bool:
    row, col = links.nonzero()
    return bool((row < col).all() or (row > col).all())


def from_networkx(X: Any, directed: bool | None, weight_name: str | int | None = "weight") -> Graph:
    """A networkx graph, its nodes as labels, its node attributes, and one link attribute as weight."""
    labels = list(X)
    row = {label: i for i, label in enumerate(labels)}
    links = list(X.edges(data=weight_name)) if weight_name else [(*ends[:2], None) for ends in X.edges()]
    source = np.fromiter((row[u] for u, _, _ in links), np.int64, len(links))
    target = np.fromiter((row[v] for _, v, _ in links), np.int64, len(links))
    weight = None
    if any(w is not None for _, _, w in links):
        weight = np.array([_number(w, u, v) for u, v, w in links])
    known = _node_attributes(X.nodes(data=True), len(labels))
    edges = Edges(source, target, weight)
    graph = assemble(edges, len(labels), directed=X.is_directed(), labels=labels, attributes=known)
    return told_by_graph(told_by(_redirect(graph, directed), "bipartite"), X.graph)


def from_igraph(X: Any, directed: bool | None) -> Graph:
    """An igraph graph, its vertex attribute ``name`` as labels, the others as attributes, and ``weight`` of links."""
    ends = np.array(X.get_edgelist(), np.int64).reshape(-1, 2)
    weight = None
    if "weight" in X.es.attributes():
        weight = np.array([_number(w, int(u), int(v)) for w, (u, v) in zip(X.es["weight"], ends)])
    known = {name: X.vs[name] for name in X.vs.attributes() if name != "name"}
    labels = X.vs["name"] if "name" in X.vs.attributes() else None
    edges = Edges(ends[:, 0], ends[:, 1], weight)
    graph = assemble(edges, X.vcount(), directed=X.is_directed(), labels=labels, attributes=known)
    about = {name: X[name] for name in X.attributes()}
    return told_by_graph(told_by(_redirect(graph, directed), "type"), about)


def _number(weight: Any, u: object, v: object) -> float:
    try:
        value = 1.0 if weight is None else float(weight)
    except (TypeError, ValueError):
        raise ValueError(f"The link {u!r} - {v!r} has the weight {weight!r}; weights are numbers.") from None
    if not np.isfinite(value):
        raise ValueError(f"The link {u!r} - {v!r} has the weight {weight!r}; weights are finite numbers.")
    return value


def _node_attributes(nodes: Iterable[tuple[Any, Mapping[Any, Any]]], n: int) -> dict[str, list[Any]]:
    """Node attributes as columns, with None where a node has none."""
    columns: dict[str, list[Any]] = {}
    for i, (_, known) in enumerate(nodes):
        for name, value in known.items():
            columns.setdefault(str(name), [None] * n)[i] = value
    return columns


def _from_table(table: Any, directed: bool | None) -> Graph:
    found = _link_columns(table)
    if found is not None:
        edges, labels = _edges(table, *found)
        return assemble(edges, len(labels), directed=directed, labels=labels)
    if table.shape[0] == table.shape[1]:
        same = list(table.index) == list(table.columns)
        return _from_matrix(table.to_numpy(dtype=float), directed, list(table.index) if same else None)
    raise ValueError(
        f"A table of links needs columns source and target; this one has {list(table.columns)[:6]}. Rename its columns."
    )


def _link_columns(table: Any) -> tuple[Hashable, Hashable, Hashable | None] | None:
    """The columns of sources, targets and weights; None if it has none such."""
    names = {str(c).strip().lower(): c for c in table.columns}
    source, target, weight = (next((names[n] for n in known if n in names), None) for known in _ROLES)
    return None if source is None or target is None else (source, target, weight)


def _edges(table: Any, source: Hashable, target: Hashable, weight: Hashable | None) -> tuple[Edges, list[Hashable]]:
    """Links by the rows of their ends, and the labels of the rows."""
    ends = table[[source, target]].to_numpy(dtype=object)
    if table[[source, target]].isna().to_numpy().any():
        raise ValueError("A table of links needs two nodes in every row; some are missing. Drop those rows.")
    row: dict[Hashable, int] = {}
    codes = np.fromiter((row.setdefault(label, len(row)) for label in ends.ravel()), np.int64, ends.size)
    values = None
    if weight is not None:
        values = np.array([_number(w, *pair) for w, pair in zip(table[weight], ends)])
    return Edges(codes[::2], codes[1::2], values), list(row)


def _named(covariates: Any) -> dict[str, Any]:
    if isinstance(covariates, Mapping):
        return dict(covariates)
    if isinstance(covariates, (list, tuple)) and all(getattr(c, "ndim", 0) == 2 for c in covariates):
        return {f"covariate{i}": matrix for i, matrix in enumerate(covariates)}
    return {"covariate": covariates}
