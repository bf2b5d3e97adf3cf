"""Tables of nodes: one line for each, an identifier and what is known of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from klafter.graph.io.errors import EncodingError, misread, none_of, quote
from klafter.graph.io.files import ReadOptions, decode, read_text
from klafter.graph.io.names import integers, plain_labels
from klafter.graph.io.tables.column_names import role
from klafter.graph.io.tables.first_line import detect_node_header
from klafter.graph.io.tables.folded import folded, numbered
from klafter.graph.io.tables.sheets import is_sheet, read_sheet
from klafter.graph.io.tables.table_layout import cut, find_delimiter, is_comment, without_tail
from klafter.graph.io.tables.values import is_comma_number, is_number, to_number

_LABELS = ("label", "name", "nom", "nombre", "nome", "naam")


class NodeTable(NamedTuple):
    """Identifiers as the links write them, labels to show, and attributes, in the order of the file."""

    identifiers: list[str]
    labels: list[str] | np.ndarray | None
    attributes: dict[str, np.ndarray]
    notes: tuple[str, ...] = ()


def sibling(path: Path) -> Path:
    """The table beside a file of links: friends.tsv has friends.nodes.tsv, edges.csv has nodes.csv."""
    stem = path.name.removesuffix(".gz")
    stem = stem[: stem.rfind(".")] if "." in stem else stem
    usual = path.with_name(f"{stem}.nodes.tsv")
    others = [f"{stem}.nodes.csv", f"{stem}_nodes.csv", f"{stem}_nodes.tsv", f"{stem}-nodes.csv"]
    for word in ("edges", "edgelist", "links"):
        if word in stem.lower():
            at = stem.lower().index(word)
            others += [f"{stem[:at]}nodes{stem[at + len(word) :]}{suffix}" for suffix in (".csv", ".tsv")]
    fits = (path.with_name(name) for name in others if path.with_name(name).is_file())
    return usual if usual.is_file() else next(fits, usual)


def read_nodes(path: Path, options: ReadOptions) -> NodeTable:
    """Read a table of nodes; `labels` names the column to call them by, else one called label or name if it differs."""
    names, rows, notes = _rows(path, options.encoding, options.nodes_header)
    columns = [[row[k] for row in rows] for k in range(len(names))]
    twice = [name for name, count in Counter(columns[0]).items() if count > 1]
    if twice:
        raise misread(f"the node {quote(twice[0])} twice", "each node has one line", "delete one of them")
    attributes = {name: _typed(column) for name, column in zip(names[1:], columns[1:])}
    chosen = _choose(names, columns, options.labels)
    if chosen == 0:
        return NodeTable(columns[0], plain_labels(columns[0]), attributes, notes)
    attributes.pop(names[chosen])
    if plain_labels(columns[0]) is not None:
        attributes = {names[0]: _typed(columns[0]), **attributes}
    return NodeTable(columns[0], plain_labels(columns[chosen]), attributes, notes)


def _text(path: Path, encoding: str | None) -> tuple[str, list[str]]:
    """The table as text, and what has to be said of its encoding."""
    if is_sheet(path):
        return decode(read_sheet(path, nodes=True).data), []
    try:
        return read_text(path, encoding), []
    except EncodingError as error:
        if encoding is not None:
            raise
        text = read_text(path, error.likely)
        return text, [f"{path.name} is no UTF-8 and was read as {error.likely}; pass encoding= if names look wrong."]


def _rows(path: Path, encoding: str | None, header: bool | None) -> tuple[list[str], list[list[str]], tuple[str, ...]]:
    """Names of the columns, the fields of every line, and what has to be said."""
    text, notes = _text(path, encoding)
    lines = folded(text.encode()).decode().splitlines() if '"' in text else text.splitlines()
    rest = [(k, line) for k, line in numbered(lines) if line.strip() and not is_comment(line)]
    if not rest:
        raise misread("only comments", "a table of nodes has a line for each", "check the file")
    delimiter = "," if is_sheet(path) else find_delimiter([line for _, line in rest[:200]])
    rows = [cut(line, delimiter) for _, line in rest]
    if len(set(map(len, rows))) > 1 or not any(row[-1] for row in rows):
        bare = [without_tail(row) for row in rows]
        rows = bare if len(set(map(len, bare))) == 1 else rows
    names = _remark_names(lines, delimiter, len(rows[0]))
    if names is None:
        line, first = rest[0]
        is_header, reason = detect_node_header(rows[:1000]) if header is None else (header, "as stated")
        taken = "names the columns" if is_header else "is a node"
        cure = "" if reason == "as stated" else f"; pass nodes_header={not is_header} if not"
        notes.append(f"{path.name}, line {line}, {quote(first.strip())}, {taken} ({reason}){cure}.")
        if is_header:
            names = [name or ("node" if k == 0 else f"column{k}") for k, name in enumerate(rows.pop(0))]
            rest.pop(0)
    names = names or ["node", *(f"column{k}" for k in range(1, len(rows[0] if rows else [])))]
    for (line, text), row in zip(rest, rows):
        if len(row) != len(names):
            found, rule = f"{len(row)} columns in {quote(text)}", f"the others have {len(names)}"
            raise misread(found, rule, "correct the line", line)
    return names, rows, tuple(notes)


def _remark_names(lines: list[str], delimiter: str | None, width: int) -> list[str] | None:
    """Names of columns in a comment at the top, if they fit."""
    for line in lines:
        if not is_comment(line):
            return None
        names = cut(line.lstrip(" #%"), delimiter)
        if len(names) == width and role(names[0]) is not None:
            return names
    return None


def _choose(names: list[str], columns: list[list[str]], labels: str | None) -> int:
    if labels is None:
        fits = (k for k, name in enumerate(names) if k and name.lower() in _LABELS)
        return next((k for k in fits if len(set(columns[k])) == len(columns[k])), 0)
    if labels not in names:
        raise none_of("columns", names, f"labels={labels!r}")
    return names.index(labels)


def _typed(column: list[str]) -> np.ndarray:
    """Integers, numbers or text."""
    numbers = integers(column)
    if numbers is not None:
        return numbers
    if all(map(is_number, column)):
        return np.array([float(x) for x in column])
    if all(is_comma_number(x) or x.isdigit() for x in column):
        return np.array([to_number(x, ",") for x in column])
    return np.array(column)
