"""The objective and the weights of the sparse engine over shards, all degree factors at once."""

import numpy as np

from klafter.search.cluster import shards as at
from klafter.search.cluster.executor import ShardExecutor
from klafter.search.cluster.versions import snapshot_of
from klafter.search.config import SEARCH
from klafter.search.sparse.state import Problem, State, memberships
from klafter.search.sparse.weights import Totals, as_totals, new_affinities, objective_from, rescaled


def totals(frame: Problem, state: State, executor: ShardExecutor, *, factors: bool = True) -> Totals:
    """Sums over all links, reduced in the order of the shards; expected counts of nodes only for ``factors``."""
    parts = executor.each(at.tally, snapshot_of(frame, state), [factors] * (len(executor.bounds) - 1))
    sent, received = (np.concatenate([part[i] for part in parts]) for i in (2, 3))
    return as_totals(frame, state, [part[:2] for part in parts], sent, received)


def objective(frame: Problem, state: State, executor: ShardExecutor) -> float:
    """Q, exact over all dyads."""
    return objective_from(frame, state, totals(frame, state, executor, factors=False))


def weights(
    frame: Problem,
    state: State,
    executor: ShardExecutor,
    rounds: int = SEARCH.sparse.weight_rounds,
    factors: bool = True,
) -> State:
    """Steps of w, e and t."""

    def hidden(state):
        return np.concatenate(executor.each(at.hidden_rates, snapshot_of(frame, state)), axis=1)

    for _ in range(rounds):
        sums = totals(frame, state, executor, factors=factors and np.isfinite(frame.shrinkage))
        state = parallel_step(frame, state, sums, factors=factors, hidden=hidden if len(frame.hidden_node) else None)
    return state


def parallel_step(problem: Problem, state: State, sums: Totals, *, factors: bool = True, hidden=None) -> State:
    """The same step with all degree factors at once.

    When t_i and t_j change together, t_i t_j <= (t_i^2 s_j/s_i + t_j^2 s_i/s_j) / 2 for their old values s, so with the
    old rate c_i the root of (c_i/s_i) t^2 + a t = a + m_i does not raise Q. Directed, either side is exact by itself.
    ``hidden(state)`` is what hidden dyads take from the rates as source and as target; None if there are none.
    """
    state = new_affinities(state, sums)
    if not factors or not np.isfinite(problem.shrinkage):
        return state
    z, a = memberships(problem, state), problem.shrinkage
    send, receive = state.send, state.receive

    def rates(other, side):
        taken = 0.0 if hidden is None else hidden(state)[side]
        return np.maximum(_rates(z, state, other) - taken, 0.0)

    if problem.pair_weight == 1.0:
        send = np.where(send > 0, (a + sums.sent) / (a + rates(receive, 0)), 0.0)
        state = state._replace(send=send)
        receive = np.where(receive > 0, (a + sums.received) / (a + rates(send, 1)), 0.0)
    else:
        c = rates(send, 0) / send
        send = receive = 2 * (a + sums.sent) / (a + np.sqrt(a * a + 4 * c * (a + sums.sent)))
    state = state._replace(send=send, receive=receive.copy(), send_sum=z.T @ send, receive_sum=z.T @ receive)
    return rescaled(state)


def _rates(z, state: State, other: np.ndarray) -> np.ndarray:
    """sum_{j != i} r_j u_ij."""
    return (
        state.background * (other.sum() - other) + z @ (state.strength * (z.T @ other)) - (z @ state.strength) * other
    )
