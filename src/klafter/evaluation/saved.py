"""Records of runs in a JSON file that is whole after every one of them, so that long comparisons can be resumed."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from klafter.graph import Graph
from klafter.graph.writing import write_text


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


def _read(path: Path) -> dict:
    try:
        records = json.loads(path.read_text(encoding="utf-8"))["records"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} does not hold the records of a comparison. Give another path, or move that file away."
        ) from error
    return {key: {name: _number(value) for name, value in record.items()} for key, record in records.items()}


def _number(value):
    """JSON has no NaN: what could not be measured is null there."""
    return float("nan") if value is None else value


def write_json(path: str | os.PathLike, content) -> None:
    """Write plain data; the file appears whole or not at all."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(plain(content), indent=1, allow_nan=False) + "\n")


def plain(value):
    """Numbers, lists and dictionaries as JSON knows them.

    Examples
    --------
    >>> plain({"auc": np.float64(0.5), "missing": float("nan"), "k": np.arange(2)})
    {'auc': 0.5, 'missing': None, 'k': [0, 1]}
    """
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple, set)):
        return [plain(part) for part in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def fingerprint(graph: Graph) -> str:
    """Twelve characters that tell a graph from others: its links, hidden dyads, covariates and direction.

    Examples
    --------
    >>> a, b = Graph(np.array([[0, 1], [1, 0]])), Graph(np.zeros((2, 2)))
    >>> fingerprint(a) == fingerprint(a), fingerprint(a) == fingerprint(b)
    (True, False)
    """
    digest = hashlib.sha256(f"{graph.n_nodes} {graph.directed} {sorted(graph.covariates)}".encode())
    for matrix in (graph.links, graph.hidden, *(graph.covariates[name] for name in sorted(graph.covariates))):
        sorted_rows = matrix.sorted_indices()
        for part in (sorted_rows.indptr, sorted_rows.indices, sorted_rows.data):
            digest.update(part.astype(np.float64 if part.dtype.kind == "f" else np.int64).tobytes())
    return digest.hexdigest()[:12]
