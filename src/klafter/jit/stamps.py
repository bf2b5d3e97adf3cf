"""What compiled code depends on: the source of a kernel's module, and of all that it imports of this package."""

from __future__ import annotations

import hashlib
import re
import sys
from functools import cache
from pathlib import Path

# imports at the top of a module: those inside of functions may not have happened yet, and no kernel can use them
IMPORT = re.compile(rb"^(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+([\w.]+))", re.MULTILINE)
OUTSIDE = "klafter.graph"  # the package, whose Graph no kernel sees: a change there leaves compiled code as it is


@cache
def stamp(module: str) -> str | None:
    """Hash of the sources that the kernels of a module are compiled from, None where they cannot be read.

    An inner kernel is copied into its callers, so their code is stale when its file is edited.
    """
    digest = hashlib.sha256()
    sources: dict[str, bytes] = {}
    try:
        _collect(module, ("klafter", module.partition(".")[0]), sources)
    except OSError:
        return None
    for name in sorted(sources):
        digest.update(name.encode() + b"\0" + sources[name] + b"\0")
    return digest.hexdigest()


def _collect(module: str, packages: tuple[str, ...], sources: dict[str, bytes]) -> None:
    """Put the source of a module, and of what it imports from these packages, into ``sources``."""
    path = getattr(sys.modules.get(module), "__file__", None)
    if module in sources or path is None or module == OUTSIDE:
        return
    sources[module] = Path(path).read_bytes()
    for name in imported(sources[module]):
        if name.partition(".")[0] in packages:
            _collect(name, packages, sources)


def imported(source: bytes) -> list[str]:
    """The modules that a source may import at its top, ``a`` and ``a.b`` for ``from a import b``."""
    names = []
    for package, parts, module in IMPORT.findall(source):
        first = (package or module).decode()
        names += [first, *(f"{first}.{part.decode()}" for part in re.findall(rb"\w+", parts))]
    return names
