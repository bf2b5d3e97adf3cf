"""read_graph: one door for all files."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import numpy as np

from klafter.graph.assemble import assemble
from klafter.graph.graph import Graph
from klafter.graph.io.edge_list import Table, read_table
from klafter.graph.io.errors import GraphFileError, quote
from klafter.graph.io.files import check_size, opened
from klafter.graph.io.formats import read_gml, read_json, read_mat, read_matrix_market, read_npz, read_xml
from klafter.graph.io.names import settle
from klafter.graph.io.node_table import NodeTable, read_nodes, sibling
from klafter.graph.io.pajek import read_pajek
from klafter.graph.io.table_layout import Layout

log = logging.getLogger("klafter")

_READERS = {
    ".graphml": read_xml,
    ".xml": read_xml,
    ".gexf": read_xml,
    ".gml": read_gml,
    ".json": read_json,
    ".net": read_pajek,
    ".paj": read_pajek,
    ".mtx": read_matrix_market,
    ".npz": read_npz,
    ".mat": read_mat,
}
_OPENINGS = {b"%%matrixmarket": ".mtx", b"*vertices": ".net", b"*network": ".paj", b"<?xml": ".xml", b"graph [": ".gml"}


def read_graph(
    path: str | os.PathLike[str],
    *,
    directed: bool | None = None,
    weight: str | int | None = "auto",
    delimiter: str | None = None,
    header: bool | None = None,
    nodes: str | os.PathLike[str] | bool | None = None,
    labels: str | None = None,
    relation: str | int | None = None,
    encoding: str = "utf-8",
) -> Graph:
    """Read a network from a file; `graph.notes` says in sentences what was found and decided.

    Parameters
    ----------
    path : path
        GraphML, GEXF, GML, node-link JSON, Pajek (.net, .paj), MatrixMarket (.mtx), scipy .npz, .mat; any other suffix
        is a table of links: two columns of names, perhaps a third of weights, parted by tabs, commas, semicolons or
        blanks. Lines with # or % are comments; `# nodes: 230` and `# directed: yes` at the top are understood. All may
        be gzipped.
    directed : bool, optional
        By default what the file says. A table without word of it is undirected if no pair, or every pair, stands in
        both orders, otherwise directed.
    weight : str, int or None
        Column or attribute with the values of links; "auto" takes one that is called weight or the like, or the third
        column without header if it has numbers; None gives every link the value 1. Repeated links are added up
        if they have weights, otherwise dropped.
    delimiter, header : optional
        What parts the columns of a table, and whether its first line names them, if looking at it is not enough.
    nodes : path or True, optional
        A table of nodes: identifier first, then attributes. Its nodes are the nodes of the graph, in its order.
        True takes NAME.nodes.tsv beside NAME.tsv.
    labels : str, optional
        Column of `nodes` to call the nodes by; by default one named label or name, else the identifiers.
    relation : str or int, optional
        Which network to read from a Pajek or .mat file that holds several; by default the first.
    encoding : str
        Of text.

    Raises
    ------
    GraphFileError
        One sentence with file and line, what was found, the rule and the cure.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "friends.csv"
    >>> _ = path.write_text("source,target\\nann,bob\\nbob,eve\\nann,ann\\n")
    >>> graph = read_graph(path)
    >>> graph, graph.labels.tolist(), graph.notes[-1]
    (Graph(3 nodes, 2 links, undirected), ['ann', 'bob', 'eve'], '1 self-link dropped.')
    """
    place = Path(path)
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii()):
        raise ValueError(f"delimiter is one character such as ',' or a tab; this is {delimiter!r}.")
    table = None if not nodes else read_nodes(sibling(place) if nodes is True else Path(nodes), labels, encoding)
    reader = _READERS.get(_kind(place))
    try:
        if reader is None:
            given = {"delimiter": delimiter, "header": header, "weight": weight}
            graph = _read_edge_list(place, directed, table, encoding, given)
        else:
            graph = reader(place, directed=directed, weight=weight, relation=relation, encoding=encoding)
            graph = graph if table is None else _describe(graph, table, place)
    except GraphFileError:
        raise
    except Exception as error:
        raise GraphFileError.at(
            place, None, f"trouble ({_first_sentence(error)})", "it should be a graph file", "check format and suffix"
        ) from None
    log.info("%s: %s", place, " ".join(graph.notes))
    return graph


def _kind(path: Path) -> str:
    """The suffix, without .gz; for suffixes that say nothing, what the file begins with."""
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix in _READERS:
        return suffix
    with opened(path) as stream:
        start = stream.read(64).lstrip().lower()
    return next((kind for opening, kind in _OPENINGS.items() if start.startswith(opening)), "")


def _first_sentence(error: Exception) -> str:
    return quote(" ".join(str(error).split()) or type(error).__name__, 120)[1:-1]


def _read_edge_list(
    path: Path, directed: bool | None, nodes: NodeTable | None, encoding: str, given: dict[str, Any]
) -> Graph:
    known = [] if nodes is None else [name.encode(encoding) for name in nodes.identifiers]
    with opened(path) as stream:
        table = read_table(stream, path, known, encoding, **given)
    directed = table.declared.directed if directed is None else directed
    if nodes is not None:
        _check_known(path, table, len(known))
        n, labels = check_size(path, len(known)), nodes.labels
        return assemble(table.edges, n, directed=directed, labels=labels, attributes=nodes.attributes)
    edges, n, labels, note = settle(table.edges, table.names, table.declared.nodes, path, encoding)
    notes = [note] if note else []
    if table.remarks:
        notes.append(f"{table.remarks:,} comment lines among the links skipped.")
    notes += _left_out(table.layout)
    return assemble(edges, check_size(path, n), directed=directed, labels=labels, notes=notes)


def _left_out(layout: Layout) -> list[str]:
    """The columns that nobody asked for, in a sentence."""
    others = sorted({*range(layout.columns)} - {layout.source, layout.target, layout.weight})
    called = [quote(layout.names[k]) if k < len(layout.names) else str(k + 1) for k in others]
    return [f"Left out: column{'s' * (len(called) > 1)} {', '.join(called)}."] if called else []


def _check_known(path: Path, table: Table, count: int) -> None:
    if len(table.names) > count:
        found, rule = f"the node {quote(table.names[count])}", "the table of nodes must name all nodes"
        raise GraphFileError.at(path, None, found, rule, "add it there, or read without nodes=")


def _describe(graph: Graph, nodes: NodeTable, path: Path) -> Graph:
    """The graph with the attributes of a table, matched by name."""
    position = {name: k for k, name in enumerate(nodes.identifiers)}
    order = [position.get(str(graph.label(i)), -1) for i in range(graph.n_nodes)]
    if -1 in order:
        found = f"the node {quote(str(graph.label(order.index(-1))))}"
        raise GraphFileError.at(path, None, found, "the table of nodes must name all nodes", "add it there")
    labels = nodes.labels if nodes.labels is None else np.asarray(nodes.labels)[order]
    attributes = {**graph.attributes, **{name: column[order] for name, column in nodes.attributes.items()}}
    return graph.replace(labels=graph.labels if labels is None else labels, attributes=attributes)
