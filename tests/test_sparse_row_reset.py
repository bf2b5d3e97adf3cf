"""Row resets of the sparse engine: the fall that is told is that of Q, and nodes of several communities join all."""

import numpy as np
import pytest
from scipy import sparse

from klafter.datasets import make_overlapping
from klafter.graph import Graph
from klafter.search.sparse.affinities import as_affinities
from klafter.search.sparse.kernels.row_reset import reset_rows
from klafter.search.sparse.state import as_problem, as_state, memberships
from klafter.search.sparse.weights import objective
from klafter.search.sparse.workspace import open_workspace


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_fall_that_is_told_is_the_fall_of_the_objective(seed, directed, counts):
    rng = np.random.default_rng(seed)
    links = np.triu(rng.random((30, 30)) < 0.25, 1) * rng.integers(1, 4 if counts else 2, (30, 30)).astype(float)
    links = links + (np.tril(rng.random((30, 30)) < 0.25, -1) if directed else links.T)
    hidden = [(i, i + 1) for i in range(0, 20, 2)]
    graph = Graph(links, directed=directed).hide(hidden)
    problem = as_problem(graph, counts=counts)
    z = sparse.csr_array(rng.random((30, 4)) < 0.3).astype(float)
    affinities = as_affinities(rng.uniform(0.2, 1.0, 4))
    send = rng.uniform(0.5, 2.0, 30)
    state = as_state(problem, z, affinities, 0.05, send, rng.uniform(0.5, 2.0, 30) if directed else send)
    before = objective(problem, state)
    every, around = np.ones(30, bool), np.zeros(30, bool)
    fall = reset_rows(open_workspace(problem, state), 0, 30, every, around, 12)
    assert fall > 0
    assert before - objective(problem, state) == pytest.approx(fall, rel=1e-9)
    again = memberships(problem, state)
    np.testing.assert_array_equal(state.size, np.asarray(again.sum(axis=0)))
    np.testing.assert_allclose(state.send_sum, again.T @ state.send)


def test_a_node_of_four_communities_that_the_background_explained_joins_them_all():
    graph, truth = make_overlapping(200, mean_degree=20.0, community_size=25, memberships=(1, 1), random_state=0)
    z = sparse.csr_array(truth.memberships).toarray()
    rng, links = np.random.default_rng(0), graph.links.toarray()
    four = np.zeros(200)
    for k in range(4):
        four[rng.choice(np.flatnonzero(z[:, k]), 4, replace=False)] = 1.0
    links = np.block([[links, four[:, None]], [four[None], np.zeros((1, 1))]])
    problem = as_problem(Graph(links))
    held = sparse.csr_array(np.vstack([z, np.zeros(z.shape[1])]))
    state = as_state(problem, held, as_affinities(np.full(z.shape[1], 0.7)), 0.01, np.ones(201), np.ones(201))
    last = np.arange(201) == 200
    reset_rows(open_workspace(problem, state), 0, 201, last, np.zeros(201, bool), 12)
    assert set(range(4)) <= set(memberships(problem, state)[[200]].indices.tolist())
    assert state.send[200] < 0.6
