"""The layout of a table of links, found by looking at its first lines."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from klafter.graph.convert import SOURCE_NAMES, TARGET_NAMES, WEIGHT_NAMES

HEAD_LINES = 200
_NODES = re.compile(r"^\s*[#%]+\s*nodes\s*[:=]\s*([\d,_]+)", re.I)
_DIRECTED = re.compile(r"^\s*[#%]+\s*directed\s*[:=]\s*(yes|true|1|no|false|0)\b", re.I)
_SNAP = re.compile(r"^\s*#+\s*(un)?directed graph", re.I)
_KONECT = re.compile(r"^\s*%\s*(sym|asym)\b", re.I)
_UNWEIGHTED = re.compile(r"^\s*[#%]+\s*weighted\s*[:=]\s*(no|false|0)\b", re.I)


class Declared(NamedTuple):
    """What comment lines at the top say of the graph."""

    nodes: int | None = None
    directed: bool | None = None
    weighted: bool | None = None


class Layout(NamedTuple):
    """How to cut lines into columns, and which columns to take. No delimiter means any run of blanks."""

    delimiter: str | None
    columns: int
    names: tuple[str, ...]  # empty without a header line
    source: int
    target: int
    weight: int | None


def is_comment(line: str | bytes) -> bool:
    """Whether a line is a remark."""
    first = line.lstrip()[:1]
    return first in ("#", "%", b"#", b"%")


def read_declared(lines: list[str]) -> Declared:
    """What the comments among the first lines declare."""
    nodes = directed = weighted = None
    for line in filter(is_comment, lines):
        if match := _NODES.match(line):
            nodes = int(re.sub(r"\D", "", match[1]) or 0)
        if match := _DIRECTED.match(line):
            directed = match[1].lower() in ("yes", "true", "1")
        if match := _SNAP.match(line):
            directed = match[1] is None
        if match := _KONECT.match(line):
            directed = match[1].lower() == "asym"
        if _UNWEIGHTED.match(line):
            weighted = False
    return Declared(nodes, directed, weighted)


def find_delimiter(lines: list[str]) -> str | None:
    """The delimiter that cuts most lines into the same number of columns, at least two."""
    best, score = None, 0.0
    for delimiter in ("\t", ",", ";", "|"):
        widths = Counter(len(cut(line, delimiter)) for line in lines)
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
        if width > 1 and count > score:
            best, score = delimiter, count
    blank = Counter(len(line.split()) for line in lines).most_common(1)[0]
    # a comma inside names must not win over the blanks between them
    if best is None or (score < len(lines) and blank[0] > 1 and blank[1] > score):
        return " " if any('"' in line for line in lines) else None
    return best


def cut(line: str, delimiter: str | None) -> list[str]:
    """The fields of one line."""
    if delimiter is None:
        return line.split()
    fields = line.split(delimiter)
    if '"' in line:
        with suppress(csv.Error):
            fields = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    return [field.strip() for field in fields]


def find_layout(
    lines: list[str],
    declared: Declared,
    delimiter: str | None = None,
    header: bool | None = None,
    weight: str | int | None = "auto",
) -> Layout:
    """The layout of data lines without comments; arguments that are not None overrule what is found.

    Examples
    --------
    >>> find_layout(["Source;Target;Weight", "ann;bob;2"], Declared())
    Layout(delimiter=';', columns=3, names=('source', 'target', 'weight'), source=0, target=1, weight=2)
    """
    delimiter = find_delimiter(lines) if delimiter in (None, " ") else delimiter
    rows = [cut(line, delimiter) for line in lines]
    columns = Counter(map(len, rows)).most_common(1)[0][0]
    has_header = _looks_like_header(rows) if header is None else bool(header)
    names = tuple(field.lower() for field in rows[0]) if has_header else ()
    source, target = _position(names, SOURCE_NAMES, 0), _position(names, TARGET_NAMES, 1)
    if source == target:
        source, target = 0, 1
    if declared.weighted is False and weight == "auto":
        weight = None
    return Layout(
        delimiter, columns, names, source, target, _weight_column(weight, names, rows[bool(names) :], columns)
    )


def _looks_like_header(rows: list[list[str]]) -> bool:
    first, others = [field.lower() for field in rows[0]], [row for row in rows[1:] if len(row) >= 2]
    if any(f in SOURCE_NAMES for f in first) and any(f in TARGET_NAMES for f in first):
        return not all(len(f) == 1 for f in first[:2]) or len(first) > 2 or _numbers(others)
    if not others or len(first) < 2 or any(is_number(field) for field in first):
        return False
    return _numbers(others) or (len(first) > 2 and all(len(row) > 2 and is_number(row[2]) for row in others))


def _numbers(rows: list[list[str]]) -> bool:
    return bool(rows) and all(is_number(row[0]) and is_number(row[1]) for row in rows)


def _position(names: Sequence[str], known: Sequence[str], default: int) -> int:
    return next((names.index(name) for name in known if name in names), default)


def _weight_column(weight: str | int | None, names: Sequence[str], rows: list[list[str]], columns: int) -> int | None:
    if weight is None:
        return None
    if weight != "auto":
        return int(weight) if isinstance(weight, int) else _position(names, (str(weight).lower(),), -1)
    if names:
        at = _position(names, WEIGHT_NAMES, -1)
        return at if at >= 0 else None
    # one number among the third fields is enough: then text beside it is an error, not a name
    numeric = columns > 2 and any(len(row) > 2 and is_number(row[2]) for row in rows)
    return 2 if numeric else None


def is_number(field: str) -> bool:
    """Whether text is a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True
