"""Slow, obvious formulas for the sparse engine: every dyad of an N x N array, nothing clever."""

import numpy as np
from scipy.special import gammaln


def exposures(z, w, e, t, r):
    """x_ij = t_i r_j (e + sum_k z_ik w_k z_jk)."""
    return np.outer(t, r) * (e + (z * w) @ z.T)


def column_price(n, s, penalty, temperature):
    """lambda^2 + T (log S + log C(N, S))."""
    return penalty + temperature * (np.log(s) + gammaln(n + 1) - gammaln(s + 1) - gammaln(n - s + 1))


def dyad_loss(y, x, counts):
    """Minus the log likelihood of each dyad, up to a term in y alone."""
    if counts:
        return x - np.where(y > 0, y * np.log(x), 0.0)
    return np.where(y > 0, -np.log(-np.expm1(-x)), x)


def objective(y, observed, z, w, e, t, r, *, directed, counts, penalty, temperature, shrinkage):
    """Q over every observed dyad, each unordered pair once when undirected."""
    n = len(y)
    use = observed & ~np.eye(n, dtype=bool)
    if not directed:
        use &= np.triu(np.ones((n, n), bool), 1)
    q = dyad_loss(y, exposures(z, w, e, t, r), counts)[use].sum()
    q += sum(column_price(n, s, penalty, temperature) for s in z.sum(axis=0) if s > 0)
    if np.isfinite(shrinkage):
        q += shrinkage * (t - 1 - np.log(t)).sum()
        if directed:
            q += shrinkage * (r - 1 - np.log(r)).sum()
    return q


def average_f1(truth, found):
    """Mean of the best F1 of each true community and of each found one."""
    overlap = (truth.T @ found).astype(float)
    overlap = overlap.toarray() if hasattr(overlap, "toarray") else np.asarray(overlap)
    sizes = np.asarray(truth.sum(axis=0)).ravel()[:, None] + np.asarray(found.sum(axis=0)).ravel()[None, :]
    f1 = 2 * overlap / sizes
    return 0.5 * (f1.max(axis=1).mean() + f1.max(axis=0).mean())
