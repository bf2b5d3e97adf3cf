"""How well each community is found again: by other restarts, or by fits to most of the links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from klafter.core.draws import Draw, Matrix
from klafter.graph import Graph
from klafter.graph.units import list_links
from klafter.models.results.cover import f1_table, pattern


def community_stability(z: Matrix, restarts: Sequence[Draw] | None) -> np.ndarray | None:
    """For each community, the F1 of its best match in another restart, averaged over those; None without others.

    The restart that gave the communities is the one that matches them best, and is left out.
    """
    mine = pattern(z)
    if restarts is None or len(restarts) < 2 or mine.shape[1] == 0:
        return None
    f1 = np.array([best_f1(mine, main_loadings(draw.memberships)) for draw in restarts])
    return np.asarray(np.delete(f1, np.argmax(f1.mean(axis=1)), axis=0).mean(axis=0))


def main_loadings(memberships: Matrix) -> sparse.csr_array:
    """One where a node loads at least half as much as where it loads most: all memberships when they are 0/1."""
    u = sparse.coo_array(memberships, dtype=float)
    most = np.zeros(u.shape[0])
    np.maximum.at(most, u.row, np.abs(u.data))
    keep = (np.abs(u.data) >= 0.5 * most[u.row]) & (u.data != 0)
    return sparse.csr_array((np.ones(keep.sum()), (u.row[keep], u.col[keep])), shape=u.shape)


def best_f1(x: sparse.csr_array, y: sparse.csr_array) -> np.ndarray:
    """The F1 of each community of x with its best match in y."""
    f1 = f1_table(x, y)
    return np.asarray(f1.max(axis=1).toarray()).ravel() if y.shape[1] else np.zeros(x.shape[1])


def hide_links(graph: Graph, share: float, rng: np.random.Generator) -> Graph:
    """The graph with some of its links, at random, among the dyads that nobody observed."""
    pairs, _ = list_links(graph)
    some = rng.choice(len(pairs), int(np.ceil(share * len(pairs))), replace=False)
    return graph.hide(pairs[some]) if len(some) else graph


def mean_best_f1(memberships: Matrix, others: Sequence[Any]) -> np.ndarray:
    """For each community, the F1 of its best match in another cover, averaged over covers."""
    mine = pattern(memberships)
    return np.asarray(np.mean([best_f1(mine, pattern(cover)) for cover in others], axis=0))
