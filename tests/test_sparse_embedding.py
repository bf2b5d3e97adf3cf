"""Echoes see sparse communities that neighbourhoods do not show."""

import numpy as np
from scipy import sparse

from klafter.datasets import make_overlapping
from klafter.search.config import SEARCH
from klafter.search.sparse.moves.birth import background_responsibility
from klafter.search.sparse.nonbacktracking import nearest, nonbacktracking_embedding, unexplained
from klafter.search.sparse.state import as_problem, empty_state
from klafter.search.sparse.threads import ThreadPool


def count_walks(adjacency, steps):
    """Walks of some steps that never turn back, one by one: over directed links (i, j) followed by (j, k), k != i."""
    arcs = np.argwhere(adjacency)
    follow = (arcs[:, 1][:, None] == arcs[:, 0]) & (arcs[:, 0][:, None] != arcs[:, 1])
    walks = np.linalg.matrix_power(follow.astype(float), steps - 1)
    n = len(adjacency)
    first, last = np.eye(n)[arcs[:, 0]], np.eye(n)[arcs[:, 1]]
    return first.T @ walks @ last


def test_rows_are_sums_over_walks_that_never_turn_back():
    rng = np.random.default_rng(0)
    a = np.triu(rng.random((12, 12)) < 0.3, 1)
    a = (a + a.T).astype(np.float32)
    rows = nonbacktracking_embedding(sparse.csr_array(a), np.random.default_rng(1))
    ends = np.random.default_rng(1).choice(np.array([-1, 1], np.float32), (12, rows.shape[1] + 1))
    ends[:, 0] = 1
    walks = count_walks(a, SEARCH.sparse.embedding_steps) @ ends
    common = walks[:, 0] / np.linalg.norm(walks[:, 0])
    own = walks[:, 1:] - np.outer(common, common @ walks[:, 1:])
    own /= np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-30)
    np.testing.assert_allclose(rows, own, atol=2e-3)


def test_the_most_alike_share_a_community_where_links_are_few():
    graph, truth = make_overlapping(n=6000, mean_degree=10, random_state=0)
    problem = as_problem(graph)
    responsibility, _ = background_responsibility(problem, empty_state(problem), ThreadPool(1))
    rows = nonbacktracking_embedding(unexplained(problem, responsibility), np.random.default_rng(0))
    z = truth.memberships.toarray()
    seeds = np.random.default_rng(1).choice(problem.n, 30, replace=False)
    purity = [z[nearest(rows, seed, 30)].mean(axis=0).max() for seed in seeds]
    assert np.mean(purity) > 0.5
