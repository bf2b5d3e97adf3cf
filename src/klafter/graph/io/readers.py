"""read_graph: one door for all files."""

from __future__ import annotations

import io
import logging
import os
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TypeAlias

from klafter.graph.graph import Graph
from klafter.graph.io.errors import EncodingError, GraphFileError, located, misread, quote
from klafter.graph.io.files import ReadOptions, opened
from klafter.graph.io.formats import read_gml, read_json, read_mat, read_matrix_market, read_npz, read_xml
from klafter.graph.io.links_graph import links_graph, noted
from klafter.graph.io.matrix import matrix_graph, read_matrix
from klafter.graph.io.pajek import read_pajek
from klafter.graph.io.tables.edge_list import open_table, read_table
from klafter.graph.io.tables.node_table import NodeTable, read_nodes, sibling
from klafter.graph.io.tables.sheets import EXCEL, is_sheet, node_sheet, read_sheet
from klafter.graph.io.ucinet import OPENING, read_dl
from klafter.graph.kinds.modes import with_rule

log = logging.getLogger("klafter")

Reader: TypeAlias = Callable[[Path, ReadOptions], Graph]
READERS: dict[str, tuple[str, Reader]] = {
    ".graphml": ("GraphML", read_xml),
    ".xml": ("XML", read_xml),
    ".gexf": ("GEXF", read_xml),
    ".gml": ("GML", read_gml),
    ".json": ("JSON", read_json),
    ".net": ("Pajek", read_pajek),
    ".paj": ("Pajek", read_pajek),
    ".mtx": ("MatrixMarket", read_matrix_market),
    ".npz": ("sparse matrix", read_npz),
    ".mat": ("MATLAB", read_mat),
    ".dl": ("UCINET DL", read_dl),
}
_FOREIGN = {
    ".xls": "save it as .xlsx or CSV",
    ".ods": "save it as .xlsx or CSV",
    ".sav": "export the table as CSV",
    ".dta": "export the table as CSV",
    ".rds": "write the table with write.csv",
    ".rdata": "write the table with write.csv",
    ".##h": "export it as DL",
    ".##d": "export it as DL",
    ".gephi": "export the graph as GEXF or GraphML",
}
_OPENINGS = {
    b"%%matrixmarket": ".mtx",
    b"*vertices": ".net",
    b"*network": ".paj",
    b"<?xml": ".xml",
    b"<graphml": ".xml",
    b"<gexf": ".xml",
    b"graph [": ".gml",
    b'{"': ".json",
    b'[{"': ".json",
}
_UNREAD = {
    b"nodedef>": ("a GDF file", "export the graph as GEXF or GraphML"),
    b"*node data": ("a VNA file", "export it as DL, or the ties as CSV"),
    b"*tie data": ("a VNA file", "export it as DL, or the ties as CSV"),
    b"graph {": ("a DOT file", "convert it to GraphML or a list of links"),
    b"digraph": ("a DOT file", "convert it to GraphML or a list of links"),
    b"strict ": ("a DOT file", "convert it to GraphML or a list of links"),
    b"#type multi": ("a multilayer file", "write one layer as a list of links"),
    b"<html": ("a web page", "save the table as CSV"),
    b"<!doctype": ("a web page", "save the table as CSV"),
    b"<table": ("a web page", "save the table as CSV"),
    b"{\\rtf": ("a text document", "save it as plain text"),
    b"%pdf": ("a PDF document", "copy the table to a spreadsheet"),
    b"\xd0\xcf\x11\xe0": ("an old Excel file", "save it as .xlsx or CSV"),
}
_BRACKETS = re.compile(rb"[(\[][^\n]*[)\]],?\s*")


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
    encoding: str | None = None,
    sheet: str | int | None = None,
    matrix: bool | None = None,
    two_mode: bool | None = None,
    decimal: str | None = None,
    nodes_header: bool | None = None,
    kinds: str | None = None,
    kind_pairs: str | Sequence[tuple[str, str]] | None = None,
) -> Graph:
    """Read a network from a file; `graph.notes` says in sentences what was found and decided, and how to say otherwise.

    Parameters
    ----------
    path : path
        GraphML, GEXF, GML, node-link JSON, Pajek (.net, .paj), UCINET (.dl), MatrixMarket (.mtx), scipy .npz, .mat,
        Excel (.xlsx), Parquet and Arrow; any other suffix is a table as text, with columns parted by tabs, commas,
        semicolons or blanks. A table is a list of links, two columns of names and perhaps one of weights, or an
        adjacency matrix with or without names. Lines with # or % are comments; `# nodes: 230` and `# directed: yes` at
        the top are understood. All may be gzipped.
    directed : bool, optional
        By default what the file says, also a column Type with Directed or Undirected. A list without word of it is
        undirected if every pair stands in both orders, or fewer than one in ten does; otherwise directed. A matrix
        is undirected if it is symmetric or only one half is filled.
    weight : str, int or None
        Column or attribute with the values of links; "auto" takes one that is called weight or the like, or the third
        column without header if it has numbers that are no times; None gives every link the value 1. Repeated links
        are added up if they have weights, otherwise dropped.
    delimiter, header : optional
        What parts the columns of a table, and whether its first line names them, if looking at it is not enough.
    nodes : path or True, optional
        A table of nodes: identifier first, then attributes. Its nodes are the nodes of the graph, in its order.
        True takes NAME.nodes.tsv beside NAME.tsv, or the sheet of nodes of the same workbook.
    labels : str, optional
        Column of `nodes` to call the nodes by; by default one named label or name, else the identifiers.
    relation : str or int, optional
        Which network to read from a Pajek, UCINET or .mat file that holds several; by default the first.
    encoding : str, optional
        Of text; by default UTF-8, or UTF-16 or cp1252 where the bytes are no UTF-8.
    sheet : str or int, optional
        Which sheet of a workbook, by name or number from 1; by default the one called edges or the like, or the first.
    matrix : bool, optional
        Whether a table is an adjacency matrix, if looking at it is not enough.
    two_mode : bool, optional
        Whether sources and targets, or rows and columns, are two kinds of nodes, such as people and events. Pairs
        within a kind are then no dyads, and a name that is of both kinds becomes two nodes. By default rectangular
        matrices, and lists whose header names a person and an event or the like.
    decimal : "." or ",", optional
        The mark of decimals in weights, if looking at them is not enough.
    nodes_header : bool, optional
        Whether the first line of `nodes` names its columns.
    kinds : str, optional
        Attribute of nodes, in the file or a column of `nodes`, that says of which kind each is.
    kind_pairs : str or list of (str, str), optional
        Which kinds may be linked: "across" (all different ones), "within" (each with itself), or pairs of kinds, such
        as ``[("person", "paper"), ("paper", "paper")]`` or "person-paper,paper-paper"; in a directed graph from the
        first to the second. Two kinds need none: a two-mode network.

    Returns
    -------
    Graph
        Its ``notes`` say what was found and decided.

    Raises
    ------
    GraphFileError
        One sentence with file and line, what was found, the rule and the cure.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "friends.csv"
    >>> _ = path.write_text("Person;Freund\\nann;bob\\nbob;eve\\nann;ann\\n")
    >>> graph = read_graph(path)
    >>> graph, graph.labels.tolist(), graph.notes[-1]
    (Graph(3 nodes, 2 links, undirected), ['ann', 'bob', 'eve'], '1 self-link dropped.')
    >>> print(graph.notes[0])
    Line 1, 'Person;Freund', names the columns ('Person' and 'Freund' are names of columns); pass header=False if not.
    """
    options = ReadOptions(
        directed, weight, delimiter, header, nodes, labels, relation, encoding, sheet, matrix, two_mode, decimal,
        nodes_header, kinds, kind_pairs,
    )  # fmt: skip
    return read_with(Path(path), options)


