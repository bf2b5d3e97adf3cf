"""Exchanges: communities given up for others, proposed in parallel against one state and accepted in order.

Births, deaths, merges, splits and reassignments are all exchanges. The gain of one is exact: the loss on the subgraph
of its nodes with the old columns less the loss with the new ones. Off-diagonal affinities of what is given up end.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from klafter.search.config import SEARCH
from klafter.search.moves.proposal import CHECKED, check_claim, is_accepted
from klafter.search.sparse.affinities import n_off_diagonal, off_diagonal_pairs, partners, touching, without_pairs_of
from klafter.search.sparse.kernels.exchange import apply_exchange, improve_either, improve_exchange
from klafter.search.sparse.kernels.off_diagonal import pairs_between
from klafter.search.sparse.refusals import Refusals
from klafter.search.sparse.state import Problem, State, members, n_alive, with_slots
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import objective, off_diagonal_price
from klafter.search.sparse.workspace import Workspace, open_workspace

NOTHING = np.zeros(0, np.int64)
ROUNDS = SEARCH.sparse.exchange_rounds


class Exchange(NamedTuple):
    """Communities ``out`` for columns z (q, m) of strengths w on some nodes, and the fall of the objective."""

    move: str
    gain: float
    out: np.ndarray
    nodes: np.ndarray
    z: np.ndarray
    w: np.ndarray


class Members(NamedTuple):
    """The members of each community."""

    start: np.ndarray
    nodes: np.ndarray

    def of(self, k: int) -> np.ndarray:
        return self.nodes[self.start[k] : self.start[k + 1]]

    def among(self, nodes: np.ndarray, k: int) -> np.ndarray:
        """Which of some nodes, in order and all members of k among them, are members of k."""
        found = np.zeros(len(nodes), bool)
        found[np.searchsorted(nodes, self.of(k))] = True
        return found


def members_of(problem: Problem, state: State) -> Members:
    """The members of each community of a state."""
    return Members(*members(problem, state))


def concerned(state: State, inside: Members, out) -> np.ndarray:
    """The members of communities given up, and of those with an off-diagonal affinity to them, in order."""
    every = out if state.affinities.diagonal else partners(state.affinities, out)
    return inside.of(out[0]) if len(every) == 1 else np.unique(np.concatenate([inside.of(k) for k in every]))


def own_local(problem: Problem, pool: ThreadPool) -> np.ndarray:
    """This thread's array of -1, one for each row of a problem."""
    rows = len(problem.start) - 1
    return pool.scratch(lambda: np.full(rows, -1), ("local", rows))


def propose(
    move: str,
    problem,
    state,
    out,
    nodes,
    z,
    w,
    pool: ThreadPool,
    *,
    rounds: int = ROUNDS,
    most_loss: float = np.inf,
) -> Exchange:
    """An exchange whose columns and strengths are improved in place; of no gain if a column has less than two nodes."""
    out = np.array(out, np.int64)
    gain = exchange_gain(problem, state, nodes, out, z, w, rounds, own_local(problem, pool), most_loss=most_loss)
    return Exchange(move, gain if has_two_each(z) else min(gain, -1.0), out, nodes, z, w)


def has_two_each(z: np.ndarray) -> bool:
    """Whether every column has two nodes or more."""
    return bool((z.sum(axis=1) >= 2).all())


def propose_either(
    move: str, problem, state, out, nodes, columns: Sequence[tuple[np.ndarray, np.ndarray]], pool: ThreadPool
) -> list[Exchange]:
    """Two exchanges of the same communities, for columns and strengths that are improved in place."""
    ws, out, rounds, (first, second) = open_workspace(problem, state), np.array(out, np.int64), ROUNDS, columns
    gains = improve_either(ws, nodes, out, *first, *second, rounds, own_local(problem, pool))
    proposals = []
    for gain, (z, w) in zip(gains, columns):
        gain += 0.0 if state.affinities.diagonal else off_diagonal_gain(ws, problem, state, nodes, out, z)
        proposals.append(Exchange(move, gain if has_two_each(z) else min(gain, -1.0), out, nodes, z, w))
    return proposals


def exchange_gain(
    problem: Problem, state: State, nodes, out, z, w, rounds: int, local: np.ndarray, *, most_loss: float = np.inf
) -> float:
    """The gain of giving up ``out`` for columns z (q, m) of strengths w on ``nodes``, first improved in place.

    One that loses more than ``most_loss`` after its first round is improved no further.
    """
    ws = open_workspace(problem, state)
    gain = improve_exchange(ws, nodes, out, z, w, rounds, most_loss, local)
    return gain if state.affinities.diagonal else gain + off_diagonal_gain(ws, problem, state, nodes, out, z)


