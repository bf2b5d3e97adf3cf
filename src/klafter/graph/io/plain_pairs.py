"""Two columns of integers, the commonest large file, read by pyarrow where it is installed.

It is quick because it is strict: a block of lines is taken only if its numbers, written plainly, have exactly as many
digits as the block has bytes beside its delimiters. So no quotation mark, blank, sign, leading zero, remark or missing
field is ever passed over; a block with any of them is cut field by field, as without pyarrow.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from klafter.graph.io.edge_fields import Block
from klafter.graph.io.table_layout import Layout

_POWERS = 10 ** np.arange(1, 19, dtype=np.int64)
DIGITS = b"0123456789"


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
    plain = layout.columns == 2 and layout.weight is None and layout.direction is None and not layout.loose_tail
    if not plain or (block.line == 1 and layout.names) or block.data[:1] not in DIGITS or _pyarrow() is None:
        return None
    first = block.data[: block.data.index(b"\n")]
    columns = _parse(block.data, layout.delimiter or ("\t" if b"\t" in first else " "))
    if columns is None or columns[0].min(initial=0) < 0 or columns[1].min(initial=0) < 0:
        return None
    if _written(columns[0]) + _written(columns[1]) + 2 * len(columns[0]) != len(block.data):
        return None
    both = columns if layout.source == 0 else columns[::-1]
    return np.column_stack(both).ravel()


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
