"""MATLAB files of version 5 to 7: the full and sparse matrices of numbers in them, every size and index looked at.

SciPy's reader follows wrong sizes into memory that is not its own; what is read here is numbers in two dimensions.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from klafter.graph.archives import RATIO_NAME, ArchiveError, check_compressed, unpack_limit

HEAD, MATRIX, PACKED = 128, 14, 15
TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
SPARSE, NUMBERS, COMPLEX = 5, range(6, 16), 0x08


def read_matrices(data: bytes) -> dict[str, Any]:
    """The real matrices of a file by name; text, cells and structures are left out."""
    if len(data) < HEAD or data[126:128] not in (b"IM", b"MI"):
        raise ArchiveError("it has no header of a MATLAB file")
    order = "<" if data[126:128] == b"IM" else ">"
    found: dict[str, Any] = {}
    left = unpack_limit(len(data))
    for kind, content in _elements(data[HEAD:], order):
        if kind == PACKED:
            content, left = _unpacked(content, left)
            kind, content = next(_elements(content, order), (0, b""))
        if kind == MATRIX:
            name, matrix = _matrix(content, order)
            if matrix is not None:
                found[name] = matrix
    return found


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """The type and the content of each element; short ones have both in eight bytes."""
    place, whole = 0, "little" if order == "<" else "big"
    while place + 8 <= len(data):
        first = int.from_bytes(data[place : place + 4], whole)  # type: ignore[arg-type]
        if first >> 16:
            size, start = first >> 16, place + 4
            kind, following = first & 0xFFFF, place + 8
            if size > 4:
                raise ArchiveError("a short element says that it is long")
        else:
            kind, size = first, int.from_bytes(data[place + 4 : place + 8], whole)  # type: ignore[arg-type]
            start = place + 8
            following = start + size if kind == PACKED else start + -(-size // 8) * 8
        if start + size > len(data):
            raise ArchiveError("an element says that it is larger than it is")
        yield kind, data[start : start + size]
        place = following


def _unpacked(content: bytes, left: float) -> tuple[bytes, float]:
    try:
        found = zlib.decompressobj().decompress(content, int(left) + 1)
    except zlib.error:
        raise ArchiveError("packed data are damaged") from None
    if len(found) > left:
        raise ArchiveError(f"it has far more data when it is unpacked; {RATIO_NAME} raises the limit")
    return found, left - len(found)


def _matrix(content: bytes, order: str) -> tuple[str, Any]:
    parts = list(_elements(content, order))
    if len(parts) < 3:
        raise ArchiveError("parts of a matrix are missing")
    flags, shape = (_numbers(*part, order).tolist() for part in parts[:2])
    name = parts[2][1].decode("latin-1")
    kind = flags[0] & 0xFF if flags else 0
    if len(shape) != 2 or min(shape) < 0 or (flags[0] >> 8) & COMPLEX or not (kind == SPARSE or kind in NUMBERS):
        return name, None
    arrays = [_numbers(*part, order) for part in parts[3:]]
    if kind in NUMBERS:
        if not arrays or len(arrays[0]) != shape[0] * shape[1]:
            raise ArchiveError(f"the matrix {name[:40]!r} does not fit its size")
        return name, arrays[0].reshape(shape, order="F")
    if len(arrays) < 3:
        raise ArchiveError(f"parts of the matrix {name[:40]!r} are missing")
    indices, pointers, values = arrays[:3]
    if not len(pointers):
        raise ArchiveError(f"the matrix {name[:40]!r} has no pointers")
    n = int(pointers[-1])  # more may be allotted than is used
    indices, values = indices[: max(n, 0)], values[: max(n, 0)]
    check_compressed(values, indices, pointers, shape[1], shape[0])
    return name, sparse.csc_array((values.astype(float), indices, pointers), shape=tuple(shape))


def _numbers(kind: int, content: bytes, order: str) -> np.ndarray:
    if kind not in TYPES:
        raise ArchiveError(f"numbers are of the unknown type {kind}")
    dtype = np.dtype(order + TYPES[kind])
    if len(content) % dtype.itemsize:
        raise ArchiveError("numbers are cut off")
    return np.frombuffer(content, dtype).astype(dtype.newbyteorder("="))
