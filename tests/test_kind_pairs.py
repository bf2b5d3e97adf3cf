"""Graphs of several kinds of nodes and a rule of which may be linked: counts, splits and refusals."""

import numpy as np
import pytest
from kind_graphs import PEOPLE, RULES, as_one_kind, possible, ruled

import klafter as kl
from klafter import Graph
from klafter.graph.changes import change_graph
from klafter.graph.fingerprint import fingerprint
from klafter.graph.units import all_units, closed_units, random_ends
from klafter.prediction.structure import visible_nonlinks

LINKS = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
KINDS = ["person", "paper", "paper", "person"]


@pytest.mark.parametrize("rule", RULES)
def test_counts_are_those_of_enumeration(rule):
    graph = ruled(rule)
    n, allowed, twin = graph.n_nodes, possible(graph), as_one_kind(graph)
    pairs = np.argwhere(np.ones((n, n), bool))
    assert np.array_equal(graph.is_possible(pairs), allowed.ravel())
    assert graph.n_pairs == allowed.sum() / (1 if graph.directed else 2)
    assert graph.n_units == np.triu(allowed | allowed.T).sum()
    assert (graph.n_dyads, graph.n_links) == (twin.n_dyads, twin.n_links)
    assert np.array_equal(graph.n_partners, allowed.sum(axis=1))
    i, j = np.nonzero(np.triu(allowed | allowed.T))
    assert np.array_equal(all_units(graph), i * n + j)
    assert set(closed_units(graph)) == set(closed_units(twin)) & set(all_units(graph))


@pytest.mark.parametrize("rule", RULES)
def test_splits_hide_possible_pairs_alone(rule):
    graph = ruled(rule, 60, hidden=30)
    folds = list(kl.DyadKFold(4).split(graph))
    assert sum(len(held.pairs) for _, held in folds) <= graph.n_dyads
    for train, held in [kl.split_dyads(graph, 0.2), *folds]:
        assert graph.is_possible(held.pairs).all()
        assert not graph.hidden[held.pairs[:, 0], held.pairs[:, 1]].any()
        assert train.n_hidden == graph.n_hidden + len(held.pairs) / 1
        assert train.kind_pairs == graph.kind_pairs
    with pytest.raises(ValueError, match="no mirror entries"):
        kl.split_dyads(graph, 0.2, protocol="entries")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("ordered", [False, True])
def test_drawn_ends_are_as_likely_for_all_pairs(rule, ordered):
    graph = ruled(rule, 9)
    ends = random_ends(graph, 60_000, np.random.default_rng(0), ordered=ordered)
    ends = ends[ends[:, 0] != ends[:, 1]]
    allowed = possible(graph)
    if not ordered:
        ends, allowed = np.sort(ends, axis=1), np.triu(allowed | allowed.T)
    counts = np.zeros((9, 9))
    np.add.at(counts, tuple(ends.T), 1)
    assert (counts[~allowed] == 0).all()
    expected = len(ends) / allowed.sum()
    assert np.abs(counts[allowed] - expected).max() < 5 * np.sqrt(expected)


@pytest.mark.parametrize("rule", RULES)
def test_nonlinks_that_experts_learn_from_are_possible(rule):
    graph = ruled(rule, 40)
    pairs = visible_nonlinks(graph, np.random.default_rng(0))
    assert len(pairs)
    assert graph.is_possible(pairs).all()


def test_a_graph_says_its_kinds():
    graph = Graph(LINKS, kinds=KINDS, kind_pairs=PEOPLE)
    assert repr(graph) == "Graph(2 person and 2 paper nodes, 2 links, undirected)"
    assert graph.kind_pairs == (("person", "paper"), ("paper", "paper"))
    assert graph.second_kind is None
    assert graph.n_pairs == 5
    assert fingerprint(graph) != fingerprint(graph.replace(kinds=None))
    assert fingerprint(graph) != fingerprint(graph.replace(kind_pairs=[*PEOPLE[:1], ("person", "person"), *PEOPLE[1:]]))
    assert graph.replace(kinds=None).kind_pairs is None
    three = Graph(np.zeros((3, 3)), kinds="abc", kind_pairs="across")
    assert repr(three) == "Graph(1 a, 1 b and 1 c nodes, 0 links, undirected)"


