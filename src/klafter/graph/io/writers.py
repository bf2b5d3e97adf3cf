"""Graphs and their communities as files for other programs."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from scipy import sparse

from klafter.graph.graph import Graph
from klafter.graph.kinds.modes import rule_as_text
from klafter.graph.units import list_links
from klafter.graph.writing import write_file

Groups = list[list[int]] | None  # the communities of each node

# XML has no room for control characters, not even escaped; readers of tables take some for the ends of lines
_LOST = {
    "xml": re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff\ud800-\udfff]"),
    "rows": re.compile("[\x00\x0b-\x0d\x1c-\x1e\x85\u2028\u2029\ud800-\udfff]"),
}
_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets take for the beginning of one
LONG = 60  # characters of a label that a sentence shows


class Shape(NamedTuple):
    """How a file is written: its suffix, whether cells stay as they are, and how nodes look, where the format tells."""

    suffix: str
    raw: bool
    looks: Sequence[dict[str, Any]] | None = None


def write_graph(
    graph: Graph,
    path: str | os.PathLike[str],
    memberships: Any = None,
    names: Sequence[str] | None = None,
    looks: Sequence[dict[str, Any]] | None = None,
    *,
    raw: bool = False,
) -> None:
    """Write a graph, perhaps with its communities, in the format that the suffix names.

    Parameters
    ----------
    graph : Graph
    path : path
        `.graphml` and `.gexf` (nodes, attributes, links), `.json` (the same, and hidden dyads), `.csv` and `.tsv`
        (one row for each membership: node, community; without memberships one row for each link, which leaves
        nodes without links out). The file appears whole or not at all.
    memberships : (n, K) dense or sparse array, optional
        Nonzero where node i is in community k. Nodes get `communities`, such as "0;3", and `community`, the first of
        them or -1, for programs that colour by one column. A node in none has an empty community in `.csv`.
    names : sequence of str, optional
        Names of the communities, such as a model's ``community_names_``: `community_name` of nodes, or a third column.
    looks : sequence of dict, optional
        How each node looks, for `.gexf`: "color" (dict of r, g, b), "position" (dict of x, y, z), "size".
    raw : bool
        Cells of `.csv` and `.tsv` stay as they are. By default text that a spreadsheet would run as a formula, because
        it begins with =, +, -, @ or a tab, gets an apostrophe in front.

    Raises
    ------
    ValueError
        Where the file would give a name back as another: control characters, and in a table of links blanks around it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "friends.csv"
    >>> graph = Graph([[0, 1, 0], [0, 0, 1], [0, 0, 0]], labels=["ann", "bob", "eve"])
    >>> write_graph(graph, path, memberships=[[1, 0], [1, 1], [0, 0]])
    >>> path.read_text().split()
    ['node,community', 'ann,0', 'bob,0', 'bob,1', 'eve,']
    """
    place = Path(path)
    write = _WRITERS.get(place.suffix.lower())
    if write is None:
        known = ", ".join(_WRITERS)
        raise ValueError(f"A graph is written as {known}; {place.name!r} ends in {place.suffix!r}. Change the suffix.")
    groups = None if memberships is None else _groups(graph, memberships)
    shape = Shape(place.suffix.lower(), raw, looks if place.suffix.lower() == ".gexf" else None)
    write_file(place, lambda file: write(graph, file, groups, list(names or []), shape))


def _groups(graph: Graph, memberships: Any) -> list[list[int]]:
    """The communities of each node."""
    matrix = sparse.csr_array(memberships if sparse.issparse(memberships) else np.atleast_2d(np.asarray(memberships)))
    if matrix.shape[0] != graph.n_nodes:
        raise ValueError(f"memberships needs a row for each of {graph.n_nodes} nodes; this has shape {matrix.shape}.")
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return [part.tolist() for part in np.split(matrix.indices, matrix.indptr[1:-1])]


def _links(graph: Graph) -> list[tuple[int, int, float]]:
    pairs, values = list_links(graph)
    return list(zip(*pairs.T.tolist(), values.tolist()))


def _known(graph: Graph, i: int, groups: Groups, names: list[str]) -> dict[str, Any]:
    """What is known of a node, in plain Python."""
    values = {name: column[i] for name, column in graph.attributes.items()}
    known = {name: v.item() if isinstance(v, np.generic) else v for name, v in values.items() if v is not None}
    if graph.kinds is not None:
        known["kind"] = str(graph.kinds[i])
    if graph.second_kind is not None:
        known["bipartite"] = int(graph.second_kind[i])
    if groups is not None:
        known["communities"] = ";".join(map(str, groups[i]))
        known["community"] = groups[i][0] if groups[i] else -1
        if names:
            known["community_name"] = names[groups[i][0]] if groups[i] else ""
    return known


def _write_xml(graph: Graph, file: BinaryIO, groups: Groups, names: list[str], shape: Shape) -> None:
    import networkx as nx

    found = nx.DiGraph() if graph.directed else nx.Graph()
    found.graph.update(rule_as_text(graph))
    labels = [_printable(str(graph.label(i)), shape) for i in range(graph.n_nodes)]
    for i, name in enumerate(labels):
        known = {_printable(k, shape): _plain(v, shape) for k, v in _known(graph, i, groups, names).items()}
        found.add_nodes_from([(name, known if shape.looks is None else {**known, "viz": shape.looks[i]})])
    if len(found) < graph.n_nodes:
        raise ValueError("Some labels are the same as text, such as 1 and '1'; such files need different ones.")
    found.add_weighted_edges_from((labels[i], labels[j], value) for i, j, value in _links(graph))
    (nx.write_gexf if shape.suffix == ".gexf" else nx.write_graphml)(found, file)


def _plain(value: object, shape: Shape) -> bool | int | float | str:
    return value if isinstance(value, (bool, int, float)) else _printable(str(value), shape)


def _printable(text: str, shape: Shape) -> str:
    """Text, refused where a file of this kind would give it back as another."""
    if found := _LOST["rows" if shape.suffix in (".csv", ".tsv") else "xml"].search(text):
        raise ValueError(
            f"{_shown(text)} has the control character {found[0]!r}, which a {shape.suffix} file cannot keep. "
            "Write .json, or rename the node."
        )
    return text


def _write_json(graph: Graph, file: BinaryIO, groups: Groups, names: list[str], shape: Shape) -> None:
    hidden = np.column_stack(graph.hidden.nonzero())
    document = {
        "directed": graph.directed,
        "multigraph": False,  # so that networkx makes a plain graph of it
        **({"graph": rule_as_text(graph)} if graph.kind_pairs is not None else {}),
        "nodes": [{"id": graph.label(i), **_known(graph, i, groups, names)} for i in range(graph.n_nodes)],
        "links": [
            {"source": graph.label(i), "target": graph.label(j), "weight": value} for i, j, value in _links(graph)
        ],
        "hidden": [[graph.label(i), graph.label(j)] for i, j in hidden.tolist() if graph.directed or i < j],
    }
    text = json.dumps(document, ensure_ascii=False, default=str)
    if _SURROGATE.search(text):  # UTF-8 has no room for half a character
        text = json.dumps(document, default=str)
    file.write(f"{text}\n".encode())


def _write_rows(graph: Graph, file: BinaryIO, groups: Groups, names: list[str], shape: Shape) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    try:
        delimiter = "\t" if shape.suffix == ".tsv" else ","
        for row in _rows(graph, groups, names):
            cells = [_quoted(_cell(value, shape, groups is None), delimiter) for value in row]
            text.write(f"{delimiter.join(cells)}\n")
    finally:
        text.detach()  # the file stays open


def _rows(graph: Graph, groups: Groups, names: list[str]) -> Iterator[Sequence[object]]:
    if groups is None:
        yield "source", "target", "weight"
        yield from ((graph.label(i), graph.label(j), f"{value:.17g}") for i, j, value in _links(graph))
        return
    yield "node", "community", *(["name"] if names else [])
    for i, mine in enumerate(groups):
        yield from ((graph.label(i), k, *names[k : k + 1]) for k in mine)
        if not mine:
            yield graph.label(i), "", *([""] if names else [])


def _cell(value: object, shape: Shape, is_link: bool) -> str:
    """A cell that no spreadsheet takes for a formula: text that looks like one begins with an apostrophe.

    Readers of links drop the blanks around a name.
    """
    text = _printable(str(value), shape)
    is_formula = text.lstrip("'").startswith(FORMULA) and not _NUMBER.fullmatch(text)
    text = f"'{text}" if is_formula and not shape.raw else text
    if is_link and text != text.strip():
        rule = f"begins or ends with a blank, which readers of {shape.suffix} files drop"
        raise ValueError(f"{_shown(text)} {rule}. Write .json, or rename the node.")
    if is_link and not text:
        raise ValueError(
            f"A node has an empty name, which a {shape.suffix} file cannot tell from none. Write .json, or name it."
        )
    return text


def _quoted(cell: str, delimiter: str) -> str:
    """A cell in quotation marks where it holds a mark, an end, or would begin a remark."""
    plain = delimiter not in cell and '"' not in cell and "\n" not in cell and cell[:1] not in ("#", "%")
    return cell if plain else '"' + cell.replace('"', '""') + '"'


def _shown(text: str) -> str:
    """Text as a sentence shows it."""
    return repr(text) if len(text) <= LONG else f"{text[:LONG]!r}..."


_WRITERS: dict[str, Callable[[Graph, BinaryIO, Groups, list[str], Shape], None]] = {
    ".graphml": _write_xml,
    ".gexf": _write_xml,
    ".json": _write_json,
    ".csv": _write_rows,
    ".tsv": _write_rows,
}
