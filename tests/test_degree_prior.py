"""The weight of the prior on degree factors, learned by the score."""

import numpy as np
import pytest
from scipy import sparse

import klafter as kl
from klafter import KLafter
from klafter.datasets import make_lfr, make_overlapping
from klafter.search.config import SEARCH
from klafter.search.sparse.affinities import as_affinities
from klafter.search.sparse.moves.degree_prior import learn_degree_prior
from klafter.search.sparse.score import given_cover
from klafter.search.sparse.state import as_problem, as_state, memberships
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import weights

POOL = ThreadPool(1)


def at_truth(graph, truth, **options):
    """The problem, and the true cover with weights that fit."""
    problem = as_problem(graph, **options)
    z, ones = sparse.csr_array(truth.memberships, dtype=float), np.ones(graph.n_nodes)
    state = as_state(problem, z, as_affinities(np.full(z.shape[1], 0.3)), 0.01, ones, ones)
    return problem, weights(problem, state, POOL, rounds=20)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_the_weight_that_is_learned_has_the_lowest_score_of_all(directed, temperature):
    graph, truth = make_lfr(300, average_degree=12, max_degree=40, mu=0.3, directed=directed, random_state=1)
    problem, state = at_truth(graph, truth, temperature=temperature, shrinkage=5.0 * temperature)
    before = given_cover(problem, state)
    for _ in range(6):
        problem, state = learn_degree_prior(problem, state, POOL)
    found = given_cover(problem, weights(problem, state, POOL, rounds=20))
    assert found < before - 1.0
    for factor in (0.6, 0.8, 1.25, 1.6):
        other = problem._replace(shrinkage=problem.shrinkage * factor)
        assert found < given_cover(other, weights(other, state, POOL, rounds=20)) + 0.5
    np.testing.assert_array_equal(memberships(problem, state).toarray(), truth.memberships.toarray())


def test_equal_degrees_have_a_heavy_prior_and_unequal_ones_a_light_one():
    found = []
    for exponent, most in ((2.0, 100), (3.0, 14)):
        graph, truth = make_lfr(
            600, average_degree=12, max_degree=most, tau1=exponent, mu=0.2, max_community=120, random_state=0
        )
        problem, state = at_truth(graph, truth)
        for _ in range(6):
            problem, state = learn_degree_prior(problem, state, POOL)
        found.append(problem.shrinkage)
    low, high = SEARCH.sparse.degree_priors
    assert low <= found[0] < 4.0 < 8.0 < found[1] <= high + 1e-9


def test_a_fit_learns_it_where_nobody_gives_it(tmp_path):
    graph, _ = make_overlapping(300, community_size=50, random_state=0)
    learned = KLafter(link="exposure", n_init=2, random_state=0).fit(graph)
    given = KLafter(link="exposure", n_init=2, degree_prior=5.0, random_state=0).fit(graph)
    assert given.degree_prior_ == 5.0 != learned.degree_prior_
    assert learned.objective_ < given.objective_
    assert (np.diff([step.objective for step in learned.history_ if step.run == 0]) <= 1e-6).all()
    learned.save(tmp_path / "m.npz")
    again = kl.load(tmp_path / "m.npz")
    assert again.degree_prior_ == learned.degree_prior_
    near = graph.links.indices[:4].tolist()
    np.testing.assert_allclose(again.place(near).probabilities, learned.place(near).probabilities)


@pytest.mark.parametrize("options", [{"sociality": False}, {"temperature": 0.0, "bridges": False}])
def test_without_factors_or_prior_there_is_nothing_to_learn(options):
    graph, _ = make_overlapping(150, community_size=50, random_state=0)
    assert KLafter(link="exposure", n_init=1, random_state=0, **options).fit(graph).degree_prior_ is None
