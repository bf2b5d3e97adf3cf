"""link="auto" between the sizes where one engine is the obvious one: the network decides."""

import numpy as np
import pytest

from klafter.core.families import FAMILIES
from klafter.core.objective import objective
from klafter.core.problem import make_priors, make_problem
from klafter.core.workspace import open_workspace
from klafter.datasets import make_lfrm, make_overlapping
from klafter.evaluation import matched_f1
from klafter.models import KLafter, klafter
from klafter.models.engines import choice
from klafter.search import choose_link as linking
from klafter.search.config import SEARCH, changed
from klafter.search.dense import engine as dense
from klafter.search.dense.weights_kernels import laplace_evidence
from klafter.search.descend import Descent, Recipe, Task
from klafter.search.moves import flip

QUICK = {"n_init": 2, "structure": 0.0, "random_state": 0}  # only predictions have a structural expert


@pytest.fixture
def undecided(monkeypatch):
    """Networks from 100 nodes on are asked."""
    monkeypatch.setattr(choice, "SEARCH", changed(SEARCH, {"effort.choice_from": 100}))


@pytest.fixture(scope="module")
def overlapping():
    return make_overlapping(300, community_size=40, mean_degree=15, memberships=(1, 2), random_state=0)


@pytest.fixture(scope="module")
def logit_score(overlapping):
    return KLafter(link="logit", **QUICK).fit(overlapping[0]).objective_


def test_overlapping_communities_of_few_links_are_left_to_exposure(undecided, overlapping):
    graph, truth = overlapping
    one, two = (KLafter(n_jobs=n_jobs, **QUICK).fit(graph) for n_jobs in (1, 2))
    assert one.link_ == two.link_ == "exposure"
    assert one.objective_ == two.objective_
    assert len(one.restarts_) == 2
    assert matched_f1(truth.communities(), one.communities()) > 0.95
    assert one.notes_ == [klafter.CHOSEN]


def test_a_link_that_one_search_found_behind_is_taken_where_all_its_searches_end_below(
    undecided, overlapping, logit_score, monkeypatch
):
    """As on an LFR graph with half of its nodes in four communities: one search alone misses most of them."""
    graph, chosen = overlapping[0], linking.choose

    def choose(*args):
        found, start = chosen(*args)
        assert start is None
        return linking.Choice(found._replace(score=1.01 * logit_score), "where logit may go on")

    monkeypatch.setattr(linking, "choose", choose)
    model = KLafter(**QUICK).fit(graph)
    assert model.link_ == "exposure"
    assert model.notes_ == [klafter.CHOSEN]
    monkeypatch.setattr(linking, "is_close", lambda found, least: False)
    logit = KLafter(**QUICK).fit(graph)
    assert logit.link_ == "logit"
    assert model.objective_ < logit.objective_


def test_logit_stays_where_it_is_as_good_and_its_restarts_are_the_same(undecided):
    graph, _ = make_lfrm(110, 3, random_state=0)
    chosen, asked = KLafter(**QUICK).fit(graph), KLafter(link="logit", **QUICK).fit(graph)
    assert chosen.link_ == "logit"
    assert chosen.objective_ == asked.objective_
    assert not chosen.notes_


@pytest.mark.parametrize(
    "options",
    [
        {"link": "logit", "n_smooth": 0},
        {"n_communities": 3},
        {"max_communities": 9},
        {"temperature": 0.0},
        {"weight_scale": 3.0},
        {"offdiagonal_scale": 1.0},
        {"n_smooth": 0},
    ],
)
def test_nothing_is_chosen_where_only_one_engine_can(undecided, options, monkeypatch):
    monkeypatch.setattr(linking, "choose", None)
    model = KLafter(n_init=1, max_iter=1, structure=0.0, random_state=0, **options)
    assert model.fit(make_lfrm(110, 2, random_state=0)[0]).link_ == "logit"


def test_a_degree_prior_has_a_say_where_both_may_be_chosen(undecided, overlapping):
    model = KLafter(degree_prior=4.0, **QUICK).fit(overlapping[0])
    assert model.link_ == "exposure"


def test_a_warm_start_stays_with_the_link_that_was_chosen(undecided, overlapping):
    model = KLafter(warm_start=True, **QUICK).fit(overlapping[0])
    last = model.objective_
    assert model.fit(overlapping[0]).link_ == "exposure"
    assert model.history_[0].objective == pytest.approx(last)


@pytest.mark.parametrize("when", [1, 2])
def test_whoever_stops_while_both_are_tried_has_a_model(undecided, overlapping, when):
    told = []
    model = KLafter(**QUICK).fit(overlapping[0], callback=lambda p: told.append(p) or len(told) == when)
    assert model.link_ == "exposure"
    assert len(model.restarts_) == 1
    assert len(told) == when


def test_the_evidence_of_parameters_is_laplaces():
    """Against a determinant of diagonal curvatures by differences, on a network without communities."""
    graph, _ = make_lfrm(20, 2, random_state=1)
    problem = make_problem(graph, FAMILIES["bernoulli"].law(), make_priors())
    state = dense.init(problem, np.random.default_rng(0))
    step, priced = 1e-3, 0.0
    for values, precision in ((state.offset, problem.priors.offset), (state.sender, problem.priors.sociality)):
        for i in range(len(values)):
            around = []
            for shift in (-step, 0.0, step):
                values[i] += shift
                around.append(objective(problem, state))
                values[i] -= shift
            with_curvature = (around[0] - 2 * around[1] + around[2]) / step**2
            priced += 0.5 * np.log(with_curvature / precision)
    assert laplace_evidence(open_workspace(problem, state)) == pytest.approx(priced, rel=1e-3)


@pytest.mark.parametrize(("behind", "steps"), [(1.05, 1), (1.2, 0)], ids=["close", "far"])
def test_logit_is_given_up_where_it_is_far_behind_after_its_first_sweeps(overlapping, monkeypatch, behind, steps):
    graph, truth = overlapping
    problem = make_problem(graph, FAMILIES["bernoulli"].law(), make_priors())
    z = np.ascontiguousarray(truth.memberships.toarray().T.astype(np.uint8))
    recipe, task = Recipe(None, 50, 1, 1e-4, 0, 1), Task(0, 1, np.random.SeedSequence(0), None)
    taken: list[float] = []

    def step(problem, state, value, rng, **_):
        taken.append(value)
        return state, value

    monkeypatch.setattr(linking, "SEARCH", changed(SEARCH, {"link.sweeps": 10**6}))
    descents = [Descent(recipe, task, lambda _: None, None) for _ in range(2)]
    start = dense.init(problem, descents[0].rng, z)
    swept = flip.sweep(problem, start, dense.score(problem, start), descents[0].rng)[1]
    monkeypatch.setattr(dense, "step", step)
    linking.descend_below(swept / behind, problem, z, descents[1])
    assert len(taken) == steps
