"""Opening files of links, plain or gzipped, with errors in one sentence."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from klafter.graph.archives import RATIO, RATIO_NAME, unpack_limit
from klafter.graph.io.errors import EncodingError, misencoded, misread
from klafter.graph.places import no_file

MAX_NODES = 50_000_000
UNNAMED = 1_000_000  # nodes that may be announced without a word about each
_GZIP = b"\x1f\x8b"


class ReadOptions(NamedTuple):
    """How to read a file, as `read_graph` says it; ``None`` leaves it to the file."""

    directed: bool | None = None
    weight: str | int | None = "auto"
    delimiter: str | None = None
    header: bool | None = None
    nodes: str | os.PathLike[str] | bool | None = None
    labels: str | None = None
    relation: str | int | None = None
    encoding: str | None = None
    sheet: str | int | None = None
    matrix: bool | None = None
    two_mode: bool | None = None
    decimal: str | None = None
    nodes_header: bool | None = None
    kinds: str | None = None
    kind_pairs: Any = None
    most_blocks: int | None = None  # to read only the beginning of a table


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file as a stream, unpacked if it is gzipped."""
    try:
        _refuse_endless(path)
        with open(path, "rb") as raw:
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            if path.suffix == ".gz" and not packed:
                raise misread("no gzip data", "the name ends in .gz", "rename or compress it")
            if not packed:
                yield raw
                return
            with gzip.open(raw, "rb") as stream:
                limit = unpack_limit(os.fstat(raw.fileno()).st_size)
                yield io.BufferedReader(_Bounded(stream, limit), 1 << 20)
    except FileNotFoundError:
        raise misread("no such file", "a graph is read from a file", "check the path") from None
    except PermissionError:
        raise misread("no permission", "the file must be readable", "change its mode") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise misread("broken gzip data", "the whole file must unpack", "fetch or compress it again") from None
    except OSError as error:
        raise misread(f"{error.strerror}", "the file must be readable", "check it") from None


class _Bounded(io.RawIOBase):
    """An unpacked stream that ends with an error where it gives far more than was packed."""

    def __init__(self, stream: gzip.GzipFile, limit: float) -> None:
        self._stream, self._left = stream, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            rule = f"a gzipped file may unpack to {RATIO:g} times its size"
            raise misread("far more data", rule, f"unpack it first, or set {RATIO_NAME}")
        buffer[: len(data)] = data
        return len(data)


def _refuse_endless(path: Path) -> None:
    """Devices and pipes have no end, or none that anybody waits for."""
    found = no_file(path)
    if found == "a folder":
        raise misread("a folder", "a graph is read from one file", "name a file in it")
    if found and found.startswith("a symbolic link"):
        raise misread(found, "a graph is read from a file", "mend the link, or name a file")
    if found:
        raise misread(found, "a graph is read from a file", "save the links in one first")


def read_all(path: Path) -> bytes:
    """The whole file, unpacked."""
    with opened(path) as stream:
        data = stream.read()
    if not data.strip():
        raise misread("nothing", "a graph needs links", "check that the file was written")
    return data


def read_text(path: Path, encoding: str | None = None) -> str:
    """The whole file as text, by default UTF-8."""
    data, encoding = read_all(path), encoding or "utf-8"
    refuse_wide(data, encoding)
    return decode(data, encoding)


def wide_encoding(start: bytes) -> str | None:
    """UTF-16, if the first bytes of a file say so: by their mark, or because every other byte is zero."""
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    start = start[:2000]
    for order, letters, zeros in (("utf-16-le", start[::2], start[1::2]), ("utf-16-be", start[1::2], start[::2])):
        if len(zeros) > 3 and zeros.count(0) > 0.8 * len(zeros) and letters.count(0) == 0:
            return order
    return None


def refuse_wide(start: bytes, encoding: str) -> None:
    """Say that text is in UTF-16, unless it is read so."""
    wide = wide_encoding(start)
    if wide is not None and not encoding.lower().startswith(("utf-16", "utf16", "utf_16")):
        error = EncodingError(None, f"{wide.upper()} text", f"it is read as {encoding}", f"pass encoding='{wide}'")
        error.likely = wide
        raise error


def decode(data: bytes, encoding: str = "utf-8") -> str:
    """Bytes of a file as text."""
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"bytes that are not {encoding}"
        raise misencoded(found, encoding, data, line) from None
    except LookupError:
        raise ValueError(f"There is no encoding {encoding!r}. Use 'utf-8', 'latin-1', 'cp1252' or another.") from None


def check_size(n: int, line: int | None = None, content: int | None = None) -> int:
    """The number of nodes, unless it is a mistake that would fill the memory.

    ``content`` is how many bytes or links there are beside the number: few of them cannot have many nodes.
    """
    if content is not None and n > max(UNNAMED, 10 * content):
        rule = f"a file of this size can have {max(UNNAMED, 10 * content):,}"
        raise misread(f"{n:,} nodes announced", rule, "correct the number", line)
    if n > MAX_NODES:
        raise misread(
            f"{n:,} nodes", f"a file that numbers its nodes can have {MAX_NODES:,}", "write an edge list", line
        )
    if n < 2:
        raise misread(f"{n} nodes", "a graph needs two or more", "check the file", line)
    return n
