"""One contract for all estimators: every kind of graph works, or is refused in a sentence."""

import numpy as np
import pytest
from sklearn.base import clone

from klafter import models
from klafter.graph import Graph

N = 8
RNG = np.random.default_rng(0)
UNDIRECTED = np.triu(RNG.random((N, N)) < 0.4, 1).astype(float)
DIRECTED = (RNG.random((N, N)) < 0.4) * (1.0 - np.eye(N))
ALL = ~np.eye(N, dtype=bool)


def one_link():
    y = np.zeros((N, N))
    y[0, 1] = 1.0
    return y


def isolated():
    y = UNDIRECTED.copy()
    y[:2] = y[:, :2] = 0.0
    return y


GRAPHS = {
    "undirected": Graph(UNDIRECTED),
    "directed": Graph(DIRECTED, directed=True),
    "empty": Graph(np.zeros((N, N))),
    "one link": Graph(one_link()),
    "one arc": Graph(one_link(), directed=True),
    "complete": Graph(ALL.astype(float)),
    "complete, directed": Graph(ALL.astype(float), directed=True),
    "isolated nodes": Graph(isolated()),
    "some hidden": Graph(UNDIRECTED, hidden=np.array([[0, 1], [2, 3], [4, 6]])),
    "everything hidden": Graph(UNDIRECTED, hidden=ALL),
    "everything hidden, directed": Graph(DIRECTED, directed=True, hidden=ALL),
    "two nodes": Graph(np.array([[0.0, 1.0], [1.0, 0.0]])),
    "counts": Graph(UNDIRECTED * RNG.integers(1, 5, (N, N))),
}

ESTIMATORS = {
    "KLafter": models.KLafter(n_init=2, n_smooth=9, random_state=0),
    "KLafter, counts": models.KLafter(family="poisson", n_init=2, n_smooth=9, random_state=0),
    "KLafter, real values": models.KLafter(family="gaussian", n_init=2, n_smooth=9, random_state=0),
    "KLafter, exposure": models.KLafter(link="exposure", n_init=2, random_state=0),
    "KLafter, as published": models.KLafter.paper(max_iter=5, random_state=0),
    "LFRM": models.LFRM(n_burn=3, n_draws=8, random_state=0),
    "IRM": models.IRM(n_burn=3, n_draws=8, random_state=0),
    "MMSB": models.MMSB(n_communities=3, n_burn=3, n_draws=8, random_state=0),
    "EPM": models.EPM(n_communities=5, n_burn=3, n_draws=8, random_state=0),
}


def fit(estimator, graph):
    """The fitted model, or the sentence that refused the graph."""
    try:
        return clone(estimator).fit(graph), ""
    except ValueError as refusal:
        return None, str(refusal)


CASES = [
    pytest.param(estimator, graph, id=f"{name}: {kind}")
    for name, estimator in ESTIMATORS.items()
    for kind, graph in GRAPHS.items()
]


@pytest.mark.parametrize(("estimator", "graph"), CASES)
def test_every_graph_works_or_is_refused_in_a_sentence(estimator, graph):
    model, refusal = fit(estimator, graph)
    if model is None:
        assert "need" in refusal
        assert refusal.endswith(".")
        return
    pairs = np.array([[0, 1], [1, 0]])
    p = model.predict_proba(pairs)
    assert p.shape == (2,)
    assert ((p >= 0) & (p <= 1)).all()
    assert np.isfinite(model.predict(pairs)).all()
    assert np.isfinite(model.score(pairs, np.array([1.0, 0.0])))
    assert model.memberships_.shape == (graph.n_nodes, model.n_communities_)
    assert len(model.communities()) == model.n_communities_
    assert model.membership_proba_.shape == model.memberships_.shape
    assert model.membership_proba_.min() >= 0 if model.n_communities_ else True
    assert model.membership_proba_.max() <= 1 + 1e-6 if model.n_communities_ else True
    assert model.labels_.shape == (graph.n_nodes,)
    assert all(0 <= k < max(model.n_communities_, 1) for k in model.partition().values())
    assert len(model.first_choices()) == (len(model.unassigned()) if model.n_communities_ else 0)
    assert len(model.communities(threshold=0.5)) == model.n_communities_
    assert model.n_communities_posterior_["probability"].sum() == pytest.approx(1.0)
    assert model.n_communities_interval(0.5)[0] <= model.n_communities_interval(0.5)[1]
    assert all(0 <= link[2] <= 1 for link in model.top_links(3))
    assert model.sample(random_state=0).n_nodes == graph.n_nodes
    assert "probability" in str(model.explain(0, 1))
    if not graph.directed:
        assert p[0] == pytest.approx(p[1])


COUNTING = {
    "KLafter": models.KLafter(family="poisson", n_init=2, random_state=0),
    "LFRM": models.LFRM(family="poisson", n_burn=10, n_draws=100, random_state=0),
}


@pytest.mark.parametrize("n_seen", [0, 4])
@pytest.mark.parametrize("estimator", COUNTING.values(), ids=COUNTING)
def test_counts_of_which_little_was_seen_are_predicted_within_reason(estimator, n_seen):
    hidden = ALL.copy()
    for i in range(n_seen):
        hidden[i, i + 1] = hidden[i + 1, i] = False
    graph = Graph(UNDIRECTED, hidden=hidden)
    mean = clone(estimator).fit(graph).predict(np.argwhere(np.triu(ALL)))
    assert ((mean > 0) & (mean <= 2 * max(1.0, graph.links.max()))).all()
