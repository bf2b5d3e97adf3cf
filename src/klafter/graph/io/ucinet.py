"""UCINET's DL files: full and half matrices, edge lists and node lists, of one mode or two, with or without labels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from klafter.graph.assemble import Edges, assemble
from klafter.graph.graph import Graph
from klafter.graph.io.errors import GraphFileError, misread, none_of, one_of, quote
from klafter.graph.io.files import ReadOptions, check_size, read_text
from klafter.graph.io.matrix import Matrix, matrix_graph
from klafter.graph.io.names import plain_labels
from klafter.graph.io.tables.values import MISSING

OPENING = re.compile(r"\s*dl\b[\s,;]+(n|nr|nc|nm|format|data|labels?)\b", re.I)
_SIZE = re.compile(r"\b(n|nr|nc|nm)\s*=\s*(\d+)", re.I)
_FORMAT = re.compile(r"\bformat\s*=\s*(\w+)", re.I)
_ABSENT = re.compile(r"\bdiagonal\s*=?\s*absent", re.I)
_PART = re.compile(r"\b((?:row|col|column|matrix|level)?\s*labels?)\s*(embedded)?\s*:?(?=[\s,]|$)", re.I)
_TOKENS = re.compile(r'"([^"]*)"|([^\s,]+)')


class _Header(NamedTuple):
    """What stands before the data."""

    rows: int
    columns: int
    matrices: int
    format: str
    two_mode: bool
    diagonal: bool
    labels: dict[str, list[str]]
    embedded: frozenset[str]


def read_dl(path: Path, options: ReadOptions) -> Graph:
    """A DL file; `relation` chooses among several matrices by number or label."""
    text = "\n".join(
        line for line in read_text(path, options.encoding).splitlines() if not line.lstrip().startswith("!")
    )
    top, data, first = _split(text)
    header = _header(top)
    check_size(max(header.rows, header.columns), content=len(text))
    reader = _READERS.get(header.format)
    if reader is None:
        known = ", ".join(_READERS)
        raise misread(f"the format {quote(header.format)}", f"{known} are read", "export as one")
    try:
        return reader(header, data, options)
    except (ValueError, IndexError) as error:
        if isinstance(error, GraphFileError):
            raise
        rule = f"the data of {header.format} are labels or numbers from 1, and values"
        raise misread(quote(str(error)), rule, "correct the data", first) from None


def _split(text: str) -> tuple[str, str, int]:
    """What stands before and after ``data:``, and the line where the data begin."""
    found = re.search(r"\bdata\s*:", text, re.I)
    if found is None or not text.lstrip().lower().startswith("dl"):
        raise misread("something else", "a DL file begins with DL and has a part DATA:", "check the format")
    return text[: found.start()], text[found.end() :], text.count("\n", 0, found.end()) + 2


def _header(top: str) -> _Header:
    bounds = list(_PART.finditer(top))
    settings = top[: bounds[0].start()] if bounds else top
    labels: dict[str, list[str]] = {}
    embedded: set[str] = set()
    for part, following in zip(bounds, [*bounds[1:], None]):
        kind = {"col": "column"}.get(part[1].lower().split()[0], part[1].lower().split()[0])
        kind = "both" if kind.startswith("label") else kind
        inside = top[part.end() : following.start() if following else None]
        settings += "" if part[2] is None else " " + inside
        if part[2]:
            embedded.add(kind)
        else:
            labels[kind] = _tokens(inside.lstrip(": "))
    sizes = {name.lower(): int(count) for name, count in _SIZE.findall(settings)}
    rows, columns = sizes.get("nr", sizes.get("n", 0)), sizes.get("nc", sizes.get("n", 0))
    if not rows or not columns:
        raise misread(quote(settings), "DL says N=, or NR= and NC=", "add the number of nodes", 1)
    check_size(max(rows, columns))
    stated = _FORMAT.search(settings)
    form = stated[1].lower() if stated else "fullmatrix"
    form = {"matrix": "fullmatrix", "full": "fullmatrix", "edgelist": "edgelist1", "nodelist": "nodelist1"}.get(
        form, form
    )
    two_mode = form.endswith("2") or ("nr" in sizes and rows != columns)
    return _Header(
        rows, columns, sizes.get("nm", 1), form, two_mode, not _ABSENT.search(top), labels, frozenset(embedded)
    )


def _tokens(text: str) -> list[str]:
    return [quoted or bare for quoted, bare in _TOKENS.findall(text)]


def _names(header: _Header, kind: str, count: int) -> tuple[str, ...]:
    names = header.labels.get(kind) or header.labels.get("both") or []
    return tuple(names[:count]) if len(names) >= count else ()


def _values(header: _Header, data: str) -> tuple[list[np.ndarray], tuple[str, ...], tuple[str, ...]]:
    """The matrices of a file, and names that stand among their values."""
    words = _tokens(data)
    across = _names(header, "column", header.columns)
    down = list(_names(header, "row", header.rows))
    if header.embedded & {"column", "both"}:
        across, words = tuple(words[: header.columns]), words[header.columns :]
    if header.embedded & {"row", "both"}:
        width = header.columns + 1
        down = words[::width][: header.rows]
        words = [word for k, word in enumerate(words) if k % width]
    numbers = np.array([np.nan if word.lower() in MISSING else float(word) for word in words])
    whole = header.matrices * header.rows * header.columns
    far_more = whole > 4 * (len(numbers) + 1)  # half a matrix without its diagonal has a quarter of the cells at least
    row, column = _cells(header) if not far_more else (np.empty(0, int), np.empty(0, int))
    if far_more or len(numbers) != header.matrices * len(row):
        announced = whole if far_more else header.matrices * len(row)
        raise misread(f"{len(numbers):,} values", f"{announced:,} are announced", "correct N= or the data")
    found_matrices = []
    for k in range(header.matrices):
        matrix = np.zeros((header.rows, header.columns))
        matrix[row, column] = numbers[k * len(row) : (k + 1) * len(row)]
        mirror = matrix.T - np.diag(matrix.diagonal()) if header.format.endswith("half") else 0.0
        found_matrices.append(matrix + mirror)
    return found_matrices, tuple(down), across


def _cells(header: _Header) -> tuple[np.ndarray, np.ndarray]:
    """The cells that are written, in their order."""
    row, column = (index.ravel() for index in np.indices((header.rows, header.columns)))
    keep = np.ones(len(row), bool) if header.diagonal else row != column
    if header.format == "lowerhalf":
        keep &= row >= column
    if header.format == "upperhalf":
        keep &= row <= column
    return row[keep], column[keep]


def _read_full(header: _Header, data: str, options: ReadOptions) -> Graph:
    matrices, down, across = _values(header, data)
    titles = header.labels.get("matrix", []) or [str(k + 1) for k in range(len(matrices))]
    chosen, notes, relation = 0, [], options.relation
    if relation is not None:
        fits = [k for k, title in enumerate(titles) if str(relation) in (title, str(k + 1))]
        if not fits:
            raise none_of("matrices", titles, f"relation={relation!r}")
        chosen = fits[0]
    elif len(matrices) > 1:
        notes = [one_of("matrix", titles[0], titles[1:], "relation")]
    down, across = down or (across if not header.two_mode else ()), across or (down if not header.two_mode else ())
    matrix = Matrix(sparse.csr_array(matrices[chosen]), down, across, tuple(notes))
    return matrix_graph(matrix, options._replace(two_mode=header.two_mode or None))


def _read_links(header: _Header, data: str, options: ReadOptions) -> Graph:
    """Edge lists have two ends and perhaps a value a line, node lists one node and those it names."""
    down, across = _Numbering(header, "row"), _Numbering(header, "column")
    across = across if header.two_mode else down
    source, target, value = [], [], []
    for line in filter(str.strip, data.splitlines()):
        words = _tokens(line)
        first = down.find(words[0])
        if header.format.startswith("edgelist"):
            ends, values = [words[1]], [float(words[2]) if len(words) > 2 else 1.0]
        else:
            ends, values = words[1:], [1.0] * (len(words) - 1)
        source += [first] * len(ends)
        target += [across.find(word) for word in ends]
        value += values
    weights = None if options.weight is None or all(v == 1 for v in value) else np.array(value)
    edges = Edges(np.array(source, np.int64), np.array(target, np.int64), weights)
    if header.two_mode:
        size = header.rows, header.columns
        found = sparse.csr_array(sparse.coo_array((np.array(value), (edges.source, edges.target)), shape=size))
        matrix = Matrix(found, down.names(), across.names())
        return matrix_graph(matrix, options._replace(two_mode=True))
    labels = plain_labels(list(down.names())) if down.known else None
    return assemble(edges, header.rows, directed=options.directed, labels=labels)


class _Numbering:
    """Rows of nodes by number from 1, by label, or in order of appearance where labels stand among the data."""

    def __init__(self, header: _Header, kind: str):
        self.kind = kind
        self.count = header.rows if kind == "row" else header.columns
        self.embedded = bool(header.embedded & {kind, "both"})
        self.known = {simple: k for k, simple in enumerate(_names(header, kind, self.count))}

    def find(self, word: str) -> int:
        if word in self.known:
            return self.known[word]
        if self.embedded:
            self.known[word] = len(self.known)
        elif word.isdigit():
            return self._check(int(word) - 1, word)
        else:
            raise ValueError(word)
        return self._check(self.known[word], word)

    def _check(self, place: int, word: str) -> int:
        if not 0 <= place < self.count:
            raise misread(f"the node {quote(word)}", f"the file announces {self.count} nodes", "correct N= or the data")
        return place

    def names(self) -> tuple[str, ...]:
        """Names by row; nodes that nobody named are called by their number."""
        if not self.known:
            return ()
        by_row = {place: name for name, place in self.known.items()}
        return tuple(by_row.get(k, f"{self.kind} {k + 1}") for k in range(self.count))


_READERS = {
    **dict.fromkeys(("fullmatrix", "lowerhalf", "upperhalf"), _read_full),
    **dict.fromkeys(("edgelist1", "edgelist2", "nodelist1", "nodelist2"), _read_links),
}
