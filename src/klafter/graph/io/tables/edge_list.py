"""Tables of links as text, read by blocks of lines so that memory holds numbers and not words."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import BinaryIO, NamedTuple

import numpy as np

from klafter.graph.assemble import Edges
from klafter.graph.io.encodings import is_recoded
from klafter.graph.io.errors import misread, quote
from klafter.graph.io.files import ReadOptions, decode, refuse_wide
from klafter.graph.io.tables.column_names import role
from klafter.graph.io.tables.edge_fields import Block, cut_block, weights, with_two_ends
from klafter.graph.io.tables.ends import refuse_measurements
from klafter.graph.io.tables.folded import folded, with_ends_of_fields
from klafter.graph.io.tables.matrix_layout import MatrixLayout, find_matrix
from klafter.graph.io.tables.plain_pairs import is_lined_up, number_plain_words, plain_pairs, plain_words
from klafter.graph.io.tables.table_layout import (
    HEAD_LINES,
    Declared,
    Layout,
    cut,
    find_layout,
    is_comment,
    is_empty,
    read_declared,
)
from klafter.graph.io.tables.top import mend_top
from klafter.graph.io.tables.words import Words, as_words, number_integers, number_words, short_integers

BLOCK = 1 << 23
_SEPARATOR = re.compile(rb'"?sep=.?"?[ \t]*\r?\n', re.I)
MORE_LINES = 2000  # looked at where a matrix is possible


class Opened(NamedTuple):
    """A table whose first lines have been looked at."""

    blocks: Iterator[Block]
    declared: Declared
    layout: Layout
    matrix: MatrixLayout | None  # set if the table is an adjacency matrix
    lines: list[str]  # the first lines with data
    line: int  # number of the first of them
    encoding: str
    notes: tuple[str, ...] = ()  # of what stands above the links


class Table(NamedTuple):
    """Links, and the names of their ends in order of appearance."""

    edges: Edges
    names: list[bytes] | np.ndarray  # integers, sorted, if all names are
    remarks: int  # comment lines below the first block, where a name could have begun with "#"
    direction: np.ndarray | None  # for each link whether the table calls it directed
    alone: list[bytes]  # nodes of lines that name no second one


def open_table(stream: BinaryIO, options: ReadOptions) -> Opened:
    """Look at the first lines of a stream and find how they are laid out."""
    encoding = options.encoding or "utf-8"
    if is_recoded(encoding):
        stream, encoding = io.BytesIO(decode(stream.read(), encoding).encode()), "utf-8"
    blocks = _blocks(stream, encoding)
    head = next(blocks, Block(b"", 1, encoding))
    head, notes = mend_top(head, options.delimiter, options.header)
    lines = _head_lines(head)
    whole = len(head.data) < BLOCK and len(lines) > head.data.count(b"\n")
    some = (line for line in lines if line.strip() and not is_comment(line))
    rows = list(some if whole else islice(some, MORE_LINES))
    data = [line for line in rows if not is_empty(line)]
    if not data:
        found = "only comments" if any(map(str.strip, lines)) else "nothing"
        raise misread(found, "a graph needs links", "check that the file was written")
    declared = read_declared(lines) if b"#" in head.data or b"%" in head.data else Declared()
    asked = options.delimiter, options.header, options.weight, options.decimal
    layout = find_layout(data[:HEAD_LINES], declared, *asked, occurs=lambda word: _occurrences(word, head))
    if layout.one_way and declared.directed is None:
        declared = declared._replace(directed=True)
    number = lines.index(data[0]) + 1
    shape = None
    if options.matrix is not False:
        shape = find_matrix(rows, layout.delimiter, whole, options.matrix is True, options.header)
    if shape is None:
        _check_layout(layout, data, number, options.weight)
    return Opened(chain([head], blocks), declared, layout, shape, data[:HEAD_LINES], number, encoding, tuple(notes))


def read_table(table: Opened, known: list[bytes]) -> Table:
    """All links of a table; `known` names come first, in their order."""
    layout = table.layout
    ends: list[Words | np.ndarray] = []
    values, kinds, remarks, alone = [np.zeros(0)], [np.zeros(0, bool)], 0, list[Words]()
    for block in table.blocks:
        plain: np.ndarray | Words | None = plain_pairs(block, layout)
        if plain is None:
            plain = plain_words(block, layout)
        if plain is not None:
            ends.append(plain)
            continue
        fields, skipped = cut_block(block, layout)
        remarks += skipped if block.line > 1 else 0
        fields, lone = with_two_ends(fields, block, layout)
        alone.append(lone)
        ends.append(_ends(fields, layout))
        if layout.weight is not None:
            values.append(weights(fields, block, layout))
        if layout.direction is not None:
            kinds.append(_are_directed(fields, layout))
    unlinked = [words for words in alone if len(words.start)]
    names, number = _numbered([*ends, *unlinked], known)
    number = number[: len(number) - sum(len(words.start) for words in unlinked)]
    edges = Edges(number[::2], number[1::2], None if layout.weight is None else np.concatenate(values))
    direction = None if layout.direction is None else np.concatenate(kinds)
    _refuse_second_header(table, edges, names)
    nobody = [words.word(k) for words in unlinked for k in range(len(words.start))]
    return Table(edges, names, remarks, direction, nobody)


def _numbered(ends: list[Words | np.ndarray], known: list[bytes]) -> tuple[list[bytes] | np.ndarray, np.ndarray]:
    """The names of all ends, after those that are known, and the number of each end; integers stay integers."""
    if not known:
        values = [short_integers(part) if isinstance(part, Words) else part for part in ends]
        if all(value is not None for value in values):
            return number_integers([value for value in values if value is not None])
        words = [part for part in ends if isinstance(part, Words) and is_lined_up(part)]
        if len(words) == len(ends) and (found := number_plain_words(words)) is not None:
            return found
    words = [part if isinstance(part, Words) else as_words([b"%d" % end for end in part.tolist()]) for part in ends]
    names, number = number_words([as_words(known), *words])
    return names, number[len(known) :]


def _refuse_second_header(table: Opened, edges: Edges, names: list[bytes] | np.ndarray) -> None:
    """Files that were put one behind the other have their header among the links."""
    layout = table.layout
    if not layout.names:
        return
    header = cut(table.lines[0], layout.delimiter)
    header = ["", *header] if len(header) < layout.columns else header
    ends = [header[k].encode(table.encoding) for k in (layout.source, layout.target)]
    if isinstance(names, np.ndarray):
        names = [b"%d" % name for name in names.tolist()] if all(map(bytes.isdigit, ends)) else []
    if ends[0] in names and ends[1] in names:
        i, j = (names.index(end) for end in ends)
        if ((edges.source == i) & (edges.target == j)).any():
            found = f"the header {quote(table.lines[0])} again among the links"
            raise misread(found, "it stands once, on top", "delete it below")


def _blocks(stream: BinaryIO, encoding: str) -> Iterator[Block]:
    line = 1
    while data := stream.read(BLOCK):
        data = with_ends_of_fields(data + stream.readline(), stream)
        if line == 1:
            data = data.removeprefix(b"\xef\xbb\xbf")
            refuse_wide(data, encoding)
            if _SEPARATOR.match(data):
                data = b"#" + data  # what Excel writes for itself is a remark
        if b"\0" in data:
            at = line + data.count(b"\n", 0, data.index(b"\0"))
            raise misread("binary data", "a list of links is text", "check the file and its suffix", at)
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        data = data if data.endswith(b"\n") else data + b"\n"
        yield Block(folded(data) if b'"' in data else data, line, encoding)
        line += data.count(b"\n")


def _head_lines(head: Block) -> list[str]:
    """The lines of the first megabyte."""
    top = head.data if len(head.data) <= 1 << 20 else head.data[: 1 << 20].rpartition(b"\n")[0] or head.data
    return decode(top, head.encoding).split("\n")


def _occurrences(word: str, head: Block) -> int:
    """How often a word stands between delimiters in the first block."""
    inside = re.escape(word.encode(head.encoding))
    return len(re.findall(rb"(?<![^\t\n,;|\" ])" + inside + rb"(?![^\t\n,;|\" ])", head.data))


def _check_layout(layout: Layout, lines: list[str], number: int, weight: str | int | None) -> None:
    if layout.columns < 2:
        rule, cure = "a link needs two nodes in two columns", "pass delimiter= if something else parts them"
        raise misread(quote(lines[0]), rule, cure, number)
    rows = [cut(line, layout.delimiter) for line in lines[bool(layout.names) : HEAD_LINES]]
    source, target = ([row[k] for row in rows if len(row) > k] for k in (layout.source, layout.target))
    refuse_measurements(source, target)
    named = (layout.names[layout.source], layout.names[layout.target]) if layout.names else ("", "")
    ends = [(a, b) for a, b in zip(source[1:], target[1:]) if (a.lower(), b.lower()) != named]
    if any((role(a), role(b)) == ("source", "target") for a, b in ends):
        found, rule = "names of columns below the first line", "a table has one header"
        raise misread(found, rule, "keep the table of links alone")
    if layout.weight is not None and not 0 <= layout.weight < layout.columns:
        found = "the columns " + ", ".join(map(quote, layout.names[:8])) if layout.names else "no header line"
        rule = f"weight={weight!r} must be one of the columns"
        raise misread(found, rule, "give its name or number, or weight=None")


def _ends(fields: Words, layout: Layout) -> Words:
    """Source and target of each link in turn."""
    rows = np.arange(len(fields.start)).reshape(-1, layout.columns)
    if not layout.more_targets:
        return fields.take(rows[:, [layout.source, layout.target]].ravel())
    targets = rows[:, [layout.target, *layout.more_targets]]
    sources = np.broadcast_to(rows[:, [layout.source]], targets.shape)
    filled = fields.length[targets] > 0
    return fields.take(np.column_stack([sources[filled], targets[filled]]).ravel())


def _are_directed(fields: Words, layout: Layout) -> np.ndarray:
    """Whether the table calls each link directed."""
    words, number = number_words([fields.take(slice(layout.direction, None, layout.columns))])
    directed: np.ndarray = np.array([word.lower() == b"directed" for word in words], bool)[number]
    return directed


def preview(table: Opened, count: int) -> list[list[str]]:
    """The fields of the first lines below the header."""
    below = table.lines[bool(table.layout.names) :][:count]
    return [cut(line, table.layout.delimiter) for line in below]
