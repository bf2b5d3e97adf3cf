"""Pajek networks (.net) and projects (.paj): vertices, arcs, edges, several relations, partitions and vectors."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from klafter.graph.assemble import Edges, assemble
from klafter.graph.graph import Graph
from klafter.graph.io.errors import GraphFileError, misread, none_of, one_of, quote
from klafter.graph.io.files import ReadOptions, check_size, read_text
from klafter.graph.io.names import plain_labels
from klafter.graph.kinds.modes import with_kinds
from klafter.graph.kinds.names import NAMES

_VERTEX = re.compile(r'\s*(\d+)(?:\s+(?:"([^"]*)"|(\S+)))?')
_RELATION = re.compile(r"\s*(\d+)\s*:(.*)")
_DECLARED = re.compile(r'\*\w+\s*:\s*(\d+)(?:\s+(?:"([^"]*)"|(\S+)))?')


def read_pajek(path: Path, options: ReadOptions) -> Graph:
    """The first network of a file; `relation` chooses among several by number or name."""
    whole = read_text(path, options.encoding)
    file = _Pajek(len(whole))
    for line, text in enumerate(whole.splitlines(), 1):
        if text.strip() and not text.lstrip().startswith("%"):
            file.take(line, text.strip())
    if not file.n:
        raise misread("no *Vertices", "a Pajek file begins with them", "check the format")
    chosen, note = _choose(file, options.relation)
    links = np.array(file.links.get(chosen, []), float).reshape(-1, 3)
    weight = None if options.weight is None or (links[:, 2] == 1).all() else links[:, 2]
    edges = Edges(links[:, 0].astype(np.int64), links[:, 1].astype(np.int64), weight)
    directed = chosen in file.arcs if options.directed is None else options.directed
    labels = plain_labels([file.labels.get(i, str(i + 1)) for i in range(file.n)])
    columns = {name: column for name, column in file.columns.items() if len(column) == file.n}
    if 0 < file.n_first < file.n:
        graph = assemble(edges, file.n, directed=False, labels=labels, attributes=columns, notes=note)
        return with_kinds(graph, np.arange(file.n) >= file.n_first, NAMES)
    return assemble(edges, file.n, directed=directed, labels=labels, attributes=columns, notes=note)


def _choose(file: _Pajek, relation: str | int | None) -> tuple[int, list[str]]:
    found = sorted({*file.links, *file.relations})
    name = {k: file.relations.get(k, str(k)) for k in found}
    if relation is not None:
        for k in found:
            if str(relation) in (str(k), name[k]):
                return k, []
        raise none_of("relations" if found else "relation", name.values(), f"relation={relation!r}")
    if len(found) < 2:
        return (found or [0])[0], []
    return found[0], [one_of("relation", name[found[0]], (name[k] for k in found[1:]), "relation")]


class _Pajek:
    """The lines of a Pajek file taken one by one; ends are rows, counted from 0."""

    def __init__(self, size: int):
        self.size = size
        self.n, self.n_first = 0, 0  # nodes, and those of the first of two kinds
        self.labels: dict[int, str] = {}
        self.relations: dict[int, str] = {}
        self.arcs: set[int] = set()
        self.links: dict[int, list[tuple[int, int, float]]] = {}
        self.columns: dict[str, list[float]] = {}
        self.relation, self.row, self.column = 0, 0, ""
        self.read: Callable[[int, str], None] = self._skip

    def take(self, line: int, text: str) -> None:
        try:
            if text.startswith("*"):
                self._open(line, text)
            else:
                self.read(line, text)
        except (ValueError, IndexError, OverflowError) as error:
            if isinstance(error, GraphFileError):
                raise
            rule = "vertices, arcs and edges are numbers from 1"
            raise misread(quote(text), rule, "correct the line", line) from None

    def _open(self, line: int, text: str) -> None:
        """A line with a star begins a part."""
        kind = re.split(r"[\s:]", text[1:].lower(), maxsplit=1)[0]
        if declared := _DECLARED.match(text):
            self.relation = int(declared[1])
            self.relations[self.relation] = declared[2] or declared[3] or declared[1]
        if kind == "vertices":
            if not self.n:
                words = text.split()
                self.n = check_size(int(words[1]), line, self.size)
                self.n_first = int(words[2]) if len(words) > 2 and words[2].isdigit() else 0
                self.read = self._vertex
            return
        parts = {
            **dict.fromkeys(("arcs", "edges"), self._link),
            **dict.fromkeys(("arcslist", "edgeslist"), self._list),
            "matrix": self._matrix,
        }
        self.undirected, self.row = kind.startswith("edges"), 0
        self.read = parts.get(kind, self._skip)
        if kind in ("partition", "vector"):
            self.column = Path(text.split(maxsplit=1)[-1]).stem
            self.columns[self.column] = []
            self.read = self._value

    def _skip(self, line: int, text: str) -> None:
        if not self.n:
            raise misread(quote(text), "a Pajek file begins with *Vertices", "check the format", line)

    def _vertex(self, line: int, text: str) -> None:
        found = _VERTEX.match(text)
        if not found:
            raise ValueError(text)
        self.labels[self._end(line, found[1])] = found[2] or found[3] or found[1]

    def _end(self, line: int, field: str) -> int:
        node = int(field)
        if not 1 <= node <= self.n:
            rule = f"*Vertices says that nodes are 1 to {self.n}"
            raise misread(f"node {node}", rule, "correct the line or the number of vertices", line)
        return node - 1

    def _add(self, line: int, relation: int, source: str, target: str, weight: float) -> None:
        if not np.isfinite(weight):
            raise misread(f"the weight {weight}", "weights are finite", "correct the line", line)
        i, j = self._end(line, source), self._end(line, target)
        self.links.setdefault(relation, []).append((i, j, weight))
        if not self.undirected:
            self.arcs.add(relation)

    def _link(self, line: int, text: str) -> None:
        relation, found = self.relation, _RELATION.match(text)
        if found:
            relation, text = int(found[1]), found[2]
        fields = text.split()
        self._add(line, relation, fields[0], fields[1], float(fields[2]) if len(fields) > 2 else 1.0)

    def _list(self, line: int, text: str) -> None:
        source, *targets = text.split()
        for target in targets:
            self._add(line, self.relation, source, target, 1.0)

    def _matrix(self, line: int, text: str) -> None:
        self.row += 1
        for j, field in enumerate(text.split(), 1):
            if float(field):
                self._add(line, self.relation, str(self.row), str(j), float(field))

    def _value(self, line: int, text: str) -> None:
        self.columns[self.column].append(float(text))
