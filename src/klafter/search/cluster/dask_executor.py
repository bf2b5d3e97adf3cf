"""K-LAFTER on a Dask cluster that the user brings: shards of rows on workers, the state with the client.

The answer of every task follows from a shard and a version of the state, so a worker that dies takes nothing along:
Dask runs its tasks again elsewhere, and what cannot be recovered is sent again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse as sp

from klafter.search.cluster import shards as at
from klafter.search.cluster.executor import FEWEST, SHARD_LINKS, bare, by_shard
from klafter.search.cluster.neighbourhoods import on_parts, part_of
from klafter.search.cluster.retries import STALL, gathered, retry, some_done
from klafter.search.cluster.versions import BEHIND, Update, Versions, run
from klafter.search.sparse.state import Problem

SMALL = 50_000  # bytes of a value that goes with every task
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
        self.after_loss = False  # whether something was lost
        self.homes: list[str] | None = None  # the workers that have the shards, while nothing was lost
        self.versions = Versions()

    def each(self, work, snapshot, *columns) -> list:
        update = self.versions.next(snapshot)

        def submit(some, known):
            given, column = self._share(known), list(zip(*columns)) if columns else [()] * len(self.shards)
            return [self._at_home(s, given, work, *column[s]) for s in some]

        return self._complete(work, submit, update, len(self.shards), columns)

    def on_neighbourhoods(self, work, frame, snapshot, jobs) -> list:
        if not jobs:
            return []
        update = self.versions.next(snapshot)
        about = tuple(bare(frame)), snapshot.communities

        def submit(some, known):
            given, settled, futures = self._share(known), self._share(about), []
            for nodes, *args in (jobs[number] for number in some):
                own = by_shard(nodes, self.bounds)
                group = self._share(nodes)
                parts = [self._at_home(s, given, part_of, group) for s, mine in enumerate(own) if len(mine)]
                futures.append(self._submit(on_parts, work, settled, parts, *args))
            return futures

        return self._complete(work, submit, update, len(jobs), [about, jobs])

    def _share(self, value):
        """A value for several tasks: with each of them if it is small, else on every worker. Dask may wait for ever for
        one that dies while it is sent, so that has a limit, and once something was lost the value goes as a task, which
        takes longer and can be repeated."""

        async def send():
            return await self.client.scatter(value, broadcast=True, hash=False, asynchronous=True)

        volume = volume_of(value)
        if volume < SMALL:
            return value
        if self.after_loss:
            return self._submit(_same, value)
        return self.client.sync(send, callback_timeout=STALL + volume / SLOWEST)

    def _submit(self, work, *args):
        return self.client.submit(work, *args, pure=False)

    def _at_home(self, s: int, *args):
        """Work on shard s, where it is: elsewhere the state that it keeps is not known, and Dask may think that another
        worker would be sooner ready."""
        if self.homes is None and not self.after_loss:
            self.homes = homes_of(self.client, self.shards)
        where = {"workers": [self.homes[s]]} if self.homes is not None else {}
        return self.client.submit(run, self.shards[s], *args, pure=False, **where)

    def _complete(self, work, submit, update: Update, number: int, columns) -> list:
        """Results of futures; shards that have neither this version nor the one before are given it whole."""
        began, late = time.perf_counter(), list(range(number))
        found: list[Any] = [BEHIND] * number
        for known in (update if update.delta is None else update._replace(base=None), update):
            again = retry(lambda: self._found(submit(late, known)), self.client, self._note_loss)  # noqa: B023
            for place, result in zip(late, again):
                found[place] = result
            sent = volume_of(known) + volume_of(columns)
            self.traffic.append(Traffic(work.__name__, time.perf_counter() - began, sent, volume_of(again)))
            late = [place for place in late if isinstance(found[place], str)]
            if not late:
                break
            began = time.perf_counter()
        return found

    def _note_loss(self) -> None:
        known = all(shard.status in ("pending", "finished") for shard in self.shards)
        if self.again is not None and (self.after_loss or not known):
            self.shards = self.again()  # a scheduler that began anew knows them no more, even those that are pending
        self.after_loss, self.homes = True, None

    def _found(self, futures: list) -> list:
        return gathered(futures, self.client, needed=self.homes)


def homes_of(client, shards: list) -> list[str] | None:
    """The worker that has each shard; None if one is on its way."""
    some_done(shards, client, all_of_them=True)
    found = client.who_has(shards)
    where = [sorted(found.get(shard.key, ())) for shard in shards]
    return [workers[0] for workers in where] if all(where) else None


def placed(client, work, jobs: list[tuple]) -> list:
    """Futures of ``work`` of each job, spread evenly over the workers there are."""
    workers = sorted(client.nthreads())  # none while they begin anew
    where = [{"workers": [w], "allow_other_workers": True} for w in workers] or [{}]
    return [client.submit(work, *job, pure=False, **where[s % len(where)]) for s, job in enumerate(jobs)]


def _same(value):
    return value


def volume_of(value: Any) -> int:
    """Size of all arrays inside a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if sp.issparse(value):
        return value.data.nbytes + value.indices.nbytes + value.indptr.nbytes
    if isinstance(value, (dict, str)):
        return sum(map(volume_of, value.values())) if isinstance(value, dict) else len(value)
    return sum(map(volume_of, value)) if isinstance(value, (list, tuple)) else 8


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
