"""The sparse engine on two-mode graphs: sums over possible pairs by formula, never by a list."""

import numpy as np
import pytest
from scipy import sparse
from two_mode_graphs import as_one_mode, blocks, shuffled

import klafter as kl
from klafter import Graph
from klafter.search.sparse import engine
from klafter.search.sparse.affinities import as_affinities
from klafter.search.sparse.score import score
from klafter.search.sparse.state import as_problem, as_state, both_ways, empty_state
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import objective, totals, weights

PRICES = {"penalty": 0.5, "temperature": 1.0, "shrinkage": 5.0}
GRAPHS = [blocks(), shuffled(blocks(9, 12, 1)), shuffled(blocks()).hide(np.array([[0, 1], [2, 3], [4, 9], [5, 8]]))]


def pair_of_states(graph, seed=0, **prices):
    """The same memberships, affinities and degree factors in a two-mode problem and in that of hidden pairs."""
    rng = np.random.default_rng(seed)
    z = sparse.csr_array((rng.random((graph.n_nodes, 3)) < 0.4).astype(float))
    t, affinities = rng.uniform(0.5, 2.0, graph.n_nodes), as_affinities(rng.uniform(0.2, 1.0, 3))
    for each in (graph, as_one_mode(graph)):
        problem = as_problem(each, **{**PRICES, **prices})
        yield problem, as_state(problem, z, affinities, 0.1, t, t)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("counts", [False, True])
def test_objective_and_score_are_those_of_hidden_pairs(graph, counts):
    (problem, state), (other, twin) = pair_of_states(graph, counts=counts)
    assert objective(problem, state) == pytest.approx(objective(other, twin), rel=1e-12)
    assert score(problem, state) == pytest.approx(score(other, twin), rel=1e-12)
    assert score(problem, state, counts=True) == pytest.approx(score(other, twin, counts=True), rel=1e-12)


@pytest.mark.parametrize("graph", GRAPHS)
def test_pairs_are_those_of_enumeration(graph):
    (problem, state), _ = pair_of_states(graph)
    z, t = engine.memberships(problem, state).toarray(), both_ways(problem, state)[0]
    a = np.outer(t, t) * (graph.second_kind[:, None] < graph.second_kind) * (1 - graph.hidden.toarray())
    expected = [*(z[:, k] @ a @ z[:, k] for k in range(3)), a.sum()]
    assert np.allclose(totals(problem, state, ThreadPool(1)).pairs, expected)


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_background_explains_the_density(graph):
    background = empty_state(as_problem(graph, counts=True)).background
    assert background == pytest.approx(graph.links.sum() / 2 / graph.n_dyads)


@pytest.mark.parametrize("graph", GRAPHS)
def test_weights_lower_the_objective_and_keep_who_sends(graph):
    (problem, state), _ = pair_of_states(graph)
    values = [objective(problem, state)]
    for _ in range(15):
        state = weights(problem, state, ThreadPool(1), rounds=1)
        values.append(objective(problem, state))
    assert (np.diff(values) <= 1e-9).all()
    assert np.array_equal(state.send == 0, graph.second_kind)
    assert np.array_equal(state.receive == 0, ~graph.second_kind)


@pytest.mark.parametrize("graph", GRAPHS[:2])
def test_fits_find_what_hidden_pairs_give(graph):
    model = kl.KLafter(link="exposure", n_init=2, bridges=False, structure=0, random_state=0)
    one, other = model.fit(graph), kl.KLafter(**model.get_params()).fit(as_one_mode(graph))
    pairs = np.argwhere(graph.second_kind[:, None] != graph.second_kind)
    assert one.objective_ <= other.objective_ * (1 + 1e-3)  # one score; births differ, which know kinds in one of them
    assert np.allclose(one.predict_proba(pairs), one.predict_proba(pairs[:, ::-1]), rtol=1e-12)


