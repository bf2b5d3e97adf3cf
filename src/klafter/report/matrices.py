"""The adjacency matrix ordered by community, and what the model predicts for it; small graphs only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from klafter.models.results.cover import entries, sizes

LIMIT = 500  # nodes: beyond, cells are smaller than a pixel
CHUNK = 100_000


@dataclass(frozen=True)
class Matrices:
    """Rows and columns in ``order``; cells are 0 to 255."""

    order: list[int]
    first: list[int]  # community that places each row, -1 for none
    observed: np.ndarray  # uint8 (n, n): 0 no link, 255 the largest value
    hidden: np.ndarray  # bool (n, n), also of pairs that are no dyads
    predicted: np.ndarray  # uint8 (n, n): probability times 255


def matrices(model, z: sparse.csr_array) -> Matrices | None:
    """Both matrices, or None for a graph of more than LIMIT nodes."""
    graph = model.graph_
    if graph.n_nodes > LIMIT:
        return None
    order, first = community_order(z)
    links, unseen = np.abs(graph.links.toarray())[np.ix_(order, order)], graph.hidden.toarray().astype(bool)
    if graph.rule is not None:
        unseen |= ~graph.rule.table[graph.rule.kind[:, None], graph.rule.kind]
    return Matrices(
        order.tolist(),
        first[order].tolist(),
        np.round(255 * np.sqrt(links / max(links.max(initial=0.0), 1e-300))).astype(np.uint8),
        unseen[np.ix_(order, order)],
        np.round(255 * probabilities(model)).astype(np.uint8)[np.ix_(order, order)],
    )


def community_order(z: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Nodes by their largest community, then by the others they are in; nodes in none last."""
    size, n = sizes(z), z.shape[0]
    rank = np.argsort(np.argsort(-size, kind="stable"), kind="stable")
    keys, first = [], np.full(n, -1)
    for i in range(n):
        mine = sorted(entries(z, i)[0].tolist(), key=lambda k: rank[k])
        first[i] = mine[0] if mine else -1
        keys.append([int(rank[k]) for k in mine] or [len(size)])
    return np.array(sorted(range(n), key=lambda i: (keys[i], i)), dtype=int), first


def probabilities(model) -> np.ndarray:
    """Probability of every link, (n, n), zero on the diagonal."""
    graph = model.graph_
    n = graph.n_nodes
    i, j = np.nonzero(~np.eye(n, dtype=bool)) if graph.directed else np.triu_indices(n, 1)
    pairs, p = np.column_stack([i, j]).astype(np.int64), np.zeros((n, n))
    for start in range(0, len(pairs), CHUNK):
        part = pairs[start : start + CHUNK]
        p[part[:, 0], part[:, 1]] = model.predict_proba(part)
    return p if graph.directed else p + p.T
