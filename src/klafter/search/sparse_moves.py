"""Splits, merges and deaths: trades proposed in parallel against one state, accepted in order by their exact gain.

With ``local`` only communities that changed since a split of them was last tried are looked at.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from klafter.search.sparse_births import NOTHING, scratch_space, what_is_owed
from klafter.search.sparse_parallel import Crew
from klafter.search.sparse_splits_kernels import second_vector
from klafter.search.sparse_state import Problem, State, members, memberships, restless, with_room, without_empty
from klafter.search.sparse_trades_kernels import make_trade, trade_gain

EDGE, CERTAIN = 1.08, 0.485  # a split needs an eigenvalue above 1.08 times a random graph's, 1/sqrt(d), or 0.485
TURNS = 60  # of power iteration
UNEXPLAINED, ATTRACTION = 0.5, 0.2  # owed share that makes a link unexplained; links between two, of those inside
PARTNERS = 4  # that share the members of a community given up
OVERLAP = 0.15  # share of the smaller community that two have in common before a merge is tried


class Trade(NamedTuple):
    """Communities ``out`` for columns z (q, m) of strengths w on some nodes."""

    gain: float
    out: np.ndarray
    nodes: np.ndarray
    z: np.ndarray
    w: np.ndarray


def accept(problem: Problem, state: State, trades: list, crew: Crew) -> tuple[State, int]:
    """Make the trades that gain, best first, each community once; returns the state and how many were made."""
    space = crew.scratch(lambda: scratch_space(problem.n), problem.n)
    good = sorted((t for t in trades if t is not None and t.gain > 0), key=lambda t: (-t.gain, t.out[0]))
    used = len(state.size)
    state = with_room(state, sum(max(len(t.w) - len(t.out), 0) for t in good))
    gone: set[int] = set()
    made = 0
    for trade in good:
        if gone.intersection(trade.out.tolist()):
            continue
        if trade_gain(problem, state, trade.nodes, trade.out, trade.z, trade.w, 0, space.local) <= 0:
            continue
        extra = max(len(trade.w) - len(trade.out), 0)
        into = np.concatenate([trade.out, np.arange(used, used + extra)])[: len(trade.w)]
        make_trade(problem, state, trade.nodes, trade.out, into, trade.z, trade.w)
        state.tested[into] = 0
        gone.update(trade.out.tolist())
        used, made = used + extra, made + 1
    return state, made


def splits(problem: Problem, state: State, crew: Crew) -> tuple[State, int]:
    """Cut communities in two where the second eigenvector says so."""
    start, nodes = members(problem, state)
    trades = crew.map(
        lambda k: _split(problem, state, k, nodes[start[k] : start[k + 1]], crew),
        np.flatnonzero(restless(state) & (state.size > 5)),
    )
    state.tested[:] = state.size
    return accept(problem, state, trades, crew)


def _split(problem: Problem, state: State, k: int, nodes: np.ndarray, crew: Crew) -> Trade | None:
    space = crew.scratch(lambda: scratch_space(problem.n), problem.n)
    vector = np.sin(1.0 + np.arange(len(nodes)) * 2.399963)  # any start that is not special
    value, degree = second_vector(problem, state, nodes, k, space.local, vector, TURNS)
    if value < min(EDGE / np.sqrt(max(degree, 1e-12)), CERTAIN):
        return None
    low, high = np.quantile(vector, [1 / 3, 2 / 3])
    starts = ((vector > 0, vector <= 0), (vector > high, vector <= high), (vector > low, vector <= low))
    trades = [
        _trade(problem, state, [k], nodes, np.stack(start), np.full(2, 1.5 * state.strength[k]), space)
        for start in starts
    ]
    return max(trades, key=lambda trade: trade.gain)


def _trade(problem, state, out, nodes, z, w, space, rounds: int = 12) -> Trade:
    out = np.array(out, np.int64)
    gain = trade_gain(problem, state, nodes, out, z, w, rounds, space.local)
    empty = (z.sum(axis=1) < 2).any()
    return Trade(-1.0 if empty else gain, out, nodes, z, w)


def merges(problem: Problem, state: State, crew: Crew, *, local: bool = False) -> tuple[State, int]:
    """Make one of two communities that overlap or have links to explain between them."""
    start, nodes = members(problem, state)

    def work(pair):
        k, m = pair
        both = np.union1d(nodes[start[k] : start[k + 1]], nodes[start[m] : start[m + 1]])
        space = crew.scratch(lambda: scratch_space(problem.n), problem.n)
        w = np.array([max(state.strength[k], state.strength[m])])
        return _trade(problem, state, [k, m], both, np.ones((1, len(both)), bool), w, space)

    pairs = overlapping(problem, state, local)
    if not local:
        pairs = sorted(set(pairs) | set(attracted(problem, state, crew)))
    return accept(problem, state, crew.map(work, pairs), crew)


def dissolves(problem: Problem, state: State, crew: Crew, *, local: bool = False) -> tuple[State, int]:
    """Give up a community, or all of it but what is its own, to those that overlap it most.

    A union of several communities explains too little to let its parts, once found, take all their members.
    """
    start, nodes = members(problem, state)
    partners = _partners(problem, state, local)

    def work(k):
        others = partners[k]
        parts = [nodes[start[m] : start[m + 1]] for m in others]
        every = np.unique(np.concatenate([nodes[start[k] : start[k + 1]], *parts]))
        space = crew.scratch(lambda: scratch_space(problem.n), problem.n)
        z = np.stack([np.isin(every, part) for part in parts])
        rest = np.isin(every, nodes[start[k] : start[k + 1]]) & ~z.any(axis=0)
        w = state.strength[[*others, k]]
        without = _trade(problem, state, [*others, k], every, z.copy(), w[:-1].copy(), space)
        reduced = _trade(problem, state, [*others, k], every, np.vstack([z, rest]), w, space)
        return max(without, reduced, key=lambda trade: trade.gain)

    return accept(problem, state, crew.map(work, sorted(partners)), crew)


def _partners(problem: Problem, state: State, local: bool) -> dict[int, list[int]]:
    """The communities that each community overlaps most."""
    z = memberships(problem, state)
    pairs = overlapping(problem, state, local)
    near: dict[int, list[int]] = {}
    for k, m in pairs:
        near.setdefault(k, []).append(m)
        near.setdefault(m, []).append(k)
    if not pairs:
        return {}
    common = sparse.csr_array(z.T @ z)
    return {k: sorted(some, key=lambda m: (-common[k, m], m))[:PARTNERS] for k, some in near.items()}


def overlapping(problem: Problem, state: State, local: bool = False) -> list[tuple[int, int]]:
    """Pairs of communities that have much of the smaller in common."""
    z = memberships(problem, state)
    common = (z.T @ z).tocoo()
    smaller = np.minimum(state.size[common.row], state.size[common.col])
    close = (common.row < common.col) & (common.data > OVERLAP * smaller)
    if local:
        close &= restless(state)[common.row] | restless(state)[common.col]
    return list(zip(common.row[close].tolist(), common.col[close].tolist()))


def attracted(problem: Problem, state: State, crew: Crew) -> list[tuple[int, int]]:
    """Pairs of communities with many unexplained links between them, as the halves of one have."""
    owed, _ = what_is_owed(problem, state, crew)
    keep = np.concatenate([[0], np.cumsum(owed > UNEXPLAINED)])[problem.start]
    shape = (problem.n, problem.n)
    links = sparse.csr_array((owed[owed > UNEXPLAINED], problem.node[owed > UNEXPLAINED], keep), shape=shape)
    z = memberships(problem, state)
    between = (z.T @ (links @ z)).tocoo()
    weight = problem.half * 2 * np.sqrt(state.send_sum * state.receive_sum)
    k, m = between.row, between.col
    expected = weight[k] * weight[m] * np.minimum(state.strength[k], state.strength[m])
    close = (k < m) & (between.data > ATTRACTION * expected)
    return list(zip(k[close].tolist(), m[close].tolist()))


def deaths(problem: Problem, state: State, crew: Crew, *, local: bool = False) -> tuple[State, int]:
    """Give up communities that are worth less than their price."""
    return accept(problem, state, farewells(problem, state, crew, local), crew)


def farewells(problem: Problem, state: State, crew: Crew, local: bool = False) -> list[Trade]:
    """Each community for nothing: the gain is minus its worth."""
    start, nodes = members(problem, state)
    none = np.zeros(0)

    def work(k):
        mine, out = nodes[start[k] : start[k + 1]], np.array([k])
        space = crew.scratch(lambda: scratch_space(problem.n), problem.n)
        z = np.zeros((0, len(mine)), bool)
        return Trade(trade_gain(problem, state, mine, out, z, none, 0, space.local), out, mine, z, none)

    return crew.map(work, np.flatnonzero((state.size > 0) & (restless(state) | (not local))))


def without_weakest(problem: Problem, state: State, crew: Crew, share: float) -> State:
    """The state without those communities that are worth least for a member."""
    trades = sorted(farewells(problem, state, crew), key=lambda trade: -trade.gain / len(trade.nodes))
    for trade in trades[: int(np.ceil(share * len(trades)))]:
        make_trade(problem, state, trade.nodes, trade.out, NOTHING, trade.z, trade.w)
    return without_empty(problem, state)
