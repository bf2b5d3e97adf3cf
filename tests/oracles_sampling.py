"""Slow and obvious oracles of the samplers: exact posteriors by enumeration, simulators of prior and data, z-scores."""

from functools import cache
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import betaln, gammaln, logsumexp

from klafter.graph.dyads import Dyads, Rows


def dyads_of(hidden: np.ndarray, directed: bool) -> list[tuple[int, int]]:
    """The observed dyads, row by row."""
    n = len(hidden)
    return [(i, j) for i in range(n) for j in range(n) if (i != j if directed else i < j) and not hidden[i, j]]


class SmallGraph(NamedTuple):
    """What samplers read of a Graph, made from dense arrays in microseconds; y is 0 where hidden."""

    y: np.ndarray
    mask: np.ndarray
    directed: bool
    dyads: Dyads
    covariates: MappingProxyType = MappingProxyType({})
    second_kind: None = None
    rule: None = None

    @property
    def n_nodes(self) -> int:
        return len(self.y)

    @property
    def links(self) -> sparse.csr_array:
        return sparse.csr_array(self.y)

    @property
    def hidden(self) -> sparse.csr_array:
        return sparse.csr_array(self.mask)

    @property
    def n_links(self) -> int:
        return np.count_nonzero(self.y) // (1 if self.directed else 2)

    @property
    def n_dyads(self) -> int:
        return len(dyads_of(self.mask, self.directed))


def small_graph(y: np.ndarray, hidden: np.ndarray, directed: bool) -> SmallGraph:
    n, out, mask = len(y), _rows(y), _mask(hidden.tobytes(), len(y))
    back, mask_back = (_rows(y.T), _mask(hidden.T.tobytes(), n)) if directed else (out, mask)
    none, which = _mask(bytes(n * n), n), np.zeros(0, np.int32)
    return SmallGraph(y, hidden, directed, Dyads(n, directed, out, back, mask, mask_back, none, none, which, which))


@cache
def _mask(bits: bytes, n: int) -> Rows:
    """Rows of a matrix of bool, which nobody writes to."""
    return _rows(np.frombuffer(bits, bool).reshape(n, n))


def _rows(matrix: np.ndarray) -> Rows:
    row, node = np.nonzero(matrix)
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(matrix)))])
    return Rows(start.astype(np.int64), node.astype(np.int32), matrix[row, node].astype(float))


def fill(dyads, values, n: int, directed: bool) -> np.ndarray:
    """The matrix of the given dyads' values."""
    y = np.zeros((n, n))
    for (i, j), value in zip(dyads, values):
        y[i, j] = value
        if not directed:
            y[j, i] = value
    return y


# Comparing a chain with the truth


def batch_error(trace: np.ndarray, n_batches: int = 40) -> np.ndarray:
    """Monte Carlo standard error of the mean of each column, by batch means."""
    size = len(trace) // n_batches
    means = trace[: size * n_batches].reshape(n_batches, size, -1).mean(axis=1)
    return means.std(axis=0, ddof=1) / np.sqrt(n_batches)


def visit_scores(visited: list, exact: dict) -> np.ndarray:
    """z-score of how often a chain visited each state that has noticeable probability."""
    states = [s for s, p in exact.items() if p > 2e-3]
    place = {s: c for c, s in enumerate(states)}
    trace = np.zeros((len(visited), len(states)))
    for t, s in enumerate(visited):
        if s in place:
            trace[t, place[s]] = 1.0
    p = np.array([exact[s] for s in states])
    error = np.maximum(batch_error(trace), np.sqrt(p * (1 - p) / len(visited)))
    return (trace.mean(axis=0) - p) / error


def drift_scores(chains: list) -> np.ndarray:
    """Geweke's test by short chains: z-scores of how far they drift from where they began.

    Each chain begins at its own draw of parameters and data from the model, and alternates the sampler with new data.
    If the sampler is right every later state is such a draw too, so the drift has mean 0; chains are independent,
    so that the error needs no guess at the autocorrelation within them.
    """
    drift = np.array([np.mean(chain[1:], axis=0) - chain[0] for chain in np.asarray(chains, float)])
    return drift.mean(axis=0) / (drift.std(axis=0, ddof=1) / np.sqrt(len(drift)))


def worst(scores: np.ndarray) -> float:
    return float(np.abs(scores).max())


# Infinite relational model


