"""K-LAFTER on the sparse engine: one search over links, for graphs of any size."""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse as sp

from klafter.core.draws import Draw
from klafter.core.kernel import announce_compilation
from klafter.graph import Graph
from klafter.graph.changes import Change
from klafter.models.base import Progress, Step, iterate
from klafter.models.parallel import n_workers
from klafter.search import sparse
from klafter.search.sparse_leanings import leanings
from klafter.search.sparse_online import adapt
from klafter.search.sparse_parallel import Crew
from klafter.search.sparse_state import Problem, State, as_problem, as_state, memberships

DENSE_AFFINITIES = 1_000  # communities up to which ``affinities_`` is a full array


def problem_of(model, graph: Graph) -> Problem:
    """What the sparse engine is given."""
    return as_problem(
        graph,
        penalty=model.penalty,
        temperature=model.temperature,
        shrinkage=5.0 if model.sociality else np.inf,
        counts=model.family == "poisson",
    )


def search(model, graph: Graph, seed, run: int, n_runs: int, callback, stop):
    """The best state of one search, its objective and its history."""
    problem = problem_of(model, graph)
    rng, begun = np.random.default_rng(seed), time.perf_counter()
    history: list[Step] = []
    with Crew(n_workers(model.n_jobs, 64)) as crew:

        def note(t, state):
            value = sparse.objective(problem, state, crew)
            history.append(Step(run, t, time.perf_counter() - begun, value, len(state.size)))
            return value

        def done(t, state):
            value = note(t + 1, state)
            told = callback(Progress("search", run, n_runs, t + 1, model.max_iter, value, len(state.size)))
            if told and stop is not None:  # the other searches are not to begin
                stop.set()
            return told or history[-2].objective - value <= model.tol * abs(value)

        state = sparse.init(problem, rng, crew)
        note(0, state)
        state = iterate(lambda state: sparse.step(problem, state, rng, crew), state, model.max_iter, done, stop)
        best = sparse.or_nothing(problem, state, crew)
        if best is not state:
            history[-1] = history[-1]._replace(objective=sparse.objective(problem, best, crew), n_communities=0)
    return problem, best, history


def keep(model, outcomes) -> None:
    """The best search gives the communities, all of them the predictions."""
    order = np.argsort([history[-1].objective for _, _, history in outcomes], kind="stable")
    problem, state, history = outcomes[order[0]]
    model.draws_ = [sparse.draw(p, s) for p, s, _ in outcomes]
    model.restarts_ = model.draws_
    model.point_ = model.draws_[order[0]]
    model.memberships_ = sp.csr_array(memberships(problem, state), dtype=np.int8)
    diagonal = sp.diags_array(state.strength, format="csr")
    model.affinities_ = diagonal.toarray() if len(state.size) <= DENSE_AFFINITIES else sp.csr_array(diagonal)
    model.background_ = float(state.background)
    model.response_ = "rate" if problem.counts else "exposure"
    model.precision_ = 1.0
    model.objective_ = history[-1].objective
    model.history_ = [line for _, _, lines in outcomes for line in lines]
    model.n_iter_ = history[-1].step
    model.converged_ = len(history) <= model.max_iter
    model.notes_ = []


def adapt_to(model, change: Change) -> None:
    """The sparse engine: local moves around what changed."""
    began = time.perf_counter()
    problem = problem_of(model, change.graph)
    state = state_of(model.point_, problem)
    with Crew(n_workers(model.n_jobs, 64)) as crew:
        if len(change.nodes):
            state = adapt(problem, state, change.nodes, np.random.default_rng(model._seeds()), crew)
        value = sparse.objective(problem, state, crew)
    keep(model, [(problem, state, [Step(0, 1, time.perf_counter() - began, value, len(state.size))])])


def leaning_draws(model) -> list[Draw]:
    """The draws with chances for memberships; as they are where the links stayed on a cluster."""
    if not model.graph_.n_links:
        return model.draws_
    problem = problem_of(model, model.graph_)
    states = [state_of(draw, problem) for draw in model.draws_]
    with announce_compilation():
        return [sparse.draw(problem, state, leanings(problem, state)) for state in states]


def state_of(draw: Draw, problem: Problem) -> State:
    """The state of which this is the draw, laid out for a problem with the same nodes first.

    The background is a last community of all, whose loadings are t; directed, r follows with a second set.
    """
    directed, loadings, scale = problem.half == 1.0, sp.csr_array(draw.memberships), sp.csr_array(draw.affinities)
    k, column = scale.shape[0] // (2 if directed else 1) - 1, loadings.indices
    start = np.concatenate([[0], np.cumsum(column < k)])[loadings.indptr]
    z = sp.csr_array((np.ones(start[-1]), column[column < k], start), shape=(loadings.shape[0], k))
    z.sort_indices()
    send = loadings.data[column == k]
    receive = loadings.data[column == 2 * k + 1] if directed else send
    strength = (scale[: k + 1, k + 1 :] if directed else scale).diagonal()
    return as_state(problem, z, strength[:k], strength[k], send, receive)
