"""Partitions of high modularity, from which some restarts begin."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from klafter.search.modularity import louvain, move_nodes


def communities(labels):
    return [set(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels)]


def random_matrix(seed, n=12):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.3))
    return upper + upper.T, rng


@pytest.mark.parametrize("resolution", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_no_node_left_would_raise_modularity_by_moving_to_another_group(seed, resolution):
    matrix, rng = random_matrix(seed)
    rows = sparse.csr_array(matrix)
    labels = move_nodes(
        rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data, rng.permutation(12), resolution
    )
    network = nx.from_numpy_array(matrix / (1 + np.eye(12)))  # a loop counts twice there
    here = nx.community.modularity(network, communities(labels), resolution=resolution)
    for i in range(12):
        for there in set(labels[np.flatnonzero(matrix[i])].tolist()):
            other = labels.copy()
            other[i] = there
            assert nx.community.modularity(network, communities(other), resolution=resolution) < here + 1e-8


@pytest.mark.parametrize("resolution", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("graph", [nx.karate_club_graph(), nx.les_miserables_graph(), nx.davis_southern_women_graph()])
def test_partitions_are_as_good_as_those_of_networkx(graph, resolution):
    matrix = nx.to_scipy_sparse_array(graph, weight=None, dtype=float)
    graph = nx.from_scipy_sparse_array(matrix)
    found = [
        nx.community.modularity(
            graph, communities(louvain(matrix, resolution, np.random.default_rng(seed))), resolution=resolution
        )
        for seed in range(5)
    ]
    theirs = [
        nx.community.modularity(
            graph, nx.community.louvain_communities(graph, resolution=resolution, seed=seed), resolution=resolution
        )
        for seed in range(5)
    ]
    assert max(found) > max(theirs) - 0.01


def test_nodes_without_links_stay_alone():
    labels = louvain(sparse.csr_array(np.zeros((4, 4))), 1.0, np.random.default_rng(0))
    assert sorted(labels) == [0, 1, 2, 3]
