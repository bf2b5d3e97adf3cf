"""Two-mode graphs: only pairs across kinds are dyads, everywhere."""

import numpy as np
import pytest
from two_mode_graphs import as_one_mode, blocks, shuffled

import klafter as kl
from klafter import Graph
from klafter.datasets import load_southern_women
from klafter.graph.changes import change_graph
from klafter.graph.fingerprint import fingerprint
from klafter.graph.units import all_units
from klafter.models.interop.dyadic import dyad_samples
from klafter.prediction.structure import visible_nonlinks

WOMEN = load_southern_women()


@pytest.mark.parametrize("graph", [blocks(), shuffled(blocks()), shuffled(blocks()).hide(np.array([[0, 1], [2, 3]]))])
def test_counts_are_those_of_enumeration(graph):
    pairs = np.array([(i, j) for i in range(graph.n_nodes) for j in range(i)])
    possible = np.array([graph.kinds[i] != graph.kinds[j] for i, j in pairs])
    twin = as_one_mode(graph)
    assert graph.n_pairs == possible.sum()
    assert graph.n_dyads == twin.n_dyads
    assert np.array_equal(graph.is_possible(pairs), possible)
    assert np.array_equal(graph.n_partners, [(graph.kinds != kind).sum() for kind in graph.kinds])
    units = pairs[possible].min(axis=1) * graph.n_nodes + pairs[possible].max(axis=1)
    assert np.array_equal(all_units(graph), np.sort(units))


def test_a_graph_of_two_kinds_says_so():
    assert repr(WOMEN) == "Graph(18 woman and 14 event nodes, 89 links, two-mode)"
    assert WOMEN.kind_names == ("woman", "event")
    assert "two-mode" in WOMEN._repr_html_()
    assert fingerprint(WOMEN) != fingerprint(WOMEN.replace(kinds=None))


REFUSED = {
    "needs one name for each of 3": {"kinds": ["a", "b"]},
    "two kinds of nodes; this has 3": {"kinds": ["a", "b", "c"]},
    "two kinds of nodes; this has 1": {"kinds": ["a", "a", "a"]},
    "need no direction": {"kinds": ["a", "b", "a"], "directed": True},
    "nodes 0 and 1 are linked and both 'a'": {"kinds": ["a", "a", "b"]},
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_bad_kinds_are_refused_in_a_sentence(sentence):
    links = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    with pytest.raises(ValueError, match=sentence):
        Graph(links, **REFUSED[sentence])


def test_hidden_pairs_within_a_kind_are_forgotten():
    graph = WOMEN.hide(np.array([[0, 1], [0, 20]]))
    assert graph.n_hidden == 1
    assert graph.n_dyads == 18 * 14 - 1


def test_new_nodes_are_of_the_kind_that_their_partners_are_not():
    graph = change_graph(WOMEN, [("Zoe", "E1"), ("Zoe", "E2"), ("Zoe", "E15"), ("Evelyn Jefferson", "E16")]).graph
    assert graph.kinds[-3:].tolist() == ["woman", "event", "event"]
    with pytest.raises(ValueError, match="are linked and both 'woman'"):
        change_graph(WOMEN, [("Evelyn Jefferson", "Flora Price")])
    with pytest.raises(ValueError, match="None of its links leads to a node"):
        change_graph(WOMEN, [("Zoe", "E15")])


@pytest.mark.parametrize("graph", [WOMEN, shuffled(blocks(60, 50))])
def test_splits_never_touch_pairs_within_a_kind(graph):
    splits = [kl.split_dyads(graph, 0.2), *kl.DyadKFold(4).split(graph)]
    assert sum(len(held.pairs) for _, held in splits[1:]) <= graph.n_dyads
    for train, held in splits:
        assert graph.is_possible(held.pairs).all()
        assert train.n_dyads + len(held.pairs) == graph.n_dyads
        assert np.array_equal(train.kinds, graph.kinds)
    with pytest.raises(ValueError, match="has no mirror entries"):
        kl.split_dyads(graph, protocol="entries")


def test_samples_of_non_links_lie_across_kinds():
    graph = shuffled(blocks(300, 200, inside=0.01, outside=0.01))
    assert graph.is_possible(visible_nonlinks(graph, np.random.default_rng(0))).all()
    _, held = kl.split_dyads(graph, 0.2, max_nonlinks=500)
    assert graph.is_possible(held.pairs).all()
    pairs, values = dyad_samples(WOMEN)
    assert (len(pairs), values.sum()) == (252, 89)
