"""What is drawn: the strongest links of a crowded network, and everybody's best among them."""

import numpy as np

from klafter.datasets import make_overlapping
from klafter.graph.units import list_links
from klafter.models.results.cover import as_cover
from klafter.report import network


def test_the_strongest_links_come_first_and_leave_nobody_out(monkeypatch):
    graph, truth = make_overlapping(n=200, mean_degree=20, community_size=40, random_state=0)
    monkeypatch.setattr(network, "STRONG", 400)
    monkeypatch.setattr(network, "LINKS", 1_000)
    drawn = network.draw_network(graph, as_cover(truth.memberships))
    assert (drawn.n_strong, len(drawn.links)) == (400, 1_000)
    assert drawn.n_left_out == graph.n_links - 1_000
    linked = set(np.flatnonzero(np.diff(graph.links.indptr)).tolist())
    assert {i for pair in drawn.links[:400] for i in pair} == linked


def test_strength_is_the_share_of_friends_in_common():
    graph, _ = make_overlapping(n=60, mean_degree=10, community_size=20, random_state=1)
    pairs = list_links(graph)[0]
    a = graph.links.toarray() > 0
    share = [(a[i] & a[j]).sum() / np.sqrt(a[i].sum() * a[j].sum()) for i, j in pairs]
    best = {i: max(s for s, pair in zip(share, pairs) if i in pair) for i in np.unique(pairs)}
    order = network.strongest_first(graph, pairs)
    tops = [any(np.isclose(share[t], best[i]) for i in pairs[t]) for t in order]
    assert sorted(order.tolist()) == list(range(len(pairs)))
    assert all(tops[: len(best) // 2])
    assert np.isclose(share[order[0]], max(share))


def test_a_small_network_is_drawn_whole():
    graph, truth = make_overlapping(n=60, mean_degree=6, community_size=20, random_state=1)
    drawn = network.draw_network(graph, as_cover(truth.memberships))
    assert (drawn.n_strong, drawn.n_left_out) == (graph.n_links, 0)
