"""What the surroundings of a pair look like, always without the link between the two.

With d the degrees, N(i) the neighbours of i, all without the pair's own link, and a directed graph taken both ways:

    resource allocation   sum over common m of 1 / d_m              common neighbours, alone and over |N(i) or N(j)|
    paths of three        sum over links u - v, u in N(i), v in N(j), of 1 / sqrt(d_u d_v)
    distance              steps from i to j, FAR where there is no way
    walks                 k = entry ij of (D + REST - ALPHA A)^-1, and (d_i + d_j) k: personalised PageRank both ways
    degrees               the smaller and the larger of the two, and of the mean degrees of their neighbours;
                          of a directed graph also what each end sends and receives

A matrix M that changes only in the rows and columns of the pair, S, has (M'^-1)_SS = ((M^-1)_SS^-1 + change_SS)^-1
(Schur), so that one inverse gives the walks of all pairs without their own links. Beyond DENSE nodes walks are pushed
until less than LEAST of a degree is left, and searches for ways end after MOST_SEEN links.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from klafter.prediction.structure_kernels import distances, push_walks, walk_pairs

FLOOR = 1e-2  # added before the logarithm
FAR = 20
ALPHA, REST = 0.85, 0.1
LEAST, SMALLEST = 1e-4, 1e-9
DENSE, MOST_SEEN = 2_000, 20_000


class Neighbourhoods:
    """What the features of any pair are read from."""

    def __init__(self, links: sparse.csr_array, *, directed: bool = False):
        a = sparse.csr_array((links != 0).astype(float))
        both = sparse.csr_array(a.maximum(a.T))
        self.links, self.directed = a, directed
        self.indptr, self.indices = both.indptr.astype(np.int64), both.indices.astype(np.int64)
        self.degree = np.diff(self.indptr).astype(float)
        self.half = 1.0 / np.sqrt(np.maximum(self.degree, 1.0))
        self.around, self.beyond = both @ self.half, both @ self.degree
        self.sent, self.received = np.asarray(a.sum(axis=1)).ravel(), np.asarray(a.sum(axis=0)).ravel()
        self._walks: np.ndarray | None = None

    def features(self, pairs: np.ndarray) -> np.ndarray:
        """(m, 11), or (m, 15) of a directed graph; column BARE is the smaller degree."""
        pairs = np.ascontiguousarray(pairs, dtype=np.int64).reshape(-1, 2)
        order = np.argsort(pairs[:, 0], kind="stable")
        allocation, paths, linked, common = walk_pairs(self.indptr, self.indices, self.half, pairs, order).T
        i, j = pairs.T
        through = self.half[j] * self.around[j] + self.half[i] * self.around[i] - self.half[i] * self.half[j]
        paths = np.maximum(paths - linked * through, 0.0)
        degrees = self.degree[pairs] - linked[:, None]
        beyond = (self.beyond[pairs] - linked[:, None] * self.degree[pairs[:, ::-1]]) / np.maximum(degrees, 1.0)
        walks = np.maximum(self.walks(pairs, linked, order), SMALLEST)
        most_seen = len(self.indices) if len(self.degree) <= DENSE else MOST_SEEN
        columns = [
            np.log(degrees.min(axis=1) + 1.0),
            np.log(degrees.max(axis=1) + 1.0),
            np.log(allocation + FLOOR),
            np.log(paths + FLOOR),
            np.log(common + 1.0),
            common / np.maximum(degrees.sum(axis=1) - common, 1.0),
            distances(self.indptr, self.indices, pairs, linked > 0, order, FAR, max(most_seen, 1)),
            np.log(walks),
            np.log(walks * (degrees.sum(axis=1) + 2 * REST)),
            np.log(beyond.min(axis=1) + 1.0),
            np.log(beyond.max(axis=1) + 1.0),
        ]
        return np.column_stack(columns + (self._directions(i, j) if self.directed else []))

    def adjacency(self) -> sparse.csr_array:
        """The links, a directed graph taken both ways."""
        n = len(self.degree)
        return sparse.csr_array((np.ones(len(self.indices)), self.indices, self.indptr), shape=(n, n))

    def _directions(self, i: np.ndarray, j: np.ndarray) -> list[np.ndarray]:
        """What i sends and receives and what j does, neither to nor from the other."""
        there, back = (np.asarray(self.links[a, b]).ravel() for a, b in ((i, j), (j, i)))
        counts = (self.sent[i] - there, self.received[i] - back, self.sent[j] - back, self.received[j] - there)
        return [np.log(count + 1.0) for count in counts]

    def walks(self, pairs: np.ndarray, linked: np.ndarray, order: np.ndarray) -> np.ndarray:
        """k of each pair."""
        n = len(self.degree)
        if n > DENSE:
            return np.asarray(push_walks(self.indptr, self.indices, ALPHA, REST, LEAST, pairs, linked > 0, order))
        if self._walks is None:
            self._walks = np.linalg.inv(np.diag(self.degree + REST) - ALPHA * self.adjacency().toarray())
        i, j = pairs.T
        return _without(self._walks[i, i], self._walks[i, j], self._walks[j, j], linked)


def _without(ii: np.ndarray, ij: np.ndarray, jj: np.ndarray, linked: np.ndarray) -> np.ndarray:
    """Entry ij of the inverse when each linked pair takes 1 off both degrees, and its link out."""
    scale = ii * jj - ij * ij
    mine, across, theirs = jj / scale - linked, -ij / scale + ALPHA * linked, ii / scale - linked
    return np.where(linked > 0, -across / (mine * theirs - across * across), ij)


BARE = 0  # the column that is 0 where an end has no other link
