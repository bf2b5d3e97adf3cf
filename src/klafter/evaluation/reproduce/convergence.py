"""The convergence claims: iterations of K-LAFTER from one community and from ten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from klafter.datasets import load_dataset
from klafter.evaluation.comparison import mean_and_error
from klafter.evaluation.reproduce.curves import posterior
from klafter.evaluation.reproduce.published import ITERATIONS, NETWORKS
from klafter.evaluation.reproduce.table1 import RESULTS, result_path
from klafter.graph.writing import write_json
from klafter.models import PaperKLafter
from klafter.search.dense import engine as dense
from klafter.search.starts import neighbourhoods

TOL = 1e-4  # relative fall of the objective below which a search has converged


def convergence(
    quick: bool = False,
    results=RESULTS,
    *,
    networks: Sequence[str] = NETWORKS,
    starts: int | None = None,
    max_iter: int | None = None,
    paper_max_iter: int | None = None,
    data_home=None,
    callback: Callable | None = None,
) -> dict:
    """Count iterations to convergence on the whole networks and save them as ``convergence.json``.

    There are ``starts`` random starts of each kind; ``max_iter`` and ``paper_max_iter`` are the most iterations of
    K-LAFTER and of the paper's algorithm.

    Returns
    -------
    dict
        ``rows``: network, algorithm, communities at the start, mean iterations, share converged, communities found.
    """
    starts, max_iter = starts or (1 if quick else 5), max_iter or (20 if quick else 100)
    paper_max_iter = paper_max_iter or (2 if quick else 30)
    rows: list[dict] = []
    for network in networks:
        graph = load_dataset(network, data_home=data_home)
        for algorithm, count, limit in (("K-LAFTER", search, max_iter), ("K-LAFTER, paper", paper, paper_max_iter)):
            for size in ITERATIONS:
                runs = [count(graph, size, seed, limit) for seed in range(starts)]
                rows.append(
                    {"network": network, "algorithm": algorithm, "start": size, "limit": limit, **_sum_up(runs)}
                )
        if callback is not None and callback(rows[-1]):
            break
    content = {"quick": quick, "claims": ITERATIONS, "rows": rows}
    write_json(result_path(results, "convergence", quick), content)
    return content


def search(graph, size: int, seed: int, max_iter: int) -> tuple[int, bool, int]:
    """Rounds of K-LAFTER at T = 1, whether it converged, and the communities it found."""
    rng, problem = np.random.default_rng(seed), posterior(graph)
    state = dense.init(problem, rng, neighbourhoods(problem, size, rng))
    value = dense.score(problem, state)
    for t in range(1, max_iter + 1):
        before = value
        state, value = dense.step(problem, state, value, rng)
        if before - value < TOL * abs(value):
            return t, True, len(state.z)
    return max_iter, False, len(state.z)


def paper(graph, size: int, seed: int, max_iter: int) -> tuple[int, bool, int]:
    """The same for the algorithm of the paper: it has converged when ten iterations in a row changed nothing."""
    model = PaperKLafter(n_communities=size, max_iter=max_iter, random_state=seed).fit(graph)
    values = [line.objective for line in model.history_]
    moved = [t for t, (a, b) in enumerate(pairwise(values), 2) if a - b > TOL * abs(a)]
    settled = model.n_iter_ < max_iter
    return (moved[-1] if moved else 1), settled, model.n_communities_


def _sum_up(runs: list[tuple[int, bool, int]]) -> dict:
    iterations, converged, found = zip(*runs)
    mean, error = mean_and_error(iterations)
    return {
        "iterations": mean,
        "iterations_se": error,
        "converged": float(np.mean(converged)),
        "n_communities": float(np.mean(found)),
    }
