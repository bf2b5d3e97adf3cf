"""Versions of the state: what goes to the shards is what changed since the version that they have.

A shard keeps the state of its own nodes and their neighbours between rounds. A shard that has lost it, or never had it,
says so, and is given the whole version before the last change; what it makes of both is the same to the last bit.
"""

from __future__ import annotations

import threading
import uuid
from typing import Any, NamedTuple

import numpy as np

from klafter.search.cluster.shards_kernels import changed_rows, flat_rows, places_of, rows_near, touched_fit, write_rows
from klafter.search.sparse.affinities import Affinities, copy_affinities
from klafter.search.sparse.state import Problem, State
from klafter.search.sparse.workspace import open_workspace

BEHIND = "behind"  # the answer of a shard that has neither this version nor the one before
SPARE = 2  # memberships more than it has that there is room for, of a node of another shard
COMMUNITIES = State._fields[State._fields.index("size") :]  # the fields that are not of nodes


class Snapshot(NamedTuple):
    """The state without empty slots."""

    start: np.ndarray  # (n + 1,) int64, where the communities of each node begin in member
    held: np.ndarray
    member: np.ndarray
    send: np.ndarray
    receive: np.ndarray
    communities: tuple  # the fields of the state from size on


class Delta(NamedTuple):
    """What makes one version of another."""

    nodes: np.ndarray  # whose memberships changed
    held: np.ndarray
    member: np.ndarray  # their communities now, row after row
    send: np.ndarray | None  # None: as before
    receive: np.ndarray | None  # None: the same as ``send``, or as before if that is None
    communities: tuple
    flips_only: bool  # all weights are as before


class Update(NamedTuple):
    """A version, what changed, and the version before for those that do not have it."""

    fit: str
    version: int
    delta: Delta | None
    base: Snapshot | None


class View(NamedTuple):
    """Problem and state by place in the shard: own nodes first, then those of other shards, in order each."""

    problem: Problem
    state: State
    nodes: np.ndarray
    own: int
    near: np.ndarray  # own nodes whose memberships the last change concerned, or those of a partner
    rise: float  # of sum_links h + sum_hidden x over own rows by it, half for each entry; NaN if weights changed


class Shard:
    """Rows of own nodes; ``problem.n`` is the size of the whole network, ``problem.node`` are places in ``nodes``."""

    def __init__(self, problem: Problem, nodes: np.ndarray) -> None:
        self.problem, self.nodes = problem, nodes
        self.at: tuple[str, int] | None = None
        self.view: View | None = None
        self.lock = threading.Lock()

    def __reduce__(self) -> tuple:
        return Shard, (self.problem, self.nodes)


class Versions:
    """The versions of one fit, for the client: each is told by what changed since the one before."""

    def __init__(self) -> None:
        self.fit = uuid.uuid4().hex
        self.update = Update(self.fit, -1, None, None)
        self.last: Snapshot | None = None

    def next(self, snapshot: Snapshot) -> Update:
        """What makes this version of the last."""
        if self.last is None:
            self.update = Update(self.fit, 0, None, snapshot)
        elif not equal(self.last, snapshot):
            delta = difference(self.last, snapshot)
            self.update = Update(self.fit, self.update.version + 1, delta, self.last)
        self.last = snapshot
        return self.update


def snapshot_of(frame: Problem, state: State) -> Snapshot:
    """The state of this moment, which later changes leave as it is."""
    start = np.concatenate([[0], np.cumsum(state.held, dtype=np.int64)])
    member = flat_rows(frame.start, state.held, state.member, np.arange(len(state.held)))
    communities = _communities(state[-len(COMMUNITIES) :])
    return Snapshot(start, state.held.copy(), member, state.send.copy(), state.receive.copy(), communities)


def _communities(fields: tuple) -> tuple:
    """Copies of the fields of a state from size on."""
    return tuple(copied(field) for field in fields)


def copied(field: Any) -> Any:
    """A field of a state that later changes leave as it is."""
    if isinstance(field, Affinities):
        return copy_affinities(field)
    return field.copy() if isinstance(field, np.ndarray) else field


def equal(one: Snapshot, other: Snapshot) -> bool:
    """Whether two snapshots are equal."""

    def flat(snapshot):
        nested = ((*part,) if isinstance(part, Affinities) else (part,) for part in snapshot.communities)
        return (*snapshot[1:5], *(each for part in nested for each in part))

    return all(np.array_equal(a, b) for a, b in zip(flat(one), flat(other)))


def difference(old: Snapshot, new: Snapshot) -> Delta:
    """What makes ``new`` of ``old``."""
    changed = changed_rows(new.start, new.held, new.member, old.start, old.held, old.member)
    nodes = np.flatnonzero(changed).astype(np.int64)
    send = None if np.array_equal(old.send, new.send) else new.send
    like = old.receive if send is None else send
    receive = None if np.array_equal(like, new.receive) else new.receive
    weights = send is None and receive is None and _same_affinities(old, new)
    flat = flat_rows(new.start, new.held, new.member, nodes)
    return Delta(nodes.astype(np.int32), new.held[nodes], flat, send, receive, new.communities, weights)


