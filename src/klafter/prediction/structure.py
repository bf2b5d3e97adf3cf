"""The structural expert: what the neighbourhood of a pair says about its link, learned from the visible pairs.

A logistic regression, quadratic in
    log resource allocation      sum over common neighbours m of 1 / degree_m
    log paths of length three    sum over links u - v with u next to i and v next to j, of 1 / sqrt(degree_u degree_v)
    log degree product
each computed without the pair itself, so that a linked pair looks like an unlinked one. It speaks only in predictions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

from klafter.graph import Graph
from klafter.graph.units import distinct
from klafter.prediction.structure_kernels import walk_pairs

FLOOR = 1e-2  # added before the logarithm
MIN_LINKS = 5
MAX_LINKS, MAX_NONLINKS = 20_000, 60_000  # training pairs: all of a small graph, a sample of a large one


class Expert(NamedTuple):
    """The fitted regression: standardisation, coefficients and intercept."""

    centre: np.ndarray
    spread: np.ndarray
    coefficients: np.ndarray
    intercept: float


class Neighbourhoods:
    """What the features of any pair are read from, with the pair's own link taken out."""

    def __init__(self, links: sparse.csr_array):
        a = sparse.csr_array((links != 0).astype(float))
        both = sparse.csr_array(a.maximum(a.T))
        self.directed_links = a
        self.indptr, self.indices = both.indptr.astype(np.int64), both.indices.astype(np.int64)
        self.sent, self.received = np.asarray(a.sum(axis=1)).ravel(), np.asarray(a.sum(axis=0)).ravel()
        self.half = 1.0 / np.sqrt(np.maximum(np.diff(self.indptr), 1.0))
        self.around = both @ self.half

    def features(self, pairs: np.ndarray) -> np.ndarray:
        """(m, 3): log resource allocation, log paths of length three, log degree product."""
        pairs = np.ascontiguousarray(pairs, dtype=np.int64).reshape(-1, 2)
        i, j = pairs.T
        found = walk_pairs(self.indptr, self.indices, self.half, pairs, np.argsort(i, kind="stable"))
        allocation, paths, linked = found.T
        through = self.half[j] * self.around[j] + self.half[i] * self.around[i] - self.half[i] * self.half[j]
        paths = np.maximum(paths - linked * through, 0.0)
        own = np.asarray(self.directed_links[i, j]).ravel()
        product = (self.sent[i] - own + 1.0) * (self.received[j] - own + 1.0)
        return np.column_stack([np.log(allocation + FLOOR), np.log(paths + FLOOR), np.log(product)])


def _design(features: np.ndarray) -> np.ndarray:
    """Linear, square and product terms."""
    a, b, c = features.T
    return np.column_stack([a, b, c, a * a, b * b, c * c, a * b, a * c, b * c])


def fit_expert(graph: Graph, rng) -> tuple[Neighbourhoods, Expert | None]:
    """The expert of a graph, or None where there are too few links to learn from."""
    near = Neighbourhoods(graph.links)
    links, nonlinks = visible_links(graph, rng), visible_nonlinks(graph, rng)
    if len(links) < MIN_LINKS or len(nonlinks) < MIN_LINKS:
        return near, None
    design = _design(near.features(np.vstack([links, nonlinks])))
    y = np.repeat([1.0, 0.0], [len(links), len(nonlinks)])
    weight = np.where(y > 0, graph.n_links / len(links), (graph.n_dyads - graph.n_links) / len(nonlinks))
    centre, spread = np.average(design, axis=0, weights=weight), design.std(axis=0) + 1e-9
    beta = _logistic((design - centre) / spread, y, weight)
    return near, Expert(centre, spread, beta[1:], float(beta[0]))


def expert_logits(near: Neighbourhoods, expert: Expert, pairs: np.ndarray) -> np.ndarray:
    """What the expert alone thinks of each pair, in log odds."""
    design = (_design(near.features(pairs)) - expert.centre) / expert.spread
    return expert.intercept + design @ expert.coefficients


def _logistic(design: np.ndarray, y: np.ndarray, weight: np.ndarray, ridge: float = 1.0) -> np.ndarray:
    """Ridge logistic regression by Newton's method: a dozen 10 x 10 solves."""
    x = np.column_stack([np.ones(len(y)), design])
    beta = np.zeros(x.shape[1])
    beta[0] = np.log(np.average(y, weights=weight) / (1 - np.average(y, weights=weight)))
    penalty = np.array([1e-9] + [ridge] * design.shape[1])

    def value(b):
        eta = x @ b
        return (weight * (np.logaddexp(0.0, eta) - y * eta)).sum() + 0.5 * (penalty * b * b).sum()

    here = value(beta)
    for _ in range(50):
        p = expit(x @ beta)
        slope = x.T @ (weight * (p - y)) + penalty * beta
        curve = (x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        while (there := value(beta - step)) > here + 1e-12 * abs(here):
            step /= 2
        beta, fall, here = beta - step, here - there, there
        if fall < 1e-9 * abs(here):
            break
    return beta


def visible_links(graph: Graph, rng) -> np.ndarray:
    """Linked dyads, at most MAX_LINKS of them."""
    coo = sparse.coo_array(graph.links if graph.directed else sparse.triu(graph.links, 1))
    pairs = np.column_stack([coo.row, coo.col]).astype(np.int64)
    return pairs if len(pairs) <= MAX_LINKS else pairs[np.sort(rng.choice(len(pairs), MAX_LINKS, replace=False))]


def visible_nonlinks(graph: Graph, rng) -> np.ndarray:
    """Observed dyads without a link: all of a small graph, a sample of a large one."""
    n = graph.n_nodes
    if n * (n - 1) <= 2 * MAX_NONLINKS:
        pairs = np.argwhere(~np.eye(n, dtype=bool))
    else:
        pairs = rng.integers(0, n, (MAX_NONLINKS * 5 // 4, 2))
    if not graph.directed:
        units = distinct(np.minimum(*pairs.T) * n + np.maximum(*pairs.T))
        pairs = np.column_stack(np.divmod(units, n))
    taken = graph.links.astype(bool) + graph.hidden
    free = (pairs[:, 0] != pairs[:, 1]) & ~np.asarray(taken[pairs[:, 0], pairs[:, 1]]).ravel()
    return pairs[free][:MAX_NONLINKS] if n * (n - 1) > 2 * MAX_NONLINKS else pairs[free]
