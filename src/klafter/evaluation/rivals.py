"""Link predictors of the literature that need no model: rivals worth beating, besides the trivial baselines.

With A the visible links (either way, of a directed graph), D the degrees:

    L3                      sum over links u - v, u next to i and v next to j, of 1 / sqrt(d_u d_v)   (Kovacs 2019)
    local path              A^2 + 0.01 A^3                                                          (Lu, Jin, Zhou 2009)
    Katz                    (I - beta A)^-1 - I, beta half of what still converges                  (Katz 1953)
    personalised PageRank   (1 - 0.85) (I - 0.85 D^-1 A)^-1, both ways
    structural perturbation eigenvalues moved to first order by a tenth of the links, ten times     (Lu et al. 2015)
    low rank                the best approximation of A of rank sqrt(n), at most 50

All but L3 form n x n arrays: they are for graphs of at most MOST_NODES nodes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from klafter.graph import Graph
from klafter.prediction.features import FLOOR, Neighbourhoods

MOST_NODES = 5_000
PATHS = 3  # column of the features
EPSILON, ALPHA = 0.01, 0.85
PERTURBED, TIMES = 0.1, 10
MOST_RANKS = 50


def l3(graph: Graph, pairs: np.ndarray) -> np.ndarray:
    """Paths of length three, weighted by the degrees on the way."""
    return np.exp(Neighbourhoods(graph.links).features(pairs)[:, PATHS]) - FLOOR


def local_path(graph: Graph, pairs: np.ndarray) -> np.ndarray:
    """Paths of length two, and a hundredth of those of length three.

    Examples
    --------
    >>> graph = Graph(np.diag(np.ones(3), 1), directed=False)
    >>> local_path(graph, np.array([[0, 2], [0, 3]])).tolist()
    [1.0, 0.01]
    """
    a = both_ways(graph)
    two = a @ a
    return _entries(two + EPSILON * (two @ a), pairs)


def katz(graph: Graph, pairs: np.ndarray) -> np.ndarray:
    """All walks, those of one more step counted beta times."""
    a = both_ways(graph)
    beta = 0.5 / max(float(np.linalg.eigvalsh(a)[-1]), 1e-12)
    return _entries(np.linalg.inv(np.eye(len(a)) - beta * a), pairs)


def pagerank(graph: Graph, pairs: np.ndarray) -> np.ndarray:
    """Where a walk from i that returns home with chance 0.15 is, and one from j."""
    a = both_ways(graph)
    step = a / np.maximum(a.sum(axis=1, keepdims=True), 1.0)
    found = (1 - ALPHA) * np.linalg.inv(np.eye(len(a)) - ALPHA * step)
    return _entries(found + found.T, pairs)


def structural_perturbation(graph: Graph, pairs: np.ndarray) -> np.ndarray:
    """The adjacency that eigenvectors of nine tenths of the links expect."""
    rng, links = np.random.default_rng(0), np.argwhere(np.triu(both_ways(graph)))
    total = np.zeros(len(pairs))
    for _ in range(TIMES):
        out = links[rng.random(len(links)) < PERTURBED]
        a = both_ways(graph)
        a[out[:, 0], out[:, 1]] = a[out[:, 1], out[:, 0]] = 0.0
        values, vectors = np.linalg.eigh(a)
        moved = 2 * (vectors[out[:, 0]] * vectors[out[:, 1]]).sum(axis=0)
        total += ((vectors * (values + moved))[pairs[:, 0]] * vectors[pairs[:, 1]]).sum(axis=1)
    return total / TIMES


def low_rank(graph: Graph, pairs: np.ndarray) -> np.ndarray:
    """What the largest eigenvalues leave of A."""
    values, vectors = np.linalg.eigh(both_ways(graph))
    kept = np.argsort(-np.abs(values))[: min(MOST_RANKS, max(1, round(np.sqrt(len(values)))))]
    return ((vectors[:, kept] * values[kept])[pairs[:, 0]] * vectors[pairs[:, 1]][:, kept]).sum(axis=1)


RIVALS: dict[str, Callable[[Graph, np.ndarray], np.ndarray]] = {
    "L3": l3,
    "local path": local_path,
    "Katz": katz,
    "personalised PageRank": pagerank,
    "structural perturbation": structural_perturbation,
    "low rank": low_rank,
}


def both_ways(graph: Graph) -> np.ndarray:
    """The adjacency, a directed graph taken both ways, as a full array."""
    if graph.n_nodes > MOST_NODES:
        raise ValueError(
            f"These rivals form n x n arrays, for graphs of at most {MOST_NODES:,} nodes; this has {graph.n_nodes:,}. "
            "Use baselines=True, the trivial ones."
        )
    a = sparse.csr_array((graph.links != 0).astype(float))
    return np.asarray(a.maximum(a.T).toarray())


def _entries(matrix: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    return np.asarray(matrix[pairs[:, 0], pairs[:, 1]])
