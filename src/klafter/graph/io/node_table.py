"""Tables of nodes: one line for each, an identifier and what is known of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from klafter.graph.io.errors import GraphFileError, quote
from klafter.graph.io.files import read_text
from klafter.graph.io.names import integers, plain_labels
from klafter.graph.io.table_layout import cut, find_delimiter, is_comment, is_number

_IDENTIFIERS = ("node", "id", "node_id", "nodeid", "name", "label", "vertex")
_LABELS = ("label", "name")


class NodeTable(NamedTuple):
    """Identifiers as the links write them, labels to show, and attributes, in the order of the file."""

    identifiers: list[str]
    labels: list[str] | np.ndarray | None
    attributes: dict[str, np.ndarray]


def sibling(path: Path) -> Path:
    """The table beside a file of links: friends.tsv has friends.nodes.tsv."""
    stem = path.name.removesuffix(".gz")
    return path.with_name(f"{stem[: stem.rfind('.')] if '.' in stem else stem}.nodes.tsv")


def read_nodes(path: Path, labels: str | None = None, encoding: str = "utf-8") -> NodeTable:
    """Read a table of nodes; `labels` names the column to call them by, else one called label or name if it differs."""
    names, rows = _rows(path, encoding)
    columns = [[row[k] for row in rows] for k in range(len(names))]
    twice = [name for name, count in Counter(columns[0]).items() if count > 1]
    if twice:
        found, rule = f"the node {quote(twice[0])} twice", "each node has one line"
        raise GraphFileError.at(path, None, found, rule, "delete one of them")
    attributes = {name: _typed(column) for name, column in zip(names[1:], columns[1:])}
    chosen = _choose(path, names, columns, labels)
    if chosen == 0:
        return NodeTable(columns[0], plain_labels(columns[0]), attributes)
    attributes.pop(names[chosen])
    if plain_labels(columns[0]) is not None:
        attributes = {names[0]: _typed(columns[0]), **attributes}
    return NodeTable(columns[0], plain_labels(columns[chosen]), attributes)


def _rows(path: Path, encoding: str) -> tuple[list[str], list[list[str]]]:
    """Names of the columns and the fields of every line."""
    lines = read_text(path, encoding).splitlines()
    numbered = [(k, line) for k, line in enumerate(lines, 1) if line.strip() and not is_comment(line)]
    if not numbered:
        raise GraphFileError.at(path, None, "only comments", "a table of nodes has a line for each", "check the file")
    delimiter = find_delimiter([line for _, line in numbered[:200]])
    rows = [cut(line, delimiter) for _, line in numbered]
    names = _remark_names(lines, delimiter, len(rows[0]))
    if names is None and rows[0][0].lower() in _IDENTIFIERS:
        names = rows.pop(0)
        numbered.pop(0)
    names = names or ["node", *(f"column{k}" for k in range(1, len(rows[0] if rows else [])))]
    for (line, text), row in zip(numbered, rows):
        if len(row) != len(names):
            found, rule = f"{len(row)} columns in {quote(text)}", f"the others have {len(names)}"
            raise GraphFileError.at(path, line, found, rule, "correct the line")
    return names, rows


def _remark_names(lines: list[str], delimiter: str | None, width: int) -> list[str] | None:
    """Names of columns in a comment at the top, if they fit."""
    for line in lines:
        if not is_comment(line):
            return None
        names = cut(line.lstrip(" #%"), delimiter)
        if len(names) == width and names[0].lower() in _IDENTIFIERS:
            return names
    return None


def _choose(path: Path, names: list[str], columns: list[list[str]], labels: str | None) -> int:
    if labels is None:
        fits = (k for k, name in enumerate(names) if k and name.lower() in _LABELS)
        return next((k for k in fits if len(set(columns[k])) == len(columns[k])), 0)
    if labels not in names:
        found, rule = "the columns " + ", ".join(map(quote, names)), f"labels={labels!r} must be one of them"
        raise GraphFileError.at(path, None, found, rule, "name another")
    return names.index(labels)


def _typed(column: list[str]) -> np.ndarray:
    """Integers, numbers or text."""
    numbers = integers(column)
    if numbers is not None:
        return numbers
    return np.array([float(x) for x in column]) if all(map(is_number, column)) else np.array(column)
