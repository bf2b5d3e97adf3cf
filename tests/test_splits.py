"""Splits hide what they say, leak nothing, and come back the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from klafter.graph import DyadKFold, Graph, split_dyads
from klafter.graph.units import _draw_outside, distinct, keep_nodes_linked, link_units

PROTOCOLS = ["clean", "entries"]


@st.composite
def graphs(draw, hidden=True):
    n = draw(st.integers(2, 25))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    directed = draw(st.booleans())
    links = rng.integers(1, 5, (n, n)) * (rng.random((n, n)) < draw(st.sampled_from([0.05, 0.2, 0.7])))
    veil = rng.random((n, n)) < (draw(st.sampled_from([0.0, 0.1])) if hidden else 0)
    if not directed:
        links, veil = np.triu(links, 1), np.triu(veil, 1)
    return Graph(links, directed=directed, hidden=sparse.csr_array(veil))


def visible(graph):
    """All observed ordered entries with their values, the obvious way."""
    seen = ~graph.hidden.toarray() & ~np.eye(graph.n_nodes, dtype=bool)
    return {(i, j): graph.links.toarray()[i, j] for i, j in np.argwhere(seen).tolist()}


def assert_complementary(graph, train, held):
    before, after = visible(graph), visible(train)
    out = dict(zip(map(tuple, held.pairs.tolist()), held.values.tolist()))
    assert len(out) == len(held.pairs)
    if not train.directed:
        assert all(i < j for i, j in out)
        out.update({(j, i): value for (i, j), value in list(out.items())})
    assert not out.keys() & after.keys()
    assert {**out, **after} == before


@given(graphs(), st.sampled_from(PROTOCOLS), st.floats(0.05, 0.95), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_train_and_held_are_complementary(graph, protocol, fraction, seed):
    train, held = split_dyads(graph, fraction, protocol, seed)
    assert_complementary(graph, train, held)
    assert held.nonlink_share == 1


@given(graphs(hidden=False), st.floats(0.05, 0.95), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_clean_leaks_no_mirror_and_isolates_nobody(graph, fraction, seed):
    train, _ = split_dyads(graph, fraction, "clean", seed)
    hidden = train.hidden.toarray()
    assert (hidden == hidden.T).all()
    linked = graph.symmetrize().links.sum(axis=1) > 0
    assert ((train.symmetrize().links.sum(axis=1) > 0) == linked).all()
    assert train.directed == graph.directed


@given(graphs(), st.sampled_from(PROTOCOLS), st.integers(2, 5), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_folds_score_each_visible_dyad_at_most_once(graph, protocol, n_splits, seed):
    scored = []
    for train, held in DyadKFold(n_splits, protocol, seed).split(graph):
        assert_complementary(graph, train, held)
        scored += map(tuple, held.pairs.tolist())
    assert len(scored) == len(set(scored))
    if protocol == "entries":
        assert set(scored) == visible(graph).keys()
    else:
        linked = graph.symmetrize().links.toarray() + graph.links.toarray() != 0
        nonlinks = {(i, j) for i, j in visible(graph) if not linked[i, j] and not linked[j, i]}
        assert nonlinks <= {*scored, *((j, i) for i, j in scored)}


def test_folds_inside_a_training_graph_never_score_hidden_dyads():
    graph = Graph(np.triu(np.random.default_rng(0).random((30, 30)) < 0.2, 1))
    train, held = split_dyads(graph)
    secret = set(map(tuple, held.pairs.tolist()))
    for inner, scored in DyadKFold(4).split(train):
        assert not secret & set(map(tuple, scored.pairs.tolist()))
        assert (inner.hidden.multiply(train.hidden)).nnz == train.hidden.nnz


def test_entries_keeps_mirrors_visible_and_hides_a_fifth_of_each_row():
    graph = Graph(np.triu(np.random.default_rng(1).random((51, 51)) < 0.3, 1))
    train, held = split_dyads(graph, protocol="entries")
    assert train.directed
    assert (np.bincount(held.pairs[:, 0]) == 10).all()
    mirrors = {(j, i) for i, j in held.pairs.tolist()}
    assert len(mirrors & set(map(tuple, held.pairs.tolist()))) < len(mirrors) / 2


def test_a_star_keeps_all_its_links():
    train, held = split_dyads(Graph([[0, 1, 1, 1], *[[0] * 4] * 3]), 0.9)
    assert train.n_links == 3
    assert held.values.sum() == 0


def test_keep_nodes_linked_hides_all_but_one_link_of_a_threatened_node():
    square_ = Graph(np.triu(np.ones((4, 4)), 1))
    kept = keep_nodes_linked(square_, link_units(square_), np.random.default_rng(0))
    assert 2 <= len(kept) <= 4


def test_same_seed_same_split_on_every_machine():
    ring = Graph(np.roll(np.eye(12), 1, axis=1))
    _, held = split_dyads(ring, random_state=0)
    assert held.pairs.tolist() == [
        [0, 3], [0, 4], [0, 6], [0, 8], [1, 2], [1, 10], [2, 10], [3, 7], [3, 9], [4, 9], [4, 10], [5, 11], [8, 9],
    ]  # fmt: skip
    assert held.pairs.tolist() != split_dyads(ring, random_state=1)[1].pairs.tolist()
    first, again = (split_dyads(ring, random_state=np.random.RandomState(3))[1].pairs for _ in range(2))
    assert (first == again).all()


def test_large_sparse_graph_samples_nonlinks():
    n, rng = 20_000, np.random.default_rng(0)
    ends = rng.integers(0, n, (40_000, 2))
    graph = Graph(sparse.coo_array((np.ones(len(ends)), ends.T), shape=(n, n)).tocsr(), directed=True)
    train, held = split_dyads(graph, max_nonlinks=5_000)
    assert len(held.pairs) == 2 * (5_000 + np.count_nonzero(held.values))
    assert 0 < held.nonlink_share < 0.01
    assert train.n_links + np.count_nonzero(held.values) == graph.n_links
    with pytest.raises(ValueError, match="clean"):
        split_dyads(graph, protocol="entries")


def test_draws_outside_are_new_and_uniform():
    rng = np.random.default_rng(0)
    taken = np.array([1, 2])  # of four nodes: pairs (0, 1) and (0, 2)
    counts = dict.fromkeys((3, 6, 7, 11), 0)
    for _ in range(400):
        drawn = _draw_outside(Graph(np.zeros((4, 4))), taken, 2, rng).tolist()
        assert len(set(drawn)) == 2
        for unit in drawn:
            counts[unit] += 1
    # 200 expected each, standard deviation 10
    assert all(abs(c - 200) < 50 for c in counts.values())


@pytest.mark.parametrize(
    ("change", "cure"),
    [
        ({"fraction": 1.5}, "0.2"),
        ({"protocol": "dirty"}, "clean"),
        ({"fraction": 0}, "between"),
        ({"fraction": "x"}, "this is 'x'. Use 0.2"),
        ({"fraction": None}, "this is None. Use 0.2"),
    ],
)
def test_bad_arguments_name_the_cure(change, cure):
    with pytest.raises(ValueError, match=cure):
        split_dyads(Graph(np.eye(3, k=1)), **change)
    for n_splits in (1, "x", 2.5):
        with pytest.raises(ValueError, match="2 or more"):
            list(DyadKFold(n_splits).split(Graph(np.eye(3, k=1))))


def test_millions_of_units_are_told_apart_in_order():
    units = np.random.default_rng(0).integers(0, 50, 200)
    assert distinct(units).tolist() == sorted(set(units.tolist()))
    assert distinct(units[:0]).tolist() == []
