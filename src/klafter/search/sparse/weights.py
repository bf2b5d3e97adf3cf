"""Strengths, background and degree factors: expectation-maximisation steps, none of which raises the objective.

    m_ij = E[count behind link ij] = x / (1 - e^-x), or y for counts
    w_k <- sum_{links in k} m_ij w_k / u_ij / P_k,   e likewise with P_all
    t_i <- (a + sum_j m_ij) / (a + sum_j r_j u_ij over observed j), one node after the other

Degree factors keep mean 1: the prior a sum(t - 1 - log t) is smallest there, and w and e take the scale.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from klafter.search.sparse.state import Problem, State, memberships
from klafter.search.sparse.tally_kernels import fit_rows, tally_rows
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights_kernels import factor_step
from klafter.search.sparse.workspace import open_workspace

FLOOR = 1e-12  # of the background: a link that nothing explains must stay possible


class Totals(NamedTuple):
    """Sums over all links and all pairs; the background stands last."""

    fit: float  # sum_links h
    credit: np.ndarray  # (K + 1,) expected counts
    pairs: np.ndarray  # (K + 1,) P_k
    sent: np.ndarray  # (n,) expected counts of each node as source (of all its links when undirected)
    received: np.ndarray


def totals(problem: Problem, state: State, pool: ThreadPool) -> Totals:
    """One pass over the links, for all but the objective."""
    sent, received = np.empty(problem.n), np.empty(problem.n)

    def work(*rows):
        return tally_rows(open_workspace(problem, state), *rows, sent, received, False)

    return _summed(problem, state, pool, work, sent, received)


def fit_totals(problem: Problem, state: State, pool: ThreadPool) -> Totals:
    """One pass for the objective alone, in half the time: no expected counts."""
    none = np.zeros(0)
    return _summed(problem, state, pool, lambda *rows: fit_rows(open_workspace(problem, state), *rows), none, none)


def _summed(problem: Problem, state: State, pool: ThreadPool, work, sent, received) -> Totals:
    def block(low, high):
        part = np.zeros((3, len(state.size) + 1))
        return work(low, high, part), part

    return as_totals(problem, state, pool.blocks(block, problem.n), sent, received)


def as_totals(problem: Problem, state: State, parts: list, sent, received) -> Totals:
    """The sum of parts (sum_links h, sums by community)."""
    fit = sum(part[0] for part in parts)
    credit, own, hidden = np.sum([part[1] for part in parts], axis=0)
    send_sum, receive_sum = (
        np.append(state.send_sum, state.send.sum()),
        np.append(state.receive_sum, state.receive.sum()),
    )
    return Totals(fit, credit, problem.pair_weight * (send_sum * receive_sum - own) - hidden, sent, received)


def objective_from(problem: Problem, state: State, sums: Totals) -> float:
    """Q = -sum_links h + e P_all + sum_k [w_k P_k + price(S_k)] + a sum_i (t_i - 1 - log t_i)."""
    loss = -sums.fit + state.strength @ sums.pairs[:-1] + state.background * sums.pairs[-1]
    return float(loss + prices(problem, state.size).sum() + factor_prior(problem, state))


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
    return sum(problem.shrinkage * float(np.sum(t - 1 - np.log(t))) for t in factors)


def parallel_step(problem: Problem, state: State, sums: Totals, *, factors: bool = True, hidden=None) -> State:
    """The same step with all degree factors at once.

    When t_i and t_j change together, t_i t_j <= (t_i^2 s_j/s_i + t_j^2 s_i/s_j) / 2 for their old values s, so with the
    old rate c_i the root of (c_i/s_i) t^2 + a t = a + m_i does not raise Q. Directed, either side is exact by itself.
    ``hidden(state)`` is what hidden dyads take from the rates as source and as target; None if there are none.
    """
    state = _new_strengths(state, sums)
    if not factors or not np.isfinite(problem.shrinkage):
        return state
    z, a = memberships(problem, state), problem.shrinkage
    send, receive = state.send, state.receive

    def rates(other, side):
        taken = 0.0 if hidden is None else hidden(state)[side]
        return np.maximum(_rates(z, state, other) - taken, 0.0)

    if problem.pair_weight == 1.0:
        send = (a + sums.sent) / (a + rates(receive, 0))
        state = state._replace(send=send)
        receive = (a + sums.received) / (a + rates(send, 1))
    else:
        c = rates(send, 0) / send
        send = receive = 2 * (a + sums.sent) / (a + np.sqrt(a * a + 4 * c * (a + sums.sent)))
    state = state._replace(send=send, receive=receive.copy(), send_sum=z.T @ send, receive_sum=z.T @ receive)
    return _rescaled(state)


def _rates(z, state: State, other: np.ndarray) -> np.ndarray:
    """sum_{j != i} r_j u_ij."""
    return (
        state.background * (other.sum() - other) + z @ (state.strength * (z.T @ other)) - (z @ state.strength) * other
    )


def _new_strengths(state: State, sums: Totals) -> State:
    """w and e from expected counts and pairs."""
    with np.errstate(divide="ignore", invalid="ignore"):
        new = np.where(sums.pairs > 0, sums.credit / sums.pairs, np.append(state.strength, state.background))
    state.strength[:] = new[:-1]
    return state._replace(background=max(float(new[-1]), min(FLOOR, state.background)))


def weight_step(problem: Problem, state: State, pool: ThreadPool, *, factors: bool = True) -> State:
    """One step of w, e and, if asked for, t, in place."""
    sums = totals(problem, state, pool)
    state = _new_strengths(state, sums)
    if factors and np.isfinite(problem.shrinkage):
        state = _factor_steps(problem, state, sums)
    return state


def _factor_steps(problem: Problem, state: State, sums: Totals, rounds: int = 2) -> State:
    ws, as_source = open_workspace(problem, state), (state.send, state.send_sum)
    for _ in range(rounds):
        if problem.pair_weight == 1.0:
            as_target = (state.receive, state.receive_sum)
            factor_step(ws, sums.sent, *as_source, *as_target, True)
            factor_step(ws, sums.received, *as_target, *as_source, False)
        else:
            factor_step(ws, sums.sent, *as_source, *as_source, True)
            state.receive[:], state.receive_sum[:] = state.send, state.send_sum
    return _rescaled(state)


def _rescaled(state: State) -> State:
    """Mean degree factors of 1, every x unchanged."""
    send, receive = state.send.mean(), state.receive.mean()
    state.send[:] /= send
    state.receive[:] /= receive
    state.send_sum[:] /= send
    state.receive_sum[:] /= receive
    state.strength[:] *= send * receive
    return state._replace(background=state.background * send * receive)
