"""What would be read from a file: its first lines by column, what was found, and what is worth a question."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from scipy import sparse

from klafter.graph.graph import Graph
from klafter.graph.io.errors import EncodingError, located
from klafter.graph.io.files import ReadOptions
from klafter.graph.io.readers import READERS, file_kind, open_stream, read_with
from klafter.graph.io.tables.edge_list import Opened, open_table, preview

LINES = 10
MOST_BYTES = 1 << 26  # of a table; a longer one is read in part


class Look(NamedTuple):
    """What a file would become."""

    graph: Graph
    kind: str  # "list of links", "adjacency matrix", or a format
    columns: list[tuple[str, str]]  # name and use of each column of the preview
    rows: list[list[str]]
    found: list[str]
    questions: list[str]  # decisions that could have gone another way, and how to say so
    is_part: bool  # whether only the beginning was read


def look(path: str | Path, **options: Any) -> Look:
    """Look at a file as `read_graph` would read it with the same options.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "amis.csv"
    >>> _ = path.write_text("Personne;Ami;Depuis\\nAnne;Luc;2001\\nLuc;Zoe;1999\\n")
    >>> found = look(path)
    >>> found.columns, found.rows[0]
    ([('personne', 'source'), ('ami', 'target'), ('depuis', 'left out')], ['Anne', 'Luc', '2001'])
    """
    place = Path(path)
    with located(place):
        kind = file_kind(place)
    is_table = kind not in READERS
    packed = 4 if place.suffix == ".gz" else 1
    is_part = is_table and place.is_file() and packed * place.stat().st_size > MOST_BYTES
    asked = ReadOptions(**options, most_blocks=MOST_BYTES >> 23 if is_part else None)
    graph = read_with(place, asked)
    with located(place):
        table = _open(place, asked) if is_table else None
    called = "list of links" if is_table else READERS[kind][0]
    columns, rows = [("", "source"), ("", "target"), ("", "value")], _link_rows(graph)
    if table is not None and table.matrix is not None:
        called = "adjacency matrix"
    elif table is not None:
        columns, rows = _uses(table), preview(table, LINES)
    questions = [note for note in graph.notes if _is_question(note)]
    found = [note for note in graph.notes if not _is_question(note)]
    return Look(graph, called, columns, rows, found, questions, is_part)


def _open(path: Path, options: ReadOptions) -> Opened:
    opening, told, _ = open_stream(path, options)
    with opening as stream:
        try:
            return open_table(stream, told)
        except EncodingError as error:
            if options.encoding is not None:
                raise
            likely = error.likely
    return _open(path, options._replace(encoding=likely))


def _is_question(note: str) -> bool:
    return any(words in note for words in ("; pass ", "; delete ", "; write ", "(choose with "))


def _uses(table: Opened) -> list[tuple[str, str]]:
    """The name of each column and what it is taken for."""
    layout = table.layout
    parts = {layout.source: "source", layout.target: "target", layout.weight: "weight", layout.direction: "direction"}
    parts |= dict.fromkeys(layout.more_targets, "target")
    names = [*layout.names, *(str(k + 1) for k in range(len(layout.names), layout.columns))]
    return [(names[k], parts.get(k, "left out")) for k in range(layout.columns)]


def _link_rows(graph: Graph) -> list[list[str]]:
    """The first links by their labels."""
    coo = sparse.coo_array(graph.links[: min(graph.n_nodes, 1000)])
    kept = ((i, j, v) for i, j, v in zip(coo.row, coo.col, coo.data) if graph.directed or i < j)
    return [[str(graph.label(i)), str(graph.label(j)), f"{v:g}"] for i, j, v in islice(kept, LINES)]
