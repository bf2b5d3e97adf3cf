"""Archives of arrays from strangers: looked at before memory is taken or compiled code sees an index."""

from __future__ import annotations

import io
import math
import os
import zipfile
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

RATIO, FREE = 100.0, 64 * 2**20  # times its size that a file may unpack to; always allowed
RATIO_NAME = "KLAFTER_UNPACK_RATIO"
KINDS = "biufUS"


class ArchiveError(ValueError):
    """An archive that does not hold what it says."""


def unpack_limit(packed: int) -> float:
    """Bytes that so many packed ones may become; KLAFTER_UNPACK_RATIO changes how many times as many."""
    try:
        ratio = float(os.environ.get(RATIO_NAME, RATIO))
    except ValueError:
        ratio = RATIO
    return max(FREE, ratio * packed)


def check_zip(archive: zipfile.ZipFile, packed: int) -> None:
    """Refuse what would unpack to far more than it is."""
    whole = sum(member.file_size for member in archive.infolist())
    if whole > unpack_limit(packed):
        raise ArchiveError(
            f"it unpacks to {whole:,} bytes, {whole / max(packed, 1):,.0f} times its size; "
            f"{RATIO_NAME} raises the limit"
        )


def read_arrays(data: bytes) -> dict[str, np.ndarray]:
    """The arrays of an .npz file whose sizes are those of their content."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_zip(archive, len(data))
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            return {name: _array(archive, info) for name, info in members.items()}
    except ArchiveError:
        raise
    except Exception as error:  # zip, zlib, lzma and numpy have many of their own
        raise ArchiveError("it is no archive of arrays, or it is damaged") from error


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(info) as file:
        shape, order, dtype = _header(file)  # type: ignore[arg-type]
        count = math.prod(shape)
        if dtype.hasobject or dtype.kind not in KINDS or not all(side >= 0 for side in shape):
            raise ArchiveError(f"the array {info.filename!r} is of {dtype}")
        if count * dtype.itemsize > info.file_size:
            raise ArchiveError(f"the array {info.filename!r} says that it is larger than it is")
        content = file.read(count * dtype.itemsize)
    flat = np.frombuffer(content, dtype, count) if count else np.empty(0, dtype)
    return flat.reshape(shape, order="F" if order else "C").copy(order="K")


def _header(file: BinaryIO) -> tuple[tuple[int, ...], bool, Any]:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(file)


def sparse_matrix(parts: dict[str, np.ndarray]) -> Any:
    """A matrix as scipy.sparse.save_npz writes it, every index looked at."""
    kind = bytes(parts["format"].item()).decode() if parts["format"].dtype.kind == "S" else str(parts["format"].item())
    rows, columns = (int(side) for side in parts["shape"].ravel())
    data = parts["data"]
    if kind == "coo":
        ends = parts["row"], parts["col"]
        if not len(ends[0]) == len(ends[1]) == len(data):
            raise ArchiveError("rows, columns and values differ in number")
        _check_indices(ends[0], rows)
        _check_indices(ends[1], columns)
        return sparse.coo_array((data, ends), shape=(rows, columns))
    if kind == "dia":
        return _of_diagonals(data, parts["offsets"], rows, columns)
    if kind not in ("csr", "csc"):
        raise ArchiveError(f"the matrix is {kind[:20]!r}, and csr, csc, coo and dia are read")
    lines, width = (rows, columns) if kind == "csr" else (columns, rows)
    check_compressed(data, parts["indices"], parts["indptr"], lines, width)
    make = sparse.csr_array if kind == "csr" else sparse.csc_array
    return make((data, parts["indices"], parts["indptr"]), shape=(rows, columns))


def _of_diagonals(data: np.ndarray, offsets: np.ndarray, rows: int, columns: int) -> sparse.coo_array:
    """Column j of the diagonal with offset k holds the entry (j - k, j)."""
    if data.ndim != 2 or offsets.shape != data.shape[:1] or offsets.dtype.kind != "i":
        raise ArchiveError("its diagonals do not fit their offsets")
    column = np.broadcast_to(np.arange(data.shape[1]), data.shape)
    row = column - offsets[:, None].astype(np.int64)
    inside = (row >= 0) & (row < rows) & (column < columns)
    return sparse.coo_array((data[inside], (row[inside], column[inside])), shape=(rows, columns))


def check_compressed(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, lines: int, width: int) -> None:
    """Refuse pointers and indices that compiled code would follow out of the arrays."""
    if not data.ndim == indices.ndim == indptr.ndim == 1 or indptr.dtype.kind not in "iu" or len(indptr) != lines + 1:
        raise ArchiveError("its index pointers do not fit its shape")
    if indptr[0] != 0 or (np.diff(indptr.astype(np.int64)) < 0).any() or not indptr[-1] == len(indices) == len(data):
        raise ArchiveError("its index pointers do not rise from 0 to the number of entries")
    _check_indices(indices, width)


def _check_indices(indices: np.ndarray, bound: int) -> None:
    if indices.dtype.kind not in "iu" or indices.ndim != 1:
        raise ArchiveError(f"its indices are {indices.dtype}")
    if len(indices) and not (indices.min() >= 0 and indices.max() < bound):
        raise ArchiveError(f"its indices are not all between 0 and {bound - 1}")
