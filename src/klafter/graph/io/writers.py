"""Graphs and their communities as files for other programs."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from klafter.graph.graph import Graph

Groups = list[list[int]] | None  # the communities of each node

# XML has no room for control characters, not even escaped
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def write_graph(
    graph: Graph,
    path: str | os.PathLike[str],
    memberships: Any = None,
    names: Sequence[str] | None = None,
    looks: Sequence[dict[str, Any]] | None = None,
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
    if looks is not None and place.suffix.lower() == ".gexf":
        write = partial(_write_xml, looks=looks)
    replace_file(place, lambda temporary: write(graph, temporary, groups, list(names or [])))


def replace_file(path: Path, write: Callable[[Path], None]) -> None:
    """Write beside the place and then move there, so that nobody meets half a file."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}{path.suffix}")
    try:
        write(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _groups(graph: Graph, memberships: Any) -> list[list[int]]:
    """The communities of each node."""
    matrix = sparse.csr_array(memberships if sparse.issparse(memberships) else np.atleast_2d(np.asarray(memberships)))
    if matrix.shape[0] != graph.n_nodes:
        raise ValueError(f"memberships needs a row for each of {graph.n_nodes} nodes; this has shape {matrix.shape}.")
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return [part.tolist() for part in np.split(matrix.indices, matrix.indptr[1:-1])]


def _links(graph: Graph) -> list[tuple[int, int, float]]:
    coo = sparse.coo_array(graph.links)
    keep = slice(None) if graph.directed else coo.row < coo.col
    return list(zip(coo.row[keep].tolist(), coo.col[keep].tolist(), coo.data[keep].tolist()))


def _known(graph: Graph, i: int, groups: Groups, names: list[str]) -> dict[str, Any]:
    """What is known of a node, in plain Python."""
    values = {name: column[i] for name, column in graph.attributes.items()}
    known = {name: v.item() if isinstance(v, np.generic) else v for name, v in values.items() if v is not None}
    if groups is not None:
        known["communities"] = ";".join(map(str, groups[i]))
        known["community"] = groups[i][0] if groups[i] else -1
        if names:
            known["community_name"] = names[groups[i][0]] if groups[i] else ""
    return known


def _write_xml(
    graph: Graph, path: Path, groups: Groups, names: list[str], looks: Sequence[dict[str, Any]] | None = None
) -> None:
    import networkx as nx

    found = nx.DiGraph() if graph.directed else nx.Graph()
    labels = [_CONTROL.sub("?", str(graph.label(i))) for i in range(graph.n_nodes)]
    for i, name in enumerate(labels):
        known = {_CONTROL.sub("?", k): _plain(v) for k, v in _known(graph, i, groups, names).items()}
        found.add_nodes_from([(name, known if looks is None else {**known, "viz": looks[i]})])
    if len(found) < graph.n_nodes:
        raise ValueError("Some labels are the same as text, such as 1 and '1'; such files need different ones.")
    found.add_weighted_edges_from((labels[i], labels[j], value) for i, j, value in _links(graph))
    if path.suffix.lower() == ".gexf":
        nx.write_gexf(found, path)
    else:
        nx.write_graphml(found, path)


def _plain(value: object) -> bool | int | float | str:
    return value if isinstance(value, (bool, int, float)) else _CONTROL.sub("?", str(value))


def _write_json(graph: Graph, path: Path, groups: Groups, names: list[str]) -> None:
    hidden = np.column_stack(graph.hidden.nonzero())
    document = {
        "directed": graph.directed,
        "multigraph": False,  # so that networkx makes a plain graph of it
        "nodes": [{"id": graph.label(i), **_known(graph, i, groups, names)} for i in range(graph.n_nodes)],
        "links": [
            {"source": graph.label(i), "target": graph.label(j), "weight": value} for i, j, value in _links(graph)
        ],
        "hidden": [[graph.label(i), graph.label(j)] for i, j in hidden.tolist() if graph.directed or i < j],
    }
    path.write_text(json.dumps(document, ensure_ascii=False, default=str) + "\n", encoding="utf-8")


def _write_rows(graph: Graph, path: Path, groups: Groups, names: list[str]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", lineterminator="\n")
        if groups is None:
            rows.writerow(["source", "target", "weight"])
            rows.writerows((graph.label(i), graph.label(j), f"{value:.17g}") for i, j, value in _links(graph))
        else:
            rows.writerow(["node", "community", *(["name"] if names else [])])
            for i, mine in enumerate(groups):
                rows.writerows((graph.label(i), k, *names[k : k + 1]) for k in mine)
                if not mine:
                    rows.writerow([graph.label(i), "", *([""] if names else [])])


_WRITERS: dict[str, Callable[[Graph, Path, Groups, list[str]], None]] = {
    ".graphml": _write_xml,
    ".gexf": _write_xml,
    ".json": _write_json,
    ".csv": _write_rows,
    ".tsv": _write_rows,
}
