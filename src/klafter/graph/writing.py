"""The one place that writes files: whole or not at all, whatever happens on the way.

A file is written beside its place under a random name, synced to the disk, and moved there; then the folder is synced.
Whoever is killed on the way leaves a hidden ``.klafter-*.part`` behind, which the next write into the folder removes:
a writer holds a lock on its file, so that only those of the dead are taken.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import secrets
import stat
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from klafter.graph.places import kind_of

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

PREFIX, SUFFIX = ".klafter-", ".part"
STALE = 86_400.0  # seconds after which a leftover is taken where there are no locks
CURES = {
    errno.ENOSPC: "the disk is full. Free some space, or choose another place",
    errno.EDQUOT: "your quota of disk space is used up. Free some space, or choose another place",
    errno.EFBIG: "it would be larger than files may be here. Raise ulimit -f, or choose another place",
    errno.EROFS: "the disk is read-only. Choose another place",
    errno.EACCES: "its folder may not be written to. Choose another place, or ask for the right to write there",
    errno.EPERM: "it may not be replaced. Choose another place",
    errno.ENAMETOOLONG: "its name is too long. Choose a shorter one",
    errno.ELOOP: "its symbolic links lead in a circle. Choose another place",
}


def write_file(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """Let ``write`` fill a file that then takes its place at once.

    Parameters
    ----------
    path : path
        Through a symbolic link its target is written. A file that is there keeps its permissions; a new one has those
        of the umask.
    write : callable
        Is given the open binary file.

    Raises
    ------
    OSError
        Of the kind that fits, with a sentence that names the file; what was there before is untouched.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "note.txt"
    >>> write_file(path, lambda file: file.write(b"whole"))
    >>> path.read_bytes()
    b'whole'
    """
    target, mode = check_place(path)
    try:
        _remove_leftovers(target.parent)
        _replace(target, mode, write)
    except OSError as error:
        if error.errno is None:  # already a sentence
            raise
        raise _sentence(path, error) from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text as UTF-8, whole or not at all."""
    write_file(path, lambda file: file.write(text.encode()))


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write plain data as JSON; the file appears whole or not at all."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(jsonable(content), indent=1, allow_nan=False) + "\n")


def jsonable(value: Any) -> Any:
    """Numbers, lists and dictionaries as JSON knows them.

    Examples
    --------
    >>> jsonable({"auc": np.float64(0.5), "missing": float("nan"), "k": np.arange(2)})
    {'auc': 0.5, 'missing': None, 'k': [0, 1]}
    """
    if isinstance(value, Mapping):
        return {str(name): jsonable(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, (list, tuple, set)):
        return [jsonable(part) for part in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_place(path: str | os.PathLike[str]) -> tuple[Path, int | None]:
    """The file that writing to a path would replace and its permissions (None: a new file).

    Devices, pipes and folders are refused, and what may not be written.
    """
    try:
        target = Path(os.path.realpath(path))
        found = os.stat(path) if os.path.exists(path) or os.path.lexists(target) else None  # /dev/stdout leads nowhere
    except OSError as error:
        raise _sentence(path, error) from error
    if found is not None and not stat.S_ISREG(found.st_mode):
        kind = kind_of(found.st_mode)
        cure = "name a file in it" if kind == "a folder" else "name an ordinary file"
        raise (IsADirectoryError if kind == "a folder" else OSError)(f"{path} is {kind}; {cure}.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent} to write {target.name} in; make it first.")
    if found is not None and not os.access(target, os.W_OK):
        raise PermissionError(f"{path} is write-protected. Choose another name, or take the protection away.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise _sentence(path, PermissionError(errno.EACCES, ""))
    return target, None if found is None else stat.S_IMODE(found.st_mode)


def _replace(target: Path, mode: int | None, write: Callable[[BinaryIO], object]) -> None:
    handle, temporary = _open_beside(target.parent, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, target)  # while the lock is held
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(target.parent)


def _open_beside(folder: Path, mode: int | None) -> tuple[int, Path]:
    """A new locked file under a random name; nobody else can have opened or guessed it."""
    while True:
        temporary = folder / f"{PREFIX}{secrets.token_hex(8)}{SUFFIX}"
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        handle = os.open(temporary, flags, 0o666 if mode is None else 0o600)
        if mode is not None:
            with contextlib.suppress(OSError):
                os.chmod(temporary, mode)
        _lock(handle)
        if os.fstat(handle).st_nlink or os.name == "nt":
            return handle, temporary
        os.close(handle)  # taken for a leftover before it was locked


def _lock(handle: int) -> bool:
    """Whether this process now holds the lock of an open file."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_leftovers(folder: Path) -> None:
    """Take away what killed writers left in a folder."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        names = [e.path for e in entries if e.name.startswith(PREFIX) and e.name.endswith(SUFFIX)]
        for name in names:
            with contextlib.suppress(OSError):
                _remove_if_dead(name)


def _remove_if_dead(name: str) -> None:
    handle = os.open(name, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        stale = time.time() - os.fstat(handle).st_mtime > STALE
        if _lock(handle) or (os.name == "nt" and stale):
            os.unlink(name)
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    """The new name survives a power cut too; some file systems cannot promise it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sentence(path: str | os.PathLike[str], error: OSError) -> OSError:
    """The same kind of error, saying which file could not be written, why, and what helps."""
    reason = CURES.get(error.errno or 0, f"the system says: {error.strerror or error}. Choose another place")
    kept = " What was there before is untouched." if os.path.exists(path) else ""
    return type(error)(f"{path} could not be written: {reason}.{kept}")