def off_diagonal_gain(ws: Workspace, problem: Problem, state: State, nodes, out, z) -> float:
    """What an exchange gains apart from links: the pairs and prices of affinities that end, and what another number of
    communities does to the price of those that stay."""
    affinities, before = state.affinities, n_alive(state)
    ends, gain = touching(affinities, out), 0.0
    if len(ends):
        pairs = off_diagonal_pairs(affinities)
        gain = sum(affinities.value[m] * pairs_between(ws, nodes, *pairs[m]) for m in ends)
    after = before - int(np.count_nonzero(state.size[out])) + int(np.count_nonzero(z.any(axis=1)))
    stay = n_off_diagonal(affinities)
    gain += stay * off_diagonal_price(problem, before)
    return gain - (stay - np.count_nonzero(affinities.value[ends] > 0)) * off_diagonal_price(problem, after)


def carry_out(problem: Problem, state: State, exchange: Exchange, into: np.ndarray) -> State:
    """Give up ``out``; the columns become communities ``into``."""
    nodes, out = exchange.nodes, exchange.out
    apply_exchange(open_workspace(problem, state), nodes, out, into, exchange.z, exchange.w)
    state.size_at_split[into], state.size_at_merge[into] = 0, 0
    if state.affinities.diagonal or not len(out):
        return state
    return state._replace(affinities=without_pairs_of(state.affinities, out))


def checked(problem: Problem, pool: ThreadPool, state: State, exchange: Exchange, gain: float, into) -> State:
    """Carry out an exchange; in tests its gain is compared with the fall of the objective."""
    before = objective(problem, state, pool) if CHECKED else 0.0
    state = carry_out(problem, state, exchange, into)
    if CHECKED:
        check_claim(exchange.move, before, gain, objective(problem, state, pool))
    return state


def in_order(proposals: Sequence[Exchange | None]) -> list[Exchange]:
    """The exchanges that gain, best first."""
    good = [exchange for exchange in proposals if exchange is not None and exchange.gain > 0]
    return sorted(good, key=lambda e: (-e.gain, e.out[:1].tolist(), int(e.nodes[0])))


def accept(state: State, proposals: list[Exchange], gain_now: Callable, carry: Callable) -> tuple[State, int, set[int]]:
    """Carry out exchanges, in their order, each community once; returns the state, how many, and of which communities.

    ``gain_now(state, number, made)`` is the gain of one after those in ``made``, or a bound of it from below, and
    ``carry(state, exchange, gain, into)`` the state after it.
    """
    used = len(state.size)
    made: list[int] = []
    extra = [max(len(exchange.w) - len(exchange.out), 0) for exchange in proposals]
    state = with_slots(state, sum(extra))
    gone: set[int] = set()
    for number, exchange in enumerate(proposals):
        affinities, out = state.affinities, exchange.out
        busy = (out if affinities.diagonal else partners(affinities, out)).tolist()
        if gone.intersection(busy) or not is_accepted(gain := gain_now(state, number, made)):
            continue
        into = np.concatenate([out, np.arange(used, used + extra[number])])[: len(exchange.w)]
        state = carry(state, exchange, gain, into)
        gone.update(busy)
        made.append(number)
        used += extra[number]
    return state, len(made), gone


def accept_exact(problem: Problem, state: State, proposals: list, pool: ThreadPool) -> tuple[State, int, set[int]]:
    """Carry out the exchanges that gain, best first, each by its exact gain after those before it."""
    good, local = in_order(proposals), own_local(problem, pool)

    def gain_now(state, number, made):
        _, _, out, nodes, z, w = good[number]
        return exchange_gain(problem, state, nodes, out, z, w, 0, local)

    return accept(state, good, gain_now, partial(checked, problem, pool))


def in_turns(
    problem: Problem,
    state: State,
    groups: list,
    proposed: Callable,
    pool: ThreadPool,
    refused: Refusals | None = None,
) -> tuple[State, int]:
    """Try exchanges of groups of communities, likeliest first, in turns in which no two share a community.

    What shares one with an exchange that was made waits for the next step, so little is worked out in vain; the last
    turn tries all that is left.
    """
    made = 0
    for turn in range(SEARCH.sparse.disjoint_turns + 1):
        now = groups if turn == SEARCH.sparse.disjoint_turns else disjoint(groups)
        proposals = pool.map(partial(proposed, state), now)
        if refused is not None:
            for group, proposal in zip(now, proposals, strict=True):
                refused.note(group, proposal.gain)
        state, more, exchanged = accept_exact(problem, state, proposals, pool)
        tried = set(now)
        groups = [group for group in groups if group not in tried and exchanged.isdisjoint(group)]
        made += more
    return state, made


def disjoint(groups: list[tuple]) -> list[tuple]:
    """Groups, first come first served, of which no two share a member."""
    some: list[tuple] = []
    busy: set[int] = set()
    for group in groups:
        if busy.isdisjoint(group):
            some.append(group)
            busy.update(group)
    return some
