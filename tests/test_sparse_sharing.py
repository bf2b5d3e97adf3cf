"""Shared links of the sparse engine: the score and falls against plain formulas, and models that have them."""

from copy import copy
from itertools import product

import numpy as np
import pytest
from oracles_sparse import dyad_loss, exposures
from scipy import sparse
from scipy.optimize import minimize_scalar
from test_sparse_score import draw, slow_score

import klafter as kl
from klafter import KLafter
from klafter.core.draws import ExposureDraw
from klafter.datasets import make_lfr, make_overlapping
from klafter.evaluation import community_measures
from klafter.graph import Graph
from klafter.search.sparse.affinities import as_affinities
from klafter.search.sparse.everyone import likeliest
from klafter.search.sparse.kernels.rows import choose_rows
from klafter.search.sparse.membership_posterior import membership_posterior
from klafter.search.sparse.moves.share import deaths, in_shares, judged_rows, scratch_for, with_shares, without_shares
from klafter.search.sparse.score import score
from klafter.search.sparse.state import as_problem, as_state, copy_state, memberships
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import objective, weights
from klafter.search.sparse.workspace import open_workspace


def random_state(seed, directed, counts):
    """A problem with hidden dyads, and a state of four communities where links are shared."""
    rng = np.random.default_rng(seed)
    links = np.triu(rng.random((30, 30)) < 0.25, 1) * rng.integers(1, 4 if counts else 2, (30, 30)).astype(float)
    links = links + (np.tril(rng.random((30, 30)) < 0.25, -1) if directed else links.T)
    graph = Graph(links, directed=directed).hide([(i, i + 1) for i in range(0, 20, 2)])
    problem = as_problem(graph, counts=counts)
    z, send = sparse.csr_array(rng.random((30, 4)) < 0.4).astype(float), rng.uniform(0.5, 2.0, 30)
    receive = rng.uniform(0.5, 2.0, 30) if directed else send
    state = as_state(problem, z, as_affinities(rng.uniform(0.2, 1.0, 4)), 0.05, send, receive)
    return graph, problem, in_shares(problem, state)


def shares_of(state, problem):
    z = memberships(problem, state).toarray()
    return z, z / np.maximum(z.sum(axis=1, keepdims=True), 1)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_score_is_its_formula(seed, directed, counts):
    links, problem, state, z = draw(seed, directed=directed, shrinkage=4.0)
    v = z / np.maximum(z.sum(axis=1, keepdims=True), 1)
    expected = slow_score(links, state, z, 4.0, directed, counts, shares=v)
    assert score(problem, in_shares(problem, state), counts=counts) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_fall_that_rows_tell_is_the_fall_of_the_objective(seed, directed, counts, learned):
    _, problem, state = random_state(seed, directed, counts)
    pool, order = ThreadPool(1), np.random.default_rng(seed).permutation(30)
    for least in (0, 1):
        before = judged_rows(problem, state, pool, learned)
        fall, changed = choose_rows(open_workspace(problem, state), order, least, scratch_for(problem, state, learned))
        assert changed > 0
        assert least == 1 or fall > 0
        assert before - judged_rows(problem, state, pool, learned) == pytest.approx(fall, rel=1e-9, abs=1e-9)
        z, v = shares_of(state, problem)
        np.testing.assert_array_equal(state.size, z.sum(axis=0))
        np.testing.assert_allclose(state.send_sum, v.T @ state.send)
        np.testing.assert_allclose(state.receive_sum, v.T @ state.receive)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_the_objective_is_its_sum_over_all_dyads_and_weights_lower_it(directed, counts):
    graph, problem, state = random_state(5, directed, counts)
    y, (z, v) = graph.links.toarray(), shares_of(state, problem)
    seen = ~np.eye(30, dtype=bool) if directed else np.triu(np.ones((30, 30), bool), 1)
    for i in range(0, 20, 2):
        seen[i, i + 1] = False
    x = exposures(v, state.strength, state.background, state.send, state.receive)
    loss = dyad_loss(y, x, counts)[seen].sum()
    without = as_state(problem, sparse.csr_array(z), state.affinities, state.background, state.send, state.receive)
    other = dyad_loss(y, exposures(z, state.strength, state.background, state.send, state.receive), counts)[seen].sum()
    assert objective(problem, state) - objective(problem, without) == pytest.approx(loss - other, rel=1e-9)
    values = [objective(problem, state)]
    for _ in range(5):
        state = weights(problem, state, ThreadPool(1), rounds=1)
        values.append(objective(problem, state))
    assert (np.diff(values) < 1e-6).all()


