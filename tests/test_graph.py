"""What a Graph promises: clean, frozen arrays, labels that stay as they are, conversions that lose nothing."""

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph

from klafter.graph import Graph, as_graph, checks
from klafter.models import KLafter

PATH = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]])


@st.composite
def pieces(draw):
    n = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    links = rng.integers(-2, 3, (n, n)) * (rng.random((n, n)) < 0.5)
    hidden = rng.random((n, n)) < 0.2
    return links, hidden, draw(st.booleans())


@given(pieces())
@settings(deadline=None)
def test_invariants(parts):
    links, hidden, directed = parts
    graph = Graph(links if directed else np.triu(links, 1), directed=directed, hidden=sparse.csr_array(hidden))
    dense, veil = graph.links.toarray(), graph.hidden.toarray()
    assert not dense.diagonal().any()
    assert not veil.diagonal().any()
    assert not (dense * veil).any()
    assert (graph.links.data != 0).all()
    if not directed:
        assert (dense == dense.T).all()
        assert (veil == veil.T).all()
    off = ~np.eye(len(links), dtype=bool)
    seen = off & ~veil
    expected = links if directed else np.triu(links, 1) + np.triu(links, 1).T
    assert (dense == expected * seen).all()
    assert graph.n_dyads == seen.sum() // (1 if directed else 2)
    assert graph.n_links == np.count_nonzero(dense) // (1 if directed else 2)


@given(pieces())
@settings(deadline=None)
def test_kernel_arrays_are_the_matrices(parts):
    links, hidden, directed = parts
    links = links if directed else np.triu(links, 1)
    graph = Graph(links, directed=directed, hidden=sparse.csr_array(hidden), covariates={"x": np.eye(len(links))[::-1]})
    dyads, n = graph.dyads, graph.n_nodes
    for rows, matrix in (
        (dyads.links_out, graph.links),
        (dyads.links_in, graph.links.T),
        (dyads.hidden_out, graph.hidden),
        (dyads.hidden_in, graph.hidden.T),
        (dyads.covariates_out, graph.covariates["x"]),
        (dyads.covariates_in, graph.covariates["x"].T),
    ):
        again = sparse.csr_array((rows.value, rows.node, rows.start), shape=(n, n))
        assert (again.toarray() == matrix.toarray()).all()
        assert (rows.start.dtype, rows.node.dtype, rows.value.dtype) == (np.int64, np.int32, np.float64)
        assert all(array.flags.writeable for array in rows)


