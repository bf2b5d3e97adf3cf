"""Executors of shards, and what is sent to them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from klafter.search.cluster import shards as at
from klafter.search.sparse.state import Problem, State

MOST_HELD = 64  # communities of a node that rounds keep
NO_ACTIVITY = np.zeros(0, np.int8)


class ShardExecutor(Protocol):
    """Where work on shards is run: node i is in the shard s with ``bounds[s] <= i < bounds[s + 1]``."""

    bounds: np.ndarray

    def each(self, work, shared: Any, *columns) -> list:
        """``work(shard, shared, *the shard's entry of each column)`` of every shard; no ``shared`` if it is None."""

    def on_neighbourhoods(self, work, frame: Problem, snapshot: at.Snapshot, jobs: list[tuple]) -> list:
        """``work(frame, rows, view, *args)`` of every job (nodes, *args), with the rows of its nodes."""


def by_shard(nodes: np.ndarray, bounds: np.ndarray) -> list[np.ndarray]:
    """Nodes in order, cut where shards begin."""
    return np.split(nodes, np.searchsorted(nodes, bounds[1:-1]))


def frame_of(problem: Problem, degree: np.ndarray) -> Problem:
    """The problem without its links, with space for the communities of each node."""
    start = np.concatenate([[0], np.cumsum(np.minimum(degree, MOST_HELD), dtype=np.int64)])
    return problem._replace(start=start, middle=start[1:], node=np.zeros(0, np.int32), value=np.zeros(0))


def bare(frame: Problem) -> Problem:
    """Size, kind and prices alone, for rows given apart."""
    empty = np.zeros(0, np.int64)
    return frame._replace(start=empty, middle=empty, hidden_start=empty, hidden_middle=empty)


def snapshot_of(frame: Problem, state: State, activity: np.ndarray = NO_ACTIVITY) -> at.Snapshot:
    """What goes to the shards."""
    start = np.concatenate([[0], np.cumsum(state.held, dtype=np.int64)])
    place = np.arange(start[-1]) - np.repeat(start[:-1] - frame.start[:-1], state.held)
    return at.Snapshot(start, state.member[place], state.send, state.receive, tuple(state[4:]), activity)
