"""The rules by which files are read: what stops a read, what is decided, and that each decision is told."""

import sys

import numpy as np
import pytest

from klafter.graph import GraphFileError, read_graph
from klafter.graph.io.look import look
from klafter.graph.io.tables.column_names import role
from klafter.graph.io.tables.ends import find_ends
from klafter.graph.io.tables.first_line import detect_header, detect_node_header
from klafter.graph.io.tables.values import are_times, find_decimal, to_number


@pytest.fixture
def file(tmp_path):
    def write(text, name="g.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


HEADERS = [
    ("Person", "Friend"), ("Von", "Nach"), ("Absender", "Empfänger"), ("Personne", "Ami"),
    ("Expéditeur", "Destinataire"),
    ("Origen", "Destino"), ("Nombre", "Amigo"), ("Mittente", "Destinatario"), ("Nome", "Amica"), ("Origem", "Alvo"),
    ("Pessoa", "Amiga"), ("from_user", "to_user"), ("sourceId", "targetId"), ("Author 1", "Author 2"),
    ("citing", "cited"),
    ("GeneA", "GeneB"), ("user_id", "item_id"), ("Schüler", "Freundin"), ("Élève", "Camarade"), ("Nutzer", "Kontakt"),
]  # fmt: skip


@pytest.mark.parametrize("header", HEADERS, ids="-".join)
def test_a_header_is_not_a_person(header, file):
    graph = read_graph(file(f"{header[0]};{header[1]}\nann;bob\nbob;eve\n"))
    assert graph.labels.tolist() == ["ann", "bob", "eve"]
    assert any("names the columns" in note and "header=False" in note for note in graph.notes)
    stated = read_graph(file(f"{header[0]};{header[1]}\nann;bob\nbob;eve\n"), header=False)
    assert stated.n_nodes == 5


@pytest.mark.parametrize(
    "first", [("ann", "bob"), ("user1", "user2"), ("Target", "bob"), ("1", "2"), ("TP53", "BRCA1"), ("Land", "bob")]
)
def test_a_person_is_not_a_header(first, file):
    graph = read_graph(file(f"{first[0]},{first[1]}\n{first[1]},eve\neve,dan\n"))
    assert graph.n_links == 3
    assert any("is a link" in note and "header=True" in note for note in graph.notes)


def test_names_built_alike_are_links(file):
    text = "".join(f"user{2 * k},user{2 * k + 1}\n" for k in range(300))
    assert read_graph(file(text)).n_links == 300


def test_words_that_stand_again_far_below_are_links():
    chain = [[f"p{i}q", f"p{i + 1}q"] for i in range(50)]
    rows = [["Xenia", "Yvo"], *chain]
    assert detect_header(rows).is_header
    assert not detect_header(rows, occurs=lambda word: 2).is_header


def test_roles_and_ends():
    assert role("Häufigkeit") == role("poids") == role("peso") == "weight"
    assert role("user170124") is None
    assert find_ends(["date", "person", "friend"], []) == (1, (2,), ())
    assert find_ends(["weight", "to", "from"], []) == (2, (1,), ())
    assert find_ends(["", "person", "friend"], []) == (1, (2,), ())


def test_the_first_line_of_a_table_of_nodes(file):
    links = file("ann,bob\nbob,eve\n")
    for first in ("Nom;Ville", "Name;City", "Akteur;Stadt", "Nombre;Ciudad"):
        nodes = file(f"{first}\nann;Lyon\nbob;Nice\neve;Lyon\n", "n.csv")
        graph = read_graph(links, nodes=nodes)
        assert graph.labels.tolist() == ["ann", "bob", "eve"]
        assert list(graph.attributes) == [first.split(";")[1]]
        assert any("n.csv, line 1" in note and "names the columns" in note for note in graph.notes)
    assert not detect_node_header([["ann", "Lyon"], ["bob", "Nice"]]).is_header
    plain = read_graph(links, nodes=file("ann;Lyon\nbob;Nice\neve;Lyon\n", "n.csv"))
    assert list(plain.attributes) == ["column1"]
    assert any("is a node" in note and "nodes_header=True" in note for note in plain.notes)
    stated = read_graph(links, nodes=file("kto;gdzie\nann;Lyon\nbob;Nice\neve;Rom\n", "n.csv"), nodes_header=True)
    assert list(stated.attributes) == ["gdzie"]


def test_a_table_of_nodes_beside_the_file_is_mentioned(file):
    file("node,age\nann,3\nbob,4\n", "nodes.csv")
    graph = read_graph(file("ann,bob\n", "edges.csv"))
    assert "Beside it is nodes.csv; pass nodes=True" in graph.notes[-1]
    assert read_graph(file("ann,bob\n", "edges.csv"), nodes=True).attributes["age"].tolist() == [3, 4]


STOPS = {
    "thousands or decimals": (
        "von;nach;wert\na;b;1,234\nb;c;2,345\n",
        {},
        "may part thousands or decimals.*decimal=','",
    ),
    "two ways of writing": ("von;nach;wert\na;b;1,5\nb;c;2.5\n", {}, "line 3.*one way"),
    "comma far below": ("von;nach;wert\n" + "a;b;1.5\n" * 300 + "b;c;2,5\n", {}, "line 302.*decimal comma"),
    "some weights empty": ("from,to,weight\na,b,1\nb,c,\n", {}, "line 3.*weight ''"),
    "weights of words that were asked for": ("from,to,cost\na,b,high\n", {"weight": "cost"}, "line 2.*'high'"),
    "header twice": ("source,target\na,b\nsource,target\nb,c\n", {}, "header 'source,target' again"),
    "sums": (",a,b,Sum\na,0,1,1\nb,1,0,1\n", {}, "'Sum' across"),
    "names in part": (",a,b,c\na,0,1,0\nb,1,0,1\nd,0,1,0\n", {"two_mode": False}, "'d' only down"),
    "no square": ("0,1,1\n1,0,1\n", {"matrix": True, "two_mode": False}, "2 rows and 3 columns"),
    "no workbook": ("a,b\n", {"sheet": "x"}, "no workbook"),
}


@pytest.mark.parametrize("title", STOPS)
def test_what_could_be_read_in_two_ways_stops(title, file):
    text, options, expected = STOPS[title]
    with pytest.raises(GraphFileError, match=expected):
        read_graph(file(text), **options)


@pytest.mark.parametrize("suffix", [".xls", ".ods", ".sav", ".gephi"])
def test_files_of_other_programs_name_the_way_out(suffix, file):
    with pytest.raises(GraphFileError, match=r"save it as|export"):
        read_graph(file("x", f"g{suffix}"))


def test_how_numbers_are_written():
    assert find_decimal(["1,5", "2", "0,25"]) == ","
    assert find_decimal(["1,234"]) is None
    assert to_number("1.234,5", ",") == to_number("1,234.5", ".") == 1234.5
    with pytest.raises(ValueError, match=r"1\.5"):
        to_number("1.5", ",")
    with pytest.raises(ValueError, match="decimal is"):
        read_graph("x.csv", decimal=";")


def test_times_are_no_weights():
    assert are_times(["1082040961", "1082155839", "1082414391"])
    assert are_times(["1999", "2004", "2011"])
    assert not are_times(["5", "7", "9"])
    assert not are_times(["2000", "2000", "2000"])


@pytest.mark.parametrize(("both", "directed"), [(0, False), (3, False), (4, True), (39, True), (40, False)])
def test_pairs_in_both_orders_are_counted_and_decide(both, directed, file):
    links = [(f"p{i}q", f"p{i + 1}q") for i in range(40)]
    text = "".join(f"{a},{b}\n" for a, b in [*links, *((b, a) for a, b in links[:both])])
    graph = read_graph(file(text))
    assert graph.directed == directed
    said = " ".join(graph.notes)
    assert both in (0, 40) or f"{both} of 40 pairs stand in both orders" in said
    assert graph.n_links == (40 + both if directed else 40)


def test_gephi_mixes_directed_and_undirected_links(file):
    graph = read_graph(file("Source,Target,Type\na,b,Directed\nb,c,Undirected\n"))
    assert graph.directed
    assert sorted(zip(*graph.links.nonzero())) == [(0, 1), (1, 2), (2, 1)]
    assert not read_graph(file("Source,Target,Type\na,b,Directed\n"), directed=False).directed


def test_words_between_names(file):
    graph = read_graph(file("ann -> bob\nbob -> eve\n", "g.txt"))
    assert (graph.labels.tolist(), graph.directed) == (["ann", "bob", "eve"], True)
    sif = "TP53\tpp\tBRCA1\nBRCA1\tpp\tEGFR\nEGFR\tpp\tTP53\n"
    assert read_graph(file(sif, "g.sif")).n_nodes == 3


def test_a_matrix_of_those_who_answered(file):
    graph = read_graph(file(",ann,bob,eve,dan\nann,0,1,0,1\nbob,1,0,1,0\neve,0,1,0,0\n"))
    assert graph.directed
    assert graph.hidden.toarray()[3].tolist() == [True, True, True, False]
    assert graph.n_hidden == 3


def test_two_modes_have_kinds(file):
    graph = read_graph(file(",x,y,z\nann,1,0,1\nbob,1,1,0\n"))
    assert (graph.n_hidden, graph.n_dyads) == (0, 6)
    assert graph.kinds.tolist() == ["row"] * 2 + ["column"] * 3


def test_a_name_of_both_kinds_becomes_two_nodes(file):
    graph = read_graph(file("person,event\na,x\nb,a\n"), two_mode=True)
    assert graph.labels.tolist() == ["a (person)", "b", "x", "a (event)"]
    assert graph.kinds.tolist() == ["person", "person", "event", "event"]
    assert any("1 name of both kinds became two nodes each" in note for note in graph.notes)
    numbers = read_graph(file("1 1\n1 2\n2 2\n3 1\n"), two_mode=True)
    assert (numbers.n_nodes, numbers.n_links, numbers.n_dyads) == (5, 4, 6)


def test_spelling_that_differs_in_case_is_told(file):
    assert any("'Ann' and 'ann'" in note for note in read_graph(file("Ann,bob\nann,eve\nbob,eve\n")).notes)


def test_the_line_that_excel_writes_for_itself(file):
    graph = read_graph(file("sep=;\r\nVon;Nach\r\nann;bob\r\nbob;eve\r\n"))
    assert graph.labels.tolist() == ["ann", "bob", "eve"]


def test_ucinet_forms(file):
    half = read_graph(file("DL N=3 FORMAT=LOWERHALF DIAGONAL=ABSENT\nDATA:\n1\n0 1\n", "g.dl"))
    assert half.links.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    below = read_graph(file("DL N=3 FORMAT=LOWERHALF\nDATA:\n0\n-2 0\n0 3 0\n", "g.dl"))
    assert below.links.toarray().tolist() == [[0, -2, 0], [-2, 0, 3], [0, 3, 0]]
    several = "DL N=2 NM=2\nLABELS:\nann,bob\nMATRIX LABELS:\nlikes\nhelps\nDATA:\n0 1\n0 0\n0 0\n1 0\n"
    assert "'helps'" in read_graph(file(several, "g.dl")).notes[0]
    assert read_graph(file(several, "g.dl"), relation="helps", directed=True).links[1, 0] == 1
    inside = "DL N=3\nLABELS EMBEDDED\nDATA:\nann bob eve\nann 0 1 0\nbob 1 0 1\neve 0 1 0\n"
    assert read_graph(file(inside, "g.dl")).labels.tolist() == ["ann", "bob", "eve"]
    pairs = "DL NR=2 NC=3 FORMAT=EDGELIST2 LABELS EMBEDDED\nDATA:\nann x\nann y\nbob z\n"
    assert read_graph(file(pairs, "g.dl")).n_dyads == 6


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DL N=3\nDATA:\n0 1\n", "2 values.*9 are announced"),
        ("DL N=2 FORMAT=EDGELIST1\nDATA:\n1 5\n", "node '5'.*2 nodes"),
        ("DL FORMAT=EDGELIST1\nDATA:\n1 2\n", "N="),
        ("DL N=2 FORMAT=ODD\nDATA:\n1 2\n", "format 'odd'"),
        ("DL N=2\n0 1\n", "DATA:"),
        ("DL N=2\nDATA:\n0 a\n1 0\n", "line 3"),
    ],
)
def test_bad_ucinet_files_are_one_sentence(text, expected, file):
    with pytest.raises(GraphFileError, match=expected) as error:
        read_graph(file(text, "g.dl"))
    assert "\n" not in str(error.value)


