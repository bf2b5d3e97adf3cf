"""K-LAFTER on a Dask cluster that the user brings: shards of rows on workers, the state with the client.

Every task is a pure function of a shard and a state, so a worker that dies takes nothing along: Dask runs its tasks
again elsewhere, and what cannot be recovered is sent again.
"""

from __future__ import annotations

import time
from concurrent.futures import CancelledError
from itertools import pairwise
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse as sp

from klafter.core.kernel import announce_compilation
from klafter.graph import Graph
from klafter.models import large, partitions
from klafter.models.base import Progress, Step, iterate
from klafter.models.checks import check_running
from klafter.search import sparse_rounds as rounds
from klafter.search import sparse_shards as at
from klafter.search.sparse_state import Problem

SHARD_LINKS, FEWEST = 5_000_000, 8  # links to a shard, and shards at least: fixed by the graph, not by the cluster
ATTEMPTS = 5
STALL, PATIENCE = 20, 300  # seconds that tasks may wait with nobody at work, and that the cluster may have no worker
SLOWEST = 1e7  # bytes a second at which a state goes to the workers, at least


class Traffic(NamedTuple):
    """One round: what was done, how long it took, and the bytes that left the client and came back."""

    work: str
    seconds: float
    sent: int
    received: int


class DaskFleet:
    """Shards that are futures on a cluster; see ``klafter.search.sparse_rounds.Fleet``."""

    def __init__(self, client, shards: list, bounds: np.ndarray):
        self.client, self.shards, self.bounds = client, shards, bounds
        self.traffic: list[Traffic] = []
        self.careful = False  # whether something was lost

    def each(self, work, shared, *columns) -> list:
        def submit():
            given = () if shared is None else (self._share(shared),)
            return [self._submit(work, shard, *given, *args) for shard, *args in zip(self.shards, *columns)]

        return self._insist(work, submit, shared, columns)

    def balls(self, work, frame, view, jobs) -> list:
        def submit():
            given = self._share(view)
            return [self._submit(work, tuple(frame), self._rows(nodes), given, *args) for nodes, *args in jobs]

        return self._insist(work, submit, view, jobs)

    def _rows(self, nodes) -> list:
        cut = zip(self.shards, rounds.by_shard(nodes, self.bounds))
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
        from distributed import KilledWorker

        began = time.perf_counter()
        for attempt in range(ATTEMPTS):
            try:
                found = self._gather(submit())
                break
            except (CancelledError, KilledWorker, OSError):
                if attempt == ATTEMPTS - 1:
                    raise
                self.careful = True
                time.sleep(2.0**attempt)  # until the cluster knows who is gone
                self._await_workers()
        volume = sum(map(_bytes, sent))
        self.traffic.append(Traffic(work.__name__, time.perf_counter() - began, volume, _bytes(found)))
        return found

    def _gather(self, futures: list) -> list:
        """Results of futures; an error if nothing is at work on them, as when what they need died with a worker."""
        from distributed import wait

        while True:
            try:
                wait(futures, timeout=STALL)
                return self.client.gather(futures)
            except TimeoutError:
                if not any(self.client.processing().values()):
                    raise CancelledError(f"No worker was at work for {STALL} s.") from None

    def _await_workers(self) -> None:
        try:
            self.client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise RuntimeError(
                f"The cluster has had no worker for {PATIENCE} s, so the fit cannot go on. Start workers and fit again."
            ) from None


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


def fit_graph(model, graph: Graph, seeds, callback, client) -> None:
    """Shards of a graph in the client's memory."""
    check_cold(model)
    problem = large.problem_of(model, graph)
    bounds = cut_points(graph.n_nodes, graph.n_links)
    frame = rounds.frame_of(problem, np.diff(problem.start))
    light = tuple(rounds.bare(frame))
    shards = [
        client.submit(partitions.shard_of_rows, light, *_rows(problem, low, high), pure=False)
        for low, high in pairwise(bounds)
    ]
    search(model, DaskFleet(client, shards, bounds), frame, problem.value.sum() / 2, seeds, callback)


def check_cold(model) -> None:
    """Refuse to go on from an earlier fit."""
    if model.warm_start and hasattr(model, "point_"):
        raise ValueError(
            "KLafter(warm_start=True) goes on from the last fit on one machine; a search on a cluster begins anew. "
            "Use warm_start=False, or fit without client."
        )


