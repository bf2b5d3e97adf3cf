"""Shards: the rows of some nodes of a network, and what can be done with them against a frozen state.

Every function here is a pure function of its arguments, so that a task which is lost with its worker can be run again.
A shard knows its own nodes and their neighbours by place: own nodes first, then those that live elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from klafter.search.sparse_births import births_among
from klafter.search.sparse_moves import Parts, Trade, dissolved, divided, farewell, merged
from klafter.search.sparse_owed_kernels import owe_rows
from klafter.search.sparse_parallel import Crew
from klafter.search.sparse_shards_kernels import local_best, propose_rows
from klafter.search.sparse_state import Problem, State, members
from klafter.search.sparse_tally_kernels import tally_rows
from klafter.search.sparse_view import look

NONE = np.zeros(0, np.int64)


class Shard(NamedTuple):
    """Rows of own nodes; ``problem.n`` is the size of the whole network, ``problem.node`` are places in ``nodes``."""

    problem: Problem
    nodes: np.ndarray  # own nodes in order, then their neighbours elsewhere in order


class View(NamedTuple):
    """The state without room for more: what goes to the shards."""

    start: np.ndarray  # (n + 1,) int64, where the communities of each node begin in member
    member: np.ndarray
    send: np.ndarray
    receive: np.ndarray
    communities: tuple  # size, send_sum, receive_sum, strength, tested, background
    stirred: np.ndarray  # (n,) int8, which nodes moved or wait for a move


class Rows(NamedTuple):
    """Rows cut out of a shard, neighbours by their number in the network."""

    nodes: np.ndarray
    length: np.ndarray
    as_source: np.ndarray  # entries of each row that have its node as source
    node: np.ndarray
    value: np.ndarray


def make_shard(frame: Problem, rows: Rows) -> Shard:
    """A shard of rows in order. ``frame`` gives size, kind and prices."""
    nodes = np.concatenate([rows.nodes, np.setdiff1d(rows.node, rows.nodes)])
    order = np.argsort(nodes, kind="stable")
    place = order[np.searchsorted(nodes[order], rows.node)].astype(np.int32)
    start = np.concatenate([[0], np.cumsum(rows.length)]).astype(np.int64)
    hidden = np.zeros(len(start), np.int64)
    problem = frame._replace(
        start=start, middle=start[:-1] + rows.as_source, node=place, value=np.asarray(rows.value, float),
        hidden_start=hidden, hidden_middle=hidden[1:], hidden_node=np.zeros(0, np.int32),
    )  # fmt: skip
    return Shard(problem, nodes)


def make_ball(frame: Problem, parts: list[Rows]) -> Shard:
    """The rows of nodes from several shards; links that lead out of them keep their place, which is room for
    communities, but have value 0, so that nothing is owed to them."""
    nodes, length, as_source, node, value = (np.concatenate(column) for column in zip(*parts))
    order = np.argsort(nodes, kind="stable")
    entry = np.argsort(np.repeat(np.argsort(order), length), kind="stable")
    value = np.where(np.isin(node, nodes), value, 0.0)
    return make_shard(frame, Rows(nodes[order], length[order], as_source[order], node[entry], value[entry]))


def unfold(shard: Shard, view: View) -> tuple[Problem, State, int]:
    """Problem and state by place in the shard, and the number of own nodes; memberships of others lie at the end."""
    own, links = len(shard.problem.start) - 1, len(shard.problem.node)
    held = (view.start[shard.nodes + 1] - view.start[shard.nodes]).astype(np.int32)
    away = held[own:].astype(np.int64)
    first = np.concatenate([shard.problem.start[:-1], links + np.cumsum(away) - away, [links + away.sum()]])
    member = np.zeros(first[-1] + 1, np.int32)
    rank = np.arange(held.sum()) - np.repeat(np.cumsum(held) - held, held)
    member[np.repeat(first[:-1], held) + rank] = view.member[np.repeat(view.start[shard.nodes], held) + rank]
    size, send_sum, receive_sum, strength, tested, background = view.communities
    state = State(
        member, held, view.send[shard.nodes], view.receive[shard.nodes], size.copy(), send_sum.copy(),
        receive_sum.copy(), strength.copy(), tested.copy(), background,
    )  # fmt: skip
    return shard.problem._replace(start=first.astype(np.int64)), state, own


def tally(shard: Shard, view: View):
    """This shard's part of the totals: sum_links h, sums by community, expected counts of its nodes."""
    problem, state, own = unfold(shard, view)
    part, sent, received = np.zeros((3, len(state.size) + 1)), np.zeros(own), np.zeros(own)
    return tally_rows(look(problem, state), 0, own, part, sent, received), part, sent, received


