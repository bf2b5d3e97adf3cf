"""Measures of link prediction against hand-made numbers, and baselines against slow and obvious ones."""

import numpy as np
import pytest
from scipy import sparse

from klafter import Graph
from klafter.evaluation import BASELINES, baselines, calibration_curve, link_measures, precision_at

VALUES = np.array([1, 0, 1, 0, 1])
SCORES = np.array([0.9, 0.8, 0.5, 0.5, 0.2])


def test_measures_by_hand():
    measures = link_measures(VALUES, SCORES)
    # pairs (link, non-link): 0.9 wins both, 0.5 loses to 0.8 and ties, 0.2 loses both
    assert measures["roc_auc"] == pytest.approx(2.5 / 6)
    assert measures["average_precision"] == pytest.approx((1 + 2 / 4 + 3 / 5) / 3)
    assert measures["brier"] == pytest.approx(np.mean((VALUES - SCORES) ** 2))
    chances = np.where(VALUES, SCORES, 1 - SCORES)
    assert measures["log_loss"] == pytest.approx(-np.log(chances).mean())


def test_ties_are_averaged_whatever_the_order():
    values = np.array([1, 0, 0, 1, 0])
    assert link_measures(values, np.zeros(5))["roc_auc"] == 0.5
    assert precision_at(values, np.zeros(5), 2) == pytest.approx(0.4)
    assert precision_at(values[::-1], np.zeros(5), 2) == pytest.approx(0.4)


def test_scores_that_are_no_probabilities_have_no_log_loss():
    measures = link_measures(VALUES, 10 * SCORES)
    assert measures["roc_auc"] == pytest.approx(2.5 / 6)
    assert np.isnan(measures["log_loss"])
    assert np.isnan(measures["brier"])


def test_only_links_have_no_auc():
    measures = link_measures([1, 1], [0.2, 0.3])
    assert np.isnan(measures["roc_auc"])
    assert measures["brier"] == pytest.approx((0.64 + 0.49) / 2)
    assert all(np.isnan(v) for v in link_measures([], []).values())


def test_counts_are_links_when_above_zero():
    assert link_measures([3, 0, 1], [0.9, 0.1, 0.4])["roc_auc"] == 1.0


def test_precision_at():
    assert precision_at(VALUES, SCORES, 1) == 1.0
    assert precision_at(VALUES, SCORES, 3) == pytest.approx(1.5 / 3)
    assert precision_at(VALUES, SCORES, 5) == pytest.approx(0.6)
    with pytest.raises(ValueError, match="between 1 and 5"):
        precision_at(VALUES, SCORES, 6)


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_calibration_agrees_with_scikit_learn(strategy):
    from sklearn.calibration import calibration_curve as theirs

    rng = np.random.default_rng(0)
    scores = rng.random(500) ** 2
    values = rng.random(500) < scores
    observed, predicted = theirs(values, scores, n_bins=7, strategy=strategy)
    ours = calibration_curve(values, scores, n_bins=7, strategy=strategy)
    np.testing.assert_allclose(ours.observed, observed)
    np.testing.assert_allclose(ours.predicted, predicted)
    assert ours.n_dyads.sum() == 500


def test_wrong_input_is_told_at_the_door():
    with pytest.raises(ValueError, match="one score for each value"):
        link_measures([1, 0], [0.5])
    with pytest.raises(ValueError, match="NaN or infinity"):
        link_measures([1, 0], [0.5, np.nan])
    with pytest.raises(ValueError, match="needs probabilities"):
        calibration_curve([1, 0], [3.0, 0.5])
    with pytest.raises(ValueError, match='"quantile" or "uniform"'):
        calibration_curve([1, 0], [0.3, 0.5], strategy="even")


def naive(graph, i, j):
    """The four baselines of one pair, from dense arrays."""
    a, h, n = graph.links.toarray() != 0, graph.hidden.toarray(), graph.n_nodes
    rate_i, rate_j = a[i].sum() / (n - 1 - h[i].sum()), a[:, j].sum() / (n - 1 - h[:, j].sum())
    near = a.astype(int) + (a.T if graph.directed else 0)
    paths = near[i] * near[j]
    degree = near.sum(axis=1)
    common = [m for m in range(n) if paths[m]]
    return {
        "degree product": rate_i * rate_j,
        "common neighbours": sum(paths[m] for m in common),
        "Adamic-Adar": sum(paths[m] / np.log(degree[m]) for m in common),
        "resource allocation": sum(paths[m] / degree[m] for m in common),
    }


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("chunk", [7, 5_000_000])
def test_baselines_equal_the_naive_ones(directed, chunk, monkeypatch):
    monkeypatch.setattr(baselines, "CHUNK", chunk)
    rng = np.random.default_rng(4)
    links = rng.poisson(0.3, (25, 25))
    links = links if directed else np.triu(links, 1)
    pairs = np.array([(i, j) for i in range(25) for j in range(25) if i != j])
    hidden = pairs[rng.random(len(pairs)) < 0.2]
    graph = Graph(links, directed=directed, hidden=hidden)
    expected = [naive(graph, i, j) for i, j in pairs]
    for name, baseline in BASELINES.items():
        np.testing.assert_allclose(baseline(graph, pairs), [e[name] for e in expected])


def test_baselines_of_nothing():
    graph = Graph(np.zeros((4, 4)))
    for baseline in BASELINES.values():
        assert baseline(graph, np.zeros((0, 2), int)).shape == (0,)
        assert baseline(graph, np.array([[0, 1]])).tolist() == [0.0]


def test_baselines_agree_with_networkx():
    import networkx as nx

    net = nx.karate_club_graph()
    graph = Graph(nx.to_scipy_sparse_array(net, weight=None))
    pairs = list(nx.non_edges(net))
    for name, theirs in {
        "Adamic-Adar": nx.adamic_adar_index,
        "resource allocation": nx.resource_allocation_index,
    }.items():
        np.testing.assert_allclose(BASELINES[name](graph, np.array(pairs)), [p for _, _, p in theirs(net, pairs)])


def test_baselines_need_no_square_array():
    n = 200_000
    ring = np.arange(n)
    graph = Graph(sparse.csr_array((np.ones(n), (ring, (ring + 1) % n)), shape=(n, n)))
    pairs = np.column_stack([ring, (ring + 2) % n])
    assert set(BASELINES["common neighbours"](graph, pairs)) == {1.0}
