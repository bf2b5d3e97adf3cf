"""Where to draw nodes: a force layout that keeps linked nodes and members of a community together.

Linked nodes attract each other, members are drawn to the middle of their communities, and all nodes repel each other:

    f_i = sum_j a_ij (x_j - x_i) + sum_k z_ik (c_k - x_i) - g x_i + sum_j m_i m_j (x_i - x_j) / |x_i - x_j|^2

Each step moves a node by f_i over its stiffness, but no further than a temperature that falls to zero.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from klafter.report.cover import pattern

GRAVITY = 0.12
TOGETHER = 1.5  # pull of a community beside that of one link


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
    n = links.shape[0]
    if n < 2:
        return np.zeros((n, 2))
    near = pattern(links)
    near = near.maximum(near.T)
    share = _shares(pattern(memberships))
    x = _start(near, share, np.random.default_rng(random_state))
    degree = np.asarray(near.sum(axis=1)).ravel()
    mass = np.sqrt(1 + degree)
    pull = TOGETHER * np.sqrt(1 + degree) * (np.asarray(share[0].sum(axis=1)).ravel() > 0)
    for t in range(n_steps):
        x = _step(x, near, share, degree, mass, pull, _heat(t, n_steps, n))
    return _unit(x)


def _heat(t: int, n_steps: int, n: int) -> float:
    return 0.6 * np.sqrt(n) * (1 - t / n_steps) ** 1.5


def _shares(z: sparse.csr_array) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Rows that sum to one over a node's communities, and columns over a community's members."""
    rows = 1 / np.maximum(np.asarray(z.sum(axis=1)).ravel(), 1)
    columns = 1 / np.maximum(np.asarray(z.sum(axis=0)).ravel(), 1)
    return sparse.csr_array(z * rows[:, None]), sparse.csr_array((z * columns[None, :]).T)


def _start(near, share, rng) -> np.ndarray:
    """Two slow directions of a walk along links and through communities, a rough spectral layout."""
    x = rng.normal(size=(near.shape[0], 2))
    degree = np.maximum(np.asarray(near.sum(axis=1)).ravel(), 1)[:, None]
    for _ in range(30):
        x = 0.5 * x + 0.25 * (near @ x) / degree + 0.25 * (share[0] @ (share[1] @ x))
        x, _ = np.linalg.qr(x - x.mean(axis=0))
    n = len(x)
    return np.sqrt(n) * (np.sqrt(n) * x / 2 + rng.normal(scale=0.05, size=x.shape))


def _step(x, near, share, degree, mass, pull, heat: float) -> np.ndarray:
    centres = share[0] @ (share[1] @ x)
    force = near @ x - degree[:, None] * x + pull[:, None] * (centres - x) - GRAVITY * mass[:, None] * x
    force += _repulsion(x, mass)
    move = force / (degree + pull + GRAVITY * mass + 1)[:, None]
    length = np.linalg.norm(move, axis=1, keepdims=True)
    return x + move * np.minimum(1, heat / np.maximum(length, 1e-12))


def _repulsion(x: np.ndarray, mass: np.ndarray, rows: int = 1000) -> np.ndarray:
    """sum_j m_i m_j (x_i - x_j) / |x_i - x_j|^2, some rows at a time."""
    x32, m32 = x.astype(np.float32), mass.astype(np.float32)
    square = (x32**2).sum(axis=1)
    out = np.empty_like(x)
    for a in range(0, len(x), rows):
        part = x32[a : a + rows]
        distance = square[a : a + rows, None] + square[None, :] - 2 * part @ x32.T
        weight = m32[None, :] / np.maximum(distance, 0.01)
        out[a : a + rows] = part * weight.sum(axis=1, keepdims=True) - weight @ x32
    return out * mass[:, None]


def _unit(x: np.ndarray) -> np.ndarray:
    """Centred, the longest direction lying flat, half of the nodes within 0.5."""
    x = x - np.median(x, axis=0)
    x = x @ np.linalg.svd(x, full_matrices=False)[2].T
    return x / max(2 * float(np.median(np.linalg.norm(x, axis=1))), 1e-9)


def spacing(x: np.ndarray) -> float:
    """Distance between neighbours if nodes filled the picture evenly."""
    if len(x) < 2:
        return 1.0
    low, high = np.quantile(x, [0.02, 0.98], axis=0)
    return float(np.sqrt(np.prod(np.maximum(high - low, 1e-6)) / len(x)))


def separate(x: np.ndarray, radii: np.ndarray, n_steps: int = 60) -> np.ndarray:
    """Places where nodes of these radii do not overlap, near the given ones."""
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
