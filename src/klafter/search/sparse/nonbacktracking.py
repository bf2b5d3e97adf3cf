"""Nonbacktracking embedding: which nodes are alike although hardly any links join them.

    W_0 = random signs (n, d),  W_1 = A W_0,  W_2 = A W_1 - D W_0,  W_s = A W_{s-1} - (D - 1) W_{s-2}

W_s sums the signs at the ends of all walks of s steps that never turn back, so rows of W_s agree as far as walks of
2 s steps join two nodes. Walks that may turn back stay around hubs; these see communities of a few links per member
(Krzakala et al. 2013, Spectral redemption in clustering sparse networks). What every node shares is taken out.
"""

import numpy as np
from scipy import sparse

from klafter.graph.dyads import ONE_KIND
from klafter.search.config import SEARCH
from klafter.search.sparse.state import Problem


def unexplained(problem: Problem, responsibility: np.ndarray) -> sparse.csr_array:
    """The links that the background explains for the most part, as a pattern of ones."""
    keep = responsibility > SEARCH.sparse.unexplained * problem.value
    start = np.concatenate([[0], np.cumsum(keep)])[problem.start]
    node = problem.node[keep]
    links = sparse.csr_array((np.ones(len(node), np.float32), node, start), shape=(problem.n, problem.n))
    links.sum_duplicates()  # a directed pair may be linked both ways
    links.data[:] = 1.0
    return links


def nonbacktracking_embedding(
    links: sparse.csr_array, rng: np.random.Generator, kind: np.ndarray = ONE_KIND
) -> np.ndarray:
    """Rows of unit length, (n, d), whose products measure the similarity of two nodes; 0 for nodes without links.

    In two modes walks of s steps end in one kind from a node of the first and in the other from one of the second: with
    those of s - 1 steps added, nodes of both kinds have ends in common. What all share is then taken out of each kind.
    Other rules of which kinds may be linked part the ends of walks likewise.
    """
    n = links.shape[0]
    degree = links.sum(axis=1).astype(np.float32)
    scale = np.float32(1 / np.sqrt(max((degree**2).sum() / max(degree.sum(), 1.0) - 1, 1.0)))
    before = rng.choice(np.array([-1, 1], np.float32), (n, SEARCH.sparse.embedding_width + 1))
    before[:, 0] = 1
    now, back = (links @ before) * scale, degree
    for _ in range(SEARCH.sparse.embedding_steps - 1):
        before, now = now, (links @ now) * scale - before * (back * scale**2)[:, None]
        back = degree - 1
    now = now + before if len(kind) else now
    own = now[:, 1:].copy()
    for side in [kind == c for c in range(kind.max(initial=0) + 1)] if len(kind) else [slice(None)]:
        common = now[side, 0] / max(np.linalg.norm(now[side, 0]), 1e-30)
        own[side] -= np.outer(common, common @ own[side])
    return own / np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-30)


def nearest(rows: np.ndarray, seed: int, number: int) -> np.ndarray:
    """The nodes most like the seed."""
    closeness = rows @ rows[seed]
    number = min(number, len(closeness))
    nodes = np.argpartition(-closeness, number - 1)[:number]
    return nodes[closeness[nodes] > 0].astype(np.int32)
