"""Executors of shards, and what they are given."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from klafter.search.cluster.versions import Snapshot
from klafter.search.sparse.state import Problem

SHARD_LINKS, FEWEST = 5_000_000, 4  # links to a shard, and shards at least: fixed by the graph, not by the cluster
MOST_HELD = 64  # communities of a node that rounds keep


class ShardExecutor(Protocol):
    """Where work on shards is run: node i is in the shard s with ``bounds[s] <= i < bounds[s + 1]``."""

    bounds: np.ndarray

    def each(self, work: Any, snapshot: Snapshot, *columns: Any) -> list:
        """``work(view, *args)`` of every shard, with its entry of each column."""

    def on_neighbourhoods(self, work: Any, frame: Problem, snapshot: Snapshot, jobs: list[tuple]) -> list:
        """``work(problem, state, nodes, *args)`` of every job (nodes in order, *args)."""


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