def partitions(n: int):
    """All partitions of n nodes, blocks numbered by first member."""
    if n == 0:
        yield ()
        return
    for head in partitions(n - 1):
        for k in range(max(head, default=-1) + 2):
            yield (*head, k)


def first_member(labels) -> tuple:
    """The same partition with blocks numbered by first member."""
    seen: dict = {}
    return tuple(seen.setdefault(k, len(seen)) for k in labels)


def block_evidence(y, dyads, z, family: str, prior, directed: bool) -> float:
    """log p(y | z), block pair by block pair."""
    cells: dict = {}
    for i, j in dyads:
        cell = (z[i], z[j]) if directed else tuple(sorted((z[i], z[j])))
        cells.setdefault(cell, []).append(y[i, j])
    (a, b), total = prior, 0.0
    for values in cells.values():
        c, d = sum(values), len(values)
        if family == "bernoulli":
            total += betaln(a + c, b + d - c) - betaln(a, b)
        else:
            total += gammaln(a + c) - gammaln(a) + a * np.log(b) - (a + c) * np.log(b + d)
    return float(total)


def crp(z, alpha) -> np.ndarray:
    """log p(z | alpha), for an array of alpha."""
    sizes = np.bincount(z)
    seats = gammaln(sizes).sum() + len(sizes) * np.log(alpha)
    return seats + gammaln(alpha) - gammaln(alpha + len(z))


def alpha_grid(prior):
    """A grid of a gamma distributed parameter, even in its logarithm, and log weights."""
    shape, rate = prior
    alpha = np.exp(np.linspace(-14, 5, 2000))
    return alpha, shape * np.log(alpha) - rate * alpha


def normalised(log_p: dict) -> dict:
    total = logsumexp(list(log_p.values()))
    return {s: float(np.exp(v - total)) for s, v in log_p.items()}


def irm_posterior(y, hidden, directed: bool, engine) -> dict:
    """p(z | y) of every partition, the concentration integrated out."""
    alpha, weight = alpha_grid(engine.concentration_prior)
    dyads = dyads_of(hidden, directed)
    return normalised(
        {
            z: block_evidence(y, dyads, z, engine.family, engine.prior, directed) + logsumexp(crp(z, alpha) + weight)
            for z in partitions(len(y))
        }
    )


def irm_prior(n: int, engine, rng):
    """alpha from its prior, then blocks one customer at a time."""
    shape, rate = engine.concentration_prior
    alpha = rng.gamma(shape) / rate
    z = [0]
    for _ in range(n - 1):
        weights = np.append(np.bincount(z), alpha)
        z.append(_pick(weights, rng))
    return np.array(z, np.int64), alpha


def _pick(weights, rng) -> int:
    """An index in proportion to weights."""
    total = np.cumsum(weights)
    return int(np.searchsorted(total, rng.random() * total[-1], side="right"))


def irm_data(z, hidden, directed: bool, engine, rng) -> np.ndarray:
    """Links given blocks: fresh eta, then y."""
    (a, b), k, n = engine.prior, max(z) + 1, len(z)
    binary = engine.family == "bernoulli"
    eta = rng.beta(a, b, (k, k)) if binary else rng.gamma(a, 1 / b, (k, k))
    dyads = dyads_of(hidden, directed)
    cells = [(z[i], z[j]) if directed else tuple(sorted((z[i], z[j]))) for i, j in dyads]
    return fill(dyads, [rng.random() < eta[c] if binary else rng.poisson(eta[c]) for c in cells], n, directed)


# Mixed membership blockmodel


def role_counts(y, dyads, roles, n: int, k: int, directed: bool):
    """n_ik and tau^y_kl of the roles, dyad by dyad."""
    shares, role_pairs = np.zeros((n, k)), np.zeros((2, k, k))
    for (i, j), (s, r) in zip(dyads, roles):
        shares[i, s] += 1
        shares[j, r] += 1
        value = int(y[i, j] != 0)
        role_pairs[value, s, r] += 1
        if not directed and s != r:
            role_pairs[value, r, s] += 1
    return shares, role_pairs


def log_dirichlet(shares, alpha) -> np.ndarray:
    """log p(roles | alpha), for an array of alpha."""
    k, total = shares.shape[1], 0.0
    for row in shares:
        total = total + gammaln(k * alpha) - gammaln(k * alpha + row.sum())
        for count in row:
            total = total + gammaln(alpha + count) - gammaln(alpha)
    return total


