"""LFR graphs: what Lancichinetti and Fortunato (2009) publish of them, and each step beside a slow and obvious one."""

import time
from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from klafter.datasets import make_lfr
from klafter.datasets.lfr_links import _even_out
from klafter.datasets.lfr_places import _excess
from klafter.datasets.power_laws import draw_with_mean, draw_with_sum
from klafter.datasets.rewiring import Pairs, rewire

SIZES = {"min_community": 10, "max_community": 50}
GRID = [
    {},
    {"on": 100, "om": 2},
    {"on": 0.5, "om": 4},
    {"mu": 0.1, "on": 0.1, "om": 3},
    {"mu": 0.6, "on": 0.1, "om": 2},
    {"directed": True, "on": 0.2, "om": 2},
    {"weighted": True, "mu_w": 0.2},
    {"directed": True, "weighted": True, "mu_w": 0.4},
]


def degrees(graph):
    """Links of each node; with direction, those that come in."""
    return (graph.links != 0).sum(axis=0)


def shares_outside(graph, truth, weighted=False):
    """For each node, the share of its links, or of their weight, that come from nodes without a common community."""
    links = graph.links.toarray() if weighted else (graph.links != 0).toarray()
    together = (truth.memberships @ truth.memberships.T).toarray() > 0
    return np.where(together, 0, links).sum(axis=0) / links.sum(axis=0)


@pytest.fixture(scope="module", params=GRID, ids=str)
def lfr(request):
    asked = {"mu": 0.3, "on": 0, "om": 2, "directed": False, "weighted": False, **request.param}
    return (asked, *make_lfr(1000, **SIZES, **asked, random_state=3))


def test_links_are_simple(lfr):
    asked, graph, _ = lfr
    assert graph.links.diagonal().sum() == 0
    assert graph.directed == asked["directed"]
    assert (graph.links.data > 0).all()
    if not asked["weighted"]:
        assert (graph.links.data == 1).all()  # a link drawn twice would have been added up


def test_degrees_have_their_mean_and_bounds(lfr):
    _, graph, _ = lfr
    k = degrees(graph)
    assert abs(k.mean() - 20) < 4 * 11 / np.sqrt(1000)
    assert k.max() <= 50
    assert k.min() >= 9


def test_sizes_are_within_bounds(lfr):
    _, _, truth = lfr
    sizes = truth.memberships.sum(axis=0)
    assert sizes.min() >= 10
    assert sizes.max() <= 50


def test_on_nodes_are_in_om_communities_and_all_others_in_one(lfr):
    asked, _, truth = lfr
    on = round(1000 * asked["on"]) if isinstance(asked["on"], float) else asked["on"]
    expected = {1: 1000 - on, asked["om"]: on} if on else {1: 1000}
    assert Counter(np.diff(truth.memberships.indptr).tolist()) == expected


def test_mixing_is_mu_in_all_and_at_every_node(lfr):
    asked, graph, truth = lfr
    share, k = shares_outside(graph, truth), degrees(graph)
    assert abs((share * k).sum() / k.sum() - asked["mu"]) < 0.005
    off = np.abs(share - asked["mu"]) * k
    assert (off < 1 + 1e-9).mean() > 0.9  # rounded to whole links
    assert off.mean() < 0.8


def test_a_node_has_fewer_links_inside_than_its_community_has_members(lfr):
    _, graph, truth = lfr
    links = (graph.links != 0).astype(int)
    for members in truth.communities():
        rows = sorted(members)
        assert links[rows][:, rows].sum(axis=0).max() < len(rows)


def test_overlapping_nodes_share_their_links_among_their_communities():
    graph, truth = make_lfr(1000, **SIZES, on=0.1, om=2, random_state=0)
    z = truth.memberships.toarray()
    here = (graph.links @ truth.memberships).toarray() * z
    several = np.flatnonzero(z.sum(axis=1) == 2)
    parts = np.array([sorted(here[i][z[i] > 0]) for i in several])
    assert np.mean(parts[:, 1] - parts[:, 0] <= 2) > 0.85  # a link between two that share both counts for both


@pytest.mark.parametrize("asked", [asked for asked in GRID if "weighted" in asked], ids=str)
def test_strengths_are_powers_of_degrees_and_mixed_by_mu_w(asked):
    graph, truth = make_lfr(1000, **SIZES, **asked, random_state=3)
    np.testing.assert_allclose(graph.links.sum(axis=0), degrees(graph) ** 1.5, rtol=0.02)
    np.testing.assert_allclose(shares_outside(graph, truth, weighted=True), asked["mu_w"], atol=0.02)


def test_weights_have_the_exponent_that_was_asked_for():
    graph, _ = make_lfr(500, mu=0.4, weighted=True, beta=1.0, random_state=0)
    np.testing.assert_allclose(graph.links.sum(axis=0), degrees(graph), rtol=0.02)


