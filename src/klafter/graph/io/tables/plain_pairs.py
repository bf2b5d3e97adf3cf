"""Two columns and nothing else, the commonest large file, read by pyarrow where it is installed.

It is quick because it is strict. Integers are taken only if, written plainly, they have exactly as many digits as the
block of lines has bytes beside its delimiters; words only if delimiters and line feeds take turns, with something
between them, and no quotation mark, blank or sign of a remark is anywhere in the block. So nothing is ever passed over:
a block that is not plain is cut field by field, as without pyarrow.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from klafter.graph.io.tables.edge_fields import Block
from klafter.graph.io.tables.table_layout import Layout
from klafter.graph.io.tables.words import Words

_POWERS = 10 ** np.arange(1, 19, dtype=np.int64)
DIGITS = b"0123456789"
SPECIAL = b' \t\v\f"#%'  # beside the delimiter: blanks, quotation marks, and what a remark may begin with
LEAST = 1 << 20  # bytes, below which loading pyarrow takes longer than reading


@cache
def _pyarrow() -> Any:
    """``pyarrow`` with its reader of tables, None where it is not installed."""
    try:
        import pyarrow
        import pyarrow.csv
    except ImportError:
        return None
    return pyarrow


def plain_pairs(block: Block, layout: Layout) -> np.ndarray | None:
    """Source and target of each link in turn, None if the lines are not two plain integers each."""
    if not _has_two_columns(block, layout) or block.data[:1] not in DIGITS or _pyarrow() is None:
        return None
    columns = _parse(block.data, _delimiter(block, layout))
    if columns is None or columns[0].min(initial=0) < 0 or columns[1].min(initial=0) < 0:
        return None
    if _written(columns[0]) + _written(columns[1]) + 2 * len(columns[0]) != len(block.data):
        return None
    both = columns if layout.source == 0 else columns[::-1]
    return np.column_stack(both).ravel()


def plain_words(block: Block, layout: Layout) -> Words | None:
    """Source and target of each link in turn, a line feed behind each, None if the lines are not two words each."""
    delimiter = _delimiter(block, layout).encode()
    if not _has_two_columns(block, layout) or layout.source != 0 or len(delimiter) != 1:
        return None
    if any(bytes([code]) in block.data for code in SPECIAL if code != delimiter[0]):
        return None
    codes = np.frombuffer(block.data, np.uint8)
    end = np.flatnonzero((codes == delimiter[0]) | (codes == ord("\n")))
    if len(end) % 2 or (codes[end[::2]] != delimiter[0]).any() or (codes[end[1::2]] != ord("\n")).any():
        return None
    start = np.concatenate([[0], end[:-1] + 1])
    length = end - start
    return Words(block.data.replace(delimiter, b"\n"), start, length) if length.all() else None


def number_plain_words(parts: list[Words]) -> tuple[list[bytes], np.ndarray] | None:
    """As ``number_words`` does it, for words with a line feed behind each; None without pyarrow."""
    if (pa := _pyarrow()) is None:
        return None
    arrays = []
    for words in parts:
        offsets = np.append(words.start, len(words.data)).astype(np.int32)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(words.data)]
        arrays.append(pa.Array.from_buffers(pa.binary(), len(words.start), buffers))
    coded = pa.chunked_array(arrays).dictionary_encode().unify_dictionaries()
    names = coded.chunk(0).dictionary.to_pylist()
    number = np.concatenate([chunk.indices.to_numpy() for chunk in coded.chunks])
    return [name[:-1] for name in names], number.astype(np.int64)


def _has_two_columns(block: Block, layout: Layout) -> bool:
    only = layout.columns == 2 and layout.weight is None and layout.direction is None and not layout.loose_tail
    return only and not (block.line == 1 and layout.names) and len(block.data) >= LEAST


def _delimiter(block: Block, layout: Layout) -> str:
    return layout.delimiter or ("\t" if b"\t" in block.data[: block.data.index(b"\n")] else " ")


def _parse(data: bytes, delimiter: str) -> list[np.ndarray] | None:
    pa = _pyarrow()
    names, whole = ["0", "1"], dict.fromkeys(["0", "1"], pa.int64())
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(data),
            read_options=pa.csv.ReadOptions(column_names=names, block_size=1 << 20),
            parse_options=pa.csv.ParseOptions(delimiter=delimiter, quote_char=False, ignore_empty_lines=False),
            convert_options=pa.csv.ConvertOptions(column_types=whole, null_values=[], strings_can_be_null=False),
        )
    except pa.ArrowInvalid:  # something else than integers, said again and better line by line
        return None
    return [column.to_numpy() for column in table.columns]


def _written(numbers: np.ndarray) -> int:
    """How many digits numbers have altogether."""
    high = numbers.max(initial=0)
    return len(numbers) + sum(int(np.count_nonzero(numbers >= power)) for power in _POWERS if power <= high)


def is_lined_up(words: Words) -> bool:
    """Whether words stand one behind the other, a line feed behind each, as ``plain_words`` leaves them."""
    after = words.start + words.length
    whole = len(after) > 0 and words.start[0] == 0 and after[-1] + 1 == len(words.data)
    return bool(whole and (words.start[1:] == after[:-1] + 1).all() and words.data.count(b"\n") == len(after))
