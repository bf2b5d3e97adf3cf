"""Slow, obvious formulas for the sparse engine: every dyad of an N x N array, nothing clever."""

import numpy as np
from scipy.special import gammaln


def exposures(z, w, e, t, r):
    """x_ij = t_i r_j (e + sum_k z_ik w_k z_jk), or with a matrix w, t_i r_j (e + sum_kl z_ik w_kl z_jl)."""
    return np.outer(t, r) * (e + z @ (w if np.ndim(w) == 2 else np.diag(w)) @ z.T)


def column_price(n, s, penalty, temperature):
    """lambda^2 + T (log S + log C(N, S))."""
    return penalty + temperature * (np.log(s) + gammaln(n + 1) - gammaln(s + 1) - gammaln(n - s + 1))


def off_diagonal_price(w, n_links, *, directed, penalty, temperature):
    """lambda^2 + T (log M + log(links) / 2) for every pair of communities with an affinity, M pairs in all."""
    n_pairs, number = len(w) * (len(w) - 1), np.count_nonzero(w - np.diag(np.diag(w)))
    if not directed:
        n_pairs, number = n_pairs / 2, number / 2
    return number * (penalty + temperature * (np.log(max(n_pairs, 1)) + 0.5 * np.log(n_links)))


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