def test_links_that_go_out_are_equal_in_number():
    graph, _ = make_lfr(1000, **SIZES, directed=True, on=0.2, random_state=0)
    sent = (graph.links != 0).sum(axis=1)
    assert sent.sum() == degrees(graph).sum()
    assert sent.std() < 0.2 * degrees(graph).std()
    assert (np.abs(sent - sent.mean()) < 1).mean() > 0.8


def test_degrees_and_sizes_follow_their_power_laws():
    """The slope of the log likelihood in the exponent is zero at the truth, within four standard errors."""
    graph, truth = make_lfr(20_000, tau1=2.5, tau2=1.5, average_degree=12, max_degree=60, **SIZES, random_state=0)
    k = degrees(graph).astype(int)
    for values, exponent in ((k[k > k.min()], 2.5), (truth.memberships.sum(axis=0).astype(int), 1.5)):
        x = np.arange(values.min(), (60 if exponent == 2.5 else 50) + 1.0)
        p = x**-exponent / (x**-exponent).sum()
        mean, spread = p @ np.log(x), np.sqrt(p @ np.log(x) ** 2 - (p @ np.log(x)) ** 2)
        assert abs(np.log(values).mean() - mean) < 4 * spread / np.sqrt(len(values))


def test_default_sizes_hold_every_degree():
    for mu in (0.0, 0.1, 0.5):
        _, truth = make_lfr(400, mu=mu, max_degree=40, average_degree=12, random_state=0)
        assert truth.memberships.sum(axis=0).max() <= 41


def test_without_mixing_no_link_leaves_its_community_and_with_all_of_it_none_stays():
    for mu in (0.0, 1.0):
        graph, truth = make_lfr(300, mu=mu, average_degree=10, max_degree=25, on=0.1, random_state=1)
        assert (shares_outside(graph, truth)[degrees(graph) > 0] == mu).all()


def test_same_seed_same_graph():
    one, two, other = (make_lfr(300, on=0.2, weighted=True, max_degree=40, random_state=seed)[0] for seed in (5, 5, 6))
    assert (one.links != two.links).nnz == 0
    assert (one.links != other.links).nnz > 0


@pytest.mark.parametrize("directed", [False, True])
def test_probabilities_add_up_to_the_links(directed):
    graph, truth = make_lfr(300, mu=0.2, average_degree=10, max_degree=30, directed=directed, random_state=0)
    pairs = np.array([(i, j) for i in range(300) for j in range(300) if i != j and (directed or i < j)])
    p = truth.predict_proba(pairs)
    assert 0.85 < p.sum() / graph.n_links < 1.0  # those of a node with itself, and beyond one, are none
    linked = np.asarray(graph.links[pairs[:, 0], pairs[:, 1]]).ravel() > 0
    assert p[linked].mean() > 5 * p[~linked].mean()


