"""Neighbourhoods: all dyads among some nodes, whichever shards they are in, and exchanges that are proposed there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klafter.search.cluster.shards import NO_COUNTS, responsibilities
from klafter.search.cluster.shards_kernels import flat_rows, inside_rows, places_of
from klafter.search.cluster.versions import BEHIND, View
from klafter.search.sparse.exchange import Exchange, members_of
from klafter.search.sparse.moves.birth import births_among
from klafter.search.sparse.moves.death import death_proposal
from klafter.search.sparse.moves.merge import merge_proposal, reassign_proposal
from klafter.search.sparse.moves.split import may_split, split_proposal
from klafter.search.sparse.state import Problem, State
from klafter.search.sparse.threads import ThreadPool

ROOM = 4  # communities more than it is in that a node may join there, if it has as many links


class Part(NamedTuple):
    """What a shard adds to a neighbourhood: rows of its own nodes there, and their state."""

    nodes: np.ndarray
    room: np.ndarray  # entries of each row that lead nowhere, for communities
    links: tuple  # lengths of rows, entries that have the node as source, other ends by rank, values
    hidden: tuple
    held: np.ndarray
    member: np.ndarray
    send: np.ndarray
    receive: np.ndarray


def part_of(view: View, group: np.ndarray) -> Part:
    """The rows of own nodes among a group in order, as far as they stay in the group."""
    problem, state, low = view.problem, view.state, view.nodes[0]
    first, last = np.searchsorted(group, [low, low + view.own])
    rows = group[first:last] - low
    mark, places = np.full(len(view.nodes), -1, np.int32), places_of(int(low), view.own, view.nodes[view.own :], group)
    mark[places[places >= 0]] = np.flatnonzero(places >= 0)
    links = inside_rows(problem.start, problem.middle, problem.node, problem.value, rows, mark, True)
    hidden = inside_rows(problem.hidden_start, problem.hidden_middle, problem.hidden_node, NO_COUNTS, rows, mark, False)
    outside, held = np.diff(problem.start)[rows] - links[0], state.held[rows]
    room, flat = np.minimum(outside, held + ROOM), flat_rows(problem.start, state.held, state.member, rows)
    return Part(group[first:last], room, links, hidden, held, flat, state.send[rows], state.receive[rows])


def make_neighbourhood(frame: Problem, parts: list[Part], communities: tuple) -> tuple[Problem, State, np.ndarray]:
    """Problem and state by rank among its nodes, and these.

    Links that lead out are left out, except that some keep their place, which is room for communities: they lead to a
    node at the end that is in none, with value 0, so that the background explains nothing of them.
    """
    nodes, room, held, flat, send, receive = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("nodes", "room", "held", "member", "send", "receive")
    )
    links, hidden = (
        [np.concatenate(some) for some in zip(*(getattr(part, name) for part in parts))] for name in ("links", "hidden")
    )
    length, source, ends, values = links
    start = np.concatenate([[0], np.cumsum(length + room)])
    node, value = np.full(start[-1], len(nodes), np.int32), np.zeros(start[-1])
    entry = np.repeat(start[:-1] - np.cumsum(length) + length, length) + np.arange(len(ends))
    node[entry], value[entry] = ends, values
    hidden_start = np.concatenate([[0], np.cumsum(hidden[0])]).astype(np.int64)
    problem = frame._replace(
        start=np.append(start, start[-1]), middle=np.append(start[:-1] + source, start[-1]), node=node, value=value,
        hidden_start=np.append(hidden_start, hidden_start[-1]),
        hidden_middle=np.append(hidden_start[:-1] + hidden[1], hidden_start[-1]), hidden_node=hidden[2],
    )  # fmt: skip
    member = np.zeros(start[-1] + 1, np.int32)
    rank = np.arange(len(flat)) - np.repeat(np.cumsum(held) - held, held)
    member[np.repeat(start[:-1], held) + rank] = flat
    own = np.append(held, 0).astype(np.int32), np.append(send, 0.0), np.append(receive, 0.0)
    return problem, State(member, *own, *communities), nodes


def on_parts(work, about: tuple, parts: list[Part], *args):
    """``work(problem, state, nodes, *args)`` of a neighbourhood, unless a shard could not give its part.

    ``about`` are the fields of the problem without rows, and of the state from its communities on.
    """
    frame, communities = about
    if any(isinstance(part, str) for part in parts):
        return BEHIND
    return work(*make_neighbourhood(Problem(*frame), parts, communities), *args)


def neighbourhood_births(
    problem: Problem, state: State, nodes: np.ndarray, around: np.ndarray, background_discount: float
) -> list[Exchange]:
    """Communities born around seeds, one after the other."""
    responsibility, residual = responsibilities(problem, state, np.arange(len(nodes) + 1, dtype=np.int32))
    seeds = np.searchsorted(nodes, around)
    born = births_among(problem, state, responsibility, residual, seeds, background_discount, ThreadPool(1))
    return [proposal._replace(nodes=nodes[proposal.nodes]) for proposal in born]


def neighbourhood_moves(
    problem: Problem, state: State, nodes: np.ndarray, some: list[int], pairs: dict
) -> list[Exchange]:
    """Deaths and splits of some communities, and merges with those that overlap them."""
    pool, inside, large = ThreadPool(1), members_of(problem, state), set(may_split(state).tolist())
    proposals: list[Exchange | None] = []
    for k in some:
        proposals.append(death_proposal(problem, state, inside, k, pool))
        if k in large:
            proposals.append(split_proposal(problem, state, inside, k, pool))
        if pairs.get(k):
            proposals.append(reassign_proposal(problem, state, inside, (k, *pairs[k]), pool))
            proposals.extend(merge_proposal(problem, state, inside, (k, m), pool) for m in pairs[k] if k < m)
    return [t._replace(nodes=nodes[t.nodes]) for t in proposals if t is not None and t.gain > 0]
