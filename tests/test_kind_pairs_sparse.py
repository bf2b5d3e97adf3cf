"""The sparse engine where a rule says which kinds may be linked: sums over possible pairs by formula."""

import numpy as np
import pytest
from kind_graphs import RULES, as_one_kind, possible, ruled
from scipy import sparse

import klafter as kl
from klafter import Graph
from klafter.jit.decorators import kernel
from klafter.search.sparse.affinities import as_affinities
from klafter.search.sparse.engine import draw, step
from klafter.search.sparse.kernels import links as link_kernels
from klafter.search.sparse.kernels.flips import posterior_rows
from klafter.search.sparse.kernels.rows import choose_rows
from klafter.search.sparse.membership_posterior import membership_posterior
from klafter.search.sparse.moves.share import judged_rows, scratch_for, with_shares
from klafter.search.sparse.score import score
from klafter.search.sparse.state import as_problem, as_state, copy_state, empty_state, n_pairs
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import objective, totals, weights
from klafter.search.sparse.workspace import open_workspace


@kernel
def flip(ws, i, k):
    link_kernels.flip(ws, i, k)


PRICES = {"penalty": 0.5, "temperature": 1.0, "shrinkage": 5.0}


def pair_of_states(graph, seed=0, **prices):
    """The same memberships, affinities and degree factors by a rule and in the problem of hidden pairs."""
    rng = np.random.default_rng(seed)
    z = sparse.csr_array((rng.random((graph.n_nodes, 3)) < 0.4).astype(float))
    send, receive = rng.uniform(0.5, 2.0, (2, graph.n_nodes))
    receive, affinities = receive if graph.directed else send, as_affinities(rng.uniform(0.2, 1.0, 3))
    for each in (graph, as_one_kind(graph)):
        problem = as_problem(each, **{**PRICES, **prices})
        yield problem, as_state(problem, z, affinities, 0.1, send, receive)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("counts", [False, True])
