"""Weights of model and expert from refits to folds: seeded, kept in files and checkpoints, and used by predictions."""

import numpy as np
import pytest

import klafter as kl
from klafter.datasets import load_les_miserables
from klafter.graph import Graph, split_dyads
from klafter.models import KLafter
from klafter.models.engines import refits
from klafter.prediction.structure import share_lost, weigh_folds

QUICK = {"n_init": 1, "n_smooth": 30, "max_iter": 3, "random_state": 0}
PAIRS = np.array([[0, 1], [5, 30], [2, 60]])


@pytest.fixture(scope="module")
def model():
    return KLafter(**QUICK).fit(load_les_miserables())


def planted(n=40, directed=False, counts=False):
    rng = np.random.default_rng(0)
    z = np.kron(np.eye(4), np.ones((n // 4, 1)))
    rate = np.where(z @ z.T > 0, 0.6, 0.08)
    y = rng.poisson(rate * 2) if counts else rng.random((n, n)) < rate
    y = (y * (1 - np.eye(n))).astype(float)
    return Graph(y if directed else np.triu(y), directed=directed)


def test_predictions_have_the_weights_that_refits_learned(model):
    intercept, own, expert = model.blend_weights_
    assert own >= 0 <= expert
    odds = np.log(model._own_probability(PAIRS) / (1 - model._own_probability(PAIRS)))
    shown = model.predict_proba(PAIRS)
    said, _ = model._expert.log_odds(PAIRS)
    assert np.log(shown / (1 - shown)) == pytest.approx(intercept + own * odds + expert * said)


def test_weights_are_seeded_and_no_matter_of_workers(model):
    again = KLafter(**QUICK, n_jobs=2).fit(load_les_miserables())
    assert (again.blend_weights_ == model.blend_weights_).all()


def test_weights_are_in_model_files_and_old_files_do_without(model, tmp_path):
    model.save(tmp_path / "model.npz")
    loaded = kl.load(tmp_path / "model.npz")
    assert (loaded.blend_weights_ == model.blend_weights_).all()
    assert loaded.predict_proba(PAIRS) == pytest.approx(model.predict_proba(PAIRS), abs=1e-12)
    del loaded.blend_weights_
    loaded.save(tmp_path / "old.npz")
    old = kl.load(tmp_path / "old.npz")
    assert not hasattr(old, "blend_weights_")
    assert ((old.predict_proba(PAIRS) > 0) & (old.predict_proba(PAIRS) < 1)).all()


def test_a_number_needs_no_refits_and_communities_do_not_depend_on_them(model):
    half = KLafter(**QUICK, structure=0.5).fit(load_les_miserables())
    assert not hasattr(half, "blend_weights_")
    assert (half.memberships_ == model.memberships_).all()
    assert half.objective_ == model.objective_


def test_a_fit_that_is_stopped_in_a_refit_goes_on_to_the_same_result(model, tmp_path):
    def stop(progress):
        return progress.stage == "refits" and progress.run == 1

    graph, path = load_les_miserables(), tmp_path / "fit.npz"
    stopped = KLafter(**QUICK).fit(graph, callback=stop, checkpoint=path)
    assert not hasattr(stopped, "blend_weights_")
    assert (stopped.memberships_ == model.memberships_).all()
    resumed = KLafter(**QUICK).fit(graph, checkpoint=path)
    assert (resumed.blend_weights_ == model.blend_weights_).all()
    assert (resumed.predict_proba(PAIRS) == model.predict_proba(PAIRS)).all()


def test_callbacks_hear_of_refits():
    heard = []
    KLafter(**QUICK).fit(planted(), callback=heard.append)
    assert {p.run for p in heard if p.stage == "refits"} == set(range(refits.REFITTED))


@pytest.mark.parametrize(("family", "directed"), [("bernoulli", True), ("poisson", False), ("gaussian", True)])
def test_every_family_and_direction_has_refits(family, directed):
    graph = planted(directed=directed, counts=family != "bernoulli")
    train, held = split_dyads(graph, random_state=0)
    model = KLafter(**QUICK, family=family).fit(train)
    assert model.blend_weights_.shape == (3,)
    p = model.predict_proba(held.pairs)
    assert p[held.values > 0].mean() > p[held.values == 0].mean()


def test_refits_are_asked_about_visible_dyads_only():
    graph = planted().hide(np.array([[0, 1], [2, 3]]))
    for fold in refits._folds(graph, np.random.SeedSequence(0)):
        assert not {(0, 1), (2, 3)} & set(map(tuple, fold.held.pairs.tolist()))
        assert fold.train.n_hidden == graph.n_hidden + len(fold.held.pairs)


def test_too_few_links_leave_no_weights():
    y = np.zeros((12, 12))
    y[0, 1] = y[2, 3] = y[4, 5] = 1.0
    assert not hasattr(KLafter(**QUICK).fit(Graph(y + y.T)), "blend_weights_")


def test_one_alone_where_the_other_only_adds_noise():
    rng = np.random.default_rng(0)
    linked = (rng.random(4_000) < 0.2).astype(float)
    knows, noise, ones = 4 * linked - 3 + rng.normal(size=4_000), rng.normal(size=4_000), np.ones(4_000)
    assert weigh_folds(knows, noise, linked, ones).expert < 0.05
    assert weigh_folds(noise, knows, linked, ones).model < 0.05


def test_hidden_dyads_tell_whether_nodes_without_links_have_lost_them():
    """A ring of 60 and 20 more nodes: all have as many hidden dyads, or the 20 have each one more, where links were."""
    links = np.roll(np.eye(60), 1, axis=1)
    y = np.zeros((80, 80))
    y[:60, :60] = links + links.T
    some = np.array([[i, (i + 30) % 60] for i in range(30)])
    few = np.array([[60 + i, 70 + i] for i in range(10)])
    degree = y.sum(axis=1)
    assert share_lost(Graph(y), degree) == 0.1
    assert share_lost(Graph(y).hide(np.vstack([some, few])), degree) == 0.1
    more = np.array([[60 + i, i] for i in range(20)])
    assert share_lost(Graph(y).hide(np.vstack([some[:10], few, more])), degree) > 0.5
