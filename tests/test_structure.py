"""The structural expert: features without the pair itself, weights from visible pairs, refusal of too little data."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

import klafter.prediction.features as features_module
from klafter.core.draws import ExposureDraw
from klafter.core.responses import RESPONSES
from klafter.datasets import load_les_miserables
from klafter.graph import Graph, split_dyads
from klafter.models import KLafter
from klafter.prediction.features import ALPHA, BARE, FAR, FLOOR, REST, SMALLEST, Neighbourhoods
from klafter.prediction.left_out import left_out_log_odds
from klafter.prediction.structure import Expert, Sample, fit_expert, visible_links, visible_nonlinks


def draw_graph(directed=False, n=14, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    y = (rng.random((n, n)) < share) * (1.0 - np.eye(n))
    return Graph(y if directed else np.triu(y), directed=directed)


def plain_features(y, i, j, directed):
    """The features of one pair in loops over a graph without its links."""
    y = y.copy()
    y[i, j] = y[j, i] = 0.0
    a, n = np.maximum(y, y.T), len(y)
    degree = a.sum(axis=1)
    both = [m for m in range(n) if a[i, m] and a[j, m]]
    paths = sum(
        1 / np.sqrt(degree[u] * degree[v]) for u in range(n) for v in range(n) if a[i, u] and a[u, v] and a[v, j]
    )
    graph = nx.from_numpy_array(a)
    steps = nx.shortest_path_length(graph, i, j) if nx.has_path(graph, i, j) else FAR
    walks = max(np.linalg.inv(np.diag(degree + REST) - ALPHA * a)[i, j], SMALLEST)
    ends = sorted([degree[i], degree[j]])
    around = sorted(degree[a[k] > 0].mean() if degree[k] else 0.0 for k in (i, j))
    found = [
        *np.log(np.add(ends, 1)), np.log(sum(1 / degree[m] for m in both) + FLOOR), np.log(paths + FLOOR),
        np.log(len(both) + 1), len(both) / max(sum(ends) - len(both), 1), min(steps, FAR), np.log(walks),
        np.log(walks * (sum(ends) + 2 * REST)), *np.log(np.add(around, 1)),
    ]  # fmt: skip
    return (
        [*found, *np.log([y[i].sum() + 1, y[:, i].sum() + 1, y[j].sum() + 1, y[:, j].sum() + 1])] if directed else found
    )


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("share", [0.08, 0.3])
def test_features_are_those_of_the_graph_without_the_pair(directed, share):
    graph = draw_graph(directed, share=share)
    pairs = np.argwhere(~np.eye(14, dtype=bool))
    plain = [plain_features(graph.links.toarray(), i, j, directed) for i, j in pairs]
    assert Neighbourhoods(graph.links, directed=directed).features(pairs) == pytest.approx(np.array(plain))


def test_beyond_some_size_walks_are_pushed_and_close(monkeypatch):
    graph = draw_graph(n=40, share=0.1)
    pairs = np.argwhere(~np.eye(40, dtype=bool))
    exact = Neighbourhoods(graph.links).features(pairs)
    monkeypatch.setattr(features_module, "DENSE", 10)
    pushed = Neighbourhoods(graph.links).features(pairs)
    assert np.exp(pushed[:, 7]) == pytest.approx(np.exp(exact[:, 7]), abs=5e-3)
    assert np.delete(pushed, (7, 8), axis=1) == pytest.approx(np.delete(exact, (7, 8), axis=1))


def test_features_do_not_depend_on_the_order_of_pairs():
    near = Neighbourhoods(draw_graph(n=20, seed=1).links)
    pairs = np.random.default_rng(0).integers(0, 20, (300, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    alone = np.concatenate([near.features(pair[None]) for pair in pairs])
    assert near.features(pairs) == pytest.approx(alone)
    assert len(near.features(pairs[:0])) == 0


def test_the_expert_prefers_linked_pairs_and_needs_some_links():
    graph = Graph(np.kron(np.eye(4), np.ones((6, 6))))
    expert = fit_expert(graph, np.random.default_rng(0))
    inside, across = expert.blend(np.array([[0, 1], [0, 7]]), expert.alone).log_odds(np.zeros(2))
    assert inside > 0 > across
    few = Graph(np.kron(np.eye(2), np.ones((2, 2))))
    assert fit_expert(few, np.random.default_rng(0)) is None


def test_it_learns_from_visible_dyads_only():
    graph = draw_graph().hide(np.array([[0, 1], [2, 3]]))
    rng = np.random.default_rng(0)
    seen = np.vstack([visible_links(graph, rng), visible_nonlinks(graph, rng)])
    assert len(seen) == graph.n_dyads
    assert not {(0, 1), (2, 3)} & set(map(tuple, seen.tolist()))


def test_a_model_that_knows_nothing_gets_no_weight_and_one_that_knows_all_gets_it():
    graph = draw_graph(n=60, share=0.1)
    rng = np.random.default_rng(0)
    expert = fit_expert(graph, rng)
    against = expert.combine(rng.normal(size=len(expert.bare)) - 3 * expert.sample.linked)[0]
    knows = expert.combine(8 * expert.sample.linked - 4 + rng.normal(size=len(expert.bare)))[0]
    assert against.model == 0.0
    assert knows.model > 0.5


def test_ends_without_other_links_are_judged_by_the_expert_alone():
    y = np.zeros((80, 80))
    y[0, 1:30] = y[30, 31:60] = 1.0  # two stars: no link has company at both ends
    y[60:66, 60:66] = np.triu(np.ones((6, 6)), 1)
    expert = fit_expert(Graph(y + y.T), np.random.default_rng(0))
    usual, bare = expert.combine(np.full(len(expert.bare), -2.0))
    assert usual != bare
    assert bare.model == 0.0
    said = expert.blend(np.array([[0, 70], [5, 70]]), (usual, bare)).log_odds(np.zeros(2))
    assert said[0] > said[1]  # one that had a link had it to a hub


def test_what_draws_say_without_a_pair_is_what_a_posterior_without_it_says():
    """Links of one rate, uniform prior: without one the posterior is Beta(s, f + 1), of mean s / (s + f + 1)."""
    rng, s, f = np.random.default_rng(0), 6, 14
    rates = rng.beta(s + 1, f + 1, 40_000)
    model = SimpleNamespace(
        _prediction_draws=lambda: rates, _response=lambda: RESPONSES["probability"], precision_=1.0,
        graph_=Graph(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])),
        _predictors=lambda pairs: (np.full(len(pairs), p) for p in rates),
    )  # fmt: skip
    said = left_out_log_odds(model, np.array([[0, 1], [0, 2]]), np.array([1.0, 0.0]))
    assert expit(said) == pytest.approx([s / (s + f + 1), (s + 1) / (s + f + 1)], abs=0.003)


def test_of_a_search_without_draws_a_membership_by_one_link_alone_goes_with_it():
    y = np.kron(np.eye(2), np.ones((4, 4))) - np.eye(8)
    y[0, 4] = y[4, 0] = 1.0
    z = np.kron(np.eye(2), np.ones((4, 1)))
    z[4, 0] = 1.0  # for the sake of its link to 0
    draw = ExposureDraw(sparse.csr_array(z), sparse.csr_array(np.eye(2)), 0.01, np.ones(8), np.ones(8))
    model = SimpleNamespace(
        _prediction_draws=lambda: [draw], _response=lambda: RESPONSES["exposure"], precision_=1.0, graph_=Graph(y)
    )
    one, many, none = expit(left_out_log_odds(model, np.array([[0, 4], [1, 2], [1, 4]]), np.array([1.0, 1.0, 0.0])))
    shown = RESPONSES["exposure"].probability(draw.predictor(np.array([[0, 4], [1, 2], [1, 4]])))
    assert one < 0.02 < many < shown[1]
    assert none == pytest.approx(shown[2])


def test_probabilities_are_neither_timid_nor_bold():
    """Hidden links of a planted network: the slope of their log odds on those shown is near 1."""
    rng, n = np.random.default_rng(0), 120
    z = np.kron(np.eye(6), np.ones((20, 1)))
    y = np.triu(rng.random((n, n)) < np.where(z @ z.T > 0, 0.4, 0.03), 1)
    train, held = split_dyads(Graph(y.astype(float), directed=False), random_state=0)
    model = KLafter(n_init=2, n_smooth=60, random_state=0).fit(train)
    p = np.clip(model.predict_proba(held.pairs), 1e-9, 1 - 1e-9)
    x, y = np.log(p / (1 - p)), held.values
    slope = np.array([0.0, 1.0])
    for _ in range(20):
        design = np.column_stack([np.ones(len(x)), x])
        q = expit(design @ slope)
        slope = slope + np.linalg.solve((design * (q * (1 - q))[:, None]).T @ design, design.T @ (y - q))
    assert slope[1] == pytest.approx(1.0, abs=0.2)


def test_few_draws_leave_the_steady_mean_and_numbers_stay_weights():
    graph = load_les_miserables()
    pairs = np.array([[0, 1], [5, 30]])
    auto, half = (KLafter(n_init=1, n_smooth=0, max_iter=2, structure=s, random_state=0) for s in ("auto", 0.5))
    assert auto.fit(graph).predict_proba(pairs) == pytest.approx(half.fit(graph).predict_proba(pairs))


def test_bare_is_the_smaller_degree():
    expert = Expert(draw_graph(share=0.1), Sample(np.array([[0, 1], [1, 2]] * 8), np.tile([1.0, 0.0], 8), np.ones(16)))
    assert (expert.near.features(np.array([[0, 1]]))[0, BARE] == 0.0) == bool(
        min(expert.near.degree[[0, 1]] - expert.near.links[0, 1]) == 0
    )
