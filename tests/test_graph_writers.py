"""What write_graph leaves on disk."""

import csv
import json

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from klafter.graph import Graph, read_graph, write_graph

GRAPH = Graph(
    np.diag([1.0, 2.5], 1),
    labels=["ann", "<b>&", "=eve,\n2"],
    attributes={"age": [31, 40, 7], "town": ["Ulm", None, "Ulm"]},
    hidden=[(0, 2)],
)
MEMBERS = np.array([[1, 0], [1, 1], [0, 0]])


@pytest.mark.parametrize(("suffix", "read"), [(".graphml", nx.read_graphml), (".gexf", nx.read_gexf)])
def test_xml_carries_communities(tmp_path, suffix, read):
    path = tmp_path / f"g{suffix}"
    write_graph(GRAPH, path, memberships=sparse.csr_matrix(MEMBERS))
    nodes = read(path).nodes(data=True)
    assert [known["communities"] for _, known in nodes] == ["0", "0;1", ""]
    assert [known["community"] for _, known in nodes] == [0, 0, -1]
    graph = read_graph(path)
    assert (graph.n_links, graph.attributes["age"].tolist()) == (2, [31, 40, 7])
    assert graph.labels[1] == "<b>&"


def test_rows_and_json(tmp_path):
    write_graph(GRAPH, tmp_path / "g.csv", MEMBERS)
    with open(tmp_path / "g.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[1:] == [["ann", "0"], ["<b>&", "0"], ["<b>&", "1"], ["'=eve,\n2", ""]]
    write_graph(GRAPH, tmp_path / "g.json", MEMBERS)
    document = json.loads((tmp_path / "g.json").read_text())
    assert document["nodes"][0] == {"id": "ann", "age": 31, "town": "Ulm", "communities": "0", "community": 0}
    assert document["links"][1]["weight"] == 2.5
    assert document["hidden"] == [["ann", "=eve,\n2"]]


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "g.graphml"
    path.write_text("old")
    with pytest.raises(ValueError, match="different"):
        write_graph(Graph(np.eye(2, k=1), labels=[1, "1"]), path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["g.graphml"]


def test_bad_arguments_name_the_cure(tmp_path):
    with pytest.raises(ValueError, match=r"\.graphml"):
        write_graph(GRAPH, tmp_path / "g.docx")
    with pytest.raises(ValueError, match="each of 3 nodes"):
        write_graph(GRAPH, tmp_path / "g.csv", np.ones((2, 2)))


@pytest.mark.parametrize("directed", [False, True])
def test_json_is_read_again_here_and_by_networkx(tmp_path, directed):
    graph = GRAPH.replace(directed=directed)
    write_graph(graph, tmp_path / "g.json", MEMBERS)
    again = read_graph(tmp_path / "g.json")
    assert (again.directed, again.labels.tolist()) == (directed, graph.labels.tolist())
    assert (again.links != graph.links).nnz == (again.hidden != graph.hidden).nnz == 0
    assert again.attributes["communities"].tolist() == ["0", "0;1", ""]
    document = json.loads((tmp_path / "g.json").read_text())
    assert type(nx.node_link_graph(document, edges="links")) is (nx.DiGraph if directed else nx.Graph)


def test_names_of_communities_go_with_their_members(tmp_path):
    graph = Graph([[0, 1, 0], [1, 0, 0], [0, 0, 0]], labels=["ann", "bob", "eve"])
    memberships, names = [[1, 0], [1, 1], [0, 0]], ["choir", "chess"]
    write_graph(graph, tmp_path / "g.csv", memberships, names)
    lines = (tmp_path / "g.csv").read_text().split()
    assert lines == ["node,community,name", "ann,0,choir", "bob,0,choir", "bob,1,chess", "eve,,"]
    write_graph(graph, tmp_path / "g.json", memberships, names)
    nodes = json.loads((tmp_path / "g.json").read_text())["nodes"]
    assert [node["community_name"] for node in nodes] == ["choir", "choir", ""]
    write_graph(graph, tmp_path / "g.graphml", memberships, names)
    assert "chess" not in (tmp_path / "g.graphml").read_text()
    assert "choir" in (tmp_path / "g.graphml").read_text()


@pytest.mark.parametrize("label", ["=1+1", "+1 more", "-cmd", "@SUM(A1)", "\tx"])
def test_spreadsheets_find_no_formula(tmp_path, label):
    graph = Graph([[0, 1], [1, 0]], labels=[label, "-5"])
    path = tmp_path / "links.csv"
    write_graph(graph, path)
    row = path.read_text(encoding="utf-8").splitlines()[1]
    assert row.startswith(f"'{label}")
    assert ",-5,1" in row  # a number is no formula
    if label == "\tx":
        with pytest.raises(ValueError, match="begins or ends with a blank"):
            write_graph(graph, path, raw=True)
        return
    write_graph(graph, path, raw=True)
    assert path.read_text(encoding="utf-8").splitlines()[1].startswith(label)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".graphml", ".gexf"])