def test_missing_libraries_are_named(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(GraphFileError, match=r"openpyxl.*klafter\[excel\]"):
        read_graph(file(b"PK", "g.xlsx"))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(GraphFileError, match=r"pyarrow.*klafter\[tables\]"):
        read_graph(file(b"PAR1", "g.parquet"))


def test_workbooks_name_the_row_of_a_mistake(file):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl reads .xlsx and is not installed")
    path = file(b"", "g.xlsx")

    def save(*rows):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(path)

    save(["A title"], [None], ["von", "nach"], ["ann", "bob"], ["bob", None])
    with pytest.raises(GraphFileError, match=r"line 5.*two nodes"):
        read_graph(path)
    save(["von", "nach"], ["ann", "#REF!"])
    with pytest.raises(GraphFileError, match=r"line 2.*#REF!"):
        read_graph(path)
    with pytest.raises(GraphFileError, match="sheet='x'"):
        read_graph(path, sheet="x")
    save(["#", "von", "nach"], ["#1", "ann", "bob"], ["#2", "bob", "eve"])
    assert read_graph(path).labels.tolist() == ["ann", "bob", "eve"]


def test_a_parquet_file_with_strange_names(file):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet and is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"from": ['Lee, "Ann"', "bob"], "to": ["bob", "eve"], "when": [1, 2]})
    path = file(b"", "g.parquet")
    parquet.write_table(table, path)
    graph = read_graph(path)
    assert graph.labels.tolist() == ['Lee, "Ann"', "bob", "eve"]


