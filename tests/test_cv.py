"""KLafterCV chooses inside the visible dyads, the same however it is run, and is a model like any other."""

import signal
from contextlib import suppress

import numpy as np
import pytest
from sklearn.base import clone

from klafter.datasets import load_karate
from klafter.graph import DyadKFold, split_dyads
from klafter.models import KLafter, KLafterCV, load
from klafter.models.successive_elimination import Elimination, clearly_worse, eliminate_settings, results_table

QUICK = KLafter(n_init=1, n_smooth=0, max_iter=2)
PENALTIES = [0.0, 2.0, 40.0]


@pytest.fixture(scope="module")
def karate():
    return load_karate()


@pytest.fixture(scope="module")
def tuned(karate):
    return KLafterCV(PENALTIES, cv=3, estimator=QUICK, random_state=0).fit(karate)


def test_the_best_setting_is_the_best_of_the_table(tuned):
    table = tuned.cv_results_
    finished = table["n_folds"] == table["n_folds"].max()
    assert tuned.best_score_ == table["mean_test_score"][finished].max()
    assert tuned.best_params_ == {"penalty": tuned.best_estimator_.penalty}
    assert table["rank_test_score"][tuned.best_index_] == 1
    assert sorted(table["rank_test_score"]) == [1, 2, 3]


def test_a_score_of_the_table_is_that_of_a_fit_to_the_fold(karate):
    folds = DyadKFold(2, random_state=5)
    model = KLafterCV([1.0], cv=folds, estimator=clone(QUICK).set_params(random_state=3), scoring="log_likelihood")
    table = model.fit(karate).cv_results_
    for fold, (train, held) in enumerate(DyadKFold(2, random_state=5).split(karate)):
        alone = clone(QUICK).set_params(random_state=3, penalty=1.0).fit(train)
        assert table[f"split{fold}_test_score"][0] == alone.score(held.pairs, held.values)


def test_workers_do_not_change_the_result(karate, tuned):
    again = KLafterCV(PENALTIES, cv=3, estimator=QUICK, random_state=0, n_jobs=2).fit(karate)
    np.testing.assert_array_equal(again.cv_results_["mean_test_score"], tuned.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(again.memberships_, tuned.memberships_)


def test_hidden_dyads_stay_hidden(karate):
    train, held = split_dyads(karate, random_state=0)
    seen = []

    class Watching(DyadKFold):
        def split(self, graph, y=None, groups=None):
            for part, fold in super().split(graph):
                seen.append((part, fold))
                yield part, fold

    KLafterCV([0.0], cv=Watching(2), estimator=QUICK, random_state=0).fit(train)
    secret = set(map(tuple, held.pairs.tolist()))
    assert len(seen) == 2
    for part, fold in seen:
        assert not secret & set(map(tuple, fold.pairs.tolist()))
        assert all(part.hidden[i, j] for i, j in secret)


def test_methods_are_those_of_the_best_estimator(tuned, tmp_path):
    pairs = np.array([[0, 33], [4, 20]])
    np.testing.assert_array_equal(tuned.predict_proba(pairs), tuned.best_estimator_.predict_proba(pairs))
    assert tuned.communities() == tuned.best_estimator_.communities()
    assert tuned.top_links(3) == tuned.best_estimator_.top_links(3)
    assert tuned.explain(0, 33).probability == tuned.best_estimator_.explain(0, 33).probability
    assert tuned.sample(random_state=0).n_nodes == 34
    tuned.save(tmp_path / "best.npz")
    assert load(tmp_path / "best.npz").penalty == tuned.best_params_["penalty"]


def test_predictions_of_the_sparse_engine_are_those_of_the_best_estimator(karate):
    model = KLafterCV([0.0], cv=2, estimator=KLafter(link="exposure", n_init=1), random_state=0).fit(karate)
    pairs = np.array([(i, j) for i in range(5) for j in range(20, 30)])
    assert (model.predict_proba(pairs) == model.best_estimator_.predict_proba(pairs)).all()


def test_all_four_grids_are_crossed(karate):
    grids = {"temperatures": [1.0], "weight_scales": [1.0, 3.0], "offdiagonal_scales": [2.0]}
    model = KLafterCV([0.0, 1.0], **grids, cv=2, estimator=QUICK, random_state=0)
    table = model.fit(karate).cv_results_
    assert [tuple(setting.values()) for setting in table["params"]] == [
        (0.0, 1.0, 1.0, 2.0), (0.0, 1.0, 3.0, 2.0), (1.0, 1.0, 1.0, 2.0), (1.0, 1.0, 3.0, 2.0)
    ]  # fmt: skip
    assert model.best_estimator_.offdiagonal_scale == 2.0
    assert table["param_weight_scale"].tolist() == [1.0, 3.0, 1.0, 3.0]


def test_the_callback_is_told_and_may_stop(karate):
    told = []

    def callback(progress):
        told.append(progress)
        return progress.stage == "folds" and progress.step == 2

    model = KLafterCV(PENALTIES, cv=3, estimator=QUICK, random_state=0).fit(karate, callback=callback)
    assert [p.step for p in told if p.stage == "folds"] == [1, 2]
    assert model.n_communities_ >= 0
    assert model.cv_results_["n_folds"].tolist() == [1, 1, 0]


def test_ctrl_c_ends_the_race(karate, monkeypatch):
    fits = []

    def impatient(self, graph, **options):
        fits.append(graph.n_hidden)
        if len(fits) == 2:
            with suppress(KeyboardInterrupt):  # the fit keeps its best so far, as all models do
                signal.raise_signal(signal.SIGINT)
        return fit(self, graph, **options)

    fit = KLafter.fit
    monkeypatch.setattr(KLafter, "fit", impatient)
    model = KLafterCV([0.0, 1.0, 2.0], cv=3, estimator=QUICK, random_state=0).fit(karate)
    assert len(fits) == 3  # one whole, the one cut short, and the best on all that is visible
    assert fits[-1] == 0
    assert model.cv_results_["n_folds"].tolist() == [1, 0, 0]


def test_the_papers_choice_runs_every_value_to_the_end(karate):
    model = KLafterCV.paper([0.5, 4.0], cv=2, random_state=0)
    model.estimator.set_params(max_iter=3)
    table = model.fit(karate).cv_results_
    assert table["n_folds"].tolist() == [2, 2]
    assert model.best_estimator_.penalty in (0.5, 4.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalties": []}, "at least one setting"),
        ({"cv": 1}, "number of folds from 2"),
        ({"scoring": "accuracy"}, "scoring to be one of"),
        ({"penalties": [float("nan")]}, "penalty to be a finite number"),
        ({"weight_scales": [0.0]}, "weight_scale to be a finite number above 0"),
        ({"offdiagonal_scales": [-1.0]}, "offdiagonal_scale to be a finite number above 0"),
        ({"penalties": 0.5}, r"penalties to be a list of numbers, such as \[0\.5\]; it is 0\.5"),
    ],
)
def test_bad_parameters_are_refused_at_the_door(karate, options, message):
    with pytest.raises(ValueError, match=message):
        KLafterCV(**{"estimator": QUICK, **options}).fit(karate)


