"""Whether the first line of a table names its columns or is already data, by evidence that can be told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from klafter.graph.io.tables.column_names import role, simplified
from klafter.graph.io.tables.values import is_measure, is_value

ENOUGH = 10  # lines below the first that can show that names recur
FEW = 4  # are enough where all hang together
_NUMBERED = re.compile(r"\d+|\b[^\W\d_]\b")
Rows = Sequence[Sequence[str]]


class FirstLine(NamedTuple):
    """What the first line was taken for, and why."""

    is_header: bool
    reason: str


def detect_header(rows: Rows, occurs: Callable[[str], int] | None = None) -> FirstLine:
    """Whether line 1 of a table of links names the columns.

    In this order: numbers make it a link; known names of columns, one of them above numbers behind the ends of links,
    a header; names that stand below again as ends of links or are built alike, a link;
    known names of columns, and words above columns of numbers or dates, make it a header; so do words that never
    stand again where all other lines share names, or a few hang together. Otherwise it is a link.

    Parameters
    ----------
    rows : the fields of the first lines
    occurs : how often a word stands in a larger part of the file, if there is more of it than `rows`

    Examples
    --------
    >>> detect_header([["Personne", "Ami"], ["Anne", "Luc"]])
    FirstLine(is_header=True, reason="'Personne' and 'Ami' are names of columns")
    >>> detect_header([["ann", "bob"], ["bob", "eve"]])
    FirstLine(is_header=False, reason="'bob' stands below again")
    """
    first, others = rows[0], [row for row in rows[1:] if len(row) >= 2]
    known = _known_names(first, others)
    if not others:
        return FirstLine(known != "", known or "there is no other line")
    if any(is_value(field) for field in first):
        return FirstLine(False, "it holds numbers")
    if known and _above_values(["", "", *first[2:]], others):
        return FirstLine(True, known)
    below = Counter(field for row in others if list(row) != list(first) for field in row[:2])
    again = next((field for field in first[:2] if field in below), None)
    if again is not None:
        return FirstLine(False, f"{again!r} stands below again")
    shapes = {_shape(field) for row in others for field in row[:2]}
    if any(_NUMBERED.search(field) and _shape(field) in shapes for field in first[:2]):
        return FirstLine(False, "its names are built like those below")
    reason = known or _above_values(first, others) or _never_again(first, others, occurs)
    return FirstLine(reason != "", reason or "nothing speaks for names of columns")


def detect_node_header(rows: Rows) -> FirstLine:
    """Whether line 1 of a table of nodes names the columns; identifiers never recur there, so types and words decide.

    Examples
    --------
    >>> detect_node_header([["Nom", "Ville"], ["Anne", "Lyon"]])
    FirstLine(is_header=True, reason="'Nom' is a name of a column")
    """
    first, others = rows[0], rows[1:]
    if first[0] and role(first[0]) is not None and simplified(first[0]) not in {simplified(row[0]) for row in others}:
        return FirstLine(True, f"{first[0]!r} is a name of a column")
    if any(is_value(field) for field in first):
        return FirstLine(False, "it holds numbers")
    reason = _above_values(first, others)
    for k in range(1, len(first)) if len(others) >= 4 and not reason else ():
        values = Counter(row[k] for row in others if len(row) > k)
        if values and min(values.values()) > 1 and first[k] not in values:
            reason = f"{first[k]!r} stands above values that all recur"
    return FirstLine(reason != "", reason or "nothing speaks for names of columns")


def _shape(name: str) -> str:
    """A name whatever its numbers and single letters: user17 is built like user4."""
    return _NUMBERED.sub(lambda found: "0" if found[0].isdigit() else "a", name.lower())


def _known_names(first: Sequence[str], others: Rows) -> str:
    """Why the fields are names of columns, as far as their words tell; empty if they do not."""
    roles = {field: role(field) for field in first if field}
    lower = [field.lower() for field in first]
    letters = {"u", "v"} <= set(lower) or {"i", "j"} <= set(lower)
    if letters and (len(first) > 2 or (bool(others) and all(is_value(row[0]) and is_value(row[1]) for row in others))):
        return "single letters name the ends of links"
    telling = [field for field, title in roles.items() if title is not None and len(field) > 1]
    ends = [field for field, title in roles.items() if title in ("source", "target", "node", "group")]
    if len(telling) == 1 and ends == telling:
        partner = [field for field in first[:2] if field and field not in telling]
        # an Italian "a" or Portuguese "a" beside a known source
        short = len(partner) == 1 and simplified(partner[0]) in ("a", "b", "to", "an")
        return f"{telling[0]!r} is a name of a column" if short or (len(others) > 1 and len(telling[0]) > 2) else ""
    if len(telling) < 2 or not ends:
        return ""
    return f"{telling[0]!r} and {telling[1]!r} are names of columns"


def _above_values(first: Sequence[str], others: Rows) -> str:
    """A word above a column of numbers or dates."""
    for k, field in enumerate(first):
        values = [row[k] for row in others if len(row) > k]
        if not field or len(values) < len(others) or not values or is_value(field):
            continue
        if all(map(is_value, values)) or (k > 1 and all(is_value(v) or is_measure(v) for v in values)):
            return f"{field!r} stands above numbers or dates"
    return ""


def _never_again(first: Sequence[str], others: Rows, occurs: Callable[[str], int] | None) -> str:
    """Two words that never recur, above lines that all share a name with another line, or a few that hang together."""
    names = Counter(name for row in others for name in set(row[:2]))
    if any(names[row[0]] < 2 and names[row[1]] < 2 for row in others):
        return ""
    if len(others) < FEW or (len(others) < ENOUGH and not _hang_together(others)):
        return ""
    if occurs is not None and any(occurs(field) > 1 for field in first[:2]):
        return ""
    return "its words never stand again, the names of all other lines do"


def _hang_together(rows: Rows) -> bool:
    """Whether the links of all lines are one component, with as many links as nodes at least."""
    groups: list[set[str]] = []
    for row in rows:
        ends = set(row[:2])
        apart = [group for group in groups if not group & ends]
        groups = [*apart, ends.union(*(group for group in groups if group & ends))]
    return len(groups) == 1 and len(rows) >= len(groups[0])