def _same_affinities(old: Snapshot, new: Snapshot) -> bool:
    affinities, background = (COMMUNITIES.index(name) for name in ("affinities", "background"))
    pairs = zip(old.communities[affinities], new.communities[affinities])
    return old.communities[background] == new.communities[background] and all(np.array_equal(a, b) for a, b in pairs)


def run(shard: Shard, update: Update, work: Any, *args: Any) -> Any:
    """``work(view, *args)`` of a shard at a version; one at a time, since they share the arrays of the view."""
    with shard.lock:
        view = view_at(shard, update)
        return BEHIND if view is None else work(view, *args)


def view_at(shard: Shard, update: Update) -> View | None:
    """The shard at a version; None if it cannot come there from what it has."""
    if shard.at == (update.fit, update.version):
        return shard.view
    view = shard.view if shard.at == (update.fit, update.version - 1) else None
    if view is None and update.base is None:
        return None
    shard.at = None  # should what follows fail, half of the change may have been made
    view = view_of(shard, update.base) if view is None and update.base is not None else view
    assert view is not None
    shard.view = view if update.delta is None else apply_delta(shard, view, update.delta)
    shard.at = update.fit, update.version
    return shard.view


def view_of(shard: Shard, snapshot: Snapshot) -> View:
    """The shard at a snapshot; memberships of nodes of other shards lie at the end."""
    own, held = len(shard.problem.start) - 1, snapshot.held[shard.nodes]
    first = row_starts(shard, held)
    member = np.zeros(first[-1] + 1, np.int32)
    flat = flat_rows(snapshot.start, snapshot.held, snapshot.member, shard.nodes)
    put_rows(member, first, held, flat)
    send, receive = snapshot.send[shard.nodes], snapshot.receive[shard.nodes]
    state = State(member, held, send, receive, *_communities(snapshot.communities))
    nothing = np.zeros(0, np.int64)
    return View(shard.problem._replace(start=first), state, shard.nodes, own, nothing, np.nan)


def row_starts(shard: Shard, held: np.ndarray) -> np.ndarray:
    """Where the memberships of each place begin: as the links of own nodes, with some room for others."""
    room = held[len(shard.problem.start) - 1 :].astype(np.int64) + SPARE
    links = len(shard.problem.node)
    return np.concatenate([shard.problem.start[:-1], links + np.cumsum(room) - room, [links + room.sum()]])


def put_rows(member: np.ndarray, first: np.ndarray, held: np.ndarray, flat: np.ndarray) -> None:
    """Communities, row after row, to where the rows begin."""
    length = held.astype(np.int64)
    rank = np.arange(len(flat)) - np.repeat(np.cumsum(length) - length, length)
    member[np.repeat(first[:-1], length) + rank] = flat


def apply_delta(shard: Shard, view: View, delta: Delta) -> View:
    """The view after a change, in place."""
    places = places_of(int(shard.nodes[0]), view.own, shard.nodes[view.own :], delta.nodes)
    changed = np.zeros(len(shard.nodes), np.bool_)
    changed[places[places >= 0]] = True
    judged, ws = delta.flips_only and len(delta.nodes), open_workspace(view.problem, view.state)
    near = rows_near(ws, view.own, changed)
    before = touched_fit(ws, near, changed) if judged else np.nan
    state = view.state._replace(**dict(zip(COMMUNITIES, _communities(delta.communities))))
    receive = delta.send if delta.receive is None else delta.receive
    if delta.send is not None:
        state = state._replace(send=delta.send[shard.nodes])
    if receive is not None:
        state = state._replace(receive=receive[shard.nodes])
    rows = delta.held, delta.member
    if not write_rows(places, *rows, view.problem.start, state.held, state.member, changed):
        view, state = with_more_room(shard, view, state, places, delta.held)
        write_rows(places, *rows, view.problem.start, state.held, state.member, changed)
    rise = touched_fit(open_workspace(view.problem, state), near, changed) - before if judged else np.nan
    return view._replace(state=state, near=near, rise=rise)


def with_more_room(shard: Shard, view: View, state: State, places: np.ndarray, held: np.ndarray) -> tuple[View, State]:
    """The same view with room for rows that become longer."""
    flat = flat_rows(view.problem.start, state.held, state.member, np.arange(len(state.held)))
    needed = state.held.copy()
    needed[places[places >= 0]] = np.maximum(needed[places[places >= 0]], held[places >= 0])
    first = row_starts(shard, needed)
    member = np.zeros(first[-1] + 1, np.int32)
    put_rows(member, first, state.held, flat)
    return view._replace(problem=view.problem._replace(start=first)), state._replace(member=member)
