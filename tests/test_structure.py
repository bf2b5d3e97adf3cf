"""The structural expert: its features without the pair itself, its regression, and its refusal of too little data."""

import numpy as np
import pytest

from klafter.graph import Graph
from klafter.prediction.structure import (
    FLOOR,
    Neighbourhoods,
    expert_logits,
    fit_expert,
    visible_links,
    visible_nonlinks,
)


def draw_graph(directed=False, n=14, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random((n, n)) < 0.3) * (1.0 - np.eye(n))
    return Graph(y if directed else np.triu(y), directed=directed)


def plain_features(y, i, j):
    """The three features in loops over neighbours, with the pair's own link taken out of counts but not of degrees."""
    a = np.maximum(y, y.T)
    degree = np.maximum(a.sum(axis=1), 1.0)
    allocation = sum(1 / degree[m] for m in range(len(y)) if a[i, m] and a[j, m])
    cut = a.copy()
    cut[i, j] = cut[j, i] = 0.0
    paths = sum(cut[i, u] * cut[u, v] * cut[v, j] / np.sqrt(degree[u] * degree[v]) for u, v in np.ndindex(*a.shape))
    product = (y[i].sum() - y[i, j] + 1) * (y[:, j].sum() - y[i, j] + 1)
    return np.log(allocation + FLOOR), np.log(paths + FLOOR), np.log(product)


@pytest.mark.parametrize("directed", [False, True])
def test_features_are_those_of_the_graph_without_the_pair(directed):
    graph = draw_graph(directed)
    pairs = np.argwhere(~np.eye(14, dtype=bool))
    plain = [plain_features(graph.links.toarray(), i, j) for i, j in pairs]
    assert Neighbourhoods(graph.links).features(pairs) == pytest.approx(np.array(plain))


def test_features_do_not_depend_on_the_order_of_pairs():
    near = Neighbourhoods(draw_graph(n=20, seed=1).links)
    pairs = np.random.default_rng(0).integers(0, 20, (300, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    alone = np.concatenate([near.features(pair[None]) for pair in pairs])
    assert near.features(pairs) == pytest.approx(alone)
    assert near.features(pairs[:0]).shape == (0, 3)


def test_the_expert_prefers_linked_pairs_and_needs_some_links():
    graph = Graph(np.kron(np.eye(4), np.ones((6, 6))))
    near, expert = fit_expert(graph, np.random.default_rng(0))
    inside, across = expert_logits(near, expert, np.array([[0, 1], [0, 7]]))
    assert inside > 0 > across
    few = Graph(np.kron(np.eye(2), np.ones((2, 2))))
    assert fit_expert(few, np.random.default_rng(0))[1] is None


def test_it_learns_from_visible_dyads_only():
    graph = draw_graph().hide(np.array([[0, 1], [2, 3]]))
    rng = np.random.default_rng(0)
    seen = np.vstack([visible_links(graph, rng), visible_nonlinks(graph, rng)])
    assert len(seen) == graph.n_dyads
    assert not {(0, 1), (2, 3)} & set(map(tuple, seen.tolist()))
