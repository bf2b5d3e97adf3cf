"""Off-diagonal affinities as users meet them: where they are found, where not, and what a model does with them."""

import numpy as np
import oracles_sparse as oracle
import pytest
from sklearn.metrics import roc_auc_score

import klafter as kl
from klafter.datasets import make_overlapping
from klafter.graph import Graph
from klafter.search.sparse.affinities import matrix
from klafter.search.sparse.fit import judged, problem_of, state_of
from klafter.search.sparse.moves import off_diagonal
from klafter.search.sparse.threads import ThreadPool


def opposites(n=240, size=40, p=0.4, q=0.01, *, directed=False, counts=False, seed=1):
    """Sets of nodes in pairs, each linked to the other of its pair and hardly inside; and who is in which."""
    rng = np.random.default_rng(seed)
    group = np.minimum(np.arange(n) // size, n // size - 1)
    facing = group[:, None] == group ^ 1
    rate = np.where(facing & (group[:, None] < group) if directed else facing, p, q)
    y = rng.poisson(rate) if counts else rng.random((n, n)) < rate
    y = y * ~np.eye(n, dtype=bool) if directed else np.triu(y, 1)
    return Graph(y.astype(float), directed=directed), np.eye(n // size)[group]


def fitted(graph, **options):
    return kl.KLafter(link="exposure", n_init=1, structure=0.0, **{"random_state": 0, **options}).fit(graph)


def n_off_diagonal(model):
    w = model.affinities_
    return np.count_nonzero(w - np.diag(np.diag(w)))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("counts", [False, True])
def test_opposites_are_found_and_hidden_links_predicted(directed, counts):
    graph, truth = opposites(directed=directed, counts=counts)
    train, held = kl.split_dyads(graph, 0.2, random_state=100)
    family = "poisson" if counts else "bernoulli"
    without, model = (fitted(train, family=family, bridges=bridges) for bridges in (False, True))
    assert n_off_diagonal(without) == 0
    assert n_off_diagonal(model) == (3 if directed else 6)
    assert oracle.average_f1(truth, model.memberships_.toarray()) > 0.95
    assert model.objective_ < without.objective_
    assert model.score(held.pairs, held.values) > without.score(held.pairs, held.values)
    if not directed:  # of directed links between two sets degree factors already tell most
        scores = [roc_auc_score(held.values > 0, m.predict_proba(held.pairs)) for m in (without, model)]
        assert scores[1] > scores[0] + 0.03


@pytest.mark.parametrize("directed", [False, True])
def test_a_network_of_two_kinds_of_nodes_is_two_communities_with_an_affinity_between(directed):
    graph, truth = opposites(n=100, size=50, p=0.3, q=0.005, directed=directed)
    assert fitted(graph, bridges=False).n_communities_ <= 1
    model = fitted(graph)
    assert oracle.average_f1(truth, model.memberships_.toarray()) > 0.95
    assert n_off_diagonal(model) == (1 if directed else 2)


def test_communities_that_only_attract_are_left_as_they_are(monkeypatch, unchecked):
    graph, _ = make_overlapping(n=500, community_size=100, random_state=3)
    without = fitted(graph, bridges=False)
    monkeypatch.setattr(off_diagonal, "best_affinities", None)  # is never called
    model = fitted(graph)
    assert n_off_diagonal(model) == 0
    assert model.objective_ == without.objective_
    np.testing.assert_array_equal(model.affinities_, without.affinities_)
    assert (model.point_.memberships != without.point_.memberships).nnz == 0


def test_answer_does_not_depend_on_the_number_of_threads():
    graph, _ = opposites()
    one, two = (fitted(graph, random_state=7, n_jobs=n) for n in (1, 2))
    assert n_off_diagonal(one) > 0
    assert (np.diff([line.objective for line in one.history_]) <= 1e-6).all()
    np.testing.assert_array_equal(one.affinities_, two.affinities_)
    assert (one.point_.memberships != two.point_.memberships).nnz == 0


@pytest.mark.parametrize("directed", [False, True])
def test_a_model_with_off_diagonal_affinities_holds_its_whole_state(directed, tmp_path):
    graph, _ = opposites(directed=directed)
    model = fitted(graph)
    problem = problem_of(model._fitted_settings(), graph)
    state = state_of(model.point_, problem)
    np.testing.assert_allclose(matrix(state.affinities).toarray(), model.affinities_)
    assert judged("auto", problem, state, ThreadPool(1)).score == pytest.approx(model.objective_, rel=1e-9)
    assert (np.diff([line.objective for line in model.history_]) <= 1e-6).all()
    assert model.converged_
    model.save(tmp_path / "model.npz")
    pairs = np.argwhere(graph.links.toarray())[:50]
    again = kl.load(tmp_path / "model.npz")
    np.testing.assert_allclose(again.predict_proba(pairs), model.predict_proba(pairs))
    parts = [what for what, _ in model.explain(*pairs[0]).parts]
    assert any("with community" in what for what in parts)
    assert model.sample(random_state=0).n_links == pytest.approx(graph.n_links, rel=0.1)


def test_partial_fit_keeps_off_diagonal_affinities():
    graph, _ = opposites()
    model = fitted(graph)
    value, number = model.objective_, n_off_diagonal(model)
    model.partial_fit([])
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    assert n_off_diagonal(model) == number
    model.partial_fit([(0, 45), (1, 46), *((240, j) for j in range(40, 52))])
    assert n_off_diagonal(model) == number
    assert (model.memberships_.toarray()[240] == model.memberships_.toarray()[0]).all()
    problem = problem_of(model._fitted_settings(), model.graph_)
    state = state_of(model.point_, problem)
    assert judged("auto", problem, state, ThreadPool(1)).score == pytest.approx(model.objective_, rel=1e-9)


def test_likely_links_between_communities_are_suggested_in_large_networks(monkeypatch):
    graph, truth = opposites(n=160, size=40, q=0.001)
    model = fitted(graph)
    monkeypatch.setattr("klafter.prediction.ranking.EXHAUSTIVE", 10)
    group = truth.argmax(axis=1)
    found = model.top_links(200)
    assert np.mean([group[i] == group[j] ^ 1 for i, j, _ in found]) > 0.95
