"""Slow and obvious oracles of the LFRM sampler: the exact posterior of small graphs, and draws from the prior."""

from itertools import combinations_with_replacement, product

import numpy as np
import oracles
from oracles_sampling import dyads_of, fill
from scipy.special import comb, factorial, gammaln, logsumexp

from klafter.core.families import FAMILIES
from klafter.core.problem import Priors, State
from klafter.core.responses import RESPONSES


def log_buffet(columns, n: int, alpha: float) -> float:
    """log p of a class of Z: alpha^K / prod_h K_h! exp(-alpha H_N) prod_k (N - S_k)! (S_k - 1)! / N!."""
    s = np.array([sum(c) for c in columns], float)
    repeats = np.array([columns.count(c) for c in set(columns)], float)
    log_p = len(columns) * np.log(alpha) - gammaln(repeats + 1).sum() - alpha * np.sum(1 / np.arange(1, n + 1))
    return float(log_p + (gammaln(n - s + 1) + gammaln(s) - gammaln(n + 1)).sum())


def log_counts(columns, n: int, penalty: float) -> float:
    """log p of a class of Z with learned counts, up to the norm: how many hold m, who, sizes, stubs; any order."""
    k, z = len(columns), np.array(columns, int).reshape(len(columns), n)
    if k == 0:
        return 0.0
    held, sizes = z.sum(axis=0), z.sum(axis=1)
    repeats = np.array([columns.count(c) for c in set(columns)])
    numbers = comb(n + k, k) * factorial(n) / np.prod(factorial(np.bincount(held)))
    stubs = factorial(z.sum()) / np.prod(factorial(sizes)) / np.prod(factorial(held))
    names = factorial(k) / np.prod(factorial(repeats))
    return float(np.log(names) - np.log(numbers * comb(z.sum() - 1, k - 1) * stubs) - penalty * k)


def draw_parameters(n: int, k: int, problem, size: int, rng) -> tuple:
    """W, b, s and r from their priors, so many of each."""
    priors, directed = problem.priors, problem.dyads.directed
    fold = np.abs if problem.lower == 0.0 else (lambda a: a)
    w = fold(rng.normal(size=(size, k, k))) / np.sqrt(priors.offdiagonal)
    for c in range(k):
        w[:, c, c] *= np.sqrt(priors.offdiagonal / priors.diagonal)
    if not directed:
        w = np.triu(w) + np.swapaxes(np.triu(w, 1), 1, 2)
    b = fold(rng.normal(size=size)) / np.sqrt(priors.offset) * problem.has_offset
    s = fold(rng.normal(size=(size, n))) / np.sqrt(priors.sociality) * problem.has_sociality
    r = fold(rng.normal(size=(size, n))) / np.sqrt(priors.sociality) * problem.has_sociality if directed else s
    return w, b, s, r


def log_evidence(y, dyads, z, problem, size: int, rng) -> float:
    """log p(y | Z): the likelihood averaged over parameters from the prior."""
    n, k = z.shape
    family = next(f for f in FAMILIES.values() if f.code == problem.law.code)
    w, b, s, r = draw_parameters(n, k, problem, size, rng)
    total = np.zeros(size)
    for i, j in dyads:
        x = b + s[:, i] + r[:, j] + z[i] @ w @ z[j] if k else b + s[:, i] + r[:, j]
        total -= oracles.losses(family.name, y[i, j], x, problem.law.precision)
    return float(logsumexp(total) - np.log(size))


def posterior(y, hidden, problem, most: int = 4, size: int = 6_000, seed: int = 0) -> dict:
    """Probability of each class of Z with up to so many communities."""
    n, penalty, rng = len(y), problem.priors.penalty, np.random.default_rng(seed)
    dyads = dyads_of(hidden, problem.dyads.directed)
    possible = [c for c in product((0, 1), repeat=n) if any(c)]
    answer = {}
    for k in range(most + 1):
        for columns in combinations_with_replacement(possible, k):
            z = np.array(columns, float).reshape(k, n).T
            prior = log_counts(columns, n, penalty) if problem.counts else log_buffet(columns, n, np.exp(-penalty))
            answer[oracles.left_ordered(z.T.astype(int))] = prior + log_evidence(y, dyads, z, problem, size, rng)
    total = logsumexp(list(answer.values()))
    return {z: float(np.exp(log_p - total)) for z, log_p in answer.items()}


def draw_buffet(n: int, alpha: float, rng) -> np.ndarray:
    """Memberships (K, n) from the Indian buffet, customer by customer."""
    columns: list = []
    for i in range(n):
        for c in columns:
            c[i] = int(rng.random() < sum(c) / (i + 1))
        columns += [[int(j == i) for j in range(n)] for _ in range(rng.poisson(alpha / (i + 1)))]
    return np.array(columns, np.uint8).reshape(len(columns), n)


def draw_counts(n: int, penalty: float, rng) -> np.ndarray:
    """Memberships (K, n) with learned counts, by rejection: stubs of nodes and of communities are joined at random.

    Where a node meets a community twice, or there are fewer memberships than communities, all is drawn again.
    """
    while True:
        k = int(rng.geometric(1 - np.exp(-penalty))) - 1
        if k == 0:
            return np.zeros((0, n), np.uint8)
        bars = np.sort(rng.choice(n + k, k, replace=False))  # stars and bars: any histogram of 0, ..., k equally likely
        n_holding = np.diff(np.concatenate([[-1], bars, [n + k]])) - 1
        held = rng.permutation(np.repeat(np.arange(k + 1), n_holding))
        if held.sum() < k:
            continue
        cuts = np.sort(rng.choice(held.sum() - 1, k - 1, replace=False)) + 1
        sizes = np.diff(np.concatenate([[0], cuts, [held.sum()]]))
        z = np.zeros((k, n), np.int64)
        np.add.at(z, (rng.permutation(np.repeat(np.arange(k), sizes)), np.repeat(np.arange(n), held)), 1)
        if z.max() <= 1:
            return z.astype(np.uint8)


def draw_priors(priors: Priors, shape: float, scales, rng) -> Priors:
    """alpha ~ Gamma(1, 1), and 1 / sw^2 ~ Gamma(shape, rate shape scale^2), on the diagonal and off it."""
    diagonal, off = (rng.gamma(shape, 1 / (shape * scale**2)) for scale in scales)
    return priors._replace(penalty=-np.log(rng.gamma(1.0)), diagonal=diagonal, offdiagonal=off)


def draw_state(problem, rng) -> State:
    """Everything from the prior."""
    n, directed = problem.dyads.n, problem.dyads.directed
    penalty = problem.priors.penalty
    z = draw_counts(n, penalty, rng) if problem.counts else draw_buffet(n, np.exp(-penalty), rng)
    w, b, s, r = draw_parameters(n, len(z), problem, 1, rng)
    sender = s[0]
    return State(z, w[0], b, sender, r[0] if directed else sender, np.zeros(0))


def draw_data(problem, state: State, hidden, rng) -> np.ndarray:
    """Link values given the state; 0 where hidden."""
    z = state.z.T.astype(float)
    x = state.offset[0] + state.sender[:, None] + state.receiver[None, :] + z @ state.w @ z.T
    family = next(f for f in FAMILIES.values() if f.code == problem.law.code)
    dyads = dyads_of(hidden, problem.dyads.directed)
    values = RESPONSES[family.response].draw(np.array([x[d] for d in dyads]), rng, problem.law.precision)
    return fill(dyads, values, len(x), problem.dyads.directed)