def problem_links(problem):
    return sparse.csr_array((problem.value, problem.node, problem.start), shape=(problem.n, problem.n)).toarray()


def lowest_objective(problem, state, z, i, counts):
    """Of a cover, over the degree factor of one node."""

    def value(log_t):
        send = state.send.copy()
        send[i] = np.exp(log_t)
        there = as_state(problem, sparse.csr_array(z), state.affinities, state.background, send, send)
        return judged_rows(problem, in_shares(problem, there) if state.shared else there, ThreadPool(1), counts)

    return minimize_scalar(value, bounds=(-4, 4), method="bounded", options={"xatol": 1e-6}).fun


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_probabilities_of_memberships_are_those_of_all_sets_each_with_its_degree_factor(shared, counts):
    _, problem, state = random_state(1, False, False)
    z = memberships(problem, state).toarray()
    if not shared:
        z[[0, 3, 11]] = 0.0  # these the background explains
        state = as_state(problem, sparse.csr_array(z), state.affinities, 0.05, state.send, state.receive)
    proba = membership_posterior(problem, state, counts=counts).toarray()
    for i in (0, 3, 11):
        near = (problem_links(problem)[i] @ z > 0) | (z[i] > 0)  # others are not asked about
        sets, values = list(product(*([0.0, 1.0][: 1 + some] for some in near))), []
        for held in sets:
            other = z.copy()
            other[i] = held
            values.append(lowest_objective(problem, state, other, i, counts))
        weight = np.exp(min(values) - np.array(values))
        np.testing.assert_allclose(proba[i], weight @ np.array(sets) / weight.sum(), atol=0.01)


def test_probabilities_of_nodes_that_communities_explain_are_those_of_single_flips():
    _, problem, state = random_state(1, False, False)
    z = memberships(problem, state).toarray()
    state = as_state(problem, sparse.csr_array(z), state.affinities, 1e-4, state.send, state.receive)
    proba = membership_posterior(problem, state).toarray()
    i = int(np.argmax(z.sum(axis=1)))
    for k in range(4):
        value = []
        for member in (0, 1):
            other = z.copy()
            other[i, k] = member
            there = as_state(problem, sparse.csr_array(other), state.affinities, 1e-4, state.send, state.receive)
            value.append(objective(problem, there))
        assert proba[i, k] == pytest.approx(1 / (1 + np.exp(value[1] - value[0])), abs=2e-3)


def thin_overlap():
    """A graph in which a tenth of the nodes have a link or two into each of four communities."""
    sizes = {"min_community": 10, "max_community": 40}
    return make_lfr(500, average_degree=10, max_degree=25, mu=0.3, on=50, om=4, **sizes, random_state=0)


def test_with_shared_links_everyone_who_has_some_is_shown_in_a_community():
    graph, truth = thin_overlap()
    model = KLafter(link="exposure", n_init=1, random_state=0, n_jobs=1).fit(graph)
    assert model.links_shared_
    assert not model.unassigned()
    assert model.objective_ == min(step.objective for step in model.history_)
    assert community_measures(truth.communities(), model.communities(), n_nodes=500)["onmi"] > 0.7
    levels = model.levels()
    assert levels[0].score > model.objective_  # of the cover that is shown
    np.testing.assert_array_equal(levels[0].memberships.toarray(), model.memberships_.toarray())


def test_a_node_in_none_goes_where_its_links_lead():
    graph, truth = thin_overlap()
    problem, z, ones = as_problem(graph), sparse.csr_array(truth.memberships).toarray().astype(float), np.ones(500)
    alone = np.flatnonzero(z.sum(axis=1) == 4)[:20]
    z[alone] = 0.0
    state = as_state(problem, sparse.csr_array(z), as_affinities(np.full(z.shape[1], 0.3)), 0.01, ones, ones)
    state = with_shares(problem, weights(problem, state, ThreadPool(1), rounds=5), ThreadPool(1))
    extra, true = likeliest(problem, state, counts=True).toarray(), sparse.csr_array(truth.memberships).toarray()
    np.testing.assert_array_equal(np.flatnonzero(extra.sum(axis=1)), alone)
    assert (extra[alone] <= (graph.links @ z)[alone]).all()  # somebody it links to is there
    assert (extra[alone] * true[alone]).sum() > 0.6 * extra.sum()


