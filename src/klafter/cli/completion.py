"""What the shell proposes after TAB: names of models, families, data sets and parts of the paper, beside files."""

from __future__ import annotations

from collections.abc import Callable
from glob import glob, has_magic
from os.path import isdir


def one_of(*names: str) -> Callable[[str], list[str]]:
    """Proposals from a fixed list."""

    def propose(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return propose


def some_of(*names: str) -> Callable[[str], list[str]]:
    """Proposals for a list parted by commas: what is not in it yet."""

    def propose(incomplete: str) -> list[str]:
        begun, comma, last = incomplete.rpartition(",")
        used = begun.split(",")
        return [f"{begun}{comma}{name}" for name in names if name.startswith(last) and name not in used]

    return propose


def graphs(incomplete: str) -> list[str]:
    """Data sets, and files."""
    from klafter.datasets import DATASETS

    return [*(name for name in DATASETS if name.startswith(incomplete)), *files(incomplete)]


def files(incomplete: str) -> list[str]:
    """Files and folders that begin like this."""
    found = [] if has_magic(incomplete) else sorted(glob(f"{incomplete}*"))
    return [f"{path}/" if isdir(path) else path for path in found]
