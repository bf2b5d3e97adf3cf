"""The likeliest dyads of a model, without ever forming all pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy import sparse

from klafter.graph import Graph

EXHAUSTIVE = 3_000  # nodes up to which every dyad is looked at, some rows at a time
CHUNK = 200_000  # dyads scored at once
MAX_CANDIDATES = 60_000_000
SHORTLIST = 50_000


def best_pairs(own: Callable, finish: Callable, graph: Graph, near: tuple, n: int, hidden_only: bool):
    """The n dyads without a known link that rank highest, and their probabilities.

    ``near`` are the communities each node is drawn to, and those it is in: (n, K) both.
    ``own``, the model without the structural expert, chooses who is looked at: every dyad of a graph of a few hundred
    nodes, the best SHORTLIST of a larger one. ``finish`` makes the probabilities of those.
    """
    pairs, scores = np.zeros((0, 2), np.int64), np.zeros(0)
    for candidates in _candidates(graph, near, hidden_only):
        pairs = np.vstack([pairs, candidates])
        scores = np.concatenate([scores, own(candidates)])
        pairs, scores = _best(pairs, scores, max(SHORTLIST, 10 * n))
    return _best(pairs, finish(scores, pairs), n)


def near_of(model) -> tuple:
    """Communities each node is drawn to (its own and, with bridges, those at their other ends), and its own."""
    z = model.memberships_
    if getattr(model, "link_", None) != "exposure":
        return z, z
    return sparse.csr_array(z, dtype=np.float32) @ sparse.csr_array(model.affinities_ > 0, dtype=np.float32), z


def _best(pairs: np.ndarray, scores: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The n highest scores, best first; of equal ones the first pairs."""
    if 0 < n < len(scores):
        good = scores >= np.partition(scores, -n)[-n]
        pairs, scores = pairs[good], scores[good]
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -scores))[:n]
    return pairs[order], scores[order]


def _candidates(graph: Graph, near: tuple, hidden_only: bool) -> Iterator[np.ndarray]:
    """Blocks of dyads to score."""
    if hidden_only:
        blocks = _patterns(graph.hidden)
    elif graph.n_nodes <= EXHAUSTIVE:
        blocks = _rows(graph.n_nodes)
    else:
        blocks = _near(graph, *near)
    for block in blocks:
        if not graph.directed:
            block = block[block[:, 0] < block[:, 1]]
        block = block[np.asarray(graph.links[block[:, 0], block[:, 1]]).ravel() == 0]
        block = block[block[:, 0] != block[:, 1]]
        if len(block):
            yield block


def _patterns(pattern) -> Iterator[np.ndarray]:
    coo = sparse.coo_array(pattern)
    for start in range(0, coo.nnz, CHUNK):
        yield np.column_stack([coo.row[start : start + CHUNK], coo.col[start : start + CHUNK]]).astype(np.int64)


def _rows(n: int) -> Iterator[np.ndarray]:
    height = max(1, CHUNK // n)
    for start in range(0, n, height):
        i = np.arange(start, min(start + height, n))
        yield np.column_stack([np.repeat(i, n), np.tile(np.arange(n), len(i))])


def _near(graph: Graph, drawn, memberships) -> Iterator[np.ndarray]:
    """Dyads of a large graph worth a look: hidden, two links apart, or in communities that draw each other."""
    yield from _patterns(graph.hidden)
    u, reach = (sparse.csr_array(z, dtype=np.float32) for z in (memberships, drawn))
    a = sparse.csr_array(graph.links, dtype=np.float32)
    a = a.maximum(a.T)
    height = max(1, CHUNK // max(1, int(np.mean(np.diff(a.indptr)) ** 2) + 1))
    seen = 0
    for start in range(0, graph.n_nodes, height):
        block = a[start : start + height] @ a + reach[start : start + height] @ u.T
        coo = sparse.coo_array(block)
        seen += coo.nnz
        yield np.column_stack([coo.row + start, coo.col]).astype(np.int64)
        if seen > MAX_CANDIDATES:
            return
