"""Protocols of link prediction and the rivals that stand in comparisons."""

import numpy as np
import pytest

from klafter.datasets import load_karate
from klafter.evaluation import RIVALS, Stack, compare, degree_corrected_auc, link_measures
from klafter.evaluation.protocols import PROTOCOL_NAMES, make_split
from klafter.graph import Graph, split_dyads
from klafter.models import KLafter


def network(*, directed=False, n=60, share=0.08, seed=0):
    rng = np.random.default_rng(seed)
    pull = rng.gamma(1.0, size=n)
    y = (rng.random((n, n)) < np.minimum(share * np.outer(pull, pull), 0.9)) * (1.0 - np.eye(n))
    return Graph(y if directed else np.triu(y), directed=directed)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("protocol", ["clean", "entries", "unguarded", "balanced", "degree-corrected"])
def test_what_judges_is_hidden_and_true(protocol, directed):
    graph = network(directed=directed)
    train, held = make_split(graph, 0.2, protocol, 0)
    i, j = held.pairs.T
    assert np.asarray(train.hidden[i, j]).all()
    assert held.values == pytest.approx(graph.links[i, j])
    again = make_split(graph, 0.2, protocol, 0)[1]
    assert (held.pairs == again.pairs).all()


def test_only_without_the_guard_do_nodes_lose_all_links():
    graph = Graph(np.diag(np.ones(59), 1), directed=False)
    lost = {
        p: int((np.diff(make_split(graph, 0.5, p, 0)[0].links.indptr) == 0).sum())
        for p in PROTOCOL_NAMES
        if p != "given"
    }
    assert lost["clean"] == lost["degree-corrected"] == 0
    assert lost["unguarded"] > 0
    assert lost["balanced"] > 0


def test_degree_corrected_nonlinks_have_the_degrees_of_links():
    graph = network(n=300, share=0.03)
    degree = np.diff(graph.links.indptr)
    product = {}
    for protocol in ("balanced", "degree-corrected"):
        held = make_split(graph, 0.3, protocol, 0)[1]
        assert held.values.sum() == pytest.approx(len(held.values) / 2)
        product[protocol] = link_measures(held.values, degree[held.pairs].prod(axis=1).astype(float))["roc_auc"]
    assert product["balanced"] > 0.7 > 0.62 > product["degree-corrected"]


def test_counting_nonlinks_by_degrees_is_drawing_them_so():
    rng, degrees = np.random.default_rng(0), np.array([5, 3, 2, 1, 1])
    pairs = np.argwhere(np.triu(np.ones((5, 5)), 1))
    values, scores = rng.permutation([1, 1, 1, 0, 0, 0, 0, 0, 0, 0]), rng.random(10)
    chance = np.where(values > 0, 0.0, degrees[pairs].prod(axis=1))
    drawn = rng.choice(10, 40_000, p=chance / chance.sum())
    means = [(scores[values > 0] > scores[t]).mean() for t in drawn]
    assert degree_corrected_auc(degrees, pairs, values, scores) == pytest.approx(np.mean(means), abs=0.01)


def test_tables_say_which_protocol_and_given_splits_are_used_as_they_are():
    karate = load_karate()
    for protocol in ("unguarded", "balanced", "degree-corrected"):
        table = compare({"paper": KLafter.paper(max_iter=1)}, karate, protocol, splits=1, baselines=False)
        assert PROTOCOL_NAMES[protocol] in table.title
    split = split_dyads(karate, random_state=3)
    given = compare({"stack": Stack(random_state=0)}, karate, "given", [split], baselines="all")
    whole = compare({"stack": Stack(random_state=0)}, karate, splits=1, random_state=3, baselines="all")
    assert "given splits" in given.title
    assert {r["model"]: r["roc_auc"] for r in given.rows} == {r["model"]: r["roc_auc"] for r in whole.rows}
    assert set(RIVALS) < {row["model"] for row in given.rows}


def test_wrong_protocols_and_splits_are_refused():
    karate = load_karate()
    with pytest.raises(ValueError, match=r"protocol is one of 'clean'.*this is 'fair'"):
        compare(Stack(), karate, "fair")
    with pytest.raises(ValueError, match=r"needs splits=\[\(train, held\)"):
        compare(Stack(), karate, "given", 3)
    with pytest.raises(ValueError, match="at least one split"):
        compare(Stack(), karate, splits=0)
    full = Graph(np.ones((6, 6)) - np.eye(6), directed=False)
    with pytest.raises(ValueError, match="too few pairs without a link"):
        make_split(full, 0.5, "balanced", 0)


def test_rivals_are_their_formulas():
    graph = network(n=25)
    a = graph.links.toarray()
    a = np.maximum(a, a.T)
    d, pairs = np.maximum(a.sum(axis=1), 1), np.argwhere((a == 0) & ~np.eye(25, dtype=bool))
    i, j = pairs.T
    walks, beta = np.zeros((25, 25)), 0.5 / np.linalg.eigvalsh(a).max()
    step = np.eye(25)
    for _ in range(200):
        step = beta * step @ a
        walks += step
    restart, place = np.eye(25), np.zeros((25, 25))
    for _ in range(400):
        place += 0.15 * restart
        restart = 0.85 * restart @ (a / d[:, None])
    plain = {
        "L3": (a / np.sqrt(d)) @ a @ (a / np.sqrt(d)[:, None]),
        "local path": a @ a + 0.01 * a @ a @ a,
        "Katz": walks,
        "personalised PageRank": place + place.T,
    }
    for name, matrix in plain.items():
        assert RIVALS[name](graph, pairs) == pytest.approx(matrix[i, j], abs=1e-9), name
    for name in ("structural perturbation", "low rank"):
        assert RIVALS[name](graph, pairs).shape == (len(pairs),)


def test_slope_and_expected_over_observed():
    rng = np.random.default_rng(0)
    x = rng.normal(-1, 2, 40_000)
    links = rng.random(40_000) < 1 / (1 + np.exp(-x))
    true, timid = (link_measures(links, 1 / (1 + np.exp(-x * s))) for s in (1.0, 0.5))
    assert true["slope"] == pytest.approx(1.0, abs=0.05)
    assert true["expected"] == pytest.approx(1.0, abs=0.02)
    assert timid["slope"] == pytest.approx(2.0, abs=0.1)


def test_stack_needs_links():
    with pytest.raises(ValueError, match="at least five links"):
        Stack().fit(Graph(np.diag(np.ones(2), 1), directed=False))
