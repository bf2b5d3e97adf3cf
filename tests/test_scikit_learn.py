"""Models in the company of scikit-learn: transformers, scorers, folds, searches, pickles, notebooks, its own checks."""

import pickle

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import klafter as kl
from klafter.datasets import load_karate
from klafter.models import EPM, IRM, LFRM, MMSB, KLafter, LinkClassifier, LinkRegressor, dyad_samples

KARATE = load_karate()
QUICK = KLafter(n_init=1, n_smooth=20, random_state=0)
MODELS = {
    "dense": QUICK,
    "sparse": KLafter(link="exposure", n_init=1, random_state=0),
    "LFRM": LFRM(n_burn=5, n_draws=10, random_state=0),
    "IRM": IRM(n_burn=5, n_draws=10, random_state=0),
    "MMSB": MMSB(n_communities=3, n_burn=5, n_draws=10, random_state=0),
    "EPM": EPM(n_communities=5, n_burn=5, n_draws=10, random_state=0),
}


@pytest.fixture(scope="module", params=MODELS.values(), ids=MODELS)
def model(request):
    return clone(request.param).fit(KARATE)


def dense(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


def test_transform_gives_membership_probabilities(model):
    found = model.transform(KARATE)
    assert found.shape == (34, model.n_communities_)
    assert (dense(found) == dense(model.membership_proba_)).all()
    assert (dense(model.transform(KARATE.links.toarray())) == dense(found)).all()
    assert (dense(clone(model).fit_transform(KARATE)) == dense(found)).all()
    assert (clone(model).fit_predict(KARATE) == model.labels_).all()


def test_names_and_tables(model):
    names = model.get_feature_names_out()
    assert list(names) == model.community_names_
    table = clone(model).set_output(transform="pandas").fit_transform(KARATE)
    assert list(table.columns) == list(names)
    assert table.shape == (34, model.n_communities_)


def test_polars_tables():
    polars = pytest.importorskip("polars")
    table = clone(QUICK).set_output(transform="polars").fit_transform(KARATE)
    assert isinstance(table, polars.DataFrame)


def test_another_network_is_refused(model):
    with pytest.raises(ValueError, match=r"34 nodes and 78 links; this is another one.*Use fit_transform"):
        model.transform(np.ones((3, 3)))


def test_weights_that_fit_ignored_make_no_other_network():
    graph = nx.karate_club_graph()  # its links have weights
    model = KLafter(n_init=1, n_smooth=0, random_state=0).fit(graph)
    assert model.transform(graph) is model.membership_proba_
    counts = KLafter(family="poisson", n_init=1, n_smooth=0, random_state=0).fit(graph)
    assert counts.transform(graph) is counts.membership_proba_
    with pytest.raises(ValueError, match="another one"):
        counts.transform(model.graph_)


def test_a_search_counts_what_its_estimator_counts():
    estimator = KLafter(family="poisson", n_init=1, n_smooth=0, max_iter=1, random_state=0)
    model = kl.KLafterCV([0.0, 3.0], cv=2, estimator=estimator).fit(nx.karate_club_graph())
    assert model.family == "poisson"
    assert model.graph_.links.data.max() == model.best_estimator_.graph_.links.data.max() == 7
    assert model.place([0, 33], values=[3, 2]).predict_proba([1]) <= 1


def test_a_step_of_a_pipeline():
    groups = make_pipeline(clone(QUICK), KMeans(2, n_init=1, random_state=0)).fit_predict(KARATE)
    assert set(groups) == {0, 1}


def test_pickling(model):
    again = pickle.loads(pickle.dumps(model))
    pairs = np.array([[0, 1], [5, 30]])
    assert (again.predict_proba(pairs) == model.predict_proba(pairs)).all()
    assert again.communities() == model.communities()


def test_a_notebook_shows_what_was_found(model):
    shown = model._repr_mimebundle_()
    assert f"{model.n_communities_} communities in 34 nodes" in shown["text/html"]
    assert "<style" in clone(model)._repr_mimebundle_()["text/html"]  # scikit-learn's diagram


# ---- dyads as samples -----------------------------------------------------------------------------------------------

PAIRS, VALUES = dyad_samples(KARATE)


@pytest.mark.parametrize("scoring", [None, "roc_auc", "average_precision", "neg_log_loss", "neg_brier_score"])
def test_cross_val_score(scoring):
    scores = cross_val_score(LinkClassifier(QUICK, KARATE), PAIRS, VALUES, cv=kl.DyadKFold(3), scoring=scoring)
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()


def test_folds_are_those_of_a_graph_with_hidden_dyads():
    """A fold of listed dyads fits what the graph without the others gives."""
    train, test = next(kl.DyadKFold(4).split(PAIRS, VALUES))
    model = LinkClassifier(QUICK, KARATE).fit(PAIRS[train], VALUES[train])
    direct = clone(QUICK).fit(KARATE.hide(PAIRS[test]))
    assert (model.predict_proba(PAIRS[test])[:, 1] == direct.predict_proba(PAIRS[test])).all()


def test_folds_keep_both_orders_together_and_share_the_links():
    rng = np.random.default_rng(0)
    graph = kl.Graph(np.triu(rng.random((12, 12)) < 0.3, 1), directed=True)
    pairs, values = dyad_samples(graph)
    seen = []
    for train, test in kl.DyadKFold(3).split(pairs, values):
        assert not {tuple(sorted(p)) for p in pairs[train].tolist()} & {tuple(sorted(p)) for p in pairs[test].tolist()}
        assert abs(values[test].sum() - values.sum() / 3) <= 1
        seen += test.tolist()
    assert sorted(seen) == list(range(len(pairs)))


def test_grid_search():
    grid = {"estimator__penalty": [0.0, 50.0]}
    search = GridSearchCV(LinkClassifier(QUICK, KARATE), grid, cv=kl.DyadKFold(2), scoring="roc_auc")
    search.fit(PAIRS, VALUES)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.model_.penalty == search.best_params_["estimator__penalty"]
    assert search.best_estimator_.model_.graph_.n_links == KARATE.n_links


def test_counts_are_a_regression():
    model = LinkRegressor(KLafter(family="poisson", n_init=1, n_smooth=20, random_state=0), KARATE)
    predicted = cross_val_predict(model, PAIRS, VALUES, cv=3)
    assert predicted.shape == VALUES.shape
    assert np.isfinite(
        cross_val_score(model, PAIRS, VALUES, cv=kl.DyadKFold(2), scoring="neg_mean_squared_error")
    ).all()


LEFT_OUT = MODELS | {
    "counts": KLafter(family="poisson", n_init=1, n_smooth=20, random_state=0),
    "real values": KLafter(family="gaussian", n_init=1, n_smooth=20, random_state=0),
}


@pytest.mark.parametrize("model", LEFT_OUT.values(), ids=LEFT_OUT)
def test_a_bare_model_is_scored_on_nodes_that_are_left_out(model):
    for matrix in (KARATE.links, KARATE.links.toarray()):
        scores = cross_val_score(model, matrix, cv=2)
        assert scores.shape == (2,)
        assert np.isfinite(scores).all()


def test_a_bare_model_is_searched_by_nodes_that_are_left_out():
    search = GridSearchCV(QUICK, {"penalty": [0.0, 50.0]}, cv=2).fit(KARATE.links.toarray())
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_the_score_of_new_nodes_is_that_of_their_placements():
    rng, model = np.random.default_rng(0), clone(QUICK).set_params(structure=0).fit(KARATE)
    row = (rng.random(34) < 0.2).astype(float)
    row[3] = np.nan
    nodes = np.random.default_rng(0).permutation(np.flatnonzero(~np.isnan(row)))
    logs = []
    for known, asked in ((nodes[::2], nodes[1::2]), (nodes[1::2], nodes[::2])):
        placed = model.place(known[row[known] > 0], known[row[known] == 0])
        p = placed.predict_proba(asked)
        logs += np.log(np.where(row[asked] > 0, p, 1 - p)).tolist()
    assert model.score(row[None]) == pytest.approx(np.mean(logs))


@pytest.mark.parametrize(("X", "sentence"), [
    (np.zeros((3, 5)), r"matrix with 34 columns; this has shape \(3, 5\)"),
    (np.full((2, 34), np.nan), "two observed dyads or more; here no row has them"),
])  # fmt: skip
def test_new_nodes_that_cannot_be_scored_are_refused(X, sentence):
    with pytest.raises(ValueError, match=sentence):
        clone(QUICK).fit(KARATE).score(X)


def test_values_of_nodes_are_ignored_as_by_fit():
    matrix, club = KARATE.links.toarray(), np.array(KARATE.attributes["club"]) == "Officer"
    assert (cross_val_score(QUICK, matrix, club, cv=KFold(3)) == cross_val_score(QUICK, matrix, cv=KFold(3))).all()


@pytest.mark.parametrize("matrix", [KARATE.links, KARATE.links.toarray()])
def test_predictions_of_rows_say_what_makes_sense(matrix):
    with pytest.raises(ValueError, match=r"pairs of nodes; this is a matrix of shape \(34, 34\).*Use .*LinkClassifier"):
        clone(QUICK).fit(KARATE).predict_proba(matrix)
    with pytest.raises(ValueError, match="links of 12 nodes"):
        cross_val_predict(QUICK, matrix, cv=3)


CLUB = np.array(KARATE.attributes["club"]) == "Officer"
ROWS = r"compares predictions of rows with y.*was not fitted to.*use LinkClassifier"
ASKED = {
    "a name without y": lambda model, X: cross_val_score(model, X, scoring="roc_auc", cv=3),
    "a name with y": lambda model, X: cross_val_score(model, X, CLUB, scoring="roc_auc", cv=3),
    "clusters": lambda model, X: cross_val_score(model, X, CLUB, scoring="adjusted_rand_score", cv=3),
    "several": lambda model, X: cross_validate(model, X, CLUB, scoring=["accuracy", "roc_auc"], cv=3),
    "a search": lambda model, X: GridSearchCV(model, {"random_state": [0, 1]}, scoring="roc_auc", cv=2).fit(X, CLUB),
    "in a pipeline": lambda model, X: cross_val_score(make_pipeline(model), X, CLUB, scoring="roc_auc", cv=3),
    "in other processes": lambda model, X: cross_val_score(model, X, CLUB, scoring="roc_auc", cv=3, n_jobs=2),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("name", ["dense", "IRM"])
def test_scorers_that_compare_rows_are_refused_and_give_no_nan(name, ask):
    for matrix in (KARATE.links, KARATE.links.toarray()):
        with pytest.raises(ValueError, match=ROWS):
            ask(MODELS[name], matrix)


def test_a_pipeline_that_goes_on_from_memberships_is_not_split_by_nodes():
    with pytest.raises(ValueError, match="a pipeline cannot transform nodes that KLafter has not seen"):
        cross_val_score(make_pipeline(clone(QUICK), KMeans(2)), KARATE.links.toarray(), cv=2)


def test_scorers_of_ones_own_and_pipelines_that_end_in_a_model_are_scored():
    matrix = KARATE.links.toarray()
    wanted = cross_val_score(QUICK, matrix, cv=2)
    assert (cross_val_score(QUICK, matrix, scoring=lambda model, X: model.score(X), cv=2) == wanted).all()
    assert (cross_val_score(make_pipeline(clone(QUICK)), matrix, cv=2) == wanted).all()


def test_folds_of_dyads_need_dyads():
    with pytest.raises(ValueError, match=r"y is None. Use pairs, values = klafter.models.dyad_samples"):
        cross_val_score(QUICK, KARATE.links.toarray(), cv=kl.DyadKFold(2))


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        (KARATE.links.toarray(), None, "needs pairs of nodes and a link value for each; X has shape"),
        (PAIRS, VALUES * 2, "needs links of 0 or 1; there is 2.0. Use LinkRegressor"),
        (PAIRS, np.where(VALUES, "yes", "no"), "there is 'no'. Use LinkRegressor"),
        ([[0, 1], [3, 3]], [0, 1], "A dyad has two nodes; 3 stands twice"),
        ([[0, 1], [1, 0]], [0, 1], "that of 0 and 1 is given twice, and differs"),
    ],
)
def test_what_is_not_dyads_is_refused(X, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinkClassifier(QUICK, KARATE).fit(X, [0] if y is None else y)


def test_dyads_of_a_bootstrap_count_once():
    graph = load_karate()
    pairs, values = dyad_samples(graph)
    model = LinkClassifier(KLafter(n_init=1, n_smooth=0, random_state=0), graph)
    rows = np.random.default_rng(0).integers(0, len(pairs), len(pairs))
    rows = np.concatenate([rows, np.flatnonzero(values)[:3], np.flatnonzero(values)[:3]])
    once = np.unique(rows)
    drawn = model.fit(np.where(rows[:, None] % 2, pairs[rows], pairs[rows][:, ::-1]), values[rows]).predict_proba(pairs)
    np.testing.assert_array_equal(drawn, clone(model).fit(pairs[once], values[once]).predict_proba(pairs))


def test_the_network_of_dyads_may_be_of_networkx():
    pairs, values = dyad_samples(nx.path_graph(5))
    model = LinkClassifier(KLafter(n_init=1, n_smooth=0, random_state=0), nx.path_graph(5)).fit(pairs, values)
    assert model.predict_proba(pairs).shape == (10, 2)
    with pytest.raises(ValueError, match="A network is a Graph"):
        LinkClassifier(KLafter(), None).fit(pairs, values)


@pytest.mark.parametrize(
    ("X", "sentence"),
    [(load_karate(), "score needs pairs and their link values"), ("ann", "score needs pairs"), (None, "score needs")],
)
def test_what_cannot_be_scored_is_refused_in_a_sentence(model, X, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.score(X)


def test_matrices_are_not_split_by_dyads():
    with pytest.raises(ValueError, match=r"DyadKFold splits pairs of rows, \(m, 2\)"):
        cross_val_score(LinkClassifier(QUICK, KARATE), KARATE.links.toarray(), np.zeros(34), cv=kl.DyadKFold(2))


def test_large_graphs_are_refused():
    with pytest.raises(ValueError, match="5,000 is the most"):
        dyad_samples(
            kl.Graph(np.zeros((2, 2))).replace(links=kl.graph.graph.sparse.csr_array((6000, 6000)), hidden=None)
        )


# ---- scikit-learn's own checks --------------------------------------------------------------------------------------

PAIRS_NOT_ROWS = "predict and predict_proba take pairs of nodes, not rows of a matrix"
DIAGONAL = "the check puts its NaN on the diagonal, which is never read; elsewhere NaN is refused"
SECOND = "the second argument of score is the link values of pairs, not y"
SPARSE = "sparse matrices are networks, and fitted; predictions of their rows make no sense"
EXPECTED = {
    **dict.fromkeys(
        (
            "check_n_features_in_after_fitting",
            "check_estimators_dtypes",
            "check_dtype_object",
            "check_estimators_pickle",
            "check_f_contiguous_array_estimator",
            "check_methods_sample_order_invariance",
            "check_methods_subset_invariance",
            "check_dict_unchanged",
            "check_fit_idempotent",
            "check_fit2d_predict1d",
        ),
        PAIRS_NOT_ROWS,
    ),
    "check_fit_score_takes_y": SECOND,
    "check_estimators_nan_inf": DIAGONAL,
    "check_estimator_sparse_array": SPARSE,
    "check_estimator_sparse_matrix": SPARSE,
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_accepts_the_estimator():
    """All checks pass but those of ``EXPECTED``, each of which does fail, for the reason given there."""
    model = KLafter(family="gaussian", n_init=1, n_smooth=0, max_iter=2, max_communities=4)
    results = check_estimator(model, expected_failed_checks=EXPECTED, on_skip=None)
    passed = {r["check_name"] for r in results if r["status"] == "passed"}
    assert not passed & set(EXPECTED)
    assert "check_transformer_general" in passed
