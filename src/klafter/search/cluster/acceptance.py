"""Acceptance of exchanges that were proposed against one state on many neighbourhoods, in one pass on the client.

One exchange changes the gain of another only by links inside the nodes of both (a hidden dyad counts in each community
by itself). Shards count these links, and an exchange is taken where the most that they could change leaves a gain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from klafter.search.cluster import shards as at
from klafter.search.cluster.acceptance_kernels import carry_out_all, choose
from klafter.search.cluster.executor import ShardExecutor
from klafter.search.cluster.versions import snapshot_of
from klafter.search.config import SEARCH
from klafter.search.sparse.exchange import Exchange, in_order
from klafter.search.sparse.state import Problem, State, with_slots, without_empty
from klafter.search.sparse.workspace import open_workspace


class Plans(NamedTuple):
    """Exchanges side by side: the parts of number e lie from start[e] to start[e + 1]."""

    gain: np.ndarray
    doubt: np.ndarray  # what a link that another exchange changed could take from the gain
    out_start: np.ndarray
    out: np.ndarray
    node_start: np.ndarray
    nodes: np.ndarray
    z_start: np.ndarray
    z: np.ndarray  # column after column


class Table(NamedTuple):
    """A sparse table by rows."""

    start: np.ndarray
    other: np.ndarray
    value: np.ndarray


def accept_bounded(
    frame: Problem, state: State, proposals: list[Exchange], executor: ShardExecutor
) -> tuple[State, int]:
    """Carry out exchanges, best first, that gain whatever those before them changed; each community once.

    Of births that are pieces of one community, as their links say, the best is taken: flips bring the rest to it.
    """
    good = in_order(proposals)
    if not good:
        return state, 0
    plans = plans_of(frame, state, good)
    across, shared = links_between(frame, state, plans, executor)
    alike = pieces(across, plans, state.background)
    ws, room = open_workspace(frame, state), np.diff(frame.start) - state.held
    taken = choose(ws, plans, shared, alike, np.zeros(len(state.size), np.bool_), room)
    return carried_out(frame, state, good, plans, taken), int(taken.sum())


def carried_out(frame: Problem, state: State, good: list[Exchange], plans: Plans, taken: np.ndarray) -> State:
    """The state after the exchanges taken, all at once."""
    columns, out = np.array([len(e.w) for e in good]) * taken, np.diff(plans.out_start)
    used, extra = len(state.size), np.maximum(columns - out, 0) * taken
    state, new = with_slots(state, int(extra.sum())), used + np.cumsum(extra) - extra
    into_start = _starts(columns)
    into = np.zeros(into_start[-1], np.int64)
    for e in np.flatnonzero(taken).tolist():
        mine = np.concatenate([good[e].out, np.arange(new[e], new[e] + extra[e])])[: columns[e]]
        into[into_start[e] : into_start[e + 1]] = mine
    carry_out_all(open_workspace(frame, state), plans, taken, into, into_start)
    state.strength[into] = np.concatenate([np.zeros(0), *(good[e].w for e in np.flatnonzero(taken))])
    state.size_at_split[into], state.size_at_merge[into] = 0, 0
    return without_empty(state)


def plans_of(frame: Problem, state: State, good: list[Exchange]) -> Plans:
    """Exchanges side by side, with what a link could take from the gain of each.

    h(a (u + W)) - h(a u) <= a W + log(1 + W/e) for u >= e, at most twice for each link.
    """
    node_start, out_start = _starts([len(e.nodes) for e in good]), _starts([len(e.out) for e in good])
    z_start = _starts([e.z.size for e in good])
    nodes, out = np.concatenate([e.nodes for e in good]), np.concatenate([e.out for e in good]).astype(np.int64)
    most = np.array([max(e.w.sum(), state.strength[e.out].sum()) for e in good])
    factor = np.zeros(len(good))
    if not frame.counts:
        factor = np.maximum.reduceat(state.send[nodes], node_start[:-1])
        factor = factor * np.maximum.reduceat(state.receive[nodes], node_start[:-1])
    doubt = 2 * (factor * most + np.log1p(most / state.background))
    z = np.concatenate([e.z.ravel() for e in good])
    gain = np.array([e.gain for e in good])
    return Plans(gain, doubt, out_start, out, node_start, nodes.astype(np.int32), z_start, z)


def _starts(lengths) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def links_between(
    frame: Problem, state: State, plans: Plans, executor: ShardExecutor
) -> tuple[sparse.csr_array, Table]:
    """Links from the nodes of one exchange to those of another, and those that lie inside both."""
    number, length = len(executor.bounds) - 1, np.diff(plans.node_start).astype(np.int32)
    found = executor.each(at.links_between, snapshot_of(frame, state), [length] * number, [plans.nodes] * number)
    across, both = (sparse.csr_array(sum(tables)) for tables in zip(*found))
    return across, _table(both / 2)


def pieces(across: sparse.csr_array, plans: Plans, background: float) -> Table:
    """Which births are pieces of one community: linked nearly as much as they are inside."""
    size, born = np.diff(plans.node_start).astype(float), np.diff(plans.out_start) == 0
    inside, pairs = across.diagonal() / size**2, across.tocoo()
    rate = pairs.data / (size[pairs.row] * size[pairs.col])
    alike = rate - background > SEARCH.cluster.pieces * (np.minimum(inside[pairs.row], inside[pairs.col]) - background)
    alike &= born[pairs.row] & born[pairs.col] & (pairs.row != pairs.col)
    entries = np.ones(alike.sum()), (pairs.row[alike], pairs.col[alike])
    return _table(sparse.csr_array(entries, shape=across.shape))


def _table(matrix: sparse.csr_array) -> Table:
    return Table(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(float))
