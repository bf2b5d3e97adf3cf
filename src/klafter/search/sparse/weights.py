"""The objective, and steps of affinities, background and degree factors, none of which raises it.

    m_ij = E[count behind link ij] = x / (1 - e^-x), or y for counts
    L_kl <- sum_{links from k to l} m_ij L_kl / u_ij / P_kl,   e likewise with P_all
    t_i <- (a + sum_j m_ij) / (a + sum_j r_j u_ij over observed j), one node after the other

Degree factors keep mean 1: the prior a sum(t - 1 - log t) is smallest there, and L and e take the scale.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from klafter.search.config import SEARCH
from klafter.search.sparse.affinities import n_off_diagonal, off_diagonal_pairs
from klafter.search.sparse.kernels.factors import factor_step
from klafter.search.sparse.kernels.sharing import shared_factor_step, shared_tally
from klafter.search.sparse.kernels.totals import fit_rows, tally_rows
from klafter.search.sparse.state import Problem, State, n_alive
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.workspace import open_workspace

FLOOR = 1e-12  # of the background: a link that nothing explains must stay possible


class Totals(NamedTuple):
    """Sums over all links and all pairs, by community, by off-diagonal affinity and the background last."""

    fit: float  # sum_links h
    credit: np.ndarray  # (K + m + 1,) expected counts
    pairs: np.ndarray  # (K + m + 1,) P_k, P_kl and P_all
    sent: np.ndarray  # (n,) expected counts of each node as source (of all its links when undirected)
    received: np.ndarray


def totals(problem: Problem, state: State, pool: ThreadPool, *, with_fit: bool = False) -> Totals:
    """One pass over the links; for the objective too if asked for."""
    sent, received = np.empty(problem.n), np.empty(problem.n)

    def work(ws, *rows):
        if state.shared:
            return shared_tally(ws, *rows, sent, received)
        return tally_rows(ws, *rows, sent, received, with_fit)

    return _summed(problem, state, pool, work, sent, received)


def fit_totals(problem: Problem, state: State, pool: ThreadPool) -> Totals:
    """One pass for the objective alone, in half the time: no expected counts."""
    if state.shared:
        return totals(problem, state, pool)
    none = np.zeros(0)
    return _summed(problem, state, pool, fit_rows, none, none)


def _summed(problem: Problem, state: State, pool: ThreadPool, work, sent, received) -> Totals:
    ws, shape = pool.opener(partial(open_workspace, problem, state)), no_totals(state).shape

    def block(low, high):
        part = np.zeros(shape)
        return work(ws(), low, high, part), part

    return as_totals(problem, state, pool.blocks(block, problem.n), sent, received)


def no_totals(state: State) -> np.ndarray:
    """Sums to be added to: expected counts, sum of t_i r_i and sum of a over hidden dyads."""
    return np.zeros((3, len(state.strength) + len(state.affinities.value) + 1))


def as_totals(problem: Problem, state: State, parts: list, sent, received) -> Totals:
    """The sum of parts (sum_links h, sums by affinity)."""
    fit = sum(part[0] for part in parts)
    credit, own, hidden = np.sum([part[1] for part in parts], axis=0)
    k, m = off_diagonal_pairs(state.affinities).T
    send_sum = np.concatenate([state.send_sum, state.send_sum[k], [state.send.sum()]])
    receive_sum = np.concatenate([state.receive_sum, state.receive_sum[m], [state.receive.sum()]])
    weight = np.full(len(own), problem.pair_weight)
    weight[len(state.size) : -1] = 1.0  # a pair of nodes may be linked from k to l and from l to k
    pairs = _permitted_sums(problem, state) if len(problem.kind) else send_sum * receive_sum
    return Totals(fit, credit, weight * (pairs - own) - hidden, sent, received)


def _permitted_sums(problem: Problem, state: State) -> np.ndarray:
    """(K + 1,) sum over pairs of kinds that may be linked of T_kc R_kd, and of those of all nodes; L is diagonal."""
    n_kinds = len(problem.linkable)
    every = [np.bincount(problem.kind, t, n_kinds) for t in (state.send, state.receive)]
    send, receive = (np.vstack([s, t]) for s, t in zip((state.send_by_kind, state.receive_by_kind), every))
    return np.asarray(((send @ problem.linkable) * receive).sum(axis=1))


def objective(problem: Problem, state: State, pool: ThreadPool | None = None) -> float:
    """Q, exact over all observed dyads."""
    return objective_from(problem, state, fit_totals(problem, state, pool or ThreadPool(1)))


def objective_from(problem: Problem, state: State, sums: Totals) -> float:
    """Q = -sum_links h + e P_all + sum L P + prices of communities and of off-diagonal affinities
    + a sum_i (t_i - 1 - log t_i)."""
    entries = np.concatenate([state.strength, state.affinities.value])
    loss = -sums.fit + entries @ sums.pairs[:-1] + state.background * sums.pairs[-1]
    loss = loss + prices(problem, state.size).sum() + factor_prior(problem, state) + held_price(state)
    number = n_off_diagonal(state.affinities)
    return float(loss + number * off_diagonal_price(problem, n_alive(state)) if number else loss)


def off_diagonal_price(problem: Problem, k: int) -> float:
    """lambda^2 + T (log M + log(links) / 2) of one off-diagonal affinity among k communities.

    M, the pairs of communities there are, is what it takes to say which pair; half a log of the observed counts is what
    one more rate takes (Schwarz).
    """
    pairs = problem.pair_weight * k * (k - 1)
    links = float(problem.value.sum()) / 2
    return problem.penalty + problem.temperature * (np.log(max(pairs, 1.0)) + 0.5 * np.log(max(links, 1.0)))


def held_price(state: State) -> float:
    """The sum over nodes of the price of the number of communities they hold."""
    return float(state.count_price[np.minimum(state.held, len(state.count_price) - 1)].sum())


def prices(problem: Problem, size: np.ndarray) -> np.ndarray:
    """lambda^2 + T (log S + log C(N, S)) of communities; nothing for empty ones."""
    some, n = np.maximum(size, 1), problem.n
    ways = gammaln(n + 1) - gammaln(some + 1) - gammaln(n - some + 1)
    return np.where(size > 0, problem.penalty + problem.temperature * (np.log(some) + ways), 0.0)


def factor_prior(problem: Problem, state: State) -> float:
    """a sum_i (t_i - 1 - log t_i), over r too when directed."""
    if not np.isfinite(problem.shrinkage):
        return 0.0
    factors = (state.send, state.receive) if problem.pair_weight == 1.0 else (state.send,)
    return sum(problem.shrinkage * float(np.sum(t - 1 - np.log(t))) for t in (t[t > 0] for t in factors))


def new_affinities(state: State, sums: Totals) -> State:
    """L and e from expected counts and pairs."""
    k, old = len(state.size), np.concatenate([state.strength, state.affinities.value, [state.background]])
    with np.errstate(divide="ignore", invalid="ignore"):
        new = np.where(sums.pairs > 0, sums.credit / sums.pairs, old)
    state.strength[:], state.affinities.value[:] = new[:k], new[k:-1]
    return state._replace(background=max(float(new[-1]), min(FLOOR, state.background)))


def weights(
    problem: Problem, state: State, pool: ThreadPool, *, factors: bool = True, rounds: int = SEARCH.sparse.weight_rounds
) -> State:
    """A few steps of L, e and, if asked for, t, in place."""
    for _ in range(rounds):
        sums = totals(problem, state, pool)
        state = new_affinities(state, sums)
        if factors and np.isfinite(problem.shrinkage):
            state = _factor_steps(problem, state, sums)
    return state


def _factor_steps(problem: Problem, state: State, sums: Totals, rounds: int = 2) -> State:
    ws, as_source = open_workspace(problem, state), (state.send, state.send_sum)
    step = shared_factor_step if state.shared else factor_step
    for _ in range(rounds):
        if problem.pair_weight == 1.0:
            as_target = (state.receive, state.receive_sum)
            step(ws, sums.sent, *as_source, *as_target, True)
            step(ws, sums.received, *as_target, *as_source, False)
        else:
            step(ws, sums.sent, *as_source, *as_source, True)
            state.receive[:], state.receive_sum[:] = state.send, state.send_sum
            state.receive_by_kind[:] = state.send_by_kind
    return rescaled(state)


def rescaled(state: State) -> State:
    """Mean degree factors of 1 among those that have one, every x unchanged."""
    send, receive = (t.sum() / max(np.count_nonzero(t), 1) for t in (state.send, state.receive))
    state.send[:] /= send
    state.receive[:] /= receive
    state.send_sum[:] /= send
    state.receive_sum[:] /= receive
    state.send_by_kind[:] /= send
    state.receive_by_kind[:] /= receive
    state.strength[:] *= send * receive
    state.affinities.value[:] *= send * receive
    return state._replace(background=state.background * send * receive)
