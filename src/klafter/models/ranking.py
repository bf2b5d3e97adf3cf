"""The likeliest dyads of a model, without ever forming all pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from scipy import sparse

from klafter.core.draws import Draw
from klafter.graph import Graph

EXHAUSTIVE = 3_000  # nodes up to which every dyad is looked at, some rows at a time
CHUNK = 200_000  # dyads scored at once
MAX_CANDIDATES = 60_000_000
SHORTLIST = 50_000
NEVER = -1.0  # below all probabilities


def best_pairs(own: Callable, rows: Callable, finish: Callable, graph: Graph, memberships, n: int, hidden_only: bool):
    """The n dyads without a known link that rank highest, and their probabilities.

    The model without the structural expert, ``own`` of pairs and ``rows`` of all dyads of some nodes, chooses who is
    looked at: every dyad of a graph of a few hundred nodes, the best SHORTLIST of a larger one. ``finish`` makes the
    probabilities of those.
    """
    most = max(SHORTLIST, 10 * n)
    if hidden_only or graph.n_nodes > EXHAUSTIVE:
        blocks = ((pairs, own(pairs)) for pairs in _candidates(graph, memberships, hidden_only))
        pairs, scores = _shortlist(blocks, most)
    else:
        pairs, scores = _exhaust(rows, graph, most)
    return _best(pairs, finish(scores, pairs), n)


def _shortlist(blocks: Iterable, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The best of all blocks of pairs and their scores."""
    pairs, scores = np.zeros((0, 2), np.int64), np.zeros(0)
    for more, found in blocks:
        pairs, scores = _keep(np.vstack([pairs, more]), np.concatenate([scores, found]), most)
    return pairs, scores


def _exhaust(rows: Callable, graph: Graph, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The best of all dyads, the nodes in turn; most fall behind those already found at a glance."""
    n, pairs, scores = graph.n_nodes, np.zeros((0, 2), np.int64), np.zeros(0)
    height = max(1, CHUNK // max(n, 1))
    for start in range(0, n, height):
        i = np.arange(start, min(start + height, n))
        p = rows(i)
        p[graph.links[i].nonzero()] = NEVER
        p[np.arange(n) == i[:, None] if graph.directed else np.arange(n) <= i[:, None]] = NEVER
        k, j = np.nonzero(p > (scores.min() if len(scores) >= most else NEVER))
        pairs, scores = _keep(np.vstack([pairs, np.column_stack([k + start, j])]), np.append(scores, p[k, j]), most)
    return pairs, scores


def predictor_of_rows(draw: Draw, rows: np.ndarray, covariates=()) -> np.ndarray:
    """x of all dyads of some nodes, (len(rows), n): matrices multiply faster than pairs are looked up one by one."""
    u = sparse.csr_array(draw.memberships)
    reach = u[rows] @ draw.affinities
    x = (u @ (reach.toarray() if sparse.issparse(reach) else reach).T).T + draw.offset
    if draw.sender is not None and draw.receiver is not None:
        x += draw.sender[rows, None] + draw.receiver
    for g, v in zip(draw.coefficients if draw.coefficients is not None else (), covariates):
        x += g * v[rows].toarray()
    return x


def _keep(pairs: np.ndarray, scores: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The n highest scores as they stand; of equal ones the first."""
    if n >= len(scores):
        return pairs, scores
    least = np.partition(scores, -n)[-n]
    good = scores > least
    good[np.flatnonzero(scores == least)[: n - good.sum()]] = True
    return pairs[good], scores[good]


def _best(pairs: np.ndarray, scores: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The n highest scores, best first; of equal ones the first pairs."""
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -scores))[:n]
    return pairs[order], scores[order]


def _candidates(graph: Graph, memberships, hidden_only: bool) -> Iterator[np.ndarray]:
    """Blocks of dyads to score."""
    for block in _patterns(graph.hidden) if hidden_only else _near(graph, memberships):
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


def _near(graph: Graph, memberships) -> Iterator[np.ndarray]:
    """Dyads of a large graph worth a look: hidden, two links apart, or in a community together."""
    yield from _patterns(graph.hidden)
    u = sparse.csr_array(memberships, dtype=np.float32)
    a = sparse.csr_array(graph.links, dtype=np.float32)
    a = a.maximum(a.T)
    height = max(1, CHUNK // max(1, int(np.mean(np.diff(a.indptr)) ** 2) + 1))
    seen = 0
    for start in range(0, graph.n_nodes, height):
        block = a[start : start + height] @ a + u[start : start + height] @ u.T
        coo = sparse.coo_array(block)
        seen += coo.nnz
        yield np.column_stack([coo.row + start, coo.col]).astype(np.int64)
        if seen > MAX_CANDIDATES:
            return
