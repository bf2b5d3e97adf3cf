"""Adjacency matrices as text: whether a table is one, and which of its edges hold names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from klafter.graph.io.errors import misread, quote
from klafter.graph.io.tables.column_names import role
from klafter.graph.io.tables.table_layout import cut, is_empty
from klafter.graph.io.tables.values import MISSING, find_decimal, is_comma_number, is_number

MARKS = {"": 0.0, "x": 1.0, "✓": 1.0, "✔": 1.0, "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
_WIDE = 10  # columns of numbers that no list of links has
_SAMPLE = 200


class MatrixLayout(NamedTuple):
    """Where names stand, and how wide the lines below the header are."""

    delimiter: str | None
    columns: int  # fields of a line with values
    dropped: int  # of these, empty ones at the end
    column_names: tuple[str, ...]  # empty if the first line has values
    row_names: bool
    decimal: str


def find_matrix(
    lines: list[str], delimiter: str | None, whole: bool, asked: bool, header: bool | None
) -> MatrixLayout | None:
    """The layout of an adjacency matrix, None if the lines are a list of links.

    Names across and down that are the same settle it. A square of numbers is a matrix if its diagonal is 0, it is
    symmetric or has only 0 and 1; otherwise nobody can tell, and that is said. A rectangle is a matrix of two modes if
    it has only 0, 1, blanks or marks.

    Parameters
    ----------
    lines : the data lines of the first megabyte
    whole : whether these are all lines
    asked : whether someone said that it is a matrix
    """
    if not _is_cell(cut(lines[0], delimiter)[-1], delimiter):  # names across: an empty row is none of the matrix
        lines = [line for line in lines if not is_empty(line)]
    if len(lines) < 2 or (not asked and len(cut(lines[-1], delimiter)) < 3):
        return None
    width = len(cut(lines[-1], delimiter))
    rows = [cut(line, delimiter) for line in lines[: max(_SAMPLE, width + 1)]]
    rows = _without_empty_end(rows)
    dropped, width = width - len(rows[-1]), len(rows[-1])
    if len(rows[0]) not in (width, width - 1) or any(len(row) != width for row in rows[1:]):
        return None
    names_across = _names_across(rows, delimiter) if header is None else bool(header)
    body = rows[names_across:]
    names_down = _names_down(rows, body, names_across, delimiter)
    values = [row[names_down:] for row in body]
    if not values:
        return None
    bad = next((cell for row in values for cell in row if not _is_cell(cell, delimiter)), None)
    if bad is not None:  # no matrix, or a bad one if its names are the same across and down
        if asked or (len(rows) > 3 and rows[0][-len(rows) + 1 :] == [row[0] for row in rows[1:]]):
            raise misread(f"the value {quote(bad)}", "a matrix holds numbers", "correct it")
        return None
    across = _header(rows[0], width, names_down) if names_across else ()
    down = [row[0] for row in body] if names_down else []
    count = len(lines) - names_across if whole else None
    if not asked and not _is_convincing(across, down, values, count, rows[0]):
        return None
    flat = (cell for row in values for cell in row)
    decimal = find_decimal(flat if delimiter != "," else [])
    return MatrixLayout(delimiter, width + dropped, dropped, across, names_down, decimal or ",")


def _without_empty_end(rows: list[list[str]]) -> list[list[str]]:
    """Rows without a last column that is empty in all of them."""
    while rows and all(len(row) > 2 and not row[-1] for row in rows) and len({len(row) for row in rows}) == 1:
        rows = [row[:-1] for row in rows]
    return rows


def _is_cell(field: str, delimiter: str | None) -> bool:
    low = field.lower()
    return is_number(field) or low in MARKS or low in MISSING or (delimiter != "," and is_comma_number(field))


def _names_across(rows: list[list[str]], delimiter: str | None) -> bool:
    """Whether the first line has names: text, or one field less, or numbers that stand down the side as well."""
    first = rows[0]
    if len(first) < len(rows[1]) or any(not _is_cell(field, delimiter) for field in first[1:]):
        return True
    return first[1:] == [row[0] for row in rows[1:]] and (not first[0] or not is_number(first[0]))


def _names_down(rows: list[list[str]], body: list[list[str]], across: bool, delimiter: str | None) -> bool:
    if across and (len(rows[0]) < len(rows[1]) or not rows[0][0]):
        return True
    if across and rows[0][1:] == [row[0] for row in body]:
        return True
    return any(not _is_cell(row[0], delimiter) for row in body)


def _header(first: list[str], width: int, names_down: bool) -> tuple[str, ...]:
    if len(first) < width and names_down and not first[0]:  # the last column has no name
        return (*first[1:], "")
    return tuple(first if len(first) < width or not names_down else first[1:])


def _is_convincing(
    across: Sequence[str],
    down: Sequence[str],
    values: list[list[str]],
    count: int | None,
    first: Sequence[str],
) -> bool:
    """Whether this is a matrix rather than a list of links with numbers; `count` is the number of rows if known."""
    if len(set(across)) < len(across) or len(set(down)) < len(down):
        return False
    width, square = len(values[0]), count == len(values[0])
    if across and down:
        if set(down) <= set(across) and (count or len(down) > 20):
            return width > 1
        worded = not first[0] and not any(map(is_number, down))
        return width > 1 and not _named_like_columns(first) and (_is_sparse(values) or worded)
    if across or down:
        if _named_like_columns(across) or width < 3:
            return False
        return _only_marks(values) or (square and _empty_diagonal(values)) or (count is None and width > _WIDE)
    return _bare_numbers(values, count)


def _bare_numbers(values: list[list[str]], count: int | None) -> bool:
    width = len(values[0])
    # links among nodes 0 and 1 alone are two at most
    if _only_marks(values) and (width > 3 or len(values) > 3):
        return True
    if count is None:
        return width > _WIDE
    if count != width or width < 3:
        return False
    symmetric = all(values[i][j] == values[j][i] for i in range(width) for j in range(i))
    if _empty_diagonal(values) or (symmetric and width > 3):
        return True
    if width == 3:
        return False
    found = f"a square of {width} columns and lines"
    rule = "that may be a matrix or a list of links with more columns"
    raise misread(found, rule, "pass matrix=True or matrix=False")


def _named_like_columns(names: Sequence[str]) -> bool:
    """Whether names are those of the columns of a list; item1 to item9 are one word."""
    words = {re.sub(r"[\W\d_]+$", "", name) or name for name in names}
    return any(role(name) not in (None, "other", "node", "group") for name in names[1:]) or (
        sum(role(word) is not None for word in words) > 1
    )


def _is_sparse(values: list[list[str]]) -> bool:
    """Whether values are only marks, or a tenth of them is nothing, as in counts of meetings."""
    nothing = sum(cell in ("", "0") for row in values for cell in row)
    return _only_marks(values) or 10 * nothing > len(values) * len(values[0])


def _only_marks(values: list[list[str]]) -> bool:
    marks = {"0", "1", *MARKS, *MISSING}
    found = {cell.lower() for row in values for cell in row}
    return found <= marks and bool(found & {"1", "x", "✓", "✔", "yes", "true"})


def _empty_diagonal(values: list[list[str]]) -> bool:
    return all(row[k].lower() in {"0", "", "0.0", "0,0", *MISSING} for k, row in enumerate(values))
