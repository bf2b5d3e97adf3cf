"""Quick refits on folds of the visible dyads, from which a model learns what the structural expert counts beside it.

A fifth of the visible dyads is hidden, a few short restarts and an expert of their own predict it, and this is done for
as many such folds, up to REFITTED, as hide ENOUGH links. Hidden dyads that a model is asked about later are as unknown
to it as these are to the refits, so that the weights of one regression on them are those of prediction
(``klafter.prediction.structure.weigh_folds``).
"""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit
from sklearn.base import clone

from klafter.core.responses import RESPONSES
from klafter.graph import DyadKFold, Graph
from klafter.graph.splits import Held
from klafter.models.base import Run
from klafter.models.storage.checkpoint import run_kept
from klafter.prediction.structure import fit_expert, weigh_folds
from klafter.sampling.lfrm import as_draw
from klafter.sampling.smoothing import smooth
from klafter.search.descend import Recipe, Task
from klafter.search.progress import Callback, Progress
from klafter.search.restart import quick_draws

FOLDS, REFITTED = 5, 3  # a fifth is hidden, so many times: see benchmarks/blend.py
ENOUGH = 200  # hidden links to learn three numbers from
SWEEPS, FEWEST_SWEEPS = 40, 30
DRAWS = 25  # of a chain, at most so many predict: neighbours in a chain say nearly the same
RESTART_NODES, MOST_RESTARTS = 500, 4  # restarts of a refit times nodes, at most so many of them
MAX_NONLINKS = 3_000  # of a fold, a sample beyond: links, which are few, decide how sure weights are
EDGE = 1e-9


class Fold(NamedTuple):
    """One refit: what it sees, what it is asked, and its seed."""

    number: int
    n_folds: int
    train: Graph
    held: Held
    seed: np.random.SeedSequence


def learn_weights(
    model: Any, graph: Graph, run: Run, link: str, recipe: Recipe, stop: threading.Event
) -> np.ndarray | None:
    """Intercept and weights of model and expert, (3,); None without sweeps, without links to ask about, or stopped."""
    sweeps = min(SWEEPS, recipe.n_smooth)
    if sweeps < FEWEST_SWEEPS or model.temperature == 0.0 or stop.is_set():
        return None
    n_restarts = max(1, min(MOST_RESTARTS, RESTART_NODES // graph.n_nodes, model._n_runs(graph.n_nodes)))
    recipe = recipe._replace(n_smooth=sweeps, max_draws=DRAWS)
    job = partial(_refit, clone(model), link, recipe, n_restarts, run.callback)
    found: list[Any] = []
    with suppress(KeyboardInterrupt):  # what the restarts found is kept
        folds = _folds(graph, run.seeds.spawn(1)[0])
        found += run_kept(model._store, "refit", job, folds, model.n_jobs, run.client, stop).values()
    found = [result for result in found if result is not None]
    if not found or stop.is_set():
        return None
    return np.array(weigh_folds(*map(np.concatenate, zip(*found))))


def _folds(graph: Graph, seed: np.random.SeedSequence) -> list[Fold]:
    """Those that are refitted, of a graph that has a link for each."""
    dealt, *seeds = seed.spawn(REFITTED + 1)
    if graph.n_links < FOLDS:
        return []
    n_refits = min(REFITTED, -(-ENOUGH * FOLDS // graph.n_links))
    folds = DyadKFold(FOLDS, random_state=np.random.default_rng(dealt), max_nonlinks=MAX_NONLINKS).split(graph)
    return [Fold(number, n_refits, train, held, seeds[number]) for number, (train, held) in zip(range(n_refits), folds)]


def _refit(
    model: Any,
    link: str,
    recipe: Recipe,
    n_restarts: int,
    callback: Callback,
    fold: Fold,
    stop: threading.Event | None,
) -> tuple[np.ndarray, ...] | None:
    """What a refit and its expert say of the pairs of a fold, their links, and how many dyads each stands for."""
    pairs, linked = fold.held.pairs, fold.held.values > 0
    expert = fit_expert(fold.train, np.random.default_rng(0)) if linked.any() else None
    if expert is None:
        return None

    def tell(progress: Progress) -> Any:
        return callback(progress._replace(stage="refits", run=fold.number, n_runs=fold.n_folds))

    problem, unit = model._problem(fold.train)
    response, covariates = RESPONSES[link], list(model._covariates(fold.train).values())
    total, n_draws = np.zeros(len(pairs)), 0
    for run, seed in enumerate(fold.seed.spawn(n_restarts)):
        found, draws = quick_draws(problem, recipe, Task(run, n_restarts, seed, None), tell, stop, smooth)
        for state in draws:
            x = as_draw(state, unit).predictor(pairs, covariates)
            total += response.probability(x, found.law.precision / unit**2)
        n_draws += len(draws)
    if not n_draws or (stop is not None and stop.is_set()):
        return None
    own = logit(np.clip(total / n_draws, EDGE, 1 - EDGE))
    said, bare = expert.log_odds(pairs)
    weight = np.where(linked, 1.0, 1.0 / fold.held.nonlink_share)
    return tuple(part[~bare] for part in (own, said, linked.astype(float), weight))
