"""K-LAFTER on a Dask cluster that the user brings: a graph, or an edge list in partitions, as shards on workers."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from itertools import pairwise
from threading import Event
from typing import Any

import numpy as np
from scipy import sparse as sp

from klafter.graph import Graph
from klafter.jit.compilation import announce_compilation
from klafter.models.checks import check_running
from klafter.models.results.publish import Fitted, from_searches, publish
from klafter.models.storage.checkpoint import MISSING, Store, opened
from klafter.search.cluster import endings, partitions, rounds
from klafter.search.cluster.dask_executor import DaskShardExecutor, cut_points, cut_rows, placed, traffic_summary
from klafter.search.cluster.executor import bare, frame_of
from klafter.search.progress import Callback, Progress, Step, iterate
from klafter.search.sparse import fit as sparse_fit
from klafter.search.sparse.state import Problem

STAYED = "The links stayed on the cluster: graph_ has the nodes alone, so all pairs count as unlinked."


def fit_graph(model: Any, graph: Graph, seeds: np.random.SeedSequence, callback: Callback, client: Any) -> Fitted:
    """Shards of a graph in the client's memory."""
    check_for_cluster(model)
    if graph.kind_pairs:
        raise ValueError(
            "A search on a cluster takes two kinds of nodes with links across, and no other rule of which kinds may be "
            "linked. Fit without client."
        )
    problem = sparse_fit.problem_of(model._sparse_settings(), graph)
    bounds = cut_points(graph.n_nodes, graph.n_links)
    frame = frame_of(problem, np.diff(problem.start))
    light = tuple(bare(frame))

    def shards() -> list[Any]:
        jobs = [(light, *cut_rows(problem, low, high)) for low, high in pairwise(bounds)]
        return placed(client, partitions.shard_of_rows, jobs)

    executor = DaskShardExecutor(client, shards(), bounds, shards)
    return search(model, executor, frame, problem.value.sum() / 2, seeds, callback, model._store)


def check_for_cluster(model: Any) -> None:
    """Refuse to go on from an earlier fit, and to learn how many communities nodes hold."""
    if model.prior == "counts":
        raise ValueError(
            "KLafter(prior='counts') learns how many communities nodes hold, which a search on a cluster does not. "
            "Use prior='auto', or fit without client."
        )
    if model.warm_start and hasattr(model, "point_"):
        raise ValueError(
            "KLafter(warm_start=True) goes on from the last fit on one machine; a search on a cluster begins anew. "
            "Use warm_start=False, or fit without client."
        )


def fit_partitions(
    model: Any,
    table: Any,
    client: Any,
    callback: Callback | None = None,
    *,
    checkpoint: Any = None,
    checkpoint_every: float = 60.0,
    **others: Any,
) -> None:
    """Shards of an edge list in partitions, made by the workers; the links never come to the client."""
    began = time.perf_counter()
    if others:
        raise ValueError(f"A Dask table of links has no {' and no '.join(others)}. Fit a Graph that has them.")
    if client is None:
        raise ValueError("A Dask table of links is fitted on its cluster: pass fit(table, client=client).")
    counts = model.family == "poisson"
    if model.family not in ("bernoulli", "poisson") or model.link == "logit":
        raise ValueError(
            f"A Dask table uses the sparse engine, for 0/1 links or counts; family is {model.family!r} and link "
            f"{model.link!r}. Use family='bernoulli' or 'poisson' and link='auto'."
        )
    check_for_cluster(model)
    parts, n, n_lines = partitions.extent(table, client)
    check_running(model)
    model._check_parameters(_unlinked(n))
    model._check_sparse(_unlinked(n))
    problem = sparse_fit.problem_of(model._sparse_settings(), _unlinked(n))
    bounds = cut_points(n, n_lines)
    shards = partitions.shuffle(parts, bare(problem), bounds, counts, client)
    degree, links = partitions.degrees(shards, client)
    frame = frame_of(problem, degree)
    executor, callback = DaskShardExecutor(client, shards, bounds), callback or (lambda progress: None)
    data = hashlib.sha256(np.ascontiguousarray(degree).tobytes()).hexdigest()[:12]  # the links are on the cluster
    with opened(checkpoint, model, _unlinked(n), model._seeds(), checkpoint_every, data=data) as (store, seeds):
        fitted = search(model, executor, frame, links, seeds, callback, store).noting(STAYED)
    publish(model, _unlinked(n), fitted, time.perf_counter() - began)


def _unlinked(n: int) -> Graph:
    return Graph(sp.csr_array((n, n)))


def search(
    model: Any,
    executor: DaskShardExecutor,
    frame: Problem,
    n_links: float,
    seeds: np.random.SeedSequence,
    callback: Callback,
    store: Store | None = None,
) -> Fitted:
    """Rounds until a step gains less than ``tol``, then affinities between communities, and what they found."""
    max_iter, tol = model.max_iter, model.tol
    seed, begun = int(seeds.generate_state(1)[0]), time.perf_counter()
    store = store or Store()
    stand = store.get("rounds.state")
    state, history, ended = (None, [], False) if stand is MISSING else stand
    made = max(0, len(history) - 1)  # rounds, in an earlier run

    def note(t: int, state: Any) -> float:
        value = float(rounds.objective(frame, state, executor))
        history.append(Step(0, t, time.perf_counter() - begun, value, len(state.size)))
        return value

    def done(t: int, state: Any) -> bool:
        t = made + t + 1
        value = note(t, state)
        stop_now = callback(Progress("search", 0, 1, t, max_iter, value, len(state.size)))
        ended = history[-2].objective - value <= tol * abs(value)
        if not stop_now:
            store.state("rounds", lambda: (state, history, ended))
        return bool(stop_now) or ended

    with announce_compilation():
        if state is None:
            state = rounds.init(frame, executor, n_links, seed)
            note(0, state)
        turns, n_steps = iter(range(made + 1, max_iter + 1)), 0 if ended else max_iter - made
        state = iterate(lambda s: rounds.step(frame, s, executor, [seed, next(turns)]), state, n_steps, done, Event())
        converged = len(history) <= max_iter
        if converged and model.bridges:
            state, value = endings.bridges(frame, state, executor, n_links, [seed, 0, 2])
            if value is not None:
                history.append(Step(0, len(history), time.perf_counter() - begun, value, len(state.size)))
    fitted = from_searches([sparse_fit.Outcome(frame, state, history, converged, history[-1].objective, False)])
    return replace(fitted, more={**fitted.more, "traffic": traffic_summary(executor.traffic)})
