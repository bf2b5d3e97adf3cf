"""Good files become graphs, and notes say what was decided."""

import gzip
import os
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import io, sparse

from klafter.graph import Graph, read_graph, write_graph
from klafter.graph.io.tables import words as words_module
from klafter.graph.io.tables.words import as_words, number_words, short_integers

DATA = Path(os.environ.get("KLAFTER_DATA", Path(__file__).parents[2] / "shared" / "data")) / "networks"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the networks are not here; set KLAFTER_DATA to their folder")


@pytest.fixture
def file(tmp_path):
    def write(text, name="g.txt"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def links(graph):
    """Each link with labels and value."""
    coo = sparse.coo_array(graph.links)
    found = {(graph.label(i), graph.label(j)): v for i, j, v in zip(coo.row, coo.col, coo.data)}
    return found if graph.directed else {tuple(sorted(pair)): v for pair, v in found.items()}


@pytest.mark.parametrize(
    "text", ["a b\nb c\n", "a\tb\nb\tc", "a,b\r\nb,c\r\n", "  a   b\n\n b c \n", "a;b\nb;c\n", "a|b\rb|c"]
)
def test_delimiters_are_found(file, text):
    graph = read_graph(file(text))
    assert links(graph) == {("a", "b"): 1, ("b", "c"): 1}
    assert not graph.directed


@pytest.mark.parametrize(
    "text",
    [
        "source,target,weight\na,b,2\nb,c,1.5\n",
        "Weight;From;To\n2;a;b\n1.5;b;c\n",
        "a b 2\nb c 1.5\n",
        "# a remark\n% another\na b 2\nb c 1.5\n",
        "Source,Target,Type,Id,Label,Weight\na,b,Undirected,0,,2\nb,c,Undirected,1,,1.5\n",
        '"a","b",2\n"b","c",1.5\n',
        "\ufeffa,b,2\nb,c,1.5\n",
    ],
)
def test_weights_and_headers_are_found(file, text):
    graph = read_graph(file(text))
    assert links(graph) == {("a", "b"): 2, ("b", "c"): 1.5}
    assert "Links have weights from 1.5 to 2." in graph.notes


def test_weight_argument(file):
    path = file("source,target,age,cost\na,b,2,7\n")
    assert links(read_graph(path)) == {("a", "b"): 1}
    assert links(read_graph(path, weight="cost")) == {("a", "b"): 7}
    assert links(read_graph(path, weight=2)) == {("a", "b"): 2}
    assert links(read_graph(file("a b 3\n"), weight=None)) == {("a", "b"): 1}


def test_names_may_hold_blanks_commas_quotes_and_letters_of_the_world(file):
    graph = read_graph(file('source,target\n"Lee, Ann",Bob Ray\n"Lee, Ann",Łukasz\n'))
    assert graph.labels.tolist() == ["Bob Ray", "Lee, Ann", "Łukasz"]
    assert read_graph(file("a b\na é\n".encode("latin-1")), encoding="latin-1").labels.tolist() == ["a", "b", "é"]
    assert read_graph(file('"Lee Ann" "Bob Ray"\n"Bob Ray" c\n')).labels.tolist() == ["Bob Ray", "Lee Ann", "c"]


def test_integers_are_sorted_and_plain_rows_need_no_labels(file):
    assert read_graph(file("30 4\n4 200\n")).labels.tolist() == [4, 30, 200]
    assert read_graph(file("2 1\n1 0\n")).labels is None
    assert read_graph(file("007 1\n1 2\n")).labels.tolist() == ["007", "1", "2"]
    far = read_graph(file("1000000000 99999999999999999999\n1 1000000000\n"))
    assert far.n_nodes == 3


def test_duplicates_self_links_and_zeros_are_told(file):
    graph = read_graph(file("a b\na b\nb a\na a\nb c\n"), directed=False)
    assert links(graph) == {("a", "b"): 1, ("b", "c"): 1}
    assert {"2 repeated links dropped.", "1 self-link dropped."} <= set(graph.notes)
    graph = read_graph(file("a b 2\na b 3\nb c 1\na c 0\n"))
    assert links(graph) == {("a", "b"): 5, ("b", "c"): 1}
    assert "1 repeated link added to the weight of the first." in graph.notes
    assert "1 link of value 0 read as no link." in graph.notes


def test_direction(file):
    assert not read_graph(file("a b\nb a\nb c\nc b\n")).directed
    assert read_graph(file("a b\nb a\nb c\n")).directed
    assert read_graph(file("a b 1\nb a 2\n")).directed
    assert read_graph(file("a b\n"), directed=True).directed
    assert read_graph(file("# Directed graph (each line once)\na b\n")).directed
    assert not read_graph(file("% sym unweighted\na b\nb a\nb c\n")).directed
    assert links(read_graph(file("a b 1\nb a 2\n"), directed=False)) == {("a", "b"): 3}


def test_comments_keep_isolated_nodes(file):
    graph = read_graph(file("# nodes: 5\n# directed: yes\n0 1\n3 1\n"))
    assert (graph.n_nodes, graph.directed, graph.labels) == (5, True, None)
    assert read_graph(file("# nodes: 5\n1 2\n5 1\n")).labels.tolist() == [1, 2, 3, 4, 5]
    assert "announce" in read_graph(file("# nodes: 5\na b\n")).notes[0]


def test_node_table_gives_order_labels_and_attributes(file):
    file("# node\tname\tage\n1\tann\t31\n0\tbob\t40\n2\teve\t7\n", "g.nodes.tsv")
    path = file("0\t1\n", "g.tsv")
    graph = read_graph(path, nodes=True)
    assert graph.labels.tolist() == ["ann", "bob", "eve"]
    assert graph.attributes["age"].tolist() == [31, 40, 7]
    assert links(graph) == {("ann", "bob"): 1}
    assert read_graph(path, nodes=path.with_name("g.nodes.tsv"), labels="age").labels.tolist() == [31, 40, 7]
    plain = file("id,kind\nann,x\nbob,y\n", "people.csv")
    assert read_graph(file("bob ann\n"), nodes=plain).attributes["kind"].tolist() == ["x", "y"]


def test_gzip_and_long_files_and_late_comments(file, monkeypatch):
    monkeypatch.setattr("klafter.graph.io.tables.edge_list.BLOCK", 64)
    text = "\n".join(f"n{i} n{i + 1}" for i in range(100)) + "\n#late\nx y\n"
    graph = read_graph(file(gzip.compress(text.encode()), "g.txt.gz"))
    assert (graph.n_nodes, graph.n_links) == (103, 101)
    assert graph.labels.tolist() == sorted(graph.labels.tolist())
    assert graph.notes[0] == "1 comment lines among the links skipped."


def test_pajek(file):
    text = '*Vertices 3\n1 "Ann Lee"\n2 bob 0.1 0.2\n3\n*Arcs :1 "likes"\n1 2 3\n*Edges :2 "knows"\n2 3\n1 3 1\n'
    graph = read_graph(file(text, "g.net"))
    assert graph.labels.tolist() == ["Ann Lee", "bob", "3"]
    assert (graph.directed, graph.n_links) == (True, 1)
    assert "'knows'" in graph.notes[0]
    assert links(read_graph(file(text, "g.net"), relation="knows")) == {("3", "bob"): 1, ("3", "Ann Lee"): 1}
    assert read_graph(file("*Vertices 3\n*Matrix\n0 2 0\n0 0 1\n0 0 0\n"), weight=None).n_links == 2
    assert (
        read_graph(file("*vertices 4\n*edgeslist\n1 2 3\n*partition p.clu\n*vertices 4\n1\n2\n2\n1\n", "g.paj")).n_links
        == 2
    )


def test_gml_with_repeated_links(file):
    edge = "edge [ source 0 target 1 ]"
    text = f'graph [ node [ id 0 label "a" ] node [ id 1 label "b" ] {edge} {edge} ]'
    assert links(read_graph(file(text, "g.gml"))) == {("a", "b"): 1}
    assert read_graph(file(text.replace(' label "a"', "").replace(' label "b"', ""), "g.gml")).labels is None


def test_matrices(file, tmp_path):
    matrix = sparse.coo_array(np.triu(np.arange(16).reshape(4, 4), 1))
    sparse.save_npz(tmp_path / "m.npz", matrix)
    io.savemat(tmp_path / "m.mat", {"A": matrix.tocsc(), "x": np.ones((3, 1)), "B": np.eye(3, k=1)})
    io.mmwrite(tmp_path / "m.mtx", matrix)
    for name in ("m.npz", "m.mat", "m.mtx"):
        graph = read_graph(tmp_path / name)
        assert (graph.n_nodes, graph.n_links, graph.directed) == (4, 6, False)
        assert graph.links[2, 3] == 11
    assert read_graph(tmp_path / "m.mat", relation="B").n_nodes == 3
    assert read_graph(tmp_path / "m.mtx", directed=True, weight=None).links.sum() == 6


LETTERS = st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters='#%"')
LABELS = st.lists(st.text(LETTERS, min_size=1, max_size=12), min_size=3, max_size=9, unique=True)


