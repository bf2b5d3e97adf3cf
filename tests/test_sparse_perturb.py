"""What is tried when no other move gains: equal degree factors, and communities that are regrown."""

import numpy as np
import oracles_sparse as oracle
import pytest
from scipy import sparse

from klafter import KLafter
from klafter.datasets import make_overlapping
from klafter.search.sparse import engine
from klafter.search.sparse.affinities import as_affinities
from klafter.search.sparse.moves.perturb import equalise_factors, regrow, reset_factors
from klafter.search.sparse.state import as_problem, as_state, memberships
from klafter.search.sparse.threads import ThreadPool


@pytest.fixture(scope="module")
def planted():
    graph, truth = make_overlapping(n=3000, mean_degree=14, random_state=11)
    return as_problem(graph), sparse.csr_array(truth.memberships)


def weighted(problem, z):
    """A state with given communities and the weights that fit them."""
    ones = np.ones(problem.n)
    state = as_state(problem, sparse.csr_array(z), as_affinities(np.full(z.shape[1], 0.02)), 1e-3, ones, ones)
    return engine.weights(problem, state, ThreadPool(1), rounds=6)


def test_a_reset_changes_nothing_but_degree_factors(planted):
    problem, z = planted
    before = weighted(problem, z)
    state = reset_factors(problem, before)
    assert (state.send == 1).all()
    np.testing.assert_allclose(state.send_sum, before.size)
    assert (memberships(problem, state) != memberships(problem, before)).nnz == 0


def test_nodes_join_again_when_degree_factors_are_equal(planted):
    problem, z = planted
    fewer = z.copy()
    fewer.data = (np.random.default_rng(0).random(z.nnz) < 0.7).astype(float)
    fewer.eliminate_zeros()
    pool, state = ThreadPool(1), weighted(problem, fewer)
    for _ in range(12):
        state = engine.flip_sweep(problem, engine.weights(problem, state, pool), pool)
    after = equalise_factors(problem, state, pool)
    assert engine.objective(problem, after) < engine.objective(problem, state)
    assert oracle.average_f1(z.toarray(), memberships(problem, after).toarray()) > 0.9


def test_a_union_of_communities_is_taken_apart(planted):
    problem, z = planted
    union = sparse.hstack([z[:, [0]].maximum(z[:, [1]]).maximum(z[:, [2]]), z[:, 3:]])
    state = weighted(problem, union)
    after = regrow(problem, state, np.random.default_rng(0), ThreadPool(1))
    assert engine.objective(problem, after) < engine.objective(problem, state)
    assert len(after.size) == z.shape[1]
    assert oracle.average_f1(z.toarray(), memberships(problem, after).toarray()) > 0.9


@pytest.mark.slow
def test_communities_of_five_links_a_member_are_found(unchecked):
    graph, truth = make_overlapping(n=6000, mean_degree=11, random_state=21)
    model = KLafter(link="exposure", n_init=1, structure=0.0, random_state=0).fit(graph)
    assert (np.diff([line.objective for line in model.history_]) <= 1e-6).all()
    assert oracle.average_f1(truth.memberships, model.memberships_) > 0.85