def fit_partitions(model, table, client, callback=None):
    """Shards of an edge list in partitions, made by the workers; the links never come to the client."""
    began = time.perf_counter()
    if client is None:
        raise ValueError("A Dask table of links is fitted on its cluster: pass fit(table, client=client).")
    counts = model.family == "poisson"
    if model.family not in ("bernoulli", "poisson") or model.link == "logit":
        raise ValueError(
            f"A Dask table uses the sparse engine, for 0/1 links or counts; family is {model.family!r} and link "
            f"{model.link!r}. Use family='bernoulli' or 'poisson' and link='auto'."
        )
    check_cold(model)
    parts, n, n_lines = partitions.extent(table, client)
    check_running(model)
    model._check_parameters(_unlinked(n))
    problem = large.problem_of(model, _unlinked(n))
    bounds = cut_points(n, n_lines)
    shards = partitions.shuffle(parts, rounds.bare(problem), bounds, counts, client)
    degree, links = partitions.degrees(shards, client)
    frame = rounds.frame_of(problem, degree)
    model.link_ = "exposure"
    search(model, DaskFleet(client, shards, bounds), frame, links, model._seeds(), callback or (lambda progress: None))
    model._forget()
    model.graph_, model.labels_in_ = _unlinked(n), None
    model.n_communities_ = model.memberships_.shape[1]
    model.notes_ = ["The links stayed on the cluster: graph_ has the nodes alone, so all pairs count as unlinked."]
    model.fit_seconds_ = time.perf_counter() - began
    return model


def _unlinked(n: int) -> Graph:
    return Graph(sp.csr_array((n, n)))


def cut_points(n: int, n_links: int) -> np.ndarray:
    """Where shards begin; the last entry is n."""
    number = min(max(FEWEST, -(-n_links // SHARD_LINKS)), n)
    return np.array([n * s // number for s in range(number + 1)])


def _rows(problem: Problem, low: int, high: int) -> at.Rows:
    """The rows of nodes low..high."""

    def cut(start, middle, node):
        start = start[low : high + 1]
        as_source = middle[low:high] - start[:-1]
        return at.Partners(np.diff(start), as_source, node[start[0] : start[-1]].astype(np.int64))

    links = cut(problem.start, problem.middle, problem.node)
    hidden = cut(problem.hidden_start, problem.hidden_middle, problem.hidden_node)
    return at.Rows(np.arange(low, high), links, problem.value[problem.start[low] : problem.start[high]], hidden)


def search(model, fleet: DaskFleet, frame: Problem, n_links: float, seeds, callback) -> None:
    """Rounds until a step gains less than ``tol``, and what they found."""
    seed, begun = int(seeds.generate_state(1)[0]), time.perf_counter()
    history: list[Step] = []

    def note(t, state):
        value = rounds.objective(frame, state, fleet)
        history.append(Step(0, t, time.perf_counter() - begun, value, len(state.size)))
        return value

    def done(t, state):
        value = note(t + 1, state)
        told = callback(Progress("search", 0, 1, t + 1, model.max_iter, value, len(state.size)))
        return told or history[-2].objective - value <= model.tol * abs(value)

    with announce_compilation():
        state = rounds.init(frame, fleet, n_links, seed)
        note(0, state)
        turns = iter(range(1, model.max_iter + 1))
        state = iterate(
            lambda s: rounds.step(frame, s, fleet, [seed, next(turns)]), state, model.max_iter, done, Event()
        )
    large.keep(model, [large.Outcome(frame, state, None, history, len(history) <= model.max_iter)])
    model.traffic_ = _summary(fleet.traffic)


def _summary(traffic: list[Traffic]) -> dict[str, dict[str, float]]:
    """Rounds, seconds and bytes by the work that was done."""
    found: dict[str, dict[str, float]] = {}
    for line in traffic:
        entry = found.setdefault(line.work, {"rounds": 0, "seconds": 0.0, "sent": 0, "received": 0})
        entry["rounds"] += 1
        for name in ("seconds", "sent", "received"):
            entry[name] += getattr(line, name)
    return found