def read_with(path: Path, options: ReadOptions) -> Graph:
    """Read a network, with its table of nodes if there is one."""
    with located(path):
        _check_options(path, options)
        if options.kinds is not None:
            options = options._replace(two_mode=False)
        described, table = _find_nodes(path, options.nodes), None
    if described is not None:
        with located(described):
            table = read_nodes(described, options)
    with located(path):
        graph = _in_its_encoding(options.encoding, lambda code: _read(path, options._replace(encoding=code), table))
        notes = [] if table is None else list(table.notes)
        if described is None and options.nodes is None:
            notes = _beside(path, options.sheet)
        if options.kinds is not None:
            graph = with_rule(graph, options.kinds, options.kind_pairs)
        elif options.kind_pairs is not None:
            graph = graph.replace(kind_pairs=options.kind_pairs)
    graph = noted(graph, notes) if notes else graph
    log.info("%s: %s", path, " ".join(graph.notes))
    return graph


def _check_options(path: Path, options: ReadOptions) -> None:
    if options.delimiter is not None and (len(options.delimiter) != 1 or not options.delimiter.isascii()):
        raise ValueError(f"delimiter is one character such as ',' or a tab; this is {options.delimiter!r}.")
    if options.decimal not in (None, ".", ","):
        raise ValueError(f"decimal is '.' or ','; this is {options.decimal!r}.")
    if options.kinds is not None and options.two_mode:
        raise ValueError("two_mode takes kinds from the columns of links, and kinds from an attribute; leave one out.")
    if options.sheet is not None and path.suffix.lower() not in EXCEL:
        raise misread("no workbook", f"sheet={options.sheet!r} needs one", "read without sheet=")


