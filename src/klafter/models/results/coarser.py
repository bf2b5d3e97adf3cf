"""Levels of a model on the sparse engine, worked out when they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from klafter.core.draws import ExposureDraw
from klafter.graph import Graph
from klafter.models.results.levels import Level, Packed, pack
from klafter.models.results.publish import DENSE_AFFINITIES
from klafter.search.moves.proposal import LEAST_FALL
from klafter.search.parallel import n_workers
from klafter.search.sparse import engine
from klafter.search.sparse.affinities import as_affinities
from klafter.search.sparse.fit import Settings, problem_of, state_of
from klafter.search.sparse.levels import Cover, levels
from klafter.search.sparse.membership_posterior import membership_posterior
from klafter.search.sparse.moves.share import in_shares, without_shares
from klafter.search.sparse.score import score
from klafter.search.sparse.state import Problem, State, as_state
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import weights

FITTING = 20  # steps of all weights at a level that is shown


def packed_levels(settings: Settings, graph: Graph, point: ExposureDraw, value: float, *, counts: bool) -> Packed:
    """From the cover that was found to one community; the first is shown."""
    problem = problem_of(settings, graph)
    with ThreadPool(n_workers(settings.n_jobs, 64)) as pool:
        if point.shared:  # what is shown has everyone in some community, which is not the lowest score
            shown = score(problem, state_of(point, problem), pool, counts=counts)
            value = shown if shown > value + LEAST_FALL else value
        path = levels(problem, without_shares(problem, state_of(point, problem), pool), value, pool, counts=counts)
        if point.shared:
            path = [path[0], *(with_shared_score(problem, cover, point, counts, pool) for cover in path[1:])]
    return pack([each.memberships for each in path], [each.score for each in path], [each.merged for each in path], 0)


def with_shared_score(problem: Problem, cover: Cover, point: ExposureDraw, counts: bool, pool: ThreadPool) -> Cover:
    """A level with its score where nodes share their links."""
    state = state_of_cover(problem, cover.memberships, point, pool)
    return cover._replace(score=score(problem, state, pool, counts=counts))


def state_of_cover(problem: Problem, cover: sparse.csr_array, point: ExposureDraw, pool: ThreadPool) -> State:
    """Another cover, with weights fitted from those of the point."""
    strength = np.full(cover.shape[1], max(float(point.affinities.diagonal().mean()), 1e-12))
    state = as_state(problem, cover.astype(float), as_affinities(strength), point.background, point.send, point.receive)
    return weights(problem, in_shares(problem, state) if point.shared else state, pool, rounds=FITTING)


def fitted_level(
    settings: Settings, graph: Graph, point: ExposureDraw, level: Level, *, counts: bool
) -> dict[str, Any]:
    """Weights and probabilities for the cover of a level, from those of the cover that was found."""
    problem, size = problem_of(settings, graph), level.n_communities
    with ThreadPool(n_workers(settings.n_jobs, 64)) as pool:
        state = state_of_cover(problem, sparse.csr_array(level.memberships), point, pool)
    draw, proba = engine.draw(problem, state), membership_posterior(problem, state, counts=counts)
    return {
        "point_": draw,
        "memberships_": sparse.csr_array(level.memberships, dtype=np.int8),
        "membership_proba_": sparse.csr_array(proba, dtype=np.float32),
        "affinities_": draw.affinities.toarray() if size <= DENSE_AFFINITIES else draw.affinities,
    }
