"""Draws: one set of parameters each, all that prediction needs. Every model's answer is an average over its draws.

    x_ij = b + s_i + r_j + u_i' W u_j + g' v_ij

u_i are memberships: 0/1 for K-LAFTER and LFRM, one-hot for IRM, proportions for MMSB, loadings for EPM and, with the
degree factor and the background folded in, for the sparse engine of K-LAFTER.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

AT_ONCE = 100_000  # pairs, so that memory stays small
MANY = 16  # dyads of the graph for each pair up to which all are computed


class Draw(NamedTuple):
    """Parameters of one fit, one restart or one kept sweep."""

    memberships: sparse.csr_array  # (n, K)
    affinities: sparse.csr_array | np.ndarray  # (K, K)
    offset: float = 0.0
    sender: np.ndarray | None = None  # (n,)
    receiver: np.ndarray | None = None  # (n,), the sender's when undirected
    coefficients: np.ndarray | None = None  # (p,)


def predictor(draw: Draw, pairs: np.ndarray, covariates=()) -> np.ndarray:
    """x of each pair, shape (m,)."""
    i, j = pairs[:, 0], pairs[:, 1]
    reach = draw.memberships @ draw.affinities
    x = np.full(len(pairs), float(draw.offset))
    if sparse.issparse(reach):
        x += np.asarray(reach[i].multiply(draw.memberships[j]).sum(axis=1)).ravel()
    elif draw.affinities.size:
        x += _row_dot(draw.memberships, reach, i, j)
    if draw.sender is not None and draw.receiver is not None:
        x += draw.sender[i] + draw.receiver[j]
    for g, v in zip(draw.coefficients if draw.coefficients is not None else (), covariates):
        x += g * np.asarray(v[i, j]).ravel()
    return x


def _row_dot(memberships, reach, i, j) -> np.ndarray:
    """reach_i . u_j for each pair: from all of them where that is less work, else some pairs at a time."""
    n = len(reach)
    if n * n <= MANY * len(i):
        return np.asarray(memberships @ reach.T)[j, i]
    out = np.empty(len(i))
    for start in range(0, len(i), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        rows = memberships[j[part]]
        dense = rows.toarray() if sparse.issparse(rows) else rows
        out[part] = np.einsum("mk,mk->m", reach[i[part]], dense)
    return out
