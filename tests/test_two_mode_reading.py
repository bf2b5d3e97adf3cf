"""Two-mode graphs from files, tables and graphs of other libraries, and back."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse

from klafter import Graph, as_graph, read_graph
from klafter.datasets import load_southern_women
from klafter.graph import write_graph
from klafter.graph.io.errors import GraphFileError

WOMEN = load_southern_women()
MATRIX = np.array([[1, 0, 1], [0, 1, 1]])


def test_networkx_says_it_by_an_attribute():
    graph = as_graph(nx.davis_southern_women_graph())
    assert graph.kind_names == ("row", "column")
    assert np.array_equal(graph.second_kind, WOMEN.second_kind)
    assert "bipartite" not in graph.attributes


@pytest.mark.parametrize(
    ("made", "reason"),
    [(nx.Graph([(0, 1), (1, 2)]), "within a kind"), (nx.DiGraph([(0, 1), (0, 2)]), "have a direction")],
)
def test_an_attribute_that_cannot_be_kinds_stays_one(made, reason):
    nx.set_node_attributes(made, {node: int(node == 2) for node in made}, "bipartite")
    graph = as_graph(made)
    assert graph.kinds is None
    assert graph.attributes["bipartite"].tolist() == [0, 0, 1]
    assert reason in graph.notes[-1]


def test_a_table_names_both_sides():
    table = pd.DataFrame(MATRIX, index=["ann", "bob"], columns=["x", "ann", "y"])
    assert Graph.from_biadjacency(table).labels.tolist() == ["ann (row)", "bob", "x", "ann (column)", "y"]
    assert Graph.from_biadjacency(table, rows="ab", columns="xyz").labels.tolist() == list("abxyz")
    assert Graph.from_biadjacency(pd.DataFrame(MATRIX)).labels is None


def test_tables_of_links():
    table = pd.DataFrame({"user": [7, 7, 8], "film": [7, 9, 9]})
    graph = as_graph(table, two_mode=True)
    assert graph.labels.tolist() == ["7 (user)", "9", "8", "7 (film)"]
    assert graph.kinds.tolist() == ["user", "film", "user", "film"]
    named = table.rename(columns={"user": "from", "film": "to"}).assign(weight=2)
    assert as_graph(named, two_mode=True).kind_names == ("from", "to")
    assert as_graph(named, two_mode=True).links.data.max() == 2


@pytest.mark.parametrize("form", [np.array, sparse.csr_array, lambda m: pd.DataFrame(m, index=["a", "b"])])
def test_rectangles(form):
    graph = as_graph(form(MATRIX), two_mode=True) if form is not np.array else Graph.from_biadjacency(MATRIX)
    assert (graph.n_links, graph.n_dyads) == (4, 6)
    assert np.array_equal(graph.links[:2][:, 2:].toarray(), MATRIX)


def test_a_rectangle_is_refused_with_its_cure():
    from klafter import KLafter

    with pytest.raises(ValueError, match="from_biadjacency"):
        KLafter().fit(MATRIX)


def test_files_of_rectangles(tmp_path):
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(MATRIX))
    io.mmwrite(tmp_path / "a.mtx", sparse.coo_array(MATRIX))
    io.savemat(tmp_path / "a.mat", {"b": MATRIX})
    for name in ("a.npz", "a.mtx", "a.mat"):
        graph = read_graph(tmp_path / name)
        assert (graph.n_dyads, graph.n_links) == (6, 4), name
        assert "two-mode" in " ".join(graph.notes)


def test_pajek_tells_the_size_of_the_first_kind(tmp_path):
    (tmp_path / "a.net").write_text("*Vertices 4 2\n1 a\n2 b\n3 x\n4 y\n*Edges\n1 3\n2 4\n2 3\n")
    assert read_graph(tmp_path / "a.net").second_kind.tolist() == [False, False, True, True]


@pytest.mark.parametrize("suffix", ["json", "graphml", "gexf"])
def test_files_keep_kinds(tmp_path, suffix):
    write_graph(WOMEN, tmp_path / f"a.{suffix}")
    again = read_graph(tmp_path / f"a.{suffix}")
    assert again.kind_names == ("woman", "event")
    assert again.n_dyads == WOMEN.n_dyads


def test_names_of_both_kinds_need_a_table_of_nodes_that_tells_them_apart(tmp_path):
    (tmp_path / "a.csv").write_text("person,event\na,x\nb,a\n")
    (tmp_path / "n.csv").write_text("id,age\na,1\nb,2\nx,3\n")
    with pytest.raises(GraphFileError, match="1 names in both columns"):
        read_graph(tmp_path / "a.csv", two_mode=True, nodes=tmp_path / "n.csv")