def test_objective_and_score_are_those_of_hidden_pairs(rule, counts):
    (problem, state), (other, twin) = pair_of_states(ruled(rule), counts=counts)
    assert objective(problem, state) == pytest.approx(objective(other, twin), rel=1e-12)
    assert score(problem, state) == pytest.approx(score(other, twin), rel=1e-12)
    assert score(problem, state, counts=True) == pytest.approx(score(other, twin, counts=True), rel=1e-12)
    assert n_pairs(problem) == ruled(rule).n_pairs
    one, another = (empty_state(each).background for each in (problem, other))
    assert one == pytest.approx(another, rel=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_pairs_are_those_of_enumeration(rule):
    graph = ruled(rule)
    (problem, state), _ = pair_of_states(graph)
    known = draw(problem, state)
    z = known.memberships.toarray()
    a = np.outer(known.send, known.receive) * (possible(graph) & ~graph.hidden.toarray().astype(bool))
    a = a if graph.directed else np.triu(a)
    expected = [*(z[:, k] @ a @ z[:, k] for k in range(3)), a.sum()]
    assert np.allclose(totals(problem, state, ThreadPool(1)).pairs, expected)


@pytest.mark.parametrize("rule", RULES)
def test_gains_of_flips_are_differences_of_the_objective(rule):
    (problem, state), (other, twin) = pair_of_states(ruled(rule))
    n, k = problem.n, len(state.size)
    found = []
    for each, here in ((problem, state), (other, twin)):
        which, proba, ends = np.zeros(n * k, np.int32), np.zeros(n * k), np.zeros(n, np.int64)
        posterior_rows(open_workspace(each, here), 0, n, which, proba, ends)
        found.append((which[: ends[-1]], proba[: ends[-1]]))
    assert np.array_equal(found[0][0], found[1][0])
    assert np.allclose(found[0][1], found[1][1], rtol=1e-9)
    before, ends = objective(problem, state), np.concatenate([[0], ends])
    for i in range(n):
        for at in range(ends[i], ends[i + 1]):
            p, community = found[0][1][at], found[0][0][at]
            there = copy_state(state)
            inside = community in there.member[problem.start[i] : problem.start[i] + there.held[i]]
            if there.held[i] == problem.start[i + 1] - problem.start[i] and not inside:
                continue
            flip(open_workspace(problem, there), i, community)
            odds = np.log(p / (1 - p)) * (1 if inside else -1)
            assert objective(problem, there) - before == pytest.approx(odds, abs=1e-6)


@pytest.mark.parametrize("rule", RULES)
def test_weights_are_those_of_hidden_pairs_and_lower_the_objective(rule):
    (problem, state), (other, twin) = pair_of_states(ruled(rule))
    pool, values = ThreadPool(1), [objective(problem, state)]
    for _ in range(10):
        state, twin = weights(problem, state, pool, rounds=1), weights(other, twin, pool, rounds=1)
        values.append(objective(problem, state))
        assert np.allclose(state.send, twin.send, rtol=1e-8)
        assert np.allclose(state.receive, twin.receive, rtol=1e-8)
        assert np.allclose(state.strength, twin.strength, rtol=1e-8)
    assert (np.diff(values) <= 1e-9).all()


@pytest.mark.parametrize("rule", RULES)
def test_rows_and_shared_links_are_those_of_hidden_pairs(rule):
    pool, found = ThreadPool(1), []
    for problem, state in pair_of_states(ruled(rule)):
        state = with_shares(problem, state, pool)
        before = judged_rows(problem, state, pool, False)
        fall, changed = choose_rows(
            open_workspace(problem, state), np.arange(problem.n), 0, scratch_for(problem, state, False)
        )
        assert judged_rows(problem, state, pool, False) == pytest.approx(before - fall, rel=1e-9)
        found.append((before, fall, changed))
    assert np.allclose(found[0], found[1], rtol=1e-8)


@pytest.mark.parametrize("rule", RULES)
def test_probabilities_of_memberships_are_those_of_hidden_pairs(rule):
    (problem, state), twin = pair_of_states(ruled(rule))
    one, other = membership_posterior(problem, state).toarray(), membership_posterior(*twin).toarray()
    all_tried = np.diff(problem.start) >= len(state.size)  # else which are depends on what each promises such a node
    assert all_tried.sum() > 10
    assert np.allclose(one[all_tried], other[all_tried], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("rule", RULES)
def test_every_step_lowers_the_objective(rule):
    """Every accepted move is checked against the objective, as in all tests; see ``KLAFTER_CHECK_CLAIMS``."""
    graph = ruled(rule, 80, inside=0.5, outside=0.03)
    problem = as_problem(graph, **PRICES)
    state, rng = empty_state(problem), np.random.default_rng(0)
    values = [objective(problem, state)]
    for _ in range(4):
        state = step(problem, state, rng)
        values.append(objective(problem, state))
    assert (np.diff(values) <= 1e-6).all()


@pytest.mark.parametrize("rule", RULES)
def test_fits_find_what_hidden_pairs_give(rule):
    graph = ruled(rule, 80, inside=0.5, outside=0.03)
    model = kl.KLafter(link="exposure", n_init=2, bridges=False, structure=0, random_state=0)
    one, other = model.fit(graph), kl.KLafter(**model.get_params()).fit(as_one_kind(graph))
    assert one.objective_ <= other.objective_ * (1 + 1e-3)  # one score; births differ, which know kinds in one of them
    assert one.n_communities_ > 1
    assert (one.predict_proba(np.argwhere(~possible(graph))) == 0).all()


@pytest.mark.parametrize("directed", [False, True])
def test_planted_groups_of_a_larger_network_are_found(directed):
    graph, truth = planted(500, 5, directed)
    model = kl.KLafter(link="exposure", n_init=1, random_state=0).fit(graph)
    found = np.asarray(model.memberships_.todense() if sparse.issparse(model.memberships_) else model.memberships_)
    overlap = truth.T @ found / np.maximum(np.maximum(truth.sum(0)[:, None], found.sum(0)), 1)
    assert (overlap.max(axis=1) > 0.9).all()
    best = model.top_links(30)
    assert graph.is_possible(graph.pair_indices([pair[:2] for pair in best])).all()


def planted(n, k, directed=False, seed=0, inside=0.25):
    rng = np.random.default_rng(seed)
    kinds, group = rng.permutation(np.resize(["person", "paper", "paper", "venue"], n)), rng.integers(0, k, n)
    rule = RULES["directed" if directed else "people and papers"]
    empty = Graph(np.zeros((n, n)), kinds=kinds, **rule)
    links = rng.random((n, n)) < np.where(group[:, None] == group, inside, 0.004)
    links &= empty.is_possible(np.argwhere(np.ones((n, n), bool))).reshape(n, n)
    links = links if directed else np.triu(links) + np.triu(links).T
    return empty.replace(links=links), np.eye(k)[group]


def test_communities_of_people_papers_and_venues_are_found_where_walks_of_two_steps_end_in_one_kind():
    """Births from the embedding, in which nodes of all kinds must be alike."""
    n, k, rng = 800, 8, np.random.default_rng(0)
    kinds, group = rng.permutation(np.resize(["person", "paper", "paper", "venue"], n)), rng.integers(0, k, n)
    empty = Graph(np.zeros((n, n)), kinds=kinds, **RULES["chain"])
    pairs = np.argwhere(np.triu(rng.random((n, n)) < np.where(group[:, None] == group, 0.1, 0.005)))
    pairs = pairs[empty.is_possible(pairs)]
    graph = empty.replace(links=sparse.csr_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n)))
    problem, affinities = as_problem(graph, **PRICES), as_affinities(np.full(k, 0.1))
    state = as_state(problem, sparse.csr_array(np.eye(k)[group]), affinities, 0.005, *np.ones((2, n)))
    known = score(problem, weights(problem, state, ThreadPool(1), rounds=30))
    model = kl.KLafter(link="exposure", prior="buffet", penalty=0.5, n_init=1, structure=0, random_state=0).fit(graph)
    assert model.n_communities_ == k
    assert model.objective_ <= known + 1.0


def test_a_search_on_a_cluster_takes_two_modes_alone():
    pytest.importorskip("distributed")
    from klafter.models.engines.distributed import fit_graph

    with pytest.raises(ValueError, match="Fit without client"):
        fit_graph(kl.KLafter(link="exposure"), ruled("chain"), None, None, None)