def test_folds_without_links_are_refused():
    with pytest.raises(ValueError, match="no fold with links"):
        KLafterCV([0.0], cv=2, estimator=QUICK).fit(np.zeros((8, 8)))


def test_elimination_needs_a_clear_difference():
    close = np.array([[0.90, 0.80], [0.89, 0.81], [0.88, 0.79]])
    assert not clearly_worse(close, np.ones(3, bool)).any()
    far = np.vstack([close, [0.5, 0.4]])
    assert clearly_worse(far, np.ones(4, bool)).tolist() == [False, False, False, True]
    assert not clearly_worse(far[:, :1], np.ones(4, bool)).any()
    assert not clearly_worse(np.array([[0.9, 0.9]]), np.ones(1, bool)).any()


def test_an_eliminated_setting_runs_no_further_fold_and_is_never_chosen():
    truth = np.array([[0.80, 0.82, 0.81, 0.80], [0.81, 0.81, 0.82, 0.81], [0.3, 0.3, 0.99, 0.99]])
    asked = []

    def evaluate(trials):
        asked.extend(trials)
        return [(setting, fold, truth[setting, fold], 1.0) for setting, fold in trials]

    result = eliminate_settings(3, 4, evaluate)
    assert [fold for setting, fold in asked if setting == 2] == [0, 1]
    table = results_table([{"penalty": p} for p in range(3)], result)
    assert table["eliminated"].tolist() == [False, False, True]
    assert table["rank_test_score"].tolist() == [2, 1, 3]


def test_a_race_that_was_stopped_keeps_what_it_has():
    result = eliminate_settings(2, 3, lambda trials: [(1, 0, 0.7, 1.0)])
    assert isinstance(result, Elimination)
    assert np.isnan(result.scores).sum() == 5
    assert results_table([{"penalty": 0}, {"penalty": 1}], result)["rank_test_score"].tolist() == [2, 1]
