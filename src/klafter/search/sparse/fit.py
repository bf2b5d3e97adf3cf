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
from klafter.search.sparse.affinities import Ties, matrix, tie
from klafter.search.sparse.membership_posterior import membership_posterior
from klafter.search.sparse.state import Problem, State, as_problem, as_state, copy_state, memberships, without_empty
from klafter.search.sparse.threads import ThreadPool

DENSE_AFFINITIES = 1_000  # communities up to which ``affinities_`` is a full array

LEAST_SHRINKAGE = 1e-3  # at temperature 0: without any a node without links would have t = 0, and one alone 0 / 0


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


def problem_of(model, graph: Graph) -> Problem:
    """What the sparse engine is given."""
    return as_problem(
        graph,
        penalty=model.penalty,
        temperature=model.temperature,
        shrinkage=max(model.temperature * model.degree_prior, LEAST_SHRINKAGE) if model.sociality else np.inf,
        counts=model.family == "poisson",
    )


def search(model, graph: Graph, callback, task: Task, stop) -> Outcome:
    """One search: communities, then bridges between them. From a point with bridges it goes on with these alone."""
    problem = problem_of(model, graph)
    rng, begun = np.random.default_rng(task.seed), time.perf_counter()
    history: list[Step] = []
    told = False  # to stop
    with ThreadPool(n_workers(model.n_jobs, 64)) as pool:

        def note(t, state, ties=None):
            value = sparse.value_of(problem, state, ties, pool)
            history.append(Step(task.run, t, time.perf_counter() - begun, value, len(state.size)))
            return value

        def done(t, where):
            nonlocal told
            value, size = note(t + 1, *where), len(where[0].size)
            told = bool(callback(Progress("search", task.run, task.n_runs, t + 1, model.max_iter, value, size)))
            if told and stop is not None:  # the other searches are not to begin
                stop.set()
            return told or history[-2].objective - value <= model.tol * abs(value)

        def step(where):
            state, ties = where
            if ties is None:
                return sparse.step(problem, state, rng, pool), None
            return sparse_bridges.refine(problem, copy_state(state), ties, pool)

        first = (sparse.init(problem, rng, pool), None) if task.point is None else warm(model, task.point, problem)
        note(0, *first)
        state, ties = iterate(step, first, model.max_iter, done, stop)
        converged = len(history) <= model.max_iter
        if ties is not None:
            return Outcome(problem, state, ties, history, converged)
        stopped = told or (stop is not None and stop.is_set())
        best, ties = sparse.end(problem, state, pool, bridges=model.bridges and not stopped)
        if ties is not None:
            note(len(history), best, ties)
        elif best is not state:
            history[-1] = history[-1]._replace(objective=sparse.objective(problem, best, pool), n_communities=0)
    return Outcome(problem, best, ties, history, converged)


def warm(model, point: ExposureDraw, problem: Problem) -> tuple[State, Ties | None]:
    """Where the last fit ended, without communities that have no link left."""
    state, ties = state_of(point, problem), ties_of(point, problem) if model.bridges else None
    return (without_empty(problem, state), None) if ties is None else (state, ties)


def keep(model, outcomes: list[Outcome]) -> None:
    """The best search gives the communities, all of them the predictions."""
    order = np.argsort([outcome.history[-1].objective for outcome in outcomes], kind="stable")
    problem, state, ties, history, converged = outcomes[order[0]]
    model.draws_ = [sparse.draw(outcome.problem, outcome.state, ties=outcome.ties) for outcome in outcomes]
    model.restarts_ = model.draws_
    model.point_ = model.draws_[order[0]]
    model.memberships_ = sp.csr_array(memberships(problem, state), dtype=np.int8)
    affinities = matrix(tie(state.strength) if ties is None else ties)
    model.affinities_ = affinities.toarray() if len(state.size) <= DENSE_AFFINITIES else affinities
    model.background_ = float(state.background)
    model.response_ = "rate" if problem.counts else "exposure"
    model.precision_ = 1.0
    model.objective_ = history[-1].objective
    model.history_ = [line for outcome in outcomes for line in outcome.history]
    model.n_iter_ = history[-1].step
    model.converged_ = converged
    model.notes_ = []


def adapt_to(model, change: Change) -> None:
    """Local moves around what changed; of a model with bridges, all moves that know of these."""
    began = time.perf_counter()
    problem = problem_of(model, change.graph)
    state, ties = state_of(model.point_, problem), ties_of(model.point_, problem)
    with ThreadPool(n_workers(model.n_jobs, 64)) as pool:
        if len(change.nodes) and ties is not None:
            state, ties = sparse_bridges.refine(problem, state, ties, pool)
        elif len(change.nodes):
            state = adapt(problem, state, change.nodes, np.random.default_rng(model._seeds()), pool)
        value = sparse.value_of(problem, state, ties, pool)
    history = [Step(0, 1, time.perf_counter() - began, value, len(state.size))]
    keep(model, [Outcome(problem, state, ties, history, True)])


def posterior_draws(model) -> list[ExposureDraw]:
    """The draws with chances for memberships; as they are where the links stayed on a cluster."""
    if not model.graph_.n_links:
        return model.draws_
    problem = problem_of(model, model.graph_)
    with announce_compilation():
        return [_posterior(problem, state_of(draw, problem), ties_of(draw, problem)) for draw in model.draws_]


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