def test_look_shows_lines_uses_and_questions(file):
    found = look(file("Von;Nach;Gewicht;Kosten\nann;bob;1,5;3\nbob;eve;2;4\n".encode("cp1252")))
    assert [use for _, use in found.columns] == ["source", "target", "weight", "left out"]
    assert found.rows == [["ann", "bob", "1,5", "3"], ["bob", "eve", "2", "4"]]
    assert any("names the columns" in text for text in found.questions)
    assert not found.is_part
    cost = look(file("Von;Nach;Kosten\nann;bob;3\nbob;eve;4\n"))
    assert "Column 'kosten' holds numbers; pass weight='kosten' if these are weights." in cost.questions
    assert look(file(",a,b\na,0,1\nb,1,0\n")).kind == "adjacency matrix"
    assert look(file("Zoé;Noël\n".encode("utf-16"))).rows == [["Zoé", "Noël"]]
    assert look(file("*Vertices 2\n*Edges\n1 2\n", "g.net")).kind == "Pajek"


def test_look_reads_the_beginning_of_a_long_file(file, monkeypatch):
    monkeypatch.setattr("klafter.graph.io.look.MOST_BYTES", 1 << 23)
    path = file("".join(f"{k} {k + 1}\n" for k in range(700_000)), "g.txt")
    found = look(path)
    assert found.is_part
    assert 0 < found.graph.n_links < 700_000
    assert np.isfinite(found.graph.links.data).all()
