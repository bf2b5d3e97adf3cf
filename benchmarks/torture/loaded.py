"""Imported by the process that workers are forked from: it loads all kernels, so that a new worker soon works."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from benchmarks.torture.fits import FITS
from klafter.models.engines.distributed import search
from klafter.search.cluster import shards as at
from klafter.search.cluster.dask_executor import cut_points, cut_rows
from klafter.search.cluster.executor import LocalShardExecutor, bare, frame_of
from klafter.search.sparse.fit import problem_of


class Untold(LocalShardExecutor):
    """Shards in this process, of which no traffic is told."""

    traffic = ()


def load() -> None:
    for name, make in FITS.items():
        model, graph = make()
        if name != "shards":
            model.fit(graph)
            continue
        problem, bounds = problem_of(model._sparse_settings(), graph), cut_points(graph.n_nodes, graph.n_links)
        frame = frame_of(problem, np.diff(problem.start))
        shards = [at.make_shard(bare(frame), cut_rows(problem, low, high)) for low, high in pairwise(bounds)]
        seeds, links = np.random.SeedSequence(0), problem.value.sum() / 2
        search(model.max_iter, model.tol, Untold(shards, bounds), frame, links, seeds, lambda progress: None)


load()
