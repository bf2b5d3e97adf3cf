"""K-LAFTER on the sparse engine: one search over links, for graphs of any size."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from scipy import sparse as sp

from klafter.core.draws import ExposureDraw
from klafter.graph import Graph
from klafter.graph.changes import Change
from klafter.jit.compilation import announce_compilation
from klafter.search.parallel import n_workers
from klafter.search.progress import Progress, Step, iterate
from klafter.search.sparse import bridges as sparse_bridges
from klafter.search.sparse import engine as sparse
from klafter.search.sparse.adapt import adapt
from klafter.search.sparse.affinities import Ties, tie
from klafter.search.sparse.membership_posterior import membership_posterior
from klafter.search.sparse.state import Problem, State, as_problem, as_state, copy_state, without_empty
from klafter.search.sparse.threads import ThreadPool

LEAST_SHRINKAGE = 1e-3  # at temperature 0: without any a node without links would have t = 0, and one alone 0 / 0


class Settings(NamedTuple):
    """The parameters of KLafter that this engine has a use for."""

    family: str
    penalty: float
    temperature: float
    sociality: bool
    degree_prior: float
    bridges: bool
    tol: float
    max_iter: int
    n_jobs: int | None


class Task(NamedTuple):
    """One search: its number, its seed, and where it begins (None: by itself)."""

    run: int
    n_runs: int
    seed: np.random.SeedSequence
    point: ExposureDraw | None


class Outcome(NamedTuple):
    """Where a search ended, and how it came there."""

    problem: Problem
    state: State
    ties: Ties | None  # None: no affinities between communities
    history: list[Step]
    converged: bool


def problem_of(settings: Settings, graph: Graph) -> Problem:
    """What the sparse engine is given."""
    return as_problem(
        graph,
        penalty=settings.penalty,
        temperature=settings.temperature,
        shrinkage=max(settings.temperature * settings.degree_prior, LEAST_SHRINKAGE) if settings.sociality else np.inf,
        counts=settings.family == "poisson",
    )


def search(settings: Settings, graph: Graph, callback, task: Task, stop) -> Outcome:
    """One search: communities, then bridges between them. From a point with bridges it goes on with these alone."""
    problem = problem_of(settings, graph)
    rng, begun = np.random.default_rng(task.seed), time.perf_counter()
    history: list[Step] = []
    told = False  # to stop
    with ThreadPool(n_workers(settings.n_jobs, 64)) as pool:

        def note(t, state, ties=None):
            value = sparse.value_of(problem, state, ties, pool)
            history.append(Step(task.run, t, time.perf_counter() - begun, value, len(state.size)))
            return value

        def done(t, where):
            nonlocal told
            value, size = note(t + 1, *where), len(where[0].size)
            told = bool(callback(Progress("search", task.run, task.n_runs, t + 1, settings.max_iter, value, size)))
            if told and stop is not None:  # the other searches are not to begin
                stop.set()
            return told or history[-2].objective - value <= settings.tol * abs(value)

        def step(where):
            state, ties = where
            if ties is None:
                return sparse.step(problem, state, rng, pool), None
            return sparse_bridges.refine(problem, copy_state(state), ties, pool)

        first = (sparse.init(problem, rng, pool), None) if task.point is None else warm(settings, task.point, problem)
        note(0, *first)
        state, ties = iterate(step, first, settings.max_iter, done, stop)
        converged = len(history) <= settings.max_iter
        if ties is not None:
            return Outcome(problem, state, ties, history, converged)
        stopped = told or (stop is not None and stop.is_set())
        best, ties = sparse.end(problem, state, pool, bridges=settings.bridges and not stopped)
        if ties is not None:
            note(len(history), best, ties)
        elif best is not state:
            history[-1] = history[-1]._replace(objective=sparse.objective(problem, best, pool), n_communities=0)
    return Outcome(problem, best, ties, history, converged)


def warm(settings: Settings, point: ExposureDraw, problem: Problem) -> tuple[State, Ties | None]:
    """Where the last fit ended, without communities that have no link left."""
    state, ties = state_of(point, problem), ties_of(point, problem) if settings.bridges else None
    return (without_empty(problem, state), None) if ties is None else (state, ties)


def adapt_to(settings: Settings, point: ExposureDraw, change: Change, rng: np.random.Generator) -> Outcome:
    """Local moves around what changed; of a model with bridges, all moves that know of these."""
    began = time.perf_counter()
    problem = problem_of(settings, change.graph)
    state, ties = state_of(point, problem), ties_of(point, problem)
    with ThreadPool(n_workers(settings.n_jobs, 64)) as pool:
        if len(change.nodes) and ties is not None:
            state, ties = sparse_bridges.refine(problem, state, ties, pool)
        elif len(change.nodes):
            state = adapt(problem, state, change.nodes, rng, pool)
        value = sparse.value_of(problem, state, ties, pool)
    history = [Step(0, 1, time.perf_counter() - began, value, len(state.size))]
    return Outcome(problem, state, ties, history, True)


def posterior_draws(settings: Settings, graph: Graph, draws: list[ExposureDraw]) -> list[ExposureDraw]:
    """The draws with chances for memberships; as they are where the links stayed on a cluster."""
    if not graph.n_links:
        return draws
    problem = problem_of(settings, graph)
    with announce_compilation():
        return [_posterior(problem, state_of(draw, problem), ties_of(draw, problem)) for draw in draws]


def _posterior(problem: Problem, state: State, ties: Ties | None) -> ExposureDraw:
    z = (
        membership_posterior(problem, state)
        if ties is None
        else sparse_bridges.membership_posterior(problem, state, ties)
    )
    return sparse.draw(problem, state, z, ties)


def state_of(draw: ExposureDraw, problem: Problem) -> State:
    """The state of which this is the draw, laid out for a problem with the same nodes first."""
    send, receive = draw.send, draw.receive
    if np.isinf(problem.shrinkage):  # sociality may have been switched off
        send = receive = np.ones_like(send)
    return as_state(problem, draw.memberships, draw.affinities.diagonal(), draw.background, send, receive)


def ties_of(draw: ExposureDraw, problem: Problem) -> Ties | None:
    """The affinities of a draw, if there are any between communities."""
    scale = sp.coo_array(draw.affinities)
    directed = problem.pair_weight == 1.0
    some = (scale.row != scale.col if directed else scale.row < scale.col) & (scale.data > 0)
    if not some.any():
        return None
    pairs = np.column_stack([scale.row[some], scale.col[some]])
    return tie(draw.affinities.diagonal(), pairs, scale.data[some], directed=directed)