def _in_its_encoding(encoding: str | None, read: Callable[[str], Graph]) -> Graph:
    """Read as UTF-8, and again in another encoding where that fails and nobody said which it is."""
    if encoding is not None:
        return read(encoding)
    try:
        return read("utf-8")
    except EncodingError as error:
        likely, reason = error.likely, error
    try:
        graph = read(likely)
    except EncodingError:
        raise reason from None
    odd = next(
        (label for label in map(str, graph.labels if graph.labels is not None else ()) if not label.isascii()), ""
    )
    such = f", such as {quote(odd)}" if odd else ""
    said = f"The text is no UTF-8 and was read as {likely}{such}; pass encoding= if names look wrong."
    return noted(graph, [said])


def _read(path: Path, options: ReadOptions, nodes: NodeTable | None) -> Graph:
    kind = file_kind(path)
    try:
        if kind not in READERS:
            return _read_table(path, options, nodes)
        graph = READERS[kind][1](path, options)
        return graph if nodes is None else _describe(graph, nodes)
    except GraphFileError:
        raise
    except Exception as error:
        said = quote(" ".join(str(error).split()) or type(error).__name__, 120)[1:-1]
        raise misread(f"trouble ({said})", "it should be a graph file", "check format and suffix") from None


def _find_nodes(path: Path, nodes: str | os.PathLike[str] | bool | None) -> Path | None:
    """The file with the table of nodes, None without one."""
    if not nodes:
        return None
    if nodes is not True:
        return Path(nodes)
    beside = sibling(path)
    if path.suffix.lower() not in EXCEL:
        return beside
    if node_sheet(path) is not None:
        return path
    if not beside.is_file():
        cure = "call the sheet 'nodes', or save it as a file and name that"
        raise misread("no sheet called nodes or attributes", "the table of nodes must be one", cure)
    return beside


def _beside(path: Path, sheet: str | int | None) -> list[str]:
    """A table of nodes that nobody asked for, in a sentence."""
    beside = sibling(path)
    if beside.is_file():
        return [f"Beside it is {beside.name}; pass nodes=True to read the nodes and their attributes from it."]
    found = node_sheet(path) if sheet is None and path.suffix.lower() in EXCEL else None
    return [f"The sheet {found!r} was not read; pass nodes=True for nodes and their attributes."] if found else []


def file_kind(path: Path) -> str:
    """The suffix, without .gz; for suffixes that say nothing, what the file begins with."""
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix in READERS or is_sheet(path):
        return suffix
    with opened(path) as stream:
        start = stream.read(256).removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if suffix in _FOREIGN:
        raise misread(f"a {suffix} file", "klafter does not read these", _FOREIGN[suffix])
    for opening, (called, cure) in _UNREAD.items():
        if start.startswith(opening):
            raise misread(called, "klafter does not read these", cure)
    if start.count(b"\n") > 1 and all(_BRACKETS.fullmatch(line) for line in start.split(b"\n")[:-1]):
        found, rule = f"lines in brackets such as {quote(start.split(bytes([10]))[0])}", "a line is two names"
        raise misread(found, rule, "delete the brackets", 1)
    if OPENING.match(start.decode("ascii", "replace")):
        return ".dl"
    return next((kind for opening, kind in _OPENINGS.items() if start.startswith(opening)), "")


def open_stream(path: Path, options: ReadOptions) -> tuple[AbstractContextManager[BinaryIO], ReadOptions, list[str]]:
    """A table as a stream of text, how to read it, and what has to be said of it."""
    if not is_sheet(path):
        return opened(path), options, []
    found = read_sheet(path, options.sheet)
    return nullcontext(io.BytesIO(found.data)), options._replace(encoding="utf-8"), found.notes


def _read_table(path: Path, options: ReadOptions, nodes: NodeTable | None) -> Graph:
    """A list of links or an adjacency matrix."""
    opening, options, notes = open_stream(path, options)
    with opening as stream:
        table = open_table(stream, options)
        if options.most_blocks is not None:
            table = table._replace(blocks=islice(table.blocks, options.most_blocks))
        if table.matrix is not None:
            found = read_matrix(table)
            graph = matrix_graph(found._replace(notes=(*notes, *found.notes)), options)
            return graph if nodes is None else _describe(graph, nodes)
        known = [] if nodes is None else [name.encode(table.encoding) for name in nodes.identifiers]
        links = read_table(table, known)
    return links_graph(options, table, links, nodes, notes)


def _describe(graph: Graph, nodes: NodeTable) -> Graph:
    """The graph with the attributes of a table, matched by name."""
    position = {name: k for k, name in enumerate(nodes.identifiers)}
    order = [position.get(str(graph.label(i)), -1) for i in range(graph.n_nodes)]
    if -1 in order:
        found = f"the node {quote(str(graph.label(order.index(-1))))}"
        raise misread(found, "the table of nodes must name all nodes", "add it there")
    labels = nodes.labels if nodes.labels is None else [nodes.labels[k] for k in order]
    attributes = {**graph.attributes, **{name: column[order] for name, column in nodes.attributes.items()}}
    return graph.replace(labels=graph.labels if labels is None else labels, attributes=attributes)
