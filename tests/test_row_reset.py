"""Row resets: what a node reports is what the objective did, and it finds what no single flip could."""

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from scipy import sparse

from klafter.core.families import FAMILIES
from klafter.core.problem import add_communities, copy_state, make_priors, make_problem
from klafter.core.workspace import open_workspace
from klafter.datasets import make_lfrm
from klafter.graph import Graph
from klafter.search.dense import engine as dense
from klafter.search.dense.row_reset import reset_rows
from klafter.search.dense.score import score
from klafter.search.dense.weights import fit_weights
from klafter.search.moves.death import deaths
from klafter.search.moves.flip import flip_sweep
from klafter.search.moves.row_reset import resets

N = 7
cases = oracles.case_options("counts", least=1)


@pytest.mark.parametrize("family", FAMILIES)
@given(options=cases)
@settings(max_examples=15, deadline=None, derandomize=True)
def test_the_fall_that_is_told_is_the_fall_of_the_objective(family, options):
    graph, problem, state = oracles.draw_case(family=family, n=N, **options)
    before, after = oracles.objective(graph, problem, state), copy_state(state)
    ws = open_workspace(problem, after)
    fall = reset_rows(ws, np.arange(N), 3)
    assert fall >= 0.0
    assert before - oracles.objective(graph, problem, after) == pytest.approx(fall, rel=1e-7, abs=1e-7)
    assert oracles.is_fresh(ws, after)  # what is derived from the state followed
    assert after.z.any(axis=1).all()  # no community died


def test_nodes_of_two_communities_that_sociality_explained_join_both():
    graph, truth = make_lfrm(60, 3, random_state=3)
    problem = make_problem(graph, FAMILIES["bernoulli"].law(), make_priors())
    rng = np.random.default_rng(0)
    z = np.ascontiguousarray(sparse.csr_array(truth.memberships).toarray().T.astype(np.uint8))
    best = score(problem, flip_sweep(problem, dense.init(problem, rng, z), rng))
    before, after = [], []
    for _ in range(4):
        start = dense.init(problem, rng)
        stuck, value = dense.step(problem, start, score(problem, start), rng)
        before.append(score(problem, stuck))
        state, there = resets(problem, stuck, value, rng)
        after.append(score(problem, state))
        assert there == pytest.approx(after[-1])
        assert score(problem, stuck) == before[-1]  # left as it was
    assert min(before) > best + 10.0
    assert min(after) == pytest.approx(best, abs=2.0)


def drawn_to_both():
    """Two communities that share five nodes, a third that is drawn to both, and the state that drew the links."""
    rng, z, w = np.random.default_rng(0), np.zeros((3, 90), np.uint8), np.diag([5.0, 5.0, 5.0])
    z[0, :30] = z[1, 30:60] = z[2, 60:] = z[1, :5] = 1
    w[2, :2] = w[:2, 2] = 2.5
    chances = 1 / (1 + np.exp(4.0 - z.T @ w @ z))
    links = np.triu(rng.random((90, 90)) < chances, 1)
    problem = make_problem(Graph(1.0 * (links | links.T)), FAMILIES["bernoulli"].law(), make_priors())
    return problem, flip_sweep(problem, dense.init(problem, rng, z), rng)


def test_a_community_that_is_drawn_to_both_is_not_in_the_way_of_the_two():
    problem, truth = drawn_to_both()
    wrong = copy_state(truth)
    wrong.z[:, :5] = [[0], [0], [1]]
    reset_rows(open_workspace(problem, wrong), np.arange(5), 3)
    assert (wrong.z[:, :5] == [[1], [1], [0]]).all()


def test_nodes_with_a_community_of_their_own_instead_of_two_give_it_up():
    problem, truth = drawn_to_both()
    own = np.zeros((1, 90), np.uint8)
    own[0, :5] = 1
    wrong = add_communities(copy_state(truth), own, 5.0)
    wrong.z[:3, :5] = 0
    wrong = fit_weights(problem, wrong)
    value = score(problem, wrong)
    state, there = deaths(problem, wrong, value)
    assert there == pytest.approx(score(problem, state))
    assert there < value
    assert (state.z == truth.z).all()
