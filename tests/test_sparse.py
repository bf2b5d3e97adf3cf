"""The sparse search as a whole: descent, determinism, small graphs, planted truth."""

import numpy as np
import oracles_sparse as oracle
import pytest
from scipy import sparse

from klafter import KLafter
from klafter.datasets import make_overlapping
from klafter.graph import Graph
from klafter.search.config import SearchConfig, changed
from klafter.search.sparse import engine, fit
from klafter.search.sparse.affinities import as_affinities
from klafter.search.sparse.exchange import disjoint, in_turns, members_of
from klafter.search.sparse.kernels import growth
from klafter.search.sparse.moves import birth, merge
from klafter.search.sparse.moves.merge import reassign_proposal
from klafter.search.sparse.state import as_problem, as_state, empty_state, memberships
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.workspace import open_workspace


def dense_groups(n, groups, p_in, p_out, seed, directed=False, counts=False):
    """A graph of disjoint groups, small and easy."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) * groups // n
    rate = np.where(group[:, None] == group, p_in, p_out)
    y = rng.poisson(rate) if counts else rng.random((n, n)) < rate
    y = y if directed else np.triu(y, 1)
    return Graph((y * ~np.eye(n, dtype=bool)).astype(float), directed=directed), np.eye(groups)[group]


@pytest.mark.parametrize(("directed", "counts"), [(False, False), (False, True), (True, False), (True, True)])
def test_steps_never_raise_the_objective_and_find_easy_groups(directed, counts):
    graph, truth = dense_groups(120, 4, 0.6, 0.02, 1, directed, counts)
    graph = graph.hide(np.random.default_rng(2).integers(0, 120, (200, 2)))
    problem = as_problem(graph, counts=counts)
    rng = np.random.default_rng(0)
    state = engine.init(problem, rng)
    values = [engine.objective(problem, state)]
    for _ in range(5):
        state = engine.step(problem, state, rng)
        values.append(engine.objective(problem, state))
    assert (np.diff(values) <= 1e-8).all()
    assert oracle.average_f1(truth, engine.memberships(problem, state).toarray()) > 0.95


def fitted(graph, **options):
    return KLafter(link="exposure", n_init=1, structure=0.0, **{"random_state": 0, **options}).fit(graph)


def test_planted_overlapping_communities_are_found():
    graph, truth = make_overlapping(n=4000, random_state=3)
    model = fitted(graph)
    assert model.converged_
    assert model.n_communities_ == truth.n_communities
    assert oracle.average_f1(truth.memberships, model.memberships_) > 0.97
    assert (np.diff([line.objective for line in model.history_]) <= 1e-6).all()


def test_answer_does_not_depend_on_the_number_of_threads(unchecked):
    graph, _ = make_overlapping(n=3000, random_state=5)
    one, two = (fitted(graph, random_state=7, n_jobs=n, max_iter=3) for n in (1, 2))
    assert one.objective_ == two.objective_
    np.testing.assert_array_equal(one.affinities_, two.affinities_)
    assert (one.point_.memberships != two.point_.memberships).nnz == 0  # memberships and degree factors


@pytest.mark.parametrize("n", [1, 2, 3, 30])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["no links", "one link", "complete"])
def test_graphs_with_nothing_to_find_are_fitted(n, kind, directed):
    links = np.zeros((n, n))
    if kind == "one link" and n > 1:
        links[0, 1] = 1
    if kind == "complete":
        links[:] = 1 - np.eye(n)
    problem, rng = as_problem(Graph(links, directed=directed)), np.random.default_rng(0)
    state = engine.init(problem, rng)
    values = [engine.objective(problem, state)]
    for _ in range(5):
        state = engine.step(problem, state, rng)
        values.append(engine.objective(problem, state))
    state = engine.end(problem, state, rng, ThreadPool(1), bridges=True)
    assert np.isfinite(values).all()
    assert engine.draw(problem, state).memberships.shape[0] == n
    assert len(state.size) <= (kind == "one link")


def test_communities_that_all_lose_their_members_leave_sums_of_floats():
    graph, _ = make_overlapping(120, mean_degree=8.0, community_size=20, random_state=3)
    model = KLafter(link="exposure", random_state=0).fit(graph)
    assert np.isfinite(model.objective_)
    problem = as_problem(graph)
    ones, nobody = np.ones(problem.n), sparse.csr_array((problem.n, 2))
    state = as_state(problem, nobody, as_affinities([1.0, 1.0]), 0.1, ones, ones)
    assert state.send_sum.dtype == state.receive_sum.dtype == float


def test_no_community_is_empty_or_twice():
    graph, _ = make_overlapping(n=2000, community_size=100, random_state=1)
    z = fitted(graph).memberships_.toarray().astype(int)
    assert (z.sum(axis=0) > 1).all()
    assert len(np.unique(z.T, axis=0)) == z.shape[1]


def test_groups_that_share_a_community_take_turns_and_none_is_forgotten():
    groups = [(0, 1), (1, 2), (2, 3), (0, 3), (4, 5)]
    assert disjoint(groups) == [(0, 1), (2, 3), (4, 5)]
    graph, _ = dense_groups(60, 3, 0.5, 0.05, 2)
    problem = as_problem(graph)
    state, tried = engine.empty_state(problem), []

    def propose(state, group):
        tried.append(group)

    with ThreadPool(1) as pool:
        _, made = in_turns(problem, state, groups, propose, pool)
    assert made == 0
    assert sorted(tried) == sorted(groups)
    assert set(tried[:3]) == {(0, 1), (2, 3), (4, 5)}


def test_large_networks_have_threads_unless_asked_otherwise(monkeypatch):
    settings, problem = KLafter()._sparse_settings(), as_problem(make_overlapping(n=500, random_state=0)[0])
    assert fit.n_threads(settings, problem) == 1
    monkeypatch.setattr(fit, "THREADED", 10)
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    assert fit.n_threads(settings, problem) == 3
    assert fit.n_threads(settings._replace(n_jobs=2), problem) == 2


@pytest.mark.parametrize("merge_from", [0.0, 1.0])
def test_of_many_communities_what_changed_is_rearranged(monkeypatch, merge_from):
    monkeypatch.setattr(
        engine, "SEARCH", changed(SearchConfig(), {"sparse.merge_all": 1, "sparse.merge_from": merge_from})
    )
    problem = as_problem(make_overlapping(n=1000, community_size=50, random_state=1)[0])
    found = []
    for threads in (1, 2):
        rng, values = np.random.default_rng(0), []
        with ThreadPool(threads) as pool:
            state = engine.init(problem, rng, pool)
            for _ in range(3):
                values.append(engine.objective(problem, state))
                state = engine.step(problem, state, rng, pool)
            values.append(engine.objective(problem, state))
        assert (np.diff(values) <= 1e-8).all()
        found.append(values)
    assert found[0] == found[1]


def test_members_that_stay_the_same_are_not_reassigned():
    links = np.zeros((12, 12))
    links[:8, :8] = links[4:, 4:] = 1
    problem = as_problem(Graph(np.triu(links, 1)))
    z = sparse.csr_array(np.array([np.arange(12) < 8, np.arange(12) >= 4]).T.astype(float))
    state = as_state(problem, z, as_affinities([0.2, 0.2]), 0.01, np.ones(12), np.ones(12))
    pool, inside = ThreadPool(1), members_of(problem, state)
    assert (
        len(reassign_proposal(problem, state, inside, (0, 1), pool).w) == 1
    )  # not both as they are with other strengths


def test_births_stay_sets_of_a_community_where_one_link_is_enough_to_gain():
    graph, truth = make_overlapping(100_000, random_state=0)
    problem, pool = as_problem(graph), ThreadPool(1)
    state = empty_state(problem)
    state = state._replace(background=0.01 * state.background)  # as in a graph of a hundred times as many nodes
    responsibility, residual = np.ones(len(problem.node), np.float32), np.diff(problem.start).astype(float)
    ws, scratch = open_workspace(problem, state), birth.own_growth(problem, pool)
    largest = truth.memberships.sum(axis=0).max()
    for seed in range(20):
        first = growth.walk_set(ws, responsibility, residual, seed, 10, 200_000, scratch)
        nodes, _, gain = growth.grow(ws, responsibility, first, 1.5, 7, 1.0, scratch)
        assert gain > 0
        assert len(nodes) < 2 * largest


@pytest.mark.parametrize("local", [False, True])
def test_overlaps_are_those_of_the_cover_however_many_communities_are_counted_together(local, monkeypatch):
    rng = np.random.default_rng(0)
    graph, z = make_overlapping(60, community_size=10, random_state=0)[0], rng.random((60, 7)) < 0.3
    problem, ones = as_problem(graph), np.ones(60)
    state = as_state(problem, sparse.csr_array(z.astype(float)), as_affinities(ones[:7]), 0.1, ones, ones)
    state.size_at_merge[::2] -= 1
    common, size = memberships(problem, state).toarray().T @ memberships(problem, state).toarray(), state.size
    expected = {
        (k, m, common[k, m])
        for k, m in np.ndindex(7, 7)
        if k < m and common[k, m] > 0.15 * min(size[k], size[m]) and (not local or k % 2 == 0 or m % 2 == 0)
    }
    found = merge.overlaps(problem, state, local)
    assert set(zip(*(part.tolist() for part in found))) == expected
    monkeypatch.setattr(merge, "TOGETHER", 2)
    for one, other in zip(found, merge.overlaps(problem, state, local), strict=True):
        assert one.tolist() == other.tolist()