def test_a_thousand_nodes_take_a_moment():
    begun = time.process_time()
    make_lfr(1000, **SIZES, on=0.5, om=2, random_state=0)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"n": 1}, "n of at least 2; this is 1"),
        ({"mu": 1.5}, "mu between 0 and 1"),
        ({"mu_w": -0.1}, "mu_w between 0 and 1"),
        ({"mu_w": 0}, "mu_w above 0 and below 1"),
        ({"tau1": -1}, "tau1 of at least 0"),
        ({"beta": np.inf}, "beta of at least 0"),
        ({"max_degree": 300}, "max_degree from 1 to 299"),
        ({"average_degree": 1.5}, "average_degree from .* to 50: .* Change max_degree or tau1"),
        ({"average_degree": 60}, "average_degree from .* to 50"),
        ({"on": 301}, "on, the overlapping nodes, from 0 to n=300"),
        ({"on": 1.5}, "on as a whole number of nodes or a share below 1"),
        ({"om": 0, "on": 10}, "om, the communities of an overlapping node"),
        ({"min_community": 1}, "min_community from 2 to n=300"),
        ({"max_community": 301}, "max_community from 2 to n=300"),
        ({"min_community": 60, "max_community": 50}, "min_community of at most 50"),
        ({"max_community": 30}, "communities of 36 nodes: with mu=0.3 a node of degree 50 has 35 links"),
        ({"on": 10, "om": 40, "min_community": 50}, "at least 40 of them"),
        ({"min_community": 140, "max_community": 145}, "communities with 300 places together"),
        ({"min_community": 10, "max_community": 38, "tau2": 6}, "no communities in 100 draws"),
        ({"n": 114, "mu": 1.0, "on": 91, "om": 5, "directed": True}, "a place for only .* links between them"),
        ({"n": 13, "max_degree": 6, "average_degree": 6, "mu": 0, "on": 0.5, "om": 3, "random_state": 1}, "no simple"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_the_impossible_is_refused_in_a_sentence(wrong, match):
    with pytest.raises(ValueError, match=f"make_lfr (needs|found) .*{match}"):
        make_lfr(**{"n": 300, "random_state": 0, **wrong})


@pytest.mark.parametrize(("mean", "most", "exponent"), [(20, 50, 2), (3.6, 10, 1), (7, 7, 2), (5, 9, 0), (1.7, 4, 3)])
def test_power_law_degrees_have_their_expectation(mean, most, exponent):
    drawn = draw_with_mean(200_000, mean, most, exponent, np.random.default_rng(0))
    assert abs(drawn.mean() - mean) < 4 * drawn.std() / np.sqrt(200_000) + 1e-9
    counts = np.bincount(drawn, minlength=most + 1)
    x = np.arange(drawn.min() + 1, most + 1)  # the least value has but a part of its weight
    if len(x) > 1:
        expected = x ** -float(exponent) / (x ** -float(exponent)).sum() * counts[x].sum()
        assert (np.abs(counts[x] - expected) < 5 * np.sqrt(expected)).all()


def test_sizes_add_up_within_their_bounds():
    rng = np.random.default_rng(0)
    for total in range(20, 60):
        sizes = draw_with_sum(total, 4, 8, 1.0, rng)
        assert sizes.sum() == total
        assert sizes.min() >= 4
        assert sizes.max() <= 8
    with pytest.raises(ValueError, match="No communities of 4 to 5 nodes have 7 places"):
        draw_with_sum(7, 4, 5, 1.0, rng)


def test_degrees_have_no_excess_exactly_when_a_simple_graph_has_them():
    rng = np.random.default_rng(0)
    outcomes = Counter()
    for _ in range(2000):
        n = int(rng.integers(1, 12))
        degree = rng.integers(0, n + 1, size=n)
        if degree.sum() % 2 == 0:
            graphical = nx.is_graphical(degree.tolist())
            assert (_excess(degree) == 0) == graphical
            outcomes[graphical] += 1
    assert min(outcomes.values()) > 200


def test_what_is_sent_is_evened_out_as_one_by_one():
    rng = np.random.default_rng(0)
    for _ in range(200):
        sent, total = rng.integers(0, 12, size=7), int(rng.integers(0, 40))
        levels = sent.copy()
        for _ in range(total):
            levels[levels.argmin()] += 1
        extra = _even_out(sent, total, rng)
        assert extra.min() >= 0
        assert sorted(sent + extra) == sorted(levels)


@pytest.mark.parametrize("directed", [False, True])
def test_swaps_keep_degrees_and_leave_only_what_is_allowed(directed):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 60)
    first, second = (rng.integers(0, 20, size=120) + 20 * group for _ in range(2))

    def allowed(i, j):
        return (i != j) & ((i + j) % 5 != 0)

    pairs, wrong = rewire(Pairs(first, second, group), allowed, rng, directed=directed)
    made = list(zip(pairs.first[~wrong].tolist(), pairs.second[~wrong].tolist()))
    assert not wrong.any()
    assert allowed(pairs.first, pairs.second).all()
    assert len({pair if directed else frozenset(pair) for pair in made}) == 120
    assert (pairs.first // 20 == group).all()
    assert (pairs.second // 20 == group).all()
    before = Pairs(first, second, group)
    np.testing.assert_array_equal(pairs.degrees(40, directed), before.degrees(40, directed))


def test_what_no_swap_can_put_right_is_told():
    twice = Pairs(*np.array([[0, 0], [1, 1], [0, 0]]))
    pairs, wrong = rewire(twice, np.not_equal, np.random.default_rng(0), directed=False)
    assert wrong.sum() == 1
    assert sorted(pairs.first[~wrong].tolist() + pairs.second[~wrong].tolist()) == [0, 1]


def test_every_graph_with_the_degrees_is_drawn_equally_often():
    """Five nodes of degree two: the twelve rings."""
    ring = Pairs(np.arange(5), (np.arange(5) + 1) % 5, np.zeros(5, int))
    rng = np.random.default_rng(0)
    draws = [rewire(ring, np.not_equal, rng, directed=False)[0] for _ in range(1200)]
    counts = Counter(frozenset(map(frozenset, zip(d.first.tolist(), d.second.tolist()))) for d in draws)
    assert len(counts) == 12
    assert max(abs(count - 100) for count in counts.values()) < 4 * 10


def test_no_link_outside_joins_members_of_one_community():
    graph, truth = make_lfr(200, average_degree=8, max_degree=20, on=0.3, om=2, random_state=2)
    linked = {frozenset(pair) for pair in zip(*(part.tolist() for part in graph.links.nonzero()))}
    together = {frozenset(pair) for members in truth.communities() for pair in combinations(members, 2)}
    inside = truth.parameters.memberships[:, : truth.n_communities].sum() / 2
    assert len(linked & together) == inside
    outside = truth.parameters.memberships[:, [truth.n_communities]]
    assert sparse.issparse(outside)
    assert len(linked - together) == outside.sum() / 2
