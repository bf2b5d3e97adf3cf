"""K-LAFTER on a Dask cluster that the user brings: shards of rows on workers, the state with the client.

Every task is a pure function of a shard and a state, so a worker that dies takes nothing along: Dask runs its tasks
again elsewhere, and what cannot be recovered is sent again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse as sp

from klafter.search.cluster import shards as at
from klafter.search.cluster.executor import by_shard
from klafter.search.cluster.losses import STALL, insist, some_done
from klafter.search.sparse.state import Problem

SHARD_LINKS, FEWEST = 5_000_000, 8  # links to a shard, and shards at least: fixed by the graph, not by the cluster
SLOWEST = 1e7  # bytes a second at which a state goes to the workers, at least


class Traffic(NamedTuple):
    """One round: what was done, how long it took, and the bytes that left the client and came back."""

    work: str
    seconds: float
    sent: int
    received: int


class DaskShardExecutor:
    """Shards that are futures on a cluster; see ``klafter.search.cluster.executor.ShardExecutor``."""

    def __init__(self, client, shards: list, bounds: np.ndarray, again: Callable[[], list] | None = None):
        self.client, self.shards, self.bounds = client, shards, bounds
        self.again = again  # makes the shards anew, where the client can
        self.traffic: list[Traffic] = []
        self.careful = False  # whether something was lost

    def each(self, work, shared, *columns) -> list:
        def submit():
            given = () if shared is None else (self._share(shared),)
            return [self._submit(work, shard, *given, *args) for shard, *args in zip(self.shards, *columns)]

        return self._insist(work, submit, shared, columns)

    def on_neighbourhoods(self, work, frame, snapshot, jobs) -> list:
        def submit():
            given = self._share(snapshot)
            return [self._submit(work, tuple(frame), self._rows(nodes), given, *args) for nodes, *args in jobs]

        return self._insist(work, submit, snapshot, jobs)

    def _rows(self, nodes) -> list:
        cut = zip(self.shards, by_shard(nodes, self.bounds))
        return [self._submit(at.rows_of, shard, some) for shard, some in cut if len(some)]

    def _share(self, value):
        """A value on every worker. Dask may wait for ever for one that dies while it is sent, so that has a limit, and
        once something was lost the value goes as a task, which takes longer and can be repeated."""

        async def send():
            return await self.client.scatter(value, broadcast=True, hash=False, asynchronous=True)

        if self.careful:
            return self._submit(_same, value)
        return self.client.sync(send, callback_timeout=STALL + _bytes(value) / SLOWEST)

    def _submit(self, work, *args):
        return self.client.submit(work, *args, pure=False)

    def _insist(self, work, submit, *sent) -> list:
        """Results of futures, submitted anew if something was lost that Dask itself cannot bring back."""
        began = time.perf_counter()
        found = insist(lambda: self._gather(submit()), self.client, self._be_careful)
        volume = sum(map(_bytes, sent))
        self.traffic.append(Traffic(work.__name__, time.perf_counter() - began, volume, _bytes(found)))
        return found

    def _be_careful(self) -> None:
        self.careful = True
        if self.again is not None and any(shard.status not in ("pending", "finished") for shard in self.shards):
            self.shards = self.again()  # a scheduler that began anew knows them no more

    def _gather(self, futures: list) -> list:
        some_done(futures, self.client, all_of_them=True)
        return list(self.client.gather(futures))


def _same(value):
    return value


def _bytes(value: Any) -> int:
    """Size of all arrays inside a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if sp.issparse(value):
        return value.data.nbytes + value.indices.nbytes + value.indptr.nbytes
    if isinstance(value, dict):
        return sum(map(_bytes, value.values()))
    return sum(map(_bytes, value)) if isinstance(value, (list, tuple)) else 8


def cut_points(n: int, n_links: int) -> np.ndarray:
    """Where shards begin; the last entry is n."""
    number = min(max(FEWEST, -(-n_links // SHARD_LINKS)), n)
    return np.array([n * s // number for s in range(number + 1)])


def cut_rows(problem: Problem, low: int, high: int) -> at.Rows:
    """The rows of nodes low..high."""

    def cut(start, middle, node):
        start = start[low : high + 1]
        as_source = middle[low:high] - start[:-1]
        return at.Partners(np.diff(start), as_source, node[start[0] : start[-1]].astype(np.int64))

    links = cut(problem.start, problem.middle, problem.node)
    hidden = cut(problem.hidden_start, problem.hidden_middle, problem.hidden_node)
    return at.Rows(np.arange(low, high), links, problem.value[problem.start[low] : problem.start[high]], hidden)


def traffic_summary(traffic: list[Traffic]) -> dict[str, dict[str, float]]:
    """Rounds, seconds and bytes by the work that was done."""
    found: dict[str, dict[str, float]] = {}
    for line in traffic:
        entry = found.setdefault(line.work, {"rounds": 0, "seconds": 0.0, "sent": 0, "received": 0})
        entry["rounds"] += 1
        for name in ("seconds", "sent", "received"):
            entry[name] += getattr(line, name)
    return found
