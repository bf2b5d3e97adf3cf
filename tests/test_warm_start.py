"""A fit that goes on from the last one: covariates that come and go, other links, both engines."""

import numpy as np
import pytest

from klafter.datasets import make_lfrm
from klafter.graph import Graph
from klafter.models import KLafter

GRAPH, _ = make_lfrm(n=40, k=3, random_state=1)
RNG = np.random.default_rng(0)
AGE, CLASS, TOWN = (RNG.normal(size=(40, 40)) for _ in range(3))
BIPARTITE = np.kron([[0, 1], [1, 0]], RNG.random((40, 40)) < 0.4)  # what bridges are for


def quick(**options):
    return KLafter(n_init=1, max_iter=3, structure=0.0, warm_start=True, random_state=0, **options)


def known(**covariates):
    both = {name: values + values.T for name, values in covariates.items()}
    return GRAPH.replace(covariates=both)


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ({}, {"age": AGE}, [0.0]),
        ({"age": AGE}, {}, []),
        ({"age": AGE, "class": CLASS}, {"class": CLASS, "town": TOWN}, ["class", 0.0]),
        ({"age": AGE}, {"town": TOWN, "age": AGE}, [0.0, "age"]),
    ],
)
def test_coefficients_follow_the_names_of_covariates(before, after, kept):
    model = quick().fit(known(**before))
    old = dict(zip(before, model.point_.coefficients))
    graph = known(**after)
    state = model._warm_state(graph, model.graph_, model.point_, 1.0)
    np.testing.assert_array_equal(state.coefficients, [old.get(name, name) for name in kept])
    assert len(model.fit(graph).point_.coefficients) == len(after)
    assert np.isfinite(model.predict([(0, 1)])).all()


@pytest.mark.parametrize("prior", ["counts", "buffet"])
def test_a_warm_start_goes_on_with_the_prior_that_was_chosen(prior):
    model = quick(prior=prior, n_smooth=0).fit(GRAPH)
    before = model.levels()[0].score  # a coarser level may be shown
    model.set_params(prior="auto").fit(GRAPH)
    assert model.history_[0].objective <= before + 1e-6  # the descent that ended lowest may have begun lower still
    assert model.prior_ == prior
    assert model.levels()[0].score <= before + 1e-9


@pytest.mark.parametrize(("wish", "number"), [({"n_communities": 2}, 2), ({"max_communities": 1}, 1)])
def test_another_number_of_communities_begins_anew(wish, number):
    model = quick().fit(GRAPH)
    assert model.n_communities_ > 2
    assert model.set_params(**wish).fit(GRAPH).n_communities_ <= number
    assert model.objective_ == quick(**wish).fit(GRAPH).objective_


def test_a_covariate_that_says_nothing_is_no_obstacle():
    model = quick().fit(known(age=AGE))
    model.fit(known(age=AGE, town=0 * TOWN))
    assert np.isfinite(model.predict_proba([(0, 1)])).all()
    assert np.isfinite(model.fit(known(town=0 * TOWN)).objective_)


def test_sociality_that_is_switched_off_leaves_nothing_behind():
    model = quick().fit(GRAPH)
    assert np.abs(model.point_.sender).max() > 0
    assert not model.set_params(sociality=False).fit(GRAPH).point_.sender.any()
    model = quick(link="exposure").fit(GRAPH).set_params(sociality=False).fit(GRAPH)
    assert set(model.point_.memberships.data) == {1.0}


@pytest.mark.parametrize("links", [("exposure", "logit"), ("logit", "exposure")])
def test_another_link_begins_anew(links):
    model = quick(link=links[0]).fit(GRAPH).set_params(link=links[1]).fit(GRAPH)
    cold = quick(link=links[1]).fit(GRAPH)
    assert model.objective_ == cold.objective_


@pytest.mark.parametrize("link", ["logit", "exposure"])
def test_other_nodes_are_refused_and_the_model_stays(link):
    model = quick(link=link).fit(GRAPH)
    p = model.predict_proba([(0, 1)])
    other = {"logit": "exposure", "exposure": "logit"}[link]
    for graph, what in ((np.eye(5, k=1), "5"), (GRAPH.replace(directed=True), "40 nodes, directed")):
        for chosen in (link, other):
            with pytest.raises(ValueError, match=rf"warm_start needs.*{what}.*warm_start=False"):
                model.set_params(link=chosen).fit(graph)
    assert model.link_ == link
    assert model.predict_proba([(0, 1)]) == p


@pytest.mark.parametrize(
    ("graph", "bridged"),
    [
        (GRAPH, False),
        (Graph(make_lfrm(n=40, k=3, directed=True, random_state=1)[0].links, directed=True), False),
        (Graph(np.triu(BIPARTITE, 1)), True),
        (Graph(BIPARTITE, directed=True), True),
    ],
)
def test_the_sparse_engine_begins_where_it_ended(graph, bridged):
    model = KLafter(link="exposure", n_init=2, warm_start=True, random_state=0).fit(graph)
    last = model.objective_
    assert bridged == bool(np.count_nonzero(model.affinities_ - np.diag(np.diag(model.affinities_))))
    model.fit(graph)
    assert model.history_[0].objective <= last + 1e-9 * abs(last)
    assert model.objective_ <= model.history_[0].objective
    first = [line.objective for line in model.history_ if line.run == 0]
    assert (np.diff(first) <= 1e-9 * abs(last)).all()
    cold = KLafter(link="exposure", n_init=2, random_state=0).fit(graph)
    warmed, colder = ([line.objective for line in fit.history_ if line.run] for fit in (model, cold))
    both = min(len(warmed), len(colder))  # the best of a fit may have a line more, of searches put together
    assert warmed[:both] == colder[:both]
    assert max(len(warmed), len(colder)) <= both + 1


def test_a_warm_fit_of_the_sparse_engine_takes_changes():
    model = KLafter(link="exposure", n_init=1, warm_start=True, random_state=0).fit(GRAPH)
    links = GRAPH.links.toarray()
    links[0] = links[:, 0] = 0.0  # the first node has no link left, and keeps no membership
    model.fit(Graph(links))
    assert not model.memberships_.toarray()[0].any()
    assert np.isfinite(model.objective_)


def test_a_cluster_begins_anew_and_says_so():
    model = quick(link="exposure").fit(GRAPH)
    with pytest.raises(ValueError, match=r"warm_start=True.*cluster begins anew.*warm_start=False"):
        model.fit(GRAPH, client=object())
