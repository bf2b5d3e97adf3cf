"""Positions of nodes: a force layout that keeps linked nodes and members of a community together.

Linked nodes attract each other, a node is attracted by the mean c_i of the centres of its communities, and all nodes
repel each other:

    f_i = sum_j a_ij (x_j - x_i) + p_i (c_i - x_i) - g m_i x_i + sum_j m_i m_j (x_i - x_j) / |x_i - x_j|^2

with m_i = sqrt(1 + d_i) for a node of d_i links, and p_i = 1.5 m_i for a node in any community, else 0. Each step moves
a node by f_i over the sum of the weights of its attractions, but no further than a limit that falls to zero.
"""

from __future__ import annotations

import numpy as np

from klafter.models.results.cover import pattern
from klafter.report.layout_kernels import lay_out

SHAPE = np.array([1.27, 1.0])  # of the drawing on a wide screen
FLIPS = np.array([[1, 1], [-1, 1], [1, -1], [-1, -1]])
TURNS = [np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in np.linspace(0, np.pi, 90, endpoint=False)]


def force_layout(links, memberships, *, n_steps: int = 250, random_state: int = 0) -> np.ndarray:
    """Positions of the nodes, (n, 2), centred, half of them within 0.5 of the centre.

    Parameters
    ----------
    links : (n, n) sparse array
        Values are ignored.
    memberships : (n, K) sparse array
    n_steps : int
    random_state : int

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> force_layout(csr_array([[0, 1], [1, 0]]), csr_array((2, 0))).shape
    (2, 2)
    """
    n, k = memberships.shape
    if n < 2:
        return np.zeros((n, 2))
    near = pattern(links)
    near, members = _rows(near.maximum(near.T)), _rows(memberships)
    rng = np.random.default_rng(random_state)
    x, noise = rng.normal(size=(2, n)), rng.normal(scale=0.05, size=(2, n))
    return _unit(lay_out(x, noise, near, members, k, n_steps).T)


def _rows(matrix) -> tuple[np.ndarray, np.ndarray]:
    """Row pointers and columns of the entries."""
    entries = pattern(matrix)
    return entries.indptr.astype(np.int64), entries.indices.astype(np.int64)


def _unit(x: np.ndarray) -> np.ndarray:
    """Centred, turned so that it fills a drawing that is wider than high, half of the nodes within 0.5."""
    x = _drawn_in(x - np.median(x, axis=0))
    x = x @ min(TURNS, key=lambda turn: max(np.ptp(x @ turn, axis=0) / SHAPE))
    # the corner below on the right, where the page has its buttons, is the one farthest from all nodes
    x = x * max(FLIPS, key=lambda flip: np.linalg.norm(x * flip - (x * flip).max(axis=0), axis=1).min())
    return x / max(2 * float(np.median(np.linalg.norm(x, axis=1))), 1e-9)


def _drawn_in(x: np.ndarray) -> np.ndarray:
    """Nodes farther out than most, as chains of links are, come nearer and stay farthest: r to q (1 + log(r/q))."""
    r = np.linalg.norm(x, axis=1)
    q = max(float(np.quantile(r, 0.8)), 1e-9)
    return x * np.where(r > q, (1 + np.log(np.maximum(r, q) / q)) * q / np.maximum(r, q), 1.0)[:, None]


def spacing(x: np.ndarray) -> float:
    """Distance between neighbours if nodes filled the drawing evenly."""
    if len(x) < 2:
        return 1.0
    low, high = np.quantile(x, [0.02, 0.98], axis=0)
    return float(np.sqrt(np.prod(np.maximum(high - low, 1e-6)) / len(x)))


def separate(x: np.ndarray, radii: np.ndarray, n_steps: int = 60) -> np.ndarray:
    """Positions where nodes of these radii do not overlap, near the given ones."""
    from scipy.spatial import cKDTree

    x = x + np.random.default_rng(0).normal(scale=1e-4, size=x.shape)
    for _ in range(n_steps):
        pairs = cKDTree(x).query_pairs(2 * float(radii.max()), output_type="ndarray")
        gap = x[pairs[:, 0]] - x[pairs[:, 1]]
        length = np.linalg.norm(gap, axis=1)
        short = np.maximum(radii[pairs].sum(axis=1) - length, 0)
        if not (short > 1e-4 * radii.max()).any():
            break
        push = gap * (0.5 * short / np.maximum(length, 1e-9))[:, None]
        np.add.at(x, pairs[:, 0], push)
        np.add.at(x, pairs[:, 1], -push)
    return x