@given(LABELS, st.booleans(), st.sampled_from([".graphml", ".gexf", ".csv", ".tsv"]), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_labels_and_values_survive_a_round_trip(tmp_path_factory, labels, directed, suffix, seed):
    n = len(labels)
    values = np.random.default_rng(seed).random((n, n)) + np.eye(n)
    graph = Graph(values if directed else np.triu(values, 1), directed=directed, labels=labels)
    path = tmp_path_factory.mktemp("round") / f"g{suffix}"
    write_graph(graph, path, raw=True)
    again = read_graph(path, directed=directed)
    text = {tuple(sorted(map(str, p)) if not directed else map(str, p)): v for p, v in links(again).items()}
    assert text == pytest.approx(links(graph), abs=0)


@given(st.lists(st.binary(max_size=20), min_size=1), st.integers(1, 5))
def test_words_are_numbered_like_a_dictionary_would(names, blocks):
    parts = [as_words(names[k::blocks]) for k in range(blocks)]
    found, number = number_words(parts)
    flat = [name for k in range(blocks) for name in names[k::blocks]]
    assert found == list(dict.fromkeys(flat))
    assert [found[k] for k in number] == flat
    slow, same = words_module._number_slowly(parts)
    assert slow == found
    assert (same == number).all()


@given(
    st.lists(st.integers(0, 10**9).map(lambda v: b"%d" % v) | st.sampled_from([b"007", b"1a", b"", b"-1"]), min_size=1)
)
def test_short_integers(names):
    values = short_integers(as_words(names))
    plain = all(name.isdigit() and len(name) <= 8 and name == b"%d" % int(name) for name in names)
    assert (values is not None) == plain
    if plain:
        assert values.tolist() == [int(name) for name in names]


@needs_data
@pytest.mark.parametrize(
    ("name", "n", "m", "directed"),
    [
        ("protein230", 230, 695, False),
        ("nips234", 234, 598, False),
        ("lazega_advice", 71, 892, True),
        ("polblogs", 1490, 19022, True),
    ],
)
def test_known_networks(name, n, m, directed):
    graph = read_graph(DATA / f"{name}.tsv", nodes=True)
    assert (graph.n_nodes, graph.n_links, graph.directed) == (n, m, directed)
    assert graph.attributes


def test_networkx_writes_what_we_read(tmp_path):
    karate = nx.karate_club_graph()
    nx.write_graphml(karate, tmp_path / "k.graphml")
    graph = read_graph(tmp_path / "k.graphml")
    assert (graph.n_nodes, graph.n_links, graph.labels) == (34, 78, None)
    assert graph.attributes["club"][0] == "Mr. Hi"
    assert read_graph(tmp_path / "k.graphml", weight=None).links.max() == 1


def test_columns_that_are_left_out_are_named(file):
    assert "Left out: columns 3, 4." in read_graph(file("a b x y\nb c x y\n")).notes
    named = read_graph(file("source,target,since,weight\na,b,1999,2\nb,c,2001,2\n", "g.csv"))
    assert "Left out: column 'since'." in named.notes
    assert "Every link has weight 2." in named.notes


def test_three_weighted_links_are_no_square(file):
    assert read_graph(file("1 2 3\n2 1 5\n3 2 1\n")).links.toarray().tolist() == [[0, 3, 0], [5, 0, 0], [0, 1, 0]]
