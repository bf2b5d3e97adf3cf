"""Blocks of lines cut into fields in bulk; only a bad block is looked at line by line, to say what is wrong."""

from __future__ import annotations

import csv
from contextlib import suppress
from typing import NamedTuple, NoReturn

import numpy as np

from klafter.graph.io.errors import misread, quote
from klafter.graph.io.files import decode
from klafter.graph.io.tables.folded import numbered, unfolded
from klafter.graph.io.tables.table_layout import Layout, cut_row, is_comment, is_empty
from klafter.graph.io.tables.values import is_comma_number, is_number, to_number
from klafter.graph.io.tables.words import Words, as_words, number_words

_BLANK = np.zeros(256, bool)
_BLANK[[9, 10, 11, 12, 13, 32]] = True
FEW_BLANKS = 8  # around a field, looked at one by one


class Block(NamedTuple):
    """Whole lines of a file, each with its line feed."""

    data: bytes
    line: int  # number of the first line
    encoding: str


def cut_block(block: Block, layout: Layout) -> tuple[Words, int]:
    """All fields of a block, `columns` for each line, and the number of remarks left out."""
    data, remarks = block.data, 0
    has_header = block.line == 1 and bool(layout.names)
    fields = None if has_header or layout.loose_tail or b"#" in data or b"%" in data else _cut(data, layout)
    if fields is None:
        data, remarks = _bare(data, has_header, layout.skips_empty)
        if layout.loose_tail:
            tail = f" \t{layout.delimiter or ''}".encode()
            data = b"".join(line.rstrip(tail) + b"\n" for line in data.split(b"\n")[:-1])
        fields = _cut(data, layout)
    if b'"' in data and layout.delimiter is not None:
        return _quoted(data, block, layout), remarks
    if fields is None:
        explain(block, layout)
    return fields, remarks


def _bare(data: bytes, has_header: bool, skips_empty: bool) -> tuple[bytes, int]:
    """The lines that hold links."""
    lines = [line for line in data.split(b"\n") if line.strip() and not (skips_empty and is_empty(line))]
    kept = [line for line in lines if not is_comment(line)]
    links = kept[1:] if has_header else kept
    return b"".join(line + b"\n" for line in links), len(lines) - len(kept)


def _cut(data: bytes, layout: Layout) -> Words | None:
    """The fields of lines, or None if some line has more or fewer than the layout."""
    codes = np.frombuffer(data, np.uint8)
    feeds = np.flatnonzero(codes == ord("\n"))
    blank = _BLANK[codes]
    if layout.delimiter is None:
        edges = np.flatnonzero(np.diff(blank, prepend=True))
        start, end = edges[::2], edges[1::2]
    else:
        end = np.flatnonzero((codes == ord(layout.delimiter)) | (codes == ord("\n")))
        start = np.concatenate([[0], end[:-1] + 1])[: len(end)]
    per_line = np.diff(np.searchsorted(end, feeds, side="right"), prepend=0)
    if (per_line != layout.columns).any():
        return None
    if layout.delimiter is not None:
        start, end = _trim(start, end, blank)
    return Words(data, start, end - start)