@pytest.mark.parametrize("mark", ["\x00", "\x0b", "\r", "\ud800"])
def test_control_characters_are_refused_where_they_would_be_lost(tmp_path, suffix, mark):
    graph = Graph([[0, 1], [1, 0]], labels=[f"a{mark}b", "c"])
    with pytest.raises(ValueError, match=r"control character .* Write .json"):
        write_graph(graph, tmp_path / f"links{suffix}")
    assert not list(tmp_path.iterdir())
    write_graph(graph, tmp_path / "links.json")
    assert read_graph(tmp_path / "links.json").label(0) == f"a{mark}b"


def test_tables_keep_the_control_characters_that_end_no_line(tmp_path):
    write_graph(Graph([[0, 1], [1, 0]], labels=["a\x07b", "c"]), tmp_path / "links.csv")
    assert read_graph(tmp_path / "links.csv").label(0) == "a\x07b"


NAMES = [
    "a\nb", "a\n\nb, c", 'a "b"\n"c"', '"', "a\tb", "a,b", "a;b", "#a", "%a", "source", "target", "weight", "007",
    "sep=,", "*Vertices 3", "'=a", "a\x07b", "é", "\\n",
]  # fmt: skip
LOST_IN_TABLES = [" a", "a ", "", " ", "\n", "\ta"]
LOST_IN_TEXT = ["a\r\nb", "a\x00", "\x00", "a\x0bb"]
TABLES, XML = (".csv", ".tsv"), (".graphml", ".gexf")


def check_again(path, labels):
    graph = Graph(np.diag([1.0, 2.5, 1.0], 1), labels=labels, directed=True)
    write_graph(graph, path, raw=True)
    again = read_graph(path, directed=True)
    assert {again.label(i) for i in range(4)} == set(labels)
    found = {(again.label(i), again.label(j)) for i, j in zip(*again.links.nonzero())}
    assert found == {(labels[0], labels[1]), (labels[1], labels[2]), (labels[2], labels[3])}


def with_name(name, place):
    return [name if k == place else other for k, other in enumerate(("ann", "bob", "eve", "dan"))]


@pytest.mark.parametrize("suffix", [*TABLES, *XML, ".json"])
@pytest.mark.parametrize("name", [*NAMES, *LOST_IN_TABLES, *LOST_IN_TEXT])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_names_are_read_as_they_were_written_or_refused(tmp_path, suffix, name, place):
    path, labels = tmp_path / f"links{suffix}", with_name(name, place)
    lost = suffix != ".json" and (
        name in LOST_IN_TEXT or (suffix in TABLES and name in LOST_IN_TABLES) or (suffix in XML and name == "a\x07b")
    )
    if not lost:
        check_again(path, labels)
        return
    with pytest.raises(ValueError, match=r"Write \.json, or (rename the node|name it)\.$"):
        check_again(path, labels)
    assert not path.exists()


def test_a_defused_name_is_no_other_name(tmp_path):
    write_graph(Graph(np.diag([1.0, 1.0], 1), labels=["=a", "'=a", "b"]), tmp_path / "g.csv")
    assert read_graph(tmp_path / "g.csv").n_nodes == 3


def test_a_zero_at_the_end_of_a_label_is_part_of_it(tmp_path):
    graph = Graph(np.eye(3, k=1), labels=["a", "a\x00", "b"])
    assert graph.labels.tolist() == ["a", "a\x00", "b"]
