"""Line feeds inside quotation marks, as spreadsheets write them: the lines of a table are one again while it is cut.

Such a line feed becomes a zero byte, which no table of text holds, and a line feed again in the name. A mark that
nobody closed folds nothing: the mark that ends a field stands before a delimiter or the end of a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

FOLD = "\0"
LONGEST = 1 << 16  # bytes that one field may go on for
_DELIMITERS = b"\t,;|"


def folded(data: bytes) -> bytes:
    """Whole lines, those joined that a quoted field goes over.

    Examples
    --------
    >>> folded(b'a,b\\n"ann\\nbell",bob\\n')
    b'a,b\\n"ann\\x00bell",bob\\n'
    >>> folded(b'a,b\\n"ann,bob\\neve,dan\\n')
    b'a,b\\n"ann,bob\\neve,dan\\n'
    """
    if b"\0" in data or not any(line.count(b'"') % 2 for line in data.split(b"\n")):
        return data
    first = next((line for line in data.split(b"\n") if any(mark in _DELIMITERS for mark in line)), b"")
    mark = re.escape(bytes(set(first) & set(_DELIMITERS)) + b"\n")
    quoted = rb'(?:(?<=[%b])|\A) *"((?:[^"]|""){0,%d}+)"(?= *[%b])' % (mark, LONGEST, mark)
    return re.sub(quoted, lambda found: found[0].replace(b"\n", FOLD.encode()), data)


def with_ends_of_fields(data: bytes, stream: BinaryIO) -> bytes:
    """Lines of a stream, and those after them in which a quoted field may end that begins in them."""
    left = LONGEST
    while data.count(b'"') % 2 and left > 0 and (more := stream.readline()):
        data, left = data + more, left - len(more)
    return data


def unfolded(field: str) -> str:
    """A field as it was."""
    return field.replace(FOLD, "\n")


def numbered(lines: list[str], first: int = 1) -> Iterator[tuple[int, str]]:
    """Folded lines with the numbers that they have in the file."""
    for line in lines:
        yield first, line
        first += 1 + line.count(FOLD)
