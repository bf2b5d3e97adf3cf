"""The score F of a state of the sparse engine: minus the log joint probability of links and memberships.

    F = -log P(y | Z, theta) - log P(theta) + 1/2 log det H - (d/2) log 2 pi + price(Z)

at the mode of theta = (log L, log e, log t, log r), with the diagonal of H. Affinities and the background have the
prior Gamma(1, 1), and degree factors Gamma(a, a) up to its constant; the curvatures are the expected counts that each
explains, and a more for a factor. So F stands beside that of the dense engine without any factor between them.
"""

import numpy as np
from scipy.special import gammaln

from klafter.search.sparse.affinities import n_off_diagonal
from klafter.search.sparse.state import Problem, State, n_alive
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import Totals, factor_prior, prices, totals

LOG_2_PI = np.log(2 * np.pi)


def score(problem: Problem, state: State, pool: ThreadPool | None = None, *, counts: bool = False) -> float:
    """F, with the buffet's price of the cover or that of learned counts."""
    return given_cover(problem, state, pool) + cover_price(problem, state, counts)


def cover_price(problem: Problem, state: State, counts: bool) -> float:
    """lambda^2 K and T times the price of the memberships."""
    return counts_price(problem, state) if counts else float(prices(problem, state.size).sum())


def given_cover(problem: Problem, state: State, pool: ThreadPool | None = None) -> float:
    """F without the price of the cover."""
    sums = totals(problem, state, pool or ThreadPool(1), with_fit=True)
    entries = np.concatenate([state.strength, state.affinities.value, [state.background]])
    value = -sums.fit + entries @ sums.pairs + factor_prior(problem, state)
    pairs = problem.pair_weight * n_alive(state) * (n_alive(state) - 1)
    which = n_off_diagonal(state.affinities) * (problem.penalty + problem.temperature * np.log(max(pairs, 1.0)))
    return float(value + which + problem.temperature * evidence(problem, state, entries, sums))


def evidence(problem: Problem, state: State, entries: np.ndarray, sums: Totals) -> float:
    """What affinities, background and degree factors cost when they are integrated out."""
    some = entries > 0
    rates, expected = entries[some], sums.credit[some]
    total = (rates - np.log(rates) + 0.5 * np.log(expected + rates) - 0.5 * LOG_2_PI).sum()
    a = problem.shrinkage / max(problem.temperature, 1e-12)
    if np.isfinite(problem.shrinkage):
        constant = gammaln(a) - a * np.log(a) + a - 0.5 * LOG_2_PI
        sides = [(sums.sent, state.send), (sums.received, state.receive)]
        for expected, factors in sides if problem.pair_weight == 1.0 else sides[:1]:
            total += (constant + 0.5 * np.log(a + expected[factors > 0])).sum()
    return float(total)


def counts_price(problem: Problem, state: State) -> float:
    """The price of a cover by learned counts; see ``klafter.core.cover_price``."""
    size, held, n = state.size[state.size > 0].astype(float), state.held.astype(float), problem.n
    k, e = len(size), held.sum()
    if k == 0:
        return 0.0
    holding = np.bincount(state.held)
    numbers = _log_choose(n + k, k) + gammaln(n + 1) - gammaln(holding + 1).sum() - gammaln(k + 1)
    which = _log_choose(e - 1, k - 1) + gammaln(e + 1) - gammaln(size + 1).sum() - gammaln(held + 1).sum()
    return float(problem.penalty * k + problem.temperature * (numbers + which))


def _log_choose(n: float, k: float) -> float:
    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
