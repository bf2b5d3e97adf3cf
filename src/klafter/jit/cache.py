"""Compiled kernels on disk: one cache for a machine, shared by its environments.

An entry is named by all that its code depends on: the sources (``stamps``), the tools and the processor (``target``),
the kernel and the types of its arguments. So nothing is ever stale, and two processes that compile the same kernel at
once write the same entry, each into a file of its own that then takes the name. An entry that cannot be read is
compiled and written again.

Entries are looked for in KLAFTER_CACHE_DIR, or else the user's cache folder, and then in the package itself, where
wheels bring code for a generic processor; they are written to the first of these that can be written.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import sys
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from klafter.jit.linker import KernelLibrary, new_libraries
from klafter.jit.stamps import stamp
from klafter.jit.target import generic_target, toolchain

log = logging.getLogger("klafter")

SHIPPED = Path(__file__).parents[1] / "_kernels"
KEPT = 24  # entries of a kernel: signatures, environments, and what was edited since


def folders() -> list[Path]:
    """Where compiled kernels are looked for, and where they are written if they can be, best first."""
    chosen = os.environ.get("KLAFTER_CACHE_DIR")
    return [Path(chosen).expanduser() if chosen else _user_folder() / "klafter" / "kernels", SHIPPED]


def _user_folder() -> Path:
    """The platform's folder for caches of a user."""
    home = Path(os.path.expanduser("~"))  # Path.home() raises where there is none
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")


class KernelCache(_Cache):
    """What Numba asks for the compiled code of one function."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._enabled = function.__closure__ is None  # what a closure holds has no source

    @property
    def cache_path(self) -> str:
        return str(folders()[0])

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        """Forget the entries of this kernel."""
        for folder in folders():
            for path in folder.glob(f"{self._prefix()}-*.nbc"):
                _remove(path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code for these types, or None.

        Numba would first load all that it can compile; finished code asks only for the counts of its references.
        """
        rtsys.initialize(target_context)
        codegen = target_context.codegen()
        for name in self._names(sig, codegen):
            for folder in folders():
                payload = _read(folder / name, sig)
                if payload is not None:
                    with new_libraries(codegen, KernelLibrary):  # another kernel may be compiled around this one
                        return CompileResult._rebuild(target_context, *payload)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the compiled code for these types, where there is a place for it."""
        names = self._names(sig, data.codegen)
        if not names or data.lifted or data.library.has_dynamic_globals:
            return
        content = dumps((sig, data._reduce()))
        for folder in folders():
            if _write(folder / names[0], content):
                self._prune(folder)
                return
        _say_that_nothing_is_kept()

    def _names(self, sig: Any, codegen: Any) -> list[str]:
        """Files that may hold the code: for this processor, then for the generic one if this can run it."""
        source = stamp(self._function.__module__) if self._enabled else None
        if source is None:
            return []
        triple, *own = codegen.magic_tuple()
        generic = generic_target(triple)
        targets = [tuple(own), *([tuple(generic)] if generic and generic.runs_here() else [])]
        return [self._name(repr((source, toolchain(), triple, target, sig))) for target in dict.fromkeys(targets)]

    def _name(self, key: str) -> str:
        digest = hashlib.sha256(f"{self._function.__module__} {self._function.__qualname__} {key}".encode())
        return f"{self._prefix()}-{digest.hexdigest()[:32]}.nbc"

    def _prefix(self) -> str:
        module = Path(self._function.__code__.co_filename).stem
        return f"{module}.{self._function.__qualname__.replace('<locals>', '')}"

    def _prune(self, folder: Path) -> None:
        """Delete the oldest entries of this kernel beyond ``KEPT``."""
        with suppress(OSError):  # another process may be at it
            entries = sorted(folder.glob(f"{self._prefix()}-*.nbc"), key=lambda path: path.stat().st_mtime)
            for path in entries[:-KEPT]:
                _remove(path)


def count_entries(folder: Path) -> int:
    """How many kernels a folder holds."""
    return sum(1 for _ in folder.glob("*.nbc"))


def clear_entries(folder: Path) -> int:
    """Delete the kernels of a folder, and what a process that was killed left there."""
    for path in folder.glob(".*.tmp"):
        _remove(path)
    entries = list(folder.glob("*.nbc"))
    for path in entries:
        _remove(path)
    return len(entries)


def _read(path: Path, sig: Any) -> tuple[Any, ...] | None:
    """What an entry holds, None if it is absent, damaged or of other types."""
    try:
        checksum, content = (data := path.read_bytes())[:4], memoryview(data)[4:]
        if int.from_bytes(checksum, "little") != zlib.crc32(content):
            return None
        saved, payload = pickle.loads(content)
    except Exception:  # damaged pickles raise anything
        return None
    return payload if saved == sig else None


def _write(path: Path, content: bytes) -> bool:
    """Write an entry at once or not at all; False where that is not possible."""
    part = path.with_name(f".{uuid4().hex}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(zlib.crc32(content).to_bytes(4, "little") + content)
        os.replace(part, path)
    except OSError:
        _remove(part)
        return False
    return True


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


@cache
def _say_that_nothing_is_kept() -> None:
    places = " nor ".join(map(str, folders()))
    log.warning(
        f"Compiled kernels cannot be kept: neither {places} can be written. "
        "Every start compiles anew; set KLAFTER_CACHE_DIR to a folder that can be written."
    )
