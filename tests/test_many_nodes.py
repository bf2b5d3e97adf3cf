"""What the dense engine does otherwise beyond some hundreds of nodes: where it begins."""

import threading

import numpy as np
import pytest

from klafter.core.families import FAMILIES
from klafter.core.problem import make_priors, make_problem
from klafter.datasets import make_lfrm
from klafter.models import KLafter
from klafter.sampling.smoothing import smooth
from klafter.search import choose_link, restart, starts
from klafter.search.config import SEARCH, changed
from klafter.search.dense import engine as dense
from klafter.search.dense.score import score
from klafter.search.descend import Recipe, Task
from klafter.search.levels import levels

RECIPE = Recipe(None, 2**31, 20, 1e-4, 0, 60)


@pytest.fixture
def problem():
    graph, _ = make_lfrm(60, 4, random_state=0)
    return make_problem(graph, FAMILIES["bernoulli"].law(), make_priors())


@pytest.fixture
def many(monkeypatch):
    """Sixty nodes count as many."""
    settings = changed(SEARCH, {"effort.hundreds": 50})
    monkeypatch.setattr(starts, "SEARCH", settings)


def task(run=0, state=None):
    return Task(run, 2, np.random.SeedSequence(run), state)


@pytest.mark.parametrize("run", [0, 1])
def test_every_restart_begins_at_a_partition(problem, many, run):
    z = restart.first_state(problem, RECIPE, task(run), np.random.default_rng(run)).z
    assert len(z) > 1
    assert z.sum(axis=0).max() == 1
    assert z.sum(axis=1).min() > 1


def test_fewer_nodes_begin_with_none(problem):
    assert len(restart.first_state(problem, RECIPE, task(), np.random.default_rng(0)).z) == 0


def test_a_start_that_is_given_is_kept_with_a_partition_beside_it(problem, many):
    given = dense.init(problem, np.random.default_rng(0))
    state = restart.first_state(problem, RECIPE, task(state=given), np.random.default_rng(0))
    assert len(state.z) == 0
    assert restart.n_partitions(problem, RECIPE, task(state=given)) == 1


def test_of_fewer_nodes_it_is_all_there_is(problem):
    given = dense.init(problem, np.random.default_rng(0))
    assert restart.n_partitions(problem, RECIPE, task(state=given)) == 0


@pytest.mark.parametrize(("dozens", "chains"), [(100, 1), (10, 2)])
def test_a_restart_has_chains_with_sociality_and_without_beyond_dozens(problem, monkeypatch, dozens, chains):
    monkeypatch.setattr(restart, "SEARCH", changed(SEARCH, {"effort.dozens": dozens}))
    recipe = RECIPE._replace(n_smooth=6)
    outcome = restart.restart(problem, recipe, task(), lambda progress: False, None, smooth)
    assert len(outcome.draws) == 5 * chains
    assert outcome.draws[0].sender.any()
    assert outcome.draws[-1].sender.any() == (chains == 1)


def test_partitions_of_many_nodes_are_finer(problem, monkeypatch):
    few_low, few_high = starts.resolutions(problem)
    assert few_low == -few_high
    monkeypatch.setattr(starts, "SEARCH", changed(SEARCH, {"effort.hundreds": 50}))
    low, high = starts.resolutions(problem)
    assert low > few_low
    assert high > few_high
    counts = problem._replace(law=FAMILIES["poisson"].law())
    assert starts.resolutions(counts) == (few_low, few_high)


def test_the_choice_of_the_link_gives_what_was_found_or_where_to_go_on(problem):
    graph, _ = make_lfrm(60, 4, random_state=0)
    model = KLafter(random_state=0)
    dense_setup = choose_link.DenseSetup(problem, RECIPE)
    found, start = choose_link.choose(
        graph,
        model._sparse_settings(),
        dense_setup,
        np.random.SeedSequence(0),
        lambda progress: False,
        threading.Event(),
    )
    assert np.isfinite(found.score)
    if start is not None:
        assert np.isfinite(score(problem, start))


def test_levels_of_many_communities_say_their_own_scores():
    graph, _ = make_lfrm(80, 4, random_state=0)
    problem = make_problem(graph, FAMILIES["bernoulli"].law(), make_priors())
    z = (np.arange(80) // 5 == np.arange(16)[:, None]).astype(np.uint8)
    state = dense.init(problem, np.random.default_rng(0), z)
    assert len(state.z) > SEARCH.levels.all_pairs
    path = levels(problem, state, score(problem, state))
    assert len(path[-1].state.z) == 1
    for level in path:
        assert level.score == pytest.approx(score(problem, level.state))
