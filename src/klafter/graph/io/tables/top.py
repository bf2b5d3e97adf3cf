"""What stands above the links of a table: titles, names of columns in a remark, names in two lines."""

from __future__ import annotations

from collections.abc import Sequence

from klafter.graph.io.errors import quote
from klafter.graph.io.files import decode
from klafter.graph.io.tables.column_names import role
from klafter.graph.io.tables.edge_fields import Block
from klafter.graph.io.tables.first_line import detect_header
from klafter.graph.io.tables.table_layout import cut, find_delimiter, is_comment, is_empty
from klafter.graph.io.tables.values import is_value

LINES = 60  # looked at
_TITLES = 10  # at most


def mend_top(head: Block, delimiter: str | None, header: bool | None) -> tuple[Block, list[str]]:
    """The first block with one line of names above the links, and what has to be said of it.

    Titles become remarks; a remark that names the columns becomes a line of names; of two lines of names, the upper one
    for groups of columns, one is made.
    """
    start = head.data[: 1 << 16]
    whole = start if len(start) == len(head.data) else start.rpartition(b"\n")[0]
    lines = decode(whole, head.encoding).split("\n")[:LINES]
    places = [k for k, line in enumerate(lines) if not is_empty(line) and not is_comment(line)]
    if len(places) < 2:
        return head, []
    delimiter = delimiter if delimiter not in (None, " ") else find_delimiter([lines[k] for k in places])
    changed, notes = _without_titles(lines, places, delimiter)
    if header is not False and not changed:
        changed, notes = _names_in_remark(lines, places, delimiter)
    if header is None and not any(role(line) for line in changed.values()):
        first = next((k for k in places if k not in changed), 0)
        joined, said = _names_in_two_lines(lines, [k for k in places if k >= first], delimiter)
        changed, notes = {**changed, **joined}, [*notes, *said]
    if not changed:
        return head, []
    rows = head.data.split(b"\n")
    for k, line in changed.items():
        rows[k] = line.encode(head.encoding)
    return head._replace(data=b"\n".join(rows)), notes


def _without_titles(
    lines: Sequence[str], places: Sequence[int], delimiter: str | None
) -> tuple[dict[int, str], list[str]]:
    """Lines of one field above lines of several."""
    if delimiter is None:
        return {}, []
    filled = [sum(map(bool, cut(lines[k], delimiter))) for k in places]
    count = next((n for n, found in enumerate(filled) if found > 1), 0)
    if not 0 < count <= _TITLES or sum(found > 1 for found in filled) < 2:
        return {}, []
    titles = [lines[k].strip(f" \t{delimiter}") for k in places[:count]]
    changed = {k: "#" + lines[k] for k in places[:count]}
    return changed, [f"Left out above the table: {', '.join(map(quote, titles))}."]


def _names_in_remark(
    lines: Sequence[str], places: Sequence[int], delimiter: str | None
) -> tuple[dict[int, str], list[str]]:
    """The remark directly above the links, if it names their columns."""
    at = places[0] - 1
    if at < 0 or not is_comment(lines[at]):
        return {}, []
    bare = lines[at].lstrip(" \t#%")
    names, rows = cut(bare, delimiter), [cut(lines[k], delimiter) for k in places]
    if len(names) < 2 or len(names) != len(rows[0]) or any(map(is_value, names)) or detect_header(rows).is_header:
        return {}, []
    if delimiter is None and not all(map(role, names)):  # a sentence of as many words as there are columns
        return {}, []
    found = detect_header([names, *rows])
    if not found.is_header or "never stand" in found.reason:
        return {}, []
    return {at: bare}, []


def _names_in_two_lines(
    lines: Sequence[str], places: Sequence[int], delimiter: str | None
) -> tuple[dict[int, str], list[str]]:
    """Names of groups of columns, with gaps where cells were merged, above names of columns."""
    if delimiter is None or len(places) < 4 or any('"' in lines[k] for k in places[:2]):
        return {}, []
    upper, lower, *rows = [cut(lines[k], delimiter) for k in places]
    gaps = len(upper) > 2 and bool(upper[0]) and "" in upper[1:] and sum(map(bool, upper)) > 1
    if not gaps or not all(lower) or len(upper) != len(lower) or any(map(is_value, [*filter(None, upper), *lower])):
        return {}, []
    found = detect_header([lower, *rows])
    if not found.is_header or "never stand" in found.reason:
        return {}, []
    names, group = [], ""
    for above, below in zip(upper, lower):
        group = above or group
        names.append(f"{group} {below}")
    said = f"Two lines name the columns and were read as one: {', '.join(map(quote, names[:4]))}."
    return {places[0]: "#" + lines[places[0]], places[1]: delimiter.join(names)}, [said]