def _trim(start: np.ndarray, end: np.ndarray, blank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fields without the blanks around them."""
    for _ in range(FEW_BLANKS):
        before = (start < end) & blank[np.minimum(start, len(blank) - 1)]
        after = (start + before < end) & blank[end - 1]
        if not (before.any() or after.any()):
            return start, end
        start, end = start + before, end - after
    place = np.arange(len(blank))
    following = np.minimum.accumulate(np.where(blank, len(blank), place)[::-1])[::-1]
    last = np.maximum.accumulate(np.where(blank, -1, place))
    start = np.minimum(end, np.append(following, len(blank))[start])
    return start, np.maximum(start, last[end - 1] + 1)


def _quoted(data: bytes, block: Block, layout: Layout) -> Words:
    """Fields of lines where some stand in quotes and may hold the delimiter."""
    lines = decode(data, block.encoding).split("\n")
    fields: list[bytes] = []
    try:
        rows = csv.reader(lines, delimiter=layout.delimiter or " ", skipinitialspace=True)
        for count, row in enumerate(rows, 1):
            # a mark that nobody closed swallows the lines after it
            if rows.line_num != count or (row and len(row) != layout.columns):
                explain(block, layout)
            fields.extend(unfolded(field.strip()).encode(block.encoding) for field in row)
    except csv.Error:
        explain(block, layout)
    return as_words(fields)


def _numbers(words: list[bytes], decimal: str) -> list[float]:
    if decimal == ".":
        with suppress(ValueError):
            return [float(word) for word in words]
    return [to_number(word.decode("ascii", "replace"), decimal) for word in words]


def with_two_ends(fields: Words, block: Block, layout: Layout) -> tuple[Words, Words]:
    """The fields of lines with two ends, and the nodes of lines where all columns of targets are empty.

    Empty rows go; any other line with one end is wrong.
    """
    ends = [layout.source, layout.target, *layout.more_targets]
    filled = fields.length.reshape(-1, layout.columns) > 0
    if filled[:, ends[:2]].all():
        return fields, fields.take(slice(0, 0))
    source, target = filled[:, layout.source], filled[:, ends[1:]].any(axis=1)
    empty = ~filled.any(axis=1)
    lone = source & ~target & (filled.sum(axis=1) == 1) & bool(layout.more_targets)
    if not ((source & target) | empty | lone).all():
        explain(block, layout)
    rows = np.arange(len(fields.start)).reshape(-1, layout.columns)
    return fields.take(rows[source & target].ravel()), fields.take(rows[lone, layout.source])


def weights(fields: Words, block: Block, layout: Layout) -> np.ndarray:
    """The weight of each link, a finite number."""
    words, number = number_words([fields.take(slice(layout.weight, None, layout.columns))])
    try:
        values: np.ndarray = np.array(_numbers(words, layout.decimal))[number]
    except ValueError:
        explain(block, layout)
    if not np.isfinite(values).all():
        explain(block, layout)
    return values


def explain(block: Block, layout: Layout) -> NoReturn:
    """Say what is wrong with the first bad line of a block."""
    has_header = block.line == 1 and bool(layout.names)
    for line, text in numbered(decode(block.data, block.encoding).split("\n"), block.line):
        if is_empty(text) or is_comment(text):
            continue
        if has_header:
            has_header = False
            continue
        _check_line(text, line, layout)
    rule, cure = "every line needs the same columns", "check its quotation marks"
    raise misread("a damaged line there or after it", rule, cure, block.line)


def _check_line(text: str, line: int, layout: Layout) -> None:
    row = cut_row(text, layout)
    if text.count('"') % 2 and layout.delimiter is not None:
        rule = "names in quotation marks end on their line"
        raise misread(quote(text), rule, "close the mark, or delete it", line)
    if len(row) != layout.columns:
        found, rule = f"{len(row)} in {quote(text)}", f"the lines of this file have {layout.columns} columns"
        raise misread(found, rule, "correct the line, or pass delimiter=", line)
    others = [k for k, field in enumerate(row) if field and k != layout.source]
    is_lone = bool(layout.more_targets) and not others
    if not row[layout.source] or not (is_lone or any(row[k] for k in (layout.target, *layout.more_targets))):
        raise misread(quote(text), "a link needs two nodes", "name both or delete the line", line)
    if layout.weight is not None:
        _check_weight(row[layout.weight], line, layout)


def _check_weight(field: str, line: int, layout: Layout) -> None:
    rule, cure = "weights are finite numbers", "correct the line, name the column with weight=, or pass weight=None"
    if is_comma_number(field) and layout.decimal == "?":
        rule, cure = "its comma may part thousands or decimals", "pass decimal=',' or write it without"
    elif is_comma_number(field) and layout.decimal == ".":
        rule, cure = "the first weights have no decimal comma", "write all in one way, or pass decimal=','"
    elif is_number(field) and layout.decimal == ",":
        rule, cure = "other weights have decimal commas", "write all in one way"
    try:
        if np.isfinite(to_number(field, layout.decimal)):
            return
    except ValueError:
        pass
    raise misread(f"the weight {quote(field)}", rule, cure, line)