def test_there_and_back_the_cover_is_the_same_and_a_useless_community_ends():
    graph, truth = make_overlapping(150, mean_degree=14, community_size=25, memberships=(1, 2), random_state=0)
    problem, pool, rng = as_problem(graph), ThreadPool(1), np.random.default_rng(0)
    z = sparse.csr_array(truth.memberships).toarray().astype(float)
    z = np.column_stack([z, rng.random(150) < 0.15])
    ones = np.ones(150)
    state = as_state(problem, sparse.csr_array(z), as_affinities(np.full(z.shape[1], 0.3)), 0.01, ones, ones)
    there = with_shares(problem, weights(problem, state, pool, rounds=5), pool)
    back = without_shares(problem, there, pool)
    np.testing.assert_array_equal(memberships(problem, back).toarray(), z)
    np.testing.assert_allclose(back.send_sum, z.T @ back.send)
    value = score(problem, there, pool, counts=True)
    fewer, made = deaths(problem, copy_state(there), value, rng, pool, counts=True)
    assert made >= 1
    assert len(fewer.size) < z.shape[1]
    assert score(problem, fewer, pool, counts=True) < value


@pytest.fixture(scope="module")
def shared():
    options = {"average_degree": 16, "max_degree": 30, "mu": 0.2, "min_community": 20, "max_community": 40}
    graph, truth = make_lfr(300, on=60, om=3, random_state=1, **options)
    return graph, truth, KLafter(link="exposure", n_init=2, random_state=0, n_jobs=1).fit(graph)


def test_nodes_of_an_lfr_graph_share_their_links_and_those_of_planted_graphs_do_not(shared):
    _graph, truth, model = shared
    assert model.links_shared_
    assert model.point_.shared
    assert community_measures(truth.communities(), model.communities(), n_nodes=300)["onmi"] > 0.8
    planted, _ = make_overlapping(300, mean_degree=16, community_size=40, memberships=(1, 2), random_state=0)
    other = KLafter(link="exposure", n_init=1, structure=0.0, random_state=0, n_jobs=1).fit(planted)
    assert not other.links_shared_
    assert not other.point_.shared


def test_a_model_with_shared_links_predicts_saves_grows_and_has_levels(shared, tmp_path):
    graph, _, model = shared
    pairs, point = np.array([(0, 1), (5, 200), (17, 43)]), model.point_
    z = sparse.csr_array(point.memberships).toarray()
    v = z / np.maximum(z.sum(axis=1, keepdims=True), 1)
    x = exposures(v, point.affinities.toarray(), point.background, point.send, point.receive)
    np.testing.assert_allclose(point.predictor(pairs), x[pairs[:, 0], pairs[:, 1]])
    np.testing.assert_allclose(point.predictor_rows(np.array([5])), x[[5]])
    parts = point.parts(0, 1)
    total = (parts.start + sum(t.value for t in parts.terms) / (point.send[0] * point.receive[1])) * (
        point.send[0] * point.receive[1]
    )
    assert total == pytest.approx(x[0, 1])
    model.save(tmp_path / "model.klafter")
    again = kl.load(tmp_path / "model.klafter")
    assert again.links_shared_ is True
    assert again.point_.shared is True
    np.testing.assert_array_equal(again.predict_proba(pairs), model.predict_proba(pairs))
    levels = model.levels()
    assert levels[0].score == model.objective_
    assert len(levels) == model.n_communities_
    near = graph.links[[7]].indices.tolist()
    assert (model.place(near).memberships & model.memberships_.toarray()[near].any(axis=0)).any()
    warm = copy(model).set_params(warm_start=True, n_init=1, structure=0.0).fit(graph)
    assert warm.objective_ <= model.objective_ * (1 + 1e-6)


def test_loadings_are_memberships_unless_links_are_shared():
    z = sparse.csr_array(np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]))
    plain = ExposureDraw(z, sparse.csr_array(np.eye(2)), 0.1, np.ones(3), np.ones(3))
    assert plain.loadings is z
    np.testing.assert_allclose(plain._replace(shared=True).loadings.toarray(), [[0.5, 0.5], [0, 1], [0, 0]])