def test_planted_groups_of_a_larger_network_are_found():
    graph, truth = planted(200, 300, 5)
    model = kl.KLafter(link="exposure", n_init=1, random_state=0).fit(graph)
    found = np.asarray(model.memberships_.todense() if sparse.issparse(model.memberships_) else model.memberships_)
    overlap = truth.T @ found / np.maximum(np.maximum(truth.sum(0)[:, None], found.sum(0)), 1)
    assert (overlap.max(axis=1) > 0.9).all()
    best = model.top_links(30)
    assert graph.is_possible(graph.pair_indices([pair[:2] for pair in best])).all()


@pytest.mark.parametrize(("n", "k", "inside"), [(200, 4, 0.8), (300, 6, 0.15)])
def test_communities_that_no_walk_of_two_steps_shows_are_found(n, k, inside):
    """Births from the embedding, in which nodes of both kinds must be alike."""
    graph, truth = planted(n, n, k, inside=inside)
    problem = as_problem(graph, **PRICES)
    state = as_state(problem, sparse.csr_array(truth), as_affinities(np.full(k, inside)), 0.005, *np.ones((2, 2 * n)))
    known = score(problem, weights(problem, state, ThreadPool(1), rounds=30))
    model = kl.KLafter(link="exposure", prior="buffet", penalty=0.5, n_init=1, structure=0, random_state=0).fit(graph)
    assert model.n_communities_ == k
    assert model.objective_ <= known + 1.0


def planted(n_rows, n_columns, k, seed=0, inside=0.25):
    rng = np.random.default_rng(seed)
    row, column = rng.integers(0, k, n_rows), rng.integers(0, k, n_columns)
    matrix = rng.random((n_rows, n_columns)) < np.where(row[:, None] == column, inside, 0.005)
    return Graph.from_biadjacency(matrix), np.eye(k)[np.concatenate([row, column])]


def test_likely_links_of_a_large_network_lie_across_kinds(monkeypatch):
    graph, _ = planted(200, 300, 5)
    model = kl.KLafter(link="exposure", n_init=1, structure=0, random_state=0).fit(graph)
    every = model.top_links(20)
    monkeypatch.setattr("klafter.prediction.ranking.EXHAUSTIVE", 100)
    some = model.top_links(20)
    assert [pair[:2] for pair in some] == [pair[:2] for pair in every]
    alone = kl.KLafter(link="exposure", n_init=1, structure=0, random_state=0, penalty=1e6).fit(graph)
    assert alone.n_communities_ == 0
    found = graph.pair_indices([pair[:2] for pair in alone.top_links(50)])
    assert len(found) == 50
    assert graph.is_possible(found).all()


def test_a_network_that_grows_keeps_its_kinds():
    graph, _ = planted(60, 80, 3)
    model = kl.KLafter(link="exposure", n_init=1, random_state=0).fit(graph)
    model.partial_fit([(0, 140), (1, 140), (3, 100)])
    assert model.graph_.kinds[140] == "column"
    assert (model.predict_proba(np.array([[0, 1], [60, 140]])) == 0).all()


def test_warm_starts_go_on():
    graph, _ = planted(60, 80, 3)
    model = kl.KLafter(link="exposure", n_init=1, random_state=0, warm_start=True).fit(graph)
    before = model.objective_
    assert model.fit(graph).objective_ <= before + 1e-6
    with pytest.raises(ValueError, match="two-mode"):
        model.fit(graph.replace(kinds=None))


def test_every_round_over_shards_lowers_the_exact_objective():
    pytest.importorskip("distributed")
    from test_distributed import after_falling_rounds, in_shards

    graph, _ = planted(50, 60, 4, inside=0.8)
    problem, frame, executor = in_shards(kl.split_dyads(graph, 0.1)[0])
    state = empty_state(frame, problem.value.sum() / 2)
    state = after_falling_rounds(problem, frame, state, executor, 8)
    assert len(state.size)
    assert np.array_equal(state.send == 0, graph.second_kind)
