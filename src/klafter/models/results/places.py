"""Where a node belongs if it may be in one place only, and where one that is in none would go first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from klafter.core.draws import Matrix
from klafter.graph import Graph


class Choice(NamedTuple):
    """Where a node that is in no community would go first."""

    node: Any  # its label
    community: int
    probability: float  # that it is a member
    share: float  # that it is this one, were it in exactly one community


def places(graph: Graph, memberships: Matrix, probabilities: Matrix) -> np.ndarray:
    """One community for each node: of those it holds the most probable, of nodes in none the most probable of all.

    Where no community is probable at all, that to which most of its neighbours' probabilities go, else the largest.
    """
    if not memberships.shape[1]:
        return np.zeros(graph.n_nodes, np.int64)
    probabilities = sparse.csr_array(probabilities, dtype=np.float64)
    liking = probabilities + sparse.csr_array(memberships, dtype=np.float64)
    found, known = _highest(liking)
    if not known.all():
        links = graph.links + graph.links.T
        links.data = np.ones_like(links.data)
        near, linked = _highest(sparse.csr_array(links @ liking))
        largest = int(np.argmax(np.asarray(liking.sum(axis=0)).ravel()))
        found = np.where(known, found, np.where(linked, near, largest))
    return found


def _highest(matrix: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The column of the highest entry of each row, the first of several, and whether it is above 0."""
    found, known = np.zeros(matrix.shape[0], np.int64), np.zeros(matrix.shape[0], bool)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    some = np.diff(matrix.indptr) > 0
    if some.any():
        row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        highest = np.maximum.reduceat(matrix.data, matrix.indptr[:-1][some])
        at = np.flatnonzero(matrix.data == np.repeat(highest, np.diff(matrix.indptr)[some]))[::-1]
        found[row[at]] = matrix.indices[at]  # of several the first, which is written last
        known[some] = highest > 0
    return found, known


def first_choices(graph: Graph, memberships: Matrix, probabilities: Matrix) -> list[Choice]:
    """Of every node in no community; none where there are no communities."""
    if not memberships.shape[1]:
        return []
    alone = np.flatnonzero(np.asarray(memberships.sum(axis=1)).ravel() == 0)
    place = places(graph, memberships, probabilities)[alone]
    mine = sparse.csr_array(sparse.csr_array(probabilities, dtype=np.float64)[alone])
    odds = mine.copy()
    odds.data = np.minimum(odds.data, 1 - 1e-12)
    odds.data /= 1 - odds.data
    total = np.asarray(odds.sum(axis=1)).ravel()
    there = sparse.csr_array((np.ones(len(alone)), (np.arange(len(alone)), place)), shape=mine.shape)
    proba, odds_there = (np.asarray(matrix.multiply(there).sum(axis=1)).ravel() for matrix in (mine, odds))
    share = np.where(total > 0, odds_there / np.maximum(total, 1e-300), 1 / memberships.shape[1])
    labels = [graph.label(int(i)) for i in alone]
    return list(map(Choice, labels, place.tolist(), np.minimum(proba, 1.0).tolist(), share.tolist()))
