"""Weights of an LFR graph: strengths s_i = k_i^beta, of which the share mu_w goes to links between communities.

Weights w_ij = x_i x_j inside, and likewise outside, are found by iterative proportional fitting: x_i is changed until
the weights of node i add up. With direction, weights of the links that come to a node are equal, inside and outside.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from klafter.datasets.lfr_plan import Plan
from klafter.datasets.rewiring import Pairs

ROUNDS = 200
CLOSE = 1e-4  # relative error of every strength at which fitting ends
FARTHEST = 1e3  # factor between x_i and where it begins; strengths that cannot be met would send it to infinity


def fit_weights(inside: Pairs, outside: Pairs, plan: Plan, directed: bool) -> np.ndarray:
    """Weights of the links inside, then of those outside."""
    inner, outer = (pairs.degrees(plan.n, directed) for pairs in (inside, outside))
    strength = (inner + outer).astype(float) ** plan.beta
    within = np.where(outer == 0, 1.0, np.where(inner == 0, 0.0, 1 - plan.mu_w))  # as far as there are links
    fit = _weights_in if directed else _weights_between
    return np.append(fit(inside, strength * within, inner), fit(outside, strength * (1 - within), outer))


def _weights_in(pairs: Pairs, strength: np.ndarray, degree: np.ndarray) -> np.ndarray:
    return (strength / np.maximum(degree, 1))[pairs.second]


def _weights_between(pairs: Pairs, strength: np.ndarray, degree: np.ndarray) -> np.ndarray:
    n = len(strength)
    links = sparse.coo_array((np.ones(len(pairs.first)), (pairs.first, pairs.second)), shape=(n, n))
    links = sparse.csr_array(links + links.T)
    begin = np.sqrt(strength / np.maximum(degree, 1))
    x, linked = begin, degree > 0
    for _ in range(ROUNDS):
        reached = x * (links @ x)
        if np.allclose(reached[linked], strength[linked], rtol=CLOSE, atol=0):
            break
        x = x * np.sqrt(strength / np.where(reached > 0, reached, 1.0))
        x = np.clip(x, begin / FARTHEST, begin * FARTHEST)
    return x[pairs.first] * x[pairs.second]
