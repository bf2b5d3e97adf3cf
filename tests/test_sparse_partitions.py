"""Starts of the sparse engine at partitions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from klafter.graph import Graph
from klafter.search.config import SEARCH
from klafter.search.sparse import engine
from klafter.search.sparse import fit as large
from klafter.search.sparse.partitions import cover, is_unfinished, lowest_score, partition_start
from klafter.search.sparse.state import as_problem, empty_state, memberships
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import weights

POOL = ThreadPool(1)


def nested(n_groups: int, size: int, decay: float = 0.18) -> Graph:
    """Dense groups that stand in twos, these in fours, and so on: links to groups further away are fewer."""
    rng, n = np.random.default_rng(0), n_groups * size
    group = np.arange(n) // size
    apart = np.array([int(a ^ b).bit_length() for a in range(n_groups) for b in range(n_groups)])
    chance = 0.9 * decay ** apart.reshape(n_groups, n_groups)
    links = np.triu(rng.random((n, n)) < chance[np.ix_(group, group)], 1)
    return Graph(sparse.csr_array((links | links.T).astype(float)))


@pytest.fixture(scope="module")
def problem():
    return as_problem(nested(64, 10))


def matrix(problem):
    return sparse.csr_array((problem.value, problem.node, problem.start), shape=(problem.n, problem.n))


def test_groups_of_a_partition_explain_their_densities(problem):
    labels = np.minimum(np.arange(problem.n) // 10, 60)
    labels[:3] = [61, 62, 63]  # alone
    state, links = cover(problem, matrix(problem), labels), matrix(problem).toarray()
    z = memberships(problem, state).toarray()
    assert z.shape[1] == 61
    assert (z.sum(axis=1) == (np.arange(problem.n) >= 3)).all()
    for k in (0, 1, 60):
        inside = links[np.ix_(z[:, k] > 0, z[:, k] > 0)]
        density = inside.sum() / (len(inside) * (len(inside) - 1))
        assert np.isclose(1 - np.exp(-state.strength[k]), min(density, 0.98))


def test_a_start_at_a_partition_finds_the_groups(problem):
    state = partition_start(problem, np.random.default_rng(0), POOL)
    z, truth = memberships(problem, state).toarray(), np.repeat(np.eye(64), 10, axis=0)
    share = (z.T @ truth).max(axis=0) / 10
    assert (share > 0.7).mean() > 0.8
    nothing = weights(problem, empty_state(problem), POOL, rounds=6)
    assert lowest_score(problem, state, POOL) < lowest_score(problem, nothing, POOL)


def test_the_search_begins_there_only_if_the_score_is_lower(problem):
    unions = weights(problem, cover(problem, matrix(problem), np.arange(problem.n) // 80), POOL, rounds=10)
    state, begun = engine.or_partition(problem, unions, np.random.default_rng(0), POOL)
    assert begun
    assert lowest_score(problem, state, POOL) < lowest_score(problem, unions, POOL)
    nothing = as_problem(Graph(sparse.csr_array((30, 30))))
    assert not engine.or_partition(nothing, empty_state(nothing), np.random.default_rng(0), POOL)[1]


def test_unions_of_communities_are_unfinished():
    clear = as_problem(nested(64, 10, decay=0.01))
    for size in (10, 20):
        state = weights(clear, cover(clear, matrix(clear), np.arange(clear.n) // size), POOL)
        assert is_unfinished(clear, state, POOL) == (size == 20)
    assert is_unfinished(clear, empty_state(clear), POOL)


def test_any_number_of_threads_begins_at_the_same_partition(problem):
    with ThreadPool(3) as pool:
        one, three = (partition_start(problem, np.random.default_rng(1), p) for p in (POOL, pool))
    assert (memberships(problem, one) != memberships(problem, three)).nnz == 0


def test_a_search_from_a_partition_goes_on_as_if_it_had_not_been_interrupted(monkeypatch):
    effort = replace(SEARCH.effort, several_limit=100)
    monkeypatch.setattr(large, "SEARCH", replace(SEARCH, effort=effort))
    monkeypatch.setattr(
        engine, "or_partition", lambda problem, _, rng, pool: (partition_start(problem, rng, pool), True)
    )
    settings = large.Settings("bernoulli", 0.0, 1.0, True, 5.0, True, "auto", 1e-4, 20, 1)
    task = large.Task(0, 1, np.random.SeedSequence(0), None)
    begun: list[large.SearchState] = []
    whole = large.search(settings, nested(24, 10), lambda _: False, task, None, keep=lambda make: begun.append(make()))
    assert all(state.partitioned for state in begun)
    again = large.search(settings, nested(24, 10), lambda _: False, task, None, begun[0])
    assert again.score == whole.score
    assert (memberships(again.problem, again.state) != memberships(whole.problem, whole.state)).nnz == 0
