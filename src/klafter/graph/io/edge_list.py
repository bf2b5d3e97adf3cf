"""Tables of links as text, read by blocks of lines so that memory holds numbers and not words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from klafter.graph.assemble import Edges
from klafter.graph.io.edge_fields import Block, cut_block, explain, weights
from klafter.graph.io.errors import GraphFileError, quote
from klafter.graph.io.files import decode
from klafter.graph.io.table_layout import HEAD_LINES, Declared, Layout, cut, find_layout, is_comment, read_declared
from klafter.graph.io.words import Words, as_words, number_words

BLOCK = 1 << 23


class Table(NamedTuple):
    """Links, the names of their ends in order of appearance, and what comments declare."""

    edges: Edges
    names: list[bytes]
    declared: Declared
    layout: Layout
    remarks: int  # comment lines below the first block, where a name could have begun with "#"


def read_table(stream: BinaryIO, path: Path, known: list[bytes], encoding: str, **given: Any) -> Table:
    """All links of a stream; `known` names come first, in their order."""
    blocks = _blocks(stream, path, encoding)
    head = next(blocks, Block(b"", 1, path, encoding))
    declared, layout = _look(head, given)
    _refuse_matrix(head, layout)
    ends, values, remarks = [as_words(known)], [np.zeros(0)], 0
    for block in chain([head], blocks):
        fields, skipped = cut_block(block, layout)
        remarks += skipped if block.line > 1 else 0
        ends.append(_ends(fields, layout))
        if not ends[-1].length.all():
            explain(block, layout)
        if layout.weight is not None:
            values.append(weights(fields, block, layout))
    names, number = number_words(ends)
    number = number[len(known) :]
    edges = Edges(number[::2], number[1::2], None if layout.weight is None else np.concatenate(values))
    return Table(edges, names, declared, layout, remarks)


def _blocks(stream: BinaryIO, path: Path, encoding: str) -> Iterator[Block]:
    line = 1
    while data := stream.read(BLOCK):
        data += stream.readline()
        if line == 1:
            data = data.removeprefix(b"\xef\xbb\xbf")
        if b"\0" in data:
            at = line + data.count(b"\n", 0, data.index(b"\0"))
            raise GraphFileError.at(path, at, "binary data", "a list of links is text", "check the file and its suffix")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        yield Block(data if data.endswith(b"\n") else data + b"\n", line, path, encoding)
        line += data.count(b"\n")


def _look(head: Block, given: dict[str, Any]) -> tuple[Declared, Layout]:
    """What the comments declare and how lines are laid out."""
    top = head.data[: 1 << 20].rpartition(b"\n")[0] or head.data
    lines = decode(head.path, top, head.encoding).split("\n")
    data = [line for line in lines if line.strip() and not is_comment(line)][:HEAD_LINES]
    if not data:
        found = "only comments" if any(map(str.strip, lines)) else "nothing"
        raise GraphFileError.at(head.path, None, found, "a graph needs links", "check that the file was written")
    declared = read_declared(lines)
    layout = find_layout(data, declared, **given)
    if layout.columns < 2:
        rule, cure = "a link needs two nodes in two columns", "pass delimiter= if something else parts them"
        raise GraphFileError.at(head.path, lines.index(data[0]) + 1, quote(data[0]), rule, cure)
    if layout.weight is not None and not 0 <= layout.weight < layout.columns:
        found = "the columns " + ", ".join(map(quote, layout.names[:8])) if layout.names else "no header line"
        rule = f"weight={given['weight']!r} must be one of the columns"
        raise GraphFileError.at(head.path, None, found, rule, "give its name or number, or weight=None")
    return declared, layout


def _refuse_matrix(head: Block, layout: Layout) -> None:
    """A square of numbers is no list of links, and reading it as one would give nonsense."""
    if layout.columns < 3 or len(head.data) >= BLOCK:
        return
    lines = [line for line in head.data.split(b"\n") if line.strip() and not is_comment(line)]
    if len(lines) != layout.columns:
        return
    rows = [cut(decode(head.path, line, head.encoding), layout.delimiter) for line in lines]
    found, rule = f"a square of {len(lines)} columns and lines", "a list of links has two or three columns"
    named = rows[0][1:] == [row[0] for row in rows[1:]]  # the names of nodes, across and down
    if named and (layout.columns > 3 or not rows[0][0]):
        raise GraphFileError.at(head.path, None, found, rule, "use as_graph(pandas.read_csv(path, index_col=0))")
    if layout.columns > 3 and not layout.names:
        raise GraphFileError.at(head.path, None, found, rule, "use as_graph(numpy.loadtxt(path))")


def _ends(fields: Words, layout: Layout) -> Words:
    """Source and target of each link in turn."""
    rows = np.arange(len(fields.start)).reshape(-1, layout.columns)
    return fields.take(rows[:, [layout.source, layout.target]].ravel())
