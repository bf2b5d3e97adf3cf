"""Learners of pairs whose links are hidden a part at a time, and the features of nodes and spectra they learn from."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

import klafter.prediction.structure as structure
from klafter.graph import Graph
from klafter.prediction.features import Neighbourhoods
from klafter.prediction.parts import PARTS, PartsExpert, _deal, _features
from klafter.prediction.regression import fit_regression
from klafter.prediction.structure import fit_expert, weigh_folds
from klafter.prediction.topology import COMMON, HIGH, LOW, Topology, largest_eigenvectors


def draw_links(directed=False, n=30, seed=0, share=0.15):
    rng = np.random.default_rng(seed)
    y = (rng.random((n, n)) < share) * (1.0 - np.eye(n))
    return y if directed else np.maximum(np.triu(y), np.triu(y).T)


def test_nodes_and_ratios_are_those_of_the_field():
    y = draw_links(share=0.25)
    graph, topology = nx.from_numpy_array(y), Topology(sparse.csr_array(y))
    clustering = np.array([nx.clustering(graph, i) for i in range(30)])
    ranks = np.array([nx.pagerank(graph, tol=1e-12)[i] for i in range(30)])
    central = np.abs(np.linalg.eigh(y)[1][:, -1])
    found = topology.of_nodes
    assert found[1] == pytest.approx(clustering)
    assert np.exp(found[0]) / 30 == pytest.approx(ranks, abs=1e-4)
    assert np.corrcoef(np.exp(found[2]), central)[0, 1] > 0.999
    assert found[4] == pytest.approx(y @ clustering / np.maximum(y.sum(axis=1), 1))
    pairs = np.argwhere(np.triu(1 - y, 1))
    rows, (i, j) = topology.features(pairs), pairs.T
    salton = (y @ y)[i, j] / np.sqrt(np.maximum(y.sum(axis=1)[i] * y.sum(axis=1)[j], 1))
    assert np.exp(rows[:, 12]) - 1e-2 == pytest.approx(salton)
    around = Neighbourhoods(sparse.csr_array(y)).features(pairs)
    assert np.expm1(around[:, [LOW, HIGH, COMMON]]) == pytest.approx(
        np.column_stack([np.sort(y.sum(axis=1)[pairs], axis=1), (y @ y)[i, j]])
    )


def test_large_eigenvalues_are_found_and_the_same_every_time():
    a = sparse.csr_array(draw_links(n=60))
    values, vectors = largest_eigenvectors(a)
    exact = np.linalg.eigvalsh(a.toarray())
    assert values[:3] == pytest.approx(exact[np.argsort(-np.abs(exact))][:3], rel=1e-3)
    again = largest_eigenvectors(a)
    assert (again[0] == values).all()
    assert (again[1] == vectors).all()


@pytest.mark.parametrize("cost", [0.01, 0.1, 10.0])
def test_the_regression_is_that_of_scikit_learn(cost):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    features = np.column_stack([rng.standard_normal((300, 5)) * [1, 10, 0.1, 1, 1] + 3, np.full(300, 2.0)])
    linked = (rng.random(300) < expit(features[:, 0] - 3 + 0.1 * features[:, 1])).astype(float)
    theirs = make_pipeline(StandardScaler(), LogisticRegression(C=cost, max_iter=300, tol=1e-8)).fit(features, linked)
    mine = fit_regression(features, linked, cost)
    assert mine.log_odds(features) == pytest.approx(theirs.decision_function(features), abs=0.02)
    design = np.column_stack([(features - mine.mean) / mine.scale, np.ones(300)])
    slope = cost * design.T @ (expit(mine.log_odds(features)) - linked)
    assert np.abs(slope + np.append(mine.weights, 0.0)).max() <= cost * 300 * 1e-4


def test_rows_of_low_rank_are_those_of_all_eigenvectors_of_a_small_block_graph():
    y = np.kron(np.eye(3), np.ones((4, 4))) - np.eye(12)
    topology = Topology(sparse.csr_array(y))
    entries = topology.features(np.array([[0, 1], [0, 5]]))[:, -4]
    low = (topology.vectors * topology.values) @ topology.vectors.T
    assert entries == pytest.approx([low[0, 1], low[0, 5]])
    assert entries[0] > 0.5 > abs(entries[1])


@pytest.mark.parametrize("directed", [False, True])
def test_a_pair_is_seen_without_the_links_of_its_part(directed):
    y = draw_links(directed)
    graph, pairs = Graph(y, directed=directed), np.argwhere(y if directed else np.triu(y))
    part = _deal(30, pairs)
    found = _features(graph, pairs, np.ones(len(pairs)), part)
    cut = y.copy()
    for i, j in pairs[part == 2]:
        cut[i, j] = cut[j, i] = 0.0
    wanted = Topology(sparse.csr_array(cut), directed=directed).features(pairs[part == 2])
    assert found[part == 2] == pytest.approx(wanted)
    assert set(part) == set(range(PARTS))
    assert (_deal(30, pairs) == _deal(30, pairs[:, ::-1])).all()


def test_what_is_said_of_pairs_left_out_does_not_know_their_links():
    """On links at random nobody can tell; whoever has seen a pair could."""
    rng, n = np.random.default_rng(0), 60
    y = np.triu(rng.random((n, n)) < 0.1, 1)
    expert = fit_expert(Graph(np.maximum(y, y.T).astype(float)), rng)
    linked = expert.sample.linked > 0
    ranks = expert.parts.left_out.argsort().argsort()
    auc = (ranks[linked].mean() - (linked.sum() - 1) / 2) / (~linked).sum()
    assert auc < 0.6


def test_two_experts_are_averaged_and_one_is_enough_for_large_graphs(monkeypatch):
    graph, pairs = Graph(np.kron(np.eye(4), np.ones((6, 6)))), np.array([[0, 1], [0, 7]])
    both = fit_expert(graph, np.random.default_rng(0))
    trees = both.trees.log_odds(both.near.features(pairs))
    assert both.log_odds(pairs)[0] == pytest.approx((trees + both.parts.log_odds(pairs)) / 2)
    assert isinstance(both.parts, PartsExpert)
    monkeypatch.setattr(structure, "MOST_NODES", 20)
    one = fit_expert(graph, np.random.default_rng(0))
    assert one.parts is None
    assert one.log_odds(pairs)[0] == pytest.approx(trees)


def test_an_expert_that_gains_next_to_nothing_is_left_out():
    rng = np.random.default_rng(0)
    linked = np.repeat([1.0, 0.0], [40, 200])
    own, noise = 3 * linked - 1.5 + rng.normal(size=240), rng.normal(size=240)
    assert weigh_folds(own, noise, linked, np.ones(240)).expert == 0.0
    assert weigh_folds(own, 3 * linked - 1.5 + rng.normal(size=240), linked, np.ones(240)).expert > 0.3