def test_two_kinds_across_are_a_two_mode_network():
    links = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    for pairs in ("across", [("b", "a")], [("a", "b"), ("b", "a")], "a-b"):
        graph = Graph(links, kinds="aba", kind_pairs=pairs)
        assert graph.kind_pairs is None
        assert graph.form == "two-mode"
        assert fingerprint(graph) == fingerprint(Graph(links, kinds="aba"))


def test_a_rule_that_allows_all_is_none():
    graph = Graph(LINKS, kinds=KINDS, kind_pairs=[*PEOPLE, ("person", "person")])
    assert graph.rule is None
    assert graph.n_pairs == 6
    assert graph.dyads.kind.size == 0


def test_directed_pairs_tell_from_and_to():
    graph = Graph(np.triu(LINKS), kinds=KINDS, kind_pairs=PEOPLE, directed=True)
    assert graph.is_possible(np.array([[0, 1], [1, 0], [1, 2], [2, 1], [0, 3]])).tolist() == [1, 0, 1, 1, 0]
    both = graph.symmetrize()
    assert both.n_pairs == 5
    assert both.replace(directed=True).n_pairs == 10


REFUSED = {
    "Say with kind_pairs which": {"kinds": "abca"},
    "this graph has no kinds": {"kind_pairs": "across"},
    "names 'author', and no node": {"kinds": KINDS, "kind_pairs": [("author", "paper")]},
    "a list of pairs of kinds": {"kinds": KINDS, "kind_pairs": [("person",)]},
    "is none. Kinds are person, paper": {"kinds": KINDS, "kind_pairs": "person to paper"},
    "allows no link": {"kinds": KINDS, "kind_pairs": []},
    "at most 100 kinds": {"kinds": range(101), "kind_pairs": "across"},
    "Node 1, of kind 'paper', has a link to node 2, of kind 'paper'; only these .* person - paper. Add": {
        "kinds": KINDS,
        "kind_pairs": [("paper", "person"), ("person", "person")],
    },
    "kind 'paper', has a link to node 0, of kind 'person'; .* person -> paper, paper -> paper": {
        "kinds": KINDS,
        "kind_pairs": PEOPLE,
        "directed": True,
    },
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_makes_no_sense_is_refused_in_a_sentence(sentence):
    parts = REFUSED[sentence]
    links = np.zeros((101, 101)) if "100 kinds" in sentence else LINKS
    with pytest.raises(ValueError, match=sentence):
        Graph(links, **parts)


def test_names_with_hyphens_are_parted_where_both_are_known():
    graph = Graph(np.zeros((3, 3)), kinds=["a-b", "c", "d"], kind_pairs="a-b-c, d-d")
    assert graph.kind_pairs == (("a-b", "c"), ("d", "d"))


def test_impossible_pairs_are_refused_or_forgotten():
    graph = Graph(LINKS, kinds=KINDS, kind_pairs=PEOPLE)
    assert graph.hide(np.array([[0, 3], [0, 2]])).n_hidden == 1
    with pytest.raises(ValueError, match="0, of kind 'person', can have no link to 3"):
        graph.check_possible(np.array([[0, 3]]))


def test_new_nodes_are_of_the_only_kind_that_their_partners_allow():
    graph = Graph(LINKS, kinds=["person", "paper", "paper", "venue"], kind_pairs=[*PEOPLE, ("paper", "venue")])
    assert change_graph(graph, [(0, 4)]).graph.kinds[4] == "paper"
    with pytest.raises(ValueError, match="do not leave just one"):
        change_graph(graph, [(1, 4)])
    with pytest.raises(ValueError, match="only these kinds may be linked"):
        change_graph(graph, [(0, 3)])
