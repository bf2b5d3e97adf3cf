"""Which columns hold the ends of links: by their names, and by the names that they share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from klafter.graph.convert import SOURCE_NAMES, TARGET_NAMES
from klafter.graph.io.errors import misread, quote
from klafter.graph.io.tables.column_names import role
from klafter.graph.io.tables.values import are_times, is_date, is_number

_PIECES = re.compile(r"[^\W\d_]+|\d+")
_CALENDAR = 10_000  # times below are years, which nodes may be called as well
Rows = Sequence[Sequence[str]]


class Ends(NamedTuple):
    """The column of sources, those of targets, and what has to be said of the choice."""

    source: int
    targets: tuple[int, ...]
    notes: tuple[str, ...] = ()


def find_ends(names: Sequence[str], rows: Rows) -> Ends:
    """The columns of the ends of links.

    Names of columns come first. Columns alike but for a number or letter, such as Friend 1 to Friend 3, are targets of
    one source that shares names with them, or, if they are two, the ends. Otherwise the first two columns of names,
    unless they share none and two others do.

    Examples
    --------
    >>> find_ends(["id", "gene a", "gene b"], [])[:2]
    (1, (2,))
    >>> find_ends(["name", "friend 1", "friend 2"], [["ann", "bob", "eve"], ["bob", "ann", ""]])[:2]
    (0, (1, 2))
    """
    if len(names) < 2:
        return _unnamed(rows)
    source, target = _stated(names)
    series = next((found for found in _series(names) if _are_names(names, found, rows) and source not in found), ())
    if series and (target is None or target in series):
        one = source if source is not None else _nominator(names, rows, series)
        if one is not None:
            said = f"Each line holds links from {quote(names[one])} to {len(series)} columns, {quote(names[series[0]])}"
            return Ends(one, series, (f"{said} to {quote(names[series[-1]])}; delete the others if not.",))
        if len(series) == 2:
            return Ends(series[0], (series[1],))
    items = next((found for found in _series(names) if len(found) > 2), ())  # of a survey
    if source is None and target is None and items:
        said = f"The columns {quote(names[items[0]])} to {quote(names[items[-1]])} are alike, but a link has two names"
        ends = _in_order(names, source, target)
        return Ends(ends[0], (ends[1],), (f"{said}; pass matrix=True if the table is a matrix.",))
    if source is not None and target is not None:
        return Ends(source, (target,))
    source, target = _in_order(names, source, target)
    return _better(names, rows, source, target) or Ends(source, (target,))


def _stated(names: Sequence[str]) -> tuple[int | None, int | None]:
    lower = [name.lower() for name in names]
    source = next((lower.index(name) for name in SOURCE_NAMES if name in lower), None)
    target = next((lower.index(name) for name in TARGET_NAMES if name in lower), None)
    roles = [role(name) for name in names]
    source = source if source is not None else _first(roles, "source", target)
    target = target if target is not None else _first(roles, "target", source)
    return source, target


def _first(roles: Sequence[str | None], wanted: str, taken: int | None) -> int | None:
    return next((k for k, title in enumerate(roles) if title == wanted and k != taken), None)


def _in_order(names: Sequence[str], source: int | None, target: int | None) -> tuple[int, int]:
    """The first columns that are neither weights, times nor row numbers for the ends that no name tells."""
    roles = [role(name) for name in names]
    places = [k for k, title in enumerate(roles) if title in ("node", "group") and k not in (source, target)]
    places += [k for k, name in enumerate(names) if roles[k] is None and name and k not in (source, target)]
    places += [k for k in range(len(names)) if k not in (source, target, *places)]
    order = sorted(places[: (source is None) + (target is None)])
    if source is None:
        source = order.pop(0) if order else 0
    if target is None:
        target = order.pop(0) if order else 1
    return source, target


def _series(names: Sequence[str]) -> list[tuple[int, ...]]:
    """Columns whose names are alike but for a number or a single letter."""
    found: dict[tuple[str, ...], list[int]] = {}
    for k, name in enumerate(names):
        pieces = _PIECES.findall(re.sub(r"(?<=[a-z])(?=[A-Z]\b)", " ", name))
        marks = [p for p in pieces if p.isdigit()] or [p for p in pieces if len(p) == 1]
        if len(marks) == 1 and len(pieces) > 1:
            found.setdefault(tuple(p.lower() for p in pieces if p != marks[0]), []).append(k)
    plain = (None, "node", "group", "source", "target")
    return [tuple(columns) for key, columns in found.items() if len(columns) > 1 and role(" ".join(key)) in plain]


def _values(rows: Rows, column: int) -> set[str]:
    return {row[column] for row in rows if len(row) > column and row[column]}


def _are_names(names: Sequence[str], columns: Sequence[int], rows: Rows) -> bool:
    """Whether columns hold names: words, or numbers under a word such as friend; answers of 1 to 5 are no names."""
    values = [value for k in columns for value in _values(rows, k)]
    return role(names[columns[0]]) is not None or not any(map(is_number, values))


def _nominator(names: Sequence[str], rows: Rows, series: Sequence[int]) -> int | None:
    """The column of those who name the people in a series: one line for each, and some are named themselves.

    Of a long list none need be named in the first lines; then the name of the column tells, beside three others.
    """
    named = set().union(*(_values(rows, k) for k in series))
    for k in range(series[0]):
        values, part = _values(rows, k), role(names[k])
        if not names[k] or len(values) < len(rows) or part in ("weight", "time"):
            continue
        if values & named or (len(series) > 2 and part != "other" and role(names[series[0]]) == "node"):
            return k
    return None


def _better(names: Sequence[str], rows: Rows, source: int, target: int) -> Ends | None:
    """Two other columns of names that share some, where the first two share none."""
    if _values(rows, source) & _values(rows, target) or len(rows) < 2:
        return None
    if {role(names[source]), role(names[target])} == {"node", "group"}:  # people and events
        return None
    columns = [k for k, name in enumerate(names) if role(name) in (None, "node", "group") and _could_name(rows, k)]
    pairs = [(a, b) for a in columns for b in columns if a < b and _share(rows, a, b)]
    if not pairs:
        return None
    (a, b), others = pairs[0], pairs[1:]
    said = f"The columns {quote(names[a])} and {quote(names[b])} share names and were taken for the ends of links"
    also = "".join(f"; {quote(names[c])} and {quote(names[d])} share some as well" for c, d in others[:1])
    cure = "; pass header=False if not, or join the columns that name a person together" if others else ""
    return Ends(a, (b,), (f"{said}{also}{cure}.",))


def _could_name(rows: Rows, column: int) -> bool:
    values = _values(rows, column)
    return len(values) > 1 and not any("." in value and is_number(value) for value in values)


def _share(rows: Rows, a: int, b: int) -> bool:
    """Whether columns hold the same kind of names: a third of those of the smaller one stand in the other as well."""
    first, second = _values(rows, a), _values(rows, b)
    return 3 * len(first & second) >= min(len(first), len(second)) > 0


def _unnamed(rows: Rows) -> Ends:
    """The first two columns, or the two behind dates, times or row numbers."""
    if len(rows) < 2 or any(len(row) < 3 for row in rows):
        return Ends(0, (1,))
    first = [row[0] for row in rows]
    if all(map(is_date, first)):
        called = "dates"
    elif are_times(first) and min(map(int, first)) > _CALENDAR:
        called = "times"
    elif _are_row_numbers(first, rows):
        called = "numbers of lines"
    else:
        return Ends(0, (1,))
    return Ends(1, (2,), (f"The first column holds {called} and was left out, such as {quote(first[0])}.",))


def _are_row_numbers(first: list[str], rows: Rows) -> bool:
    if not all(value.isascii() and value.isdigit() and len(value) < 10 for value in first):
        return False
    numbers = list(map(int, first))
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))) or numbers[0] > 1:
        return False
    one, two = _values(rows, 1), _values(rows, 2)
    return not set(first) & one and _could_name(rows, 1) and bool(one & two)


def refuse_measurements(source: Sequence[str], target: Sequence[str]) -> None:
    """Say that a table has measurements where links have a second name."""
    for one, other in ((source, target), (target, source)):
        broken = next((field for field in other if "." in field and is_number(field)), None)
        if broken is not None and all(map(is_number, other)) and not any(map(is_number, one)):
            found, rule = f"the number {quote(broken)} beside {quote(one[0])}", "a link has two names"
            raise misread(found, rule, "pass matrix=True if the table is one, or name two columns")
