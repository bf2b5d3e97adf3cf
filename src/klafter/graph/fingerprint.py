"""What tells one graph from another."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from klafter.graph.graph import Graph


def fingerprint(graph: Graph, attributes: Iterable[str] = ()) -> str:
    """Twelve characters that tell a graph from others: its links, hidden dyads, covariates, direction and kinds.

    Attributes of nodes count where a model uses them, which says so.

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
    if graph.second_kind is not None:
        digest.update(graph.second_kind.tobytes())
    elif graph.rule is not None:
        digest.update(graph.rule.kind.tobytes() + graph.rule.table.tobytes())
    for name in attributes:
        digest.update(f"{name} {graph.attributes[name].tolist()!r}".encode())
    return digest.hexdigest()[:12]