def propose(shard: Shard, view: View):
    """The best flip of each own node that gains: (node, community, gain). Looks where something stirred."""
    problem, state, own = unfold(shard, view)
    which, gain = np.full(own, -1), np.zeros(own)
    propose_rows(look(problem, state), own, view.stirred[shard.nodes], which, gain)
    found = np.flatnonzero(which >= 0)
    return shard.nodes[found], which[found], gain[found]


def winners(shard: Shard, gain: np.ndarray) -> np.ndarray:
    """Own nodes whose proposal beats those of all their neighbours: no two of them are linked."""
    own = len(shard.problem.start) - 1
    best = local_best(shard.problem.start, shard.problem.node, own, gain[shard.nodes], shard.nodes)
    return shard.nodes[:own][best]


def seeds(shard: Shard, view: View, number: int, entropy: list[int]) -> np.ndarray:
    """Own nodes at random, those that owe a larger share of their links sooner."""
    problem, state, own = unfold(shard, view)
    owed, residual = np.zeros(len(problem.node), np.float32), np.zeros(own)
    owe_rows(look(problem, state), np.arange(own, dtype=np.int32), owed, residual)
    share = residual / np.maximum(np.diff(problem.start[: own + 1]), 1)
    with np.errstate(divide="ignore"):
        key = np.random.default_rng(entropy).exponential(size=own) / share
    return shard.nodes[np.argsort(key, kind="stable")[: min(number, np.count_nonzero(share))]]


def neighbours(shard: Shard, groups: list[np.ndarray]) -> list[np.ndarray]:
    """The neighbours of each group of own nodes."""
    return [np.unique(rows_of(shard, nodes).node) for nodes in groups]


def shared_links(shard: Shard, inside: sparse.csr_array) -> sparse.csr_array:
    """Values of links of own nodes that lie inside two sets, by pairs of sets; ``inside`` is (n, sets)."""
    own = np.repeat(shard.nodes[: len(shard.problem.start) - 1], np.diff(shard.problem.start))
    both = sparse.csr_array(inside[own].multiply(inside[shard.nodes[shard.problem.node]]))
    return sparse.csr_array(both.T @ (sparse.diags_array(shard.problem.value) @ both))


def rows_of(shard: Shard, nodes: np.ndarray) -> Rows:
    """The rows of own nodes."""
    problem = shard.problem
    i = np.searchsorted(shard.nodes[: len(problem.start) - 1], nodes)
    length = problem.start[i + 1] - problem.start[i]
    entry = np.repeat(problem.start[i] - np.cumsum(length) + length, length) + np.arange(length.sum())
    as_source = problem.middle[i] - problem.start[i]
    return Rows(nodes, length, as_source, shard.nodes[problem.node[entry]], problem.value[entry])


def ball_births(frame: tuple, parts: list[Rows], view: View, around: np.ndarray) -> list[Trade]:
    """Communities born around seeds, one after the other."""
    ball = make_ball(Problem(*frame), parts)
    problem, state, own = unfold(ball, view)
    owed, residual = np.zeros(len(problem.node), np.float32), np.zeros(len(ball.nodes))
    owe_rows(look(problem, state), np.arange(own, dtype=np.int32), owed, residual)
    born = births_among(problem, state, owed, residual, np.searchsorted(ball.nodes[:own], around), Crew(1))
    return [trade._replace(nodes=ball.nodes[trade.nodes]) for trade in born]


def ball_moves(frame: tuple, parts: list[Rows], view: View, some: list[int], pairs: dict) -> list[Trade]:
    """Deaths and splits of some communities, and merges with those that overlap them."""
    ball = make_ball(Problem(*frame), parts)
    problem, state, _ = unfold(ball, view)
    crew, groups = Crew(1), Parts(*members(problem, state))
    trades: list[Trade | None] = []
    for k in some:
        trades.append(farewell(problem, state, groups, k, crew))
        if abs(state.size[k] - state.tested[k]) > 0.05 * state.size[k] and state.size[k] > 5:
            trades.append(divided(problem, state, groups, k, crew))
        if pairs.get(k):
            trades.append(dissolved(problem, state, groups, (k, *pairs[k]), crew))
            trades.extend(merged(problem, state, groups, (k, m), crew) for m in pairs[k] if k < m)
    return [t._replace(nodes=ball.nodes[t.nodes]) for t in trades if t is not None and t.gain > 0]