def test_a_graph_does_not_change():
    mine = PATH.astype(float)
    graph = Graph(mine, labels=["a", "b", "c"], attributes={"age": [1, 2, 3]})
    mine[0, 1] = mine[1, 0] = 9
    assert graph.links[0, 1] == 1
    for array in (graph.links.data, graph.links.indices, graph.hidden.indptr, graph.labels, graph.attributes["age"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError, match=r"graph.replace\(directed=...\)"):
        graph.directed = True
    with pytest.raises(TypeError):
        graph.attributes["age"] = 1
    assert graph.replace(directed=True).directed


def test_frozen_links_serve_scipy():
    graph = Graph(PATH)
    assert csgraph.connected_components(graph.links)[0] == 1
    assert (graph.links @ np.ones(3)).tolist() == [1, 3, 2]


def test_pickle_keeps_everything():
    graph = Graph(PATH, hidden=[(0, 2)], labels=["a", "b", "c"], attributes={"x": [1, 2, 3]}, notes=["read"])
    again = pickle.loads(pickle.dumps(graph))
    assert (again.links != graph.links).nnz == 0
    assert again.n_hidden == 1
    assert again.labels.tolist() == ["a", "b", "c"]
    assert (again.notes, again.attributes["x"].tolist()) == (("read",), [1, 2, 3])


def test_labels_stay_as_they_are():
    assert Graph(PATH, labels=[1, "1", (2, 3)]).labels.tolist() == [1, "1", (2, 3)]
    assert Graph(PATH, labels=[(0, 0), (0, 1), (1, 0)]).index((1, 0)) == 2
    numbered = Graph(PATH, labels=[10, 20, 30])
    assert numbered.index("20") == numbered.index(np.int32(20)) == 1
    assert numbered.label(2) == 30
    assert Graph(PATH).index("2") == 2
    with pytest.raises(ValueError, match="'a' stands twice"):
        Graph(PATH, labels=["a", "a", "b"])
    with pytest.raises(KeyError, match="Did you mean 'anna'"):
        Graph(PATH, labels=["anna", "bob", "eve"]).index("ana")


def test_arrays_of_pairs_hold_rows_and_lists_hold_labels():
    graph = Graph(PATH, labels=[1, 2, 0])
    assert graph.pair_indices(np.array([[0, 1]])).tolist() == [[0, 1]]
    assert graph.pair_indices([(0, 1)]).tolist() == [[2, 0]]
    assert graph.pair_indices([]).shape == (0, 2)
    assert graph.hide([(0, 1)]).hidden[2, 0]
    with pytest.raises(KeyError, match="list of pairs"):
        graph.pair_indices(np.array([[0, 3]]))
    for bad in ("ab", [("a", "b", "c")], ["ab"], 7, np.ones((2, 3), int)):
        with pytest.raises(ValueError, match="two nodes"):
            graph.pair_indices(bad)


def test_hidden_in_all_its_forms():
    pattern = np.zeros((3, 3), bool)
    pattern[0, 1] = True
    for hidden in ([(0, 1)], np.array([[0, 1]]), pattern, sparse.coo_matrix(pattern), pattern.astype(int)):
        graph = as_graph(PATH, hidden=hidden)
        assert (graph.n_hidden, graph.n_links) == (1, 1)
    assert as_graph(np.eye(2, k=1), hidden=np.array([[0, 1], [1, 0]])).n_hidden == 1
    with pytest.raises(ValueError, match="nodes are 0 to 2"):
        Graph(PATH, hidden=[(0, 7)])
    with pytest.raises(ValueError, match="shape"):
        Graph(PATH, hidden=sparse.eye_array(4))


def test_symmetrize_and_binarize():
    graph = Graph([[0, -3, 0], [0, 0, 2], [0, 5, 0]], directed=True, covariates={"x": PATH})
    both = graph.symmetrize()
    assert both.links.toarray().tolist() == [[0, -3, 0], [-3, 0, 5], [0, 5, 0]]
    assert set(both.binarize().links.data) == {1.0}


def test_covariates():
    graph = as_graph(PATH, covariates={"same": np.ones((3, 3))})
    assert graph.covariates["same"].nnz == 6
    assert list(as_graph(graph, covariates=PATH).covariates) == ["same", "covariate"]
    assert list(as_graph(PATH, covariates=[PATH, PATH]).covariates) == ["covariate0", "covariate1"]
    with pytest.raises(ValueError, match="undirected"):
        Graph(PATH, covariates={"x": np.triu(PATH)})
    with pytest.raises(ValueError, match="NaN"):
        Graph(PATH, covariates={"x": np.full((3, 3), np.nan)})
    with pytest.raises(ValueError, match=r"\(3, 3\)"):
        Graph(PATH, covariates={"x": np.eye(4)})


@pytest.mark.parametrize(
    ("links", "rule"),
    [
        (np.ones(3), "square"),
        (np.ones((2, 3)), "square"),
        (np.array([[0, np.nan], [np.nan, 0]]), "NaN"),
        (sparse.csr_array(np.array([[0, np.inf], [np.inf, 0]])), "infinity"),
        (np.array([[0, 1], [2, 0]]), "same value both ways"),
        (np.eye(2) * 1j, "[Cc]omplex"),
        (np.array([["ann", "bob"], ["bob", "cem"]]), r"holds 'ann'. Pairs of nodes make a network by networkx.Graph"),
        (np.array([[0, "x"], [1, 0]], object), "holds 'x'"),
        ([("ann", "bob")], "holds 'ann'"),
        (np.array([["2026-01-01"] * 2] * 2, "M8[D]"), "Links are numbers"),
        (np.ma.masked_array(np.eye(2, k=1), mask=np.eye(2)), r"hidden=X.mask"),
    ],
)
def test_bad_links_name_the_rule(links, rule):
    with pytest.raises(ValueError, match=rule):
        Graph(links)


@pytest.mark.parametrize(
    ("label", "sentence"),
    [(float("nan"), "one is NaN"), (["ann"], "text, numbers or tuples"), (("ann", []), "text, numbers or tuples")],
)
def test_labels_by_which_no_node_is_found_again_are_refused(label, sentence):
    with pytest.raises(ValueError, match=sentence):
        Graph(PATH, labels=[label, "bob", "cem"])
    with pytest.raises(ValueError, match="one is NaN"):
        Graph(PATH, labels=[0.0, 1.0, float("nan")])


def test_masked_entries_are_not_read_as_if_they_were_seen():
    matrix = np.ma.masked_array(np.eye(3, k=1), mask=np.eye(3, k=2))
    with pytest.raises(ValueError, match=r"Pass X.filled\(0\) and, for unobserved dyads, hidden=X.mask"):
        KLafter().fit(matrix)
    assert as_graph(matrix.filled(0), hidden=matrix.mask).hidden.nnz == 2
    assert as_graph(np.ma.masked_array(np.eye(3, k=1))).n_links == 2  # nothing is hidden


@pytest.mark.parametrize("kind", [np.asarray, np.asmatrix, sparse.csr_array, sparse.coo_matrix, sparse.lil_matrix])
def test_matrices_and_their_direction(kind):
    assert not as_graph(kind(PATH)).directed
    assert not as_graph(kind(np.triu(PATH))).directed
    assert not as_graph(kind(np.tril(PATH))).directed
    assert not as_graph(kind(np.zeros((3, 3)))).directed
    assert as_graph(kind(np.roll(np.eye(3), 1, axis=1))).directed
    assert as_graph(kind(PATH), directed=True).n_links == 4


def test_networkx_keeps_labels_attributes_and_weights():
    karate = nx.karate_club_graph()
    graph = as_graph(karate)
    assert (graph.n_links, graph.directed) == (78, False)
    assert graph.attributes["club"][33] == "Officer"
    assert graph.links[0, 1] == karate[0][1]["weight"]
    grid = as_graph(nx.grid_2d_graph(2, 2))
    assert grid.labels.tolist() == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert as_graph(nx.MultiDiGraph([(0, 1), (0, 1), (1, 1)])).n_links == 1
    assert as_graph(karate, directed=True).n_links == 156
    with pytest.raises(ValueError, match="symmetrize"):
        as_graph(nx.DiGraph([(0, 1)]), directed=False)
    with pytest.raises(ValueError, match="weights are numbers"):
        as_graph(nx.Graph([(0, 1, {"weight": "heavy"})]))


def test_pandas_tables_and_matrices():
    table = pd.DataFrame({"Source": ["a", "b"], "Target": ["b", "c"], "weight": [2, 3]})
    graph = as_graph(table, hidden=[("a", "c")])
    assert graph.labels.tolist() == ["a", "b", "c"]
    assert (graph.links[1, 2], graph.n_hidden) == (3, 1)
    square = as_graph(pd.DataFrame(PATH, index=list("xyz"), columns=list("xyz")))
    assert square.labels.tolist() == ["x", "y", "z"]
    with pytest.raises(ValueError, match="source and target"):
        as_graph(pd.DataFrame({"a": [1, 2], "b": [1, 2], "c": [1, 2]}))
    with pytest.raises(ValueError, match="missing"):
        as_graph(pd.DataFrame({"source": ["a", None], "target": ["b", "c"]}))


def test_html_is_escaped():
    graph = Graph(PATH, hidden=[(0, 1)], attributes={"<b>": [1, 2, 3]}, notes=["<script>"])
    html = graph._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "&lt;b&gt;" in html
    assert repr(graph) == "Graph(3 nodes, 1 links, undirected, 1 hidden dyads)"


@pytest.mark.parametrize("seed", range(4))
def test_symmetry_is_found_part_by_part(seed, monkeypatch):
    monkeypatch.setattr(checks, "FEW", 0)
    dense = np.random.default_rng(seed).integers(0, 3, (21, 21)).astype(float)
    both = dense + dense.T
    other = both.copy()
    other[3, 17] += 1.0
    assert checks.is_symmetric(sparse.csr_array(both))
    assert not checks.is_symmetric(sparse.csr_array(dense))
    assert not checks.is_symmetric(sparse.csr_array(other))


def test_kernels_read_the_arrays_of_the_graph():
    links = sparse.csr_array(np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    links.indices, links.indptr = links.indices.astype(np.int64), links.indptr.astype(np.int64)
    graph = Graph(links)
    rows = graph.dyads.links_out
    assert graph.links.indices.dtype == np.int32
    assert not graph.links.data.flags.writeable
    assert np.shares_memory(rows.node, graph.links.indices)
    assert np.shares_memory(rows.value, graph.links.data)
    assert not np.shares_memory(rows.value, links.data)
