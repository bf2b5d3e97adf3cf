"""Records of runs in a JSON file that is whole after every one of them, so that long comparisons can be resumed."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from klafter.graph.writing import write_json

LAYERS = ("core", "search", "sampling", "prediction", "models")  # that decide a fit and its predictions


class Saved(dict):
    """A dictionary of records; with a path it begins with what the file holds and writes each new record.

    Examples
    --------
    >>> runs = Saved()
    >>> runs.add("first", {"roc_auc": 0.9})
    >>> runs["first"]
    {'roc_auc': 0.9}
    """

    def __init__(self, path: str | os.PathLike | None = None):
        super().__init__()
        self.path = None if path is None else Path(path)
        if self.path is not None and self.path.exists():
            self.update(_read(self.path))

    def add(self, key: str, record: Mapping) -> None:
        """Keep a record, in the file too."""
        self[key] = dict(record)
        if self.path is not None:
            write_json(self.path, {"records": dict(self)})

    def checkpoint(self, key: str) -> Path | None:
        """Where a fit may keep how far it is, beside the file; None without one."""
        if self.path is None:
            return None
        return self.path.with_name(f"{self.path.name}.{hashlib.sha256(key.encode()).hexdigest()[:8]}.ckpt")


def code_digest(layers: Iterable[str] = LAYERS) -> str:
    """What the sources of some layers are, in short: measurements name the code they are of.

    Examples
    --------
    >>> len(code_digest())
    8
    """
    home, found = Path(__file__).parents[1], hashlib.sha256()
    for path in sorted(path for layer in layers for path in (home / layer).rglob("*.py")):
        found.update(path.relative_to(home).as_posix().encode() + path.read_bytes())
    return found.hexdigest()[:8]


def _read(path: Path) -> dict:
    try:
        records = json.loads(path.read_text(encoding="utf-8"))["records"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} does not hold the records of a comparison. Give another path, or move that file away."
        ) from error
    # JSON has no NaN: what could not be measured is null there
    return {
        key: {name: math.nan if value is None else value for name, value in record.items()}
        for key, record in records.items()
    }