def mmsb_posterior(y, hidden, directed: bool, engine) -> dict:
    """p(roles | y) of every assignment of roles, alpha integrated out."""
    n, k, (c1, c0) = len(y), engine.n_communities, engine.prior
    alpha, weight = alpha_grid(engine.alpha_prior)
    dyads, out = dyads_of(hidden, directed), {}
    for flat in product(range(k), repeat=2 * len(dyads)):
        shares, role_pairs = role_counts(y, dyads, np.reshape(flat, (-1, 2)), n, k, directed)
        cells = betaln(c1 + role_pairs[1], c0 + role_pairs[0]) - betaln(c1, c0)
        links = cells.sum() if directed else np.triu(cells).sum()
        out[flat] = links + logsumexp(log_dirichlet(shares, alpha) + weight)
    return normalised(out)


def mmsb_prior(n: int, dyads, engine, rng):
    """alpha, proportions, then the roles of every dyad."""
    shape, rate = engine.alpha_prior
    alpha = max(rng.gamma(shape) / rate, 1e-12)
    k = engine.n_communities
    pi = np.array([_dirichlet(alpha, k, rng) for _ in range(n)])
    roles = [[_pick(pi[i], rng), _pick(pi[j], rng)] for i, j in dyads]
    return np.array(roles, np.int16), alpha


def _dirichlet(alpha: float, k: int, rng) -> np.ndarray:
    """A symmetric Dirichlet draw in logarithms, safe for small alpha."""
    log_gamma = np.log(rng.gamma(alpha + 1, size=k)) + np.log(rng.random(k)) / alpha
    return np.exp(log_gamma - logsumexp(log_gamma))


def mmsb_data(roles, dyads, n: int, directed: bool, engine, rng) -> np.ndarray:
    """Links given roles: fresh eta, then y."""
    k, (c1, c0) = engine.n_communities, engine.prior
    eta = rng.beta(c1, c0, (k, k))
    if not directed:
        eta = np.triu(eta) + np.triu(eta, 1).T
    return fill(dyads, [rng.random() < eta[s, r] for s, r in roles], n, directed)


# Edge partition model


def epm_prior(n: int, engine, rng, size: int) -> dict:
    """Many draws of all parameters from the prior."""
    k = engine.n_communities
    hyper = {
        name: _gammas(*engine.hyper_prior, (size,), rng) for name in ("inflation", "precision", "mass", "mass_rate")
    }
    shape = _gammas(*engine.shape_prior, (size, n), rng)
    rate = _gammas(*engine.rate_prior, (size, n), rng)
    phi = rng.gamma(np.repeat(shape[:, :, None], k, axis=2)) / rate[:, :, None]
    # in logarithms: shapes near 0 make draws that vanish
    power = np.repeat(hyper["mass"][:, None] / k, k, axis=1)
    log_weights = (
        np.log(rng.gamma(power + 1)) + np.log(rng.random((size, k))) / power - np.log(hyper["mass_rate"])[:, None]
    )
    r = np.exp(log_weights)
    shapes = r[:, :, None] * r[:, None, :]
    shapes[:, range(k), range(k)] = hyper["inflation"][:, None] * r
    upper = np.triu(rng.gamma(shapes) / hyper["precision"][:, None, None])
    affinities = upper + np.triu(upper, 1).transpose(0, 2, 1)
    return {
        "loadings": phi,
        "shape": shape,
        "rate": rate,
        "affinities": affinities,
        "log_weights": log_weights,
        **hyper,
    }


def _gammas(shape: float, rate: float, size, rng) -> np.ndarray:
    return np.maximum(rng.gamma(shape, size=size) / rate, 1e-300)


def epm_rates(loadings, affinities) -> np.ndarray:
    """phi_i' L phi_j of all pairs."""
    return loadings @ affinities @ np.swapaxes(loadings, -1, -2)


def epm_data(state, hidden, engine, rng) -> np.ndarray:
    """Links or counts given all parameters."""
    n = len(hidden)
    counts = np.triu(rng.poisson(np.minimum(epm_rates(state.loadings, state.affinities), 1e6)), 1).astype(float)
    if engine.family == "bernoulli":
        counts = (counts > 0).astype(float)
    return np.where(hidden, 0.0, counts + counts.T) * (1 - np.eye(n))
