"""K-LAFTER on the sparse engine: one search over links, for graphs of any size."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from scipy import sparse as sp

from klafter.core.draws import Draw
from klafter.graph import Graph
from klafter.graph.changes import Change
from klafter.jit.compilation import announce_compilation
from klafter.search.parallel import n_workers
from klafter.search.progress import Progress, Step, iterate
from klafter.search.sparse import engine as sparse
from klafter.search.sparse.affinities import Affinities, as_affinities, matrix
from klafter.search.sparse.membership_posterior import membership_posterior
from klafter.search.sparse.moves.adapt import adapt
from klafter.search.sparse.moves.off_diagonal import refine
from klafter.search.sparse.state import Problem, State, as_problem, as_state, memberships, without_empty
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import objective

DENSE_AFFINITIES = 1_000  # communities up to which ``affinities_`` is a full array

LEAST_SHRINKAGE = 1e-3  # at temperature 0: without any a node without links would have t = 0, and one alone 0 / 0


class Task(NamedTuple):
    """One search: its number, its seed, and where it begins (None: by itself)."""

    run: int
    n_runs: int
    seed: np.random.SeedSequence
    point: Draw | None


class Outcome(NamedTuple):
    """Where a search ended, and how it came there."""

    problem: Problem
    state: State
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
    """One search: communities, then off-diagonal affinities. From a point with such it goes on with these."""
    problem = problem_of(model, graph)
    rng, begun = np.random.default_rng(task.seed), time.perf_counter()
    history: list[Step] = []
    told = False  # to stop
    with ThreadPool(n_workers(model.n_jobs, 64)) as pool:

        def note(t, state):
            value = objective(problem, state, pool)
            history.append(Step(task.run, t, time.perf_counter() - begun, value, len(state.size)))
            return value

        def done(t, state):
            nonlocal told
            value, size = note(t + 1, state), len(state.size)
            told = bool(callback(Progress("search", task.run, task.n_runs, t + 1, model.max_iter, value, size)))
            if told and stop is not None:  # the other searches are not to begin
                stop.set()
            return told or history[-2].objective - value <= model.tol * abs(value)

        first = sparse.init(problem, rng, pool) if task.point is None else warm(model, task.point, problem)
        note(0, first)
        state = iterate(lambda state: sparse.step(problem, state, rng, pool), first, model.max_iter, done, stop)
        converged = len(history) <= model.max_iter
        stopped = told or (stop is not None and stop.is_set())
        best = sparse.end(problem, state, rng, pool, bridges=model.bridges and not stopped)
        if not best.affinities.diagonal and best is not state:
            note(len(history), best)
        elif best is not state:
            history[-1] = history[-1]._replace(objective=objective(problem, best, pool), n_communities=0)
    return Outcome(problem, best, history, converged)


def warm(model, point: Draw, problem: Problem) -> State:
    """Where the last fit ended, without communities that have no link left."""
    state = state_of(point, problem)
    if not model.bridges:
        state = state._replace(affinities=as_affinities(state.strength))
    return without_empty(state)


def keep(model, outcomes: list[Outcome]) -> None:
    """The best search gives the communities, all of them the predictions."""
    order = np.argsort([outcome.history[-1].objective for outcome in outcomes], kind="stable")
    problem, state, history, converged = outcomes[order[0]]
    model.draws_ = [sparse.draw(outcome.problem, outcome.state) for outcome in outcomes]
    model.restarts_ = model.draws_
    model.point_ = model.draws_[order[0]]
    model.memberships_ = sp.csr_array(memberships(problem, state), dtype=np.int8)
    affinities = matrix(state.affinities)
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
    """Local moves around what changed; of a model with off-diagonal affinities, all moves that know of these."""
    began = time.perf_counter()
    problem = problem_of(model, change.graph)
    state, rng = state_of(model.point_, problem), np.random.default_rng(model._seeds())
    with ThreadPool(n_workers(model.n_jobs, 64)) as pool:
        if len(change.nodes) and not state.affinities.diagonal:
            state = refine(problem, state, rng, pool)
        elif len(change.nodes):
            state = adapt(problem, state, change.nodes, rng, pool)
        value = objective(problem, state, pool)
    history = [Step(0, 1, time.perf_counter() - began, value, len(state.size))]
    keep(model, [Outcome(problem, state, history, True)])


def posterior_draws(model) -> list[Draw]:
    """The draws with probabilities for memberships; as they are where the links stayed on a cluster."""
    if not model.graph_.n_links:
        return model.draws_
    problem = problem_of(model, model.graph_)
    with announce_compilation():
        states = [state_of(draw, problem) for draw in model.draws_]
        return [sparse.draw(problem, state, membership_posterior(problem, state)) for state in states]


def state_of(draw: Draw, problem: Problem) -> State:
    """The state of which this is the draw, laid out for a problem with the same nodes first.

    The background is a last community of all, whose loadings are t; directed, r follows with a second set.
    """
    loadings, scale = sp.csr_array(draw.memberships), _scale(draw, problem)
    k, column = scale.shape[0] - 1, loadings.indices
    start = np.concatenate([[0], np.cumsum(column < k)])[loadings.indptr]
    z = sp.csr_array((np.ones(start[-1]), column[column < k], start), shape=(loadings.shape[0], k))
    z.sort_indices()
    send = loadings.data[column == k]
    receive = loadings.data[column == 2 * k + 1] if problem.pair_weight == 1.0 else send
    if np.isinf(problem.shrinkage):  # sociality may have been switched off
        send = receive = np.ones_like(send)
    return as_state(problem, z, affinities_of(scale, problem), scale[k, k], send, receive)


def affinities_of(scale: sp.csr_array, problem: Problem) -> Affinities:
    """The affinities of a draw; the background stands last."""
    entries, directed = sp.coo_array(scale), problem.pair_weight == 1.0
    some = (entries.row != entries.col if directed else entries.row < entries.col) & (entries.data > 0)
    pairs = np.column_stack([entries.row[some], entries.col[some]])
    return as_affinities(scale.diagonal()[:-1], pairs, entries.data[some], directed=directed)


def _scale(draw: Draw, problem: Problem) -> sp.csr_array:
    """L and the background, from sources to targets."""
    scale = sp.csr_array(draw.affinities)
    middle = scale.shape[0] // 2
    return sp.csr_array(scale[:middle, middle:]) if problem.pair_weight == 1.0 else scale
