"""The layout of a table of links, found by looking at its first lines."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from klafter.graph.io.errors import quote
from klafter.graph.io.tables.ends import find_ends
from klafter.graph.io.tables.first_line import FirstLine, detect_header
from klafter.graph.io.tables.folded import unfolded
from klafter.graph.io.tables.values import find_decimal, is_comma_number, is_number
from klafter.graph.io.tables.weight_column import NEIGHBOURS, answers, column_of, find_weights, unused_numbers

HEAD_LINES = 200
_NODES = re.compile(r"^\s*[#%]+\s*nodes\s*[:=]\s*([\d,_]+)", re.I)
_DIRECTED = re.compile(r"^\s*[#%]+\s*directed\s*[:=]\s*(yes|true|1|no|false|0)\b", re.I)
_SNAP = re.compile(r"^\s*#+\s*(un)?directed graph", re.I)
_KONECT = re.compile(r"^\s*%\s*(sym|asym|bip)\b", re.I)
_ARROWS = frozenset({"->", "-->", "--", "-", "→", "<->", "=>", "<-->", "—", "–"})
_ONE_WAY = frozenset({"->", "-->", "→", "=>"})
_PARTING = re.compile(r"(?<!\d),|,(?!\d)")  # a comma that is not inside a number
_UNWEIGHTED = re.compile(r"^\s*[#%]+\s*weighted\s*[:=]\s*(no|false|0)\b", re.I)


class Declared(NamedTuple):
    """What comment lines at the top say of the graph."""

    nodes: int | None = None
    directed: bool | None = None
    weighted: bool | None = None
    two_mode: bool | None = None


class Layout(NamedTuple):
    """How to cut lines into columns, and which columns to take. No delimiter means any run of blanks."""

    delimiter: str | None
    columns: int
    names: tuple[str, ...]  # empty without a header line
    source: int
    target: int
    weight: int | None
    decimal: str = "."
    direction: int | None = None  # a column that says Directed or Undirected
    one_way: bool = False  # arrows between the names say that links are directed
    loose_tail: bool = False  # some lines end in delimiters, others do not
    empty: frozenset[int] = frozenset()  # columns without any text
    first: FirstLine = FirstLine(False, "")
    notes: tuple[str, ...] = ()
    more_targets: tuple[int, ...] = ()  # each line is a link to each of them that is filled
    skips_empty: bool = True  # in a matrix without names an empty row is a row of zeros


def is_empty(line: str | bytes) -> bool:
    """Whether a line has delimiters at most, as spreadsheets write rows without anything in them."""
    return not (line.strip(b"\t ;,|\r\f\v") if isinstance(line, bytes) else line.strip("\t ;,|\r\f\v"))


def is_comment(line: str | bytes) -> bool:
    """Whether a line is a remark."""
    first = line.lstrip()[:1]
    return first in ("#", "%", b"#", b"%")


def read_declared(lines: list[str]) -> Declared:
    """What the comments among the first lines declare."""
    nodes = directed = weighted = two_mode = None
    for line in filter(is_comment, lines):
        if match := _NODES.match(line):
            nodes = int(re.sub(r"\D", "", match[1]) or 0)
        if match := _DIRECTED.match(line):
            directed = match[1].lower() in ("yes", "true", "1")
        if match := _SNAP.match(line):
            directed = match[1] is None
        if match := _KONECT.match(line):
            two_mode = match[1].lower() == "bip" or None
            directed = None if two_mode else match[1].lower() == "asym"
        if _UNWEIGHTED.match(line):
            weighted = False
    return Declared(nodes, directed, weighted, two_mode)


def find_delimiter(lines: list[str]) -> str | None:
    """The delimiter that cuts most lines into the same number of columns, at least two."""
    best, score = None, 0.0
    # a comma comes last: it may stand inside numbers and names
    for delimiter in ("\t", ";", "|", ","):
        widths = Counter(len(cut(line, delimiter)) for line in lines)
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
        if width > 1 and count > score:
            best, score = delimiter, count
    blank = Counter(len(line.split()) for line in lines).most_common(1)[0]
    # a comma inside names must not win over the blanks between them
    decimals = best == "," and blank[0] > 2 and blank[1] >= score and not any(_PARTING.search(line) for line in lines)
    if best is None or decimals or (score < len(lines) and blank[0] > 1 and blank[1] > score):
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
            return [unfolded(field.strip()) for field in fields]
    return [field.strip() for field in fields]


def cut_row(line: str, layout: Layout) -> list[str]:
    """The fields of one line, without delimiters that some lines have at their end."""
    row = cut(line, layout.delimiter)
    return without_tail(row) if layout.loose_tail else row


def without_tail(row: list[str]) -> list[str]:
    """A row without empty fields at its end."""
    end = next((k for k in range(len(row), 0, -1) if row[k - 1]), 0)
    return row[:end]


def find_layout(
    lines: list[str],
    declared: Declared,
    delimiter: str | None = None,
    header: bool | None = None,
    weight: str | int | None = "auto",
    decimal: str | None = None,
    occurs: Callable[[str], int] | None = None,
) -> Layout:
    """The layout of data lines without comments; arguments that are not None overrule what is found.

    Examples
    --------
    >>> found = find_layout(["Source;Target;Weight", "ann;bob;2,5"], Declared())
    >>> found.delimiter, found.columns, found.names, found.source, found.target, found.weight, found.decimal
    (';', 3, ('source', 'target', 'weight'), 0, 1, 2, ',')
    """
    delimiter = find_delimiter(lines) if delimiter in (None, " ") else delimiter
    rows = [cut(line, delimiter) for line in lines]
    rows, loose = _even(rows)
    columns = Counter(map(len, rows)).most_common(1)[0][0]
    first = detect_header(rows, occurs) if header is None else FirstLine(bool(header), "as stated")
    names = tuple(field.lower() for field in _header(rows, columns)) if first.is_header else ()
    body = rows[bool(names) :]
    between = "" if names else _between(body)
    ends = find_ends(_header(rows, columns) if names else (), [] if between else body)
    source, target = ends.source, 2 if between else ends.targets[0]
    if declared.weighted is False and weight == "auto":
        weight = None
    weight = None if ends.targets[1:] and weight == "auto" else weight
    found, notes = find_weights(weight, names, body, columns, (source, target))
    notes = [*ends.notes, *notes]
    if between:
        said = f"The middle column, such as {quote(between)}, stands between source and target."
        notes = [said, *(note for note in notes if note != NEIGHBOURS)]
    notes += _mixture_note(column_of(body, source), column_of(body, target))
    if weight == "auto" and found is None and names and not ends.targets[1:]:
        found, question = answers(names, body, (source, target))
        notes += question or unused_numbers(names, body, (source, target))
    fields = [] if found is None else column_of(body, found)
    mark = decimal or find_decimal(fields) or "?"
    if mark == "," and decimal is None:
        example = next(field for field in fields if is_comma_number(field))
        notes.append(f"Weights have decimal commas: {example!r} is {example.replace('.', '').replace(',', '.')}.")
    empty = frozenset(k for k in range(2, columns) if not any(column_of(rows, k)))
    direction = _direction_column(names, body)
    one_way = bool(between) and set(column_of(body, 1)) <= _ONE_WAY
    more = ends.targets[1:]
    return Layout(
        delimiter,
        columns,
        names,
        source,
        target,
        found,
        mark,
        direction,
        one_way,
        loose,
        empty,
        first,
        tuple(notes),
        more,
    )


def _even(rows: list[list[str]]) -> tuple[list[list[str]], bool]:
    """Rows without the delimiters at their ends, if that makes them alike; whether it was needed."""
    if len(set(map(len, rows))) == 1:
        return rows, False
    bare = [without_tail(row) for row in rows]
    alike = len(set(map(len, bare))) == 1
    return (bare, True) if alike else (rows, False)


def _header(rows: list[list[str]], columns: int) -> list[str]:
    """The names of columns; R leaves the name of its row numbers out."""
    return ["", *rows[0]] if len(rows[0]) == columns - 1 else rows[0]


def _direction_column(names: Sequence[str], rows: list[list[str]]) -> int | None:
    """The column in which Gephi says Directed or Undirected."""
    for k, name in enumerate(names):
        if name in ("type", "directed", "edge type", "edgetype"):
            values = {field.lower() for field in column_of(rows, k)}
            if values and values <= {"directed", "undirected", "mutual"}:
                return k
    return None


def _between(rows: list[list[str]]) -> str:
    """A word or arrow that stands between the two names of every line, as Cytoscape writes them; empty if none does."""
    middle = set(column_of(rows, 1))
    if any(len(row) < 3 for row in rows) or not middle:
        return ""
    if middle <= _ARROWS:
        return min(middle)
    first, third = set(column_of(rows, 0)), set(column_of(rows, 2))
    few = 3 * len(middle) <= len(rows) and len(middle) <= 5 and not middle & (first | third)
    return min(middle) if few and first & third and not any(map(is_number, first | third | middle)) else ""


def _mixture_note(source: list[str], target: list[str]) -> list[str]:
    """That one end is always a word and the other always a number, as in tables of nodes."""
    numbers = [sum(map(is_number, fields)) for fields in (source, target)]
    if len(source) < 2 or sorted(numbers) != [0, len(source)]:
        return []
    return ["One end of each link is a word, the other a number: a table of nodes has such columns, too."]
