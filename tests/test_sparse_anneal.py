"""Annealing of the sparse engine, and communities of several searches put together."""

import numpy as np
import pytest
from scipy import sparse

from klafter import KLafter
from klafter.datasets import make_overlapping
from klafter.evaluation import average_f1
from klafter.search.sparse import fit as large
from klafter.search.sparse.affinities import as_affinities
from klafter.search.sparse.combine import combined
from klafter.search.sparse.kernels.annealed_flips import annealed_rows
from klafter.search.sparse.moves.anneal import anneal, with_communities_of
from klafter.search.sparse.state import as_problem, as_state, copy_state, memberships
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import objective, weights
from klafter.search.sparse.workspace import open_workspace

SETTINGS = large.Settings("bernoulli", 0.0, 1.0, True, 5.0, True, "auto", 1e-4, 20, 1)


@pytest.fixture(scope="module")
def planted():
    graph, truth = make_overlapping(400, mean_degree=10, community_size=40, memberships=(1, 2), random_state=3)
    return graph, truth


def state_with(problem, z):
    """A state with given communities and the weights that fit them."""
    ones = np.ones(problem.n)
    state = as_state(problem, sparse.csr_array(z), as_affinities(np.full(z.shape[1], 0.1)), 1e-3, ones, ones)
    return weights(problem, state, ThreadPool(1), rounds=6)


def flipped(problem, state, i, k):
    """The same state with another z_ik."""
    z = memberships(problem, state).toarray()
    z[i, k] = 1 - z[i, k]
    other = sparse.csr_array(z)
    return as_state(problem, other, state.affinities, state.background, state.send, state.receive)


def test_flips_are_drawn_by_the_fall_of_the_objective():
    graph, truth = make_overlapping(60, mean_degree=8, community_size=20, memberships=(1, 2), random_state=1)
    problem, rng = as_problem(graph), np.random.default_rng(0)
    state, i, heat, n = state_with(problem, truth.memberships), 7, 3.0, 4000
    value, near = objective(problem, state), np.zeros(3, bool)
    for j in graph.links[[i]].indices.tolist():
        near |= memberships(problem, state).toarray()[j] > 0
    near |= memberships(problem, state).toarray()[i] > 0
    falls = np.array([value - objective(problem, flipped(problem, state, i, k)) for k in np.flatnonzero(near)])
    weight = np.exp(np.append(falls, 0.0) / heat)
    seen = np.zeros(len(weight))
    for _ in range(n):
        other = copy_state(state)
        annealed_rows(open_workspace(problem, other), np.array([i]), 1, heat, rng)
        change = (memberships(problem, other) != memberships(problem, state)).toarray()[i]
        seen[np.flatnonzero(change[near])[0] if change.any() else -1] += 1
    expected = weight / weight.sum()
    assert (np.abs(seen / n - expected) < 4 * np.sqrt(expected * (1 - expected) / n) + 1e-9).all()


def test_cold_flips_never_raise_the_objective(planted):
    graph, truth = planted
    problem, rng = as_problem(graph), np.random.default_rng(0)
    z = truth.memberships.toarray()
    z[rng.random(len(z)) < 0.2] = 0
    state = state_with(problem, z)
    before = objective(problem, state)
    annealed_rows(open_workspace(problem, state), rng.permutation(problem.n), 2, 1e-6, rng)
    assert objective(problem, state) < before


def test_annealing_finds_what_flips_do_not(planted):
    graph, truth = planted
    problem, rng, pool = as_problem(graph), np.random.default_rng(0), ThreadPool(1)
    z = truth.memberships.toarray()
    wrong = np.where((rng.random(len(z)) < 0.4)[:, None], rng.permuted(z, axis=1), z)
    state = state_with(problem, wrong)
    plain = large.sparse.flip_sweep(problem, copy_state(state), pool, rounds=20)
    after = anneal(problem, state, rng, pool, counts=True)
    found = [memberships(problem, each).toarray() for each in (plain, after)]
    covers = [[set(np.flatnonzero(column).tolist()) for column in cover.T] for cover in found]
    assert average_f1(truth.communities(), covers[1]) > average_f1(truth.communities(), covers[0])


def test_only_communities_that_are_not_known_are_added(planted):
    graph, truth = planted
    problem, z = as_problem(graph), truth.memberships.toarray()
    one, other = state_with(problem, z[:, :4]), state_with(problem, z[:, 2:])
    both = memberships(problem, with_communities_of(problem, one, other)).toarray()
    assert {column.tobytes() for column in both.T} == {column.astype(float).tobytes() for column in z.T}
    assert len(both.T) == z.shape[1]


def test_searches_together_are_no_worse_than_the_best(planted):
    graph, _ = planted
    tasks = [large.Task(r, 2, seed, None) for r, seed in enumerate(np.random.SeedSequence(0).spawn(2))]
    outcomes = [large.search(SETTINGS, graph, lambda _: False, task, None) for task in tasks]
    together = combined(SETTINGS, outcomes, np.random.SeedSequence(1))
    best = min(together, key=large.by_score)
    assert best.score <= min(outcome.score for outcome in outcomes)
    assert best.history[-1].objective == best.score
    state = best.state
    assert large.judged("auto", best.problem, state, ThreadPool(1)).score == pytest.approx(best.score)


def test_a_fit_is_the_same_again_with_threads(planted):
    graph, _ = planted
    fits = [KLafter(link="exposure", n_init=2, n_jobs=jobs, random_state=0).fit(graph) for jobs in (1, 2)]
    assert fits[0].objective_ == fits[1].objective_
    assert (fits[0].memberships_ != fits[1].memberships_).nnz == 0
