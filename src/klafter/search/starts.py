"""First memberships for the search."""

import numpy as np
from scipy import sparse

from klafter.core.families import FAMILIES
from klafter.core.problem import Problem, n_observed
from klafter.graph.dyads import Rows
from klafter.search.config import SEARCH
from klafter.search.modularity import louvain


def neighbourhoods(problem: Problem, n_communities: int, rng) -> np.ndarray:
    """Random linked nodes, each with its partners, as communities: (K, n) of 0/1."""
    n, links = problem.dyads.n, problem.dyads.links_out
    degree = np.diff(links.start).astype(float)
    z = np.zeros((n_communities, n), np.uint8)
    if not degree.any():
        z[np.arange(n_communities), rng.integers(0, n, n_communities)] = 1
        return z
    # more communities than linked nodes: some seeds come twice
    enough = n_communities <= (degree > 0).sum()
    for k, i in enumerate(rng.choice(n, n_communities, replace=not enough, p=degree / degree.sum())):
        z[k, links.node[links.start[i] : links.start[i + 1]]] = 1
        z[k, i] = 1
    return z


def partition(problem: Problem, rng) -> np.ndarray:
    """Groups of high modularity at a random resolution, those of a single node left out: (K, n) of 0/1.

    A cover in which everyone is somewhere: between that and a few in a few communities no single move lowers the score,
    so that searches from nothing hardly visit it.
    """
    n, links = problem.dyads.n, problem.dyads.links_out
    low, high = resolutions(problem)
    matrix = sparse.csr_array((np.maximum(links.value, 0.0), links.node, links.start), shape=(n, n))
    labels = louvain(matrix + matrix.T, 2.0 ** rng.uniform(low, high), rng)
    sizes = np.bincount(labels)
    return (labels == np.flatnonzero(sizes > 1)[:, None]).astype(np.uint8)


def is_of_many(problem: Problem) -> bool:
    """Whether there are so many nodes that a descent from nothing takes long and ends high; measured on 0/1 links."""
    return problem.law.logistic and problem.dyads.n > SEARCH.effort.hundreds


def resolutions(problem: Problem) -> tuple[float, float]:
    """Between which powers of 2 resolutions lie. Of many nodes a descent from a fine partition is short and ends low:

    two communities become one for the asking, and one in the place of two is hard to take apart.
    """
    spread = SEARCH.restart.partition_spread
    return SEARCH.restart.fine_partitions if is_of_many(problem) else (-spread, spread)


def above_the_mean(problem: Problem) -> Problem:
    """The same dyads as 0/1 links: those whose value is above the mean of all."""
    dyads, directed = problem.dyads, problem.dyads.directed
    mean = dyads.links_out.value.sum() / max(n_observed(problem), 1)
    out = _kept(dyads.links_out, mean)
    binary = dyads._replace(links_out=out, links_in=_kept(dyads.links_in, mean) if directed else out)
    return problem._replace(dyads=binary, law=FAMILIES["bernoulli"].law())


def _kept(links: Rows, mean: float) -> Rows:
    keep = links.value > mean
    start = np.concatenate([[0], np.cumsum(keep)])[links.start].astype(links.start.dtype)
    return Rows(start, links.node[keep], np.ones(keep.sum()))


def coin_flips(problem: Problem, n_communities: int, rng) -> np.ndarray:
    """The paper's start: each membership with probability one half."""
    return (rng.random((n_communities, problem.dyads.n)) < 0.5).astype(np.uint8)
