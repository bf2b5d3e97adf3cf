"""Fifty files as people have them, made here, and what each must become; none is read wrong without a note."""

import gzip
import io
import re
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse

from klafter.graph import GraphFileError, read_graph

PATH = {("ann", "bob"): 1, ("bob", "eve"): 1, ("dan", "eve"): 1}
HEADER, LINK = "names the columns", "is a link"


class Case(NamedTuple):
    """A file, how it is read, the links it must become, whether they are directed, and what notes must say."""

    name: str
    content: Any  # bytes, text, or a function that makes the bytes
    links: dict
    notes: tuple[str, ...]
    directed: bool = False
    options: dict = {}  # noqa: RUF012
    nodes: int | None = None  # if some have no links
    hidden: int = 0
    kinds: int = 0  # nodes of the first of two kinds
    needs: str = ""  # a library


def workbook(**sheets):
    """An Excel file with sheets of rows."""

    def make():
        from openpyxl import Workbook

        book = Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        stream = io.BytesIO()
        book.save(stream)
        return stream.getvalue()

    return make


def columns(write, **values):
    """A Parquet or Arrow file with columns."""

    def make():
        import pyarrow
        from pyarrow import feather, parquet

        stream = pyarrow.BufferOutputStream()
        writers = {"parquet": parquet.write_table, "feather": feather.write_feather}
        writers[write](pyarrow.table(values), stream)
        return stream.getvalue().to_pybytes()

    return make


def list_of(header, *rows, delimiter=","):
    lines = [delimiter.join(row) for row in (header, *rows)]
    return "\n".join(lines) + "\n"


FRIENDS = (("ann", "bob"), ("bob", "eve"), ("eve", "dan"))
WEIGHTED = {("ann", "bob"): 1.5, ("bob", "eve"): 2, ("dan", "eve"): 0.25}
NUMBERS = {(1, 2): 1, (2, 3): 1, (3, 4): 1}
MATRIX = "0{0}1{0}0{0}0\n1{0}0{0}1{0}0\n0{0}1{0}0{0}1\n0{0}0{0}1{0}0\n"
ROWS = {(0, 1): 1, (1, 2): 1, (2, 3): 1}
NAMED = ";ann;bob;eve;dan\nann;0;1;0;0\nbob;1;0;1;0\neve;0;1;0;1\ndan;0;0;1;0\n"
MEETINGS = ",ball,dinner,opera\nann,1,0,1\nbob,1,1,0\neve,0,1,0\ndan,0,0,1\n"
ATTENDED = {
    ("ann", "ball"): 1, ("ann", "opera"): 1, ("ball", "bob"): 1, ("bob", "dinner"): 1, ("dinner", "eve"): 1,
    ("dan", "opera"): 1,
}  # fmt: skip
DL = "DL N=4\nFORMAT = {0}\nLABELS:\nann,bob,eve,dan\nDATA:\n{1}"
GEPHI = "Source,Target,Type,Id,Label,Weight\nann,bob,{0},0,,1.5\nbob,eve,{0},1,,2\neve,dan,{0},2,,0.25\n"
ARROWS = {("ann", "bob"): 1.5, ("bob", "eve"): 2, ("eve", "dan"): 0.25}
MANY = [(f"p{i}", f"p{i + 1}") for i in range(40)]
REVERSED = {tuple(sorted(pair)): 1 for pair in MANY}

CASES = {
    # headers in seven languages
    "english header": Case("a.csv", list_of(("Person", "Friend"), *FRIENDS), PATH, (HEADER,)),
    "german header": Case("a.csv", list_of(("Von", "Nach"), *FRIENDS, delimiter=";"), PATH, (HEADER,)),
    "french header": Case("a.csv", list_of(("Personne", "Ami"), *FRIENDS, delimiter=";"), PATH, (HEADER,)),
    "spanish header": Case("a.csv", list_of(("Origen", "Destino"), *FRIENDS, delimiter=";"), PATH, (HEADER,)),
    "italian header": Case("a.csv", list_of(("Da", "A"), *FRIENDS, delimiter=";"), PATH, (HEADER,)),
    "portuguese header": Case("a.tsv", list_of(("Pessoa", "Amigo"), *FRIENDS, delimiter="\t"), PATH, (HEADER,)),
    "dutch header": Case("a.csv", list_of(("Van", "Naar"), *FRIENDS, delimiter=";"), PATH, (HEADER,)),
    "header of a database": Case(
        "a.csv",
        "from_user,to_user,created_at\nann,bob,2020-01-01 10:00\nbob,eve,2020-01-02 11:30\neve,dan,2021-05-05 09:00\n",
        PATH, (HEADER, "Left out: column 'created_at'"),
    ),
    "header in camel case behind an id": Case(
        "a.csv", "id,personA,personB\n1,ann,bob\n2,bob,eve\n3,eve,dan\n", PATH, (HEADER, "Left out: column 'id'")
    ),
    "index of pandas": Case(
        "a.csv", ",source,target\n0,ann,bob\n1,bob,eve\n2,eve,dan\n", PATH, (HEADER, "Left out: column 1")
    ),
    "row numbers of R": Case(
        "a.txt", '"from" "to"\n"1" "ann" "bob"\n"2" "bob" "eve"\n"3" "eve" "dan"\n', PATH, (HEADER,)
    ),
    "words above numbers": Case("a.csv", "x1;x2\n1;2\n2;3\n3;4\n", NUMBERS, (HEADER, "above numbers")),
    "unknown words that never recur": Case(
        "a.csv", list_of(("Saatja", "Vastuvõtja"), *MANY), REVERSED, (HEADER, "never stand again")
    ),
    "header as stated": Case(
        "a.csv", list_of(("abc", "def"), *FRIENDS), PATH, (r"names the columns \(as stated\)\.",),
        options={"header": True},
    ),
    # no header
    "no header": Case("a.csv", list_of(*FRIENDS), PATH, (LINK, "'bob' stands below again", "header=True")),
    "names like headers": Case(
        "a.txt", "node1 node2\nnode2 node3\n", {("node1", "node2"): 1, ("node2", "node3"): 1}, (LINK,)
    ),
    "companies with such names": Case(
        "a.csv", "Target,Walmart\nWalmart,Costco\n", {("Target", "Walmart"): 1, ("Costco", "Walmart"): 1}, (LINK,)
    ),
    # delimiters and encodings
    "blanks and a comment": Case("a.txt", "# friends\n ann  bob\nbob   eve\neve dan \n", PATH, ("Line 2", LINK)),
    "vertical bars": Case("a.txt", list_of(*FRIENDS, delimiter="|"), PATH, (LINK,)),
    "byte order mark and windows lines": Case(
        "a.csv", b"\xef\xbb\xbfQuelle;Ziel\r\nann;bob\r\nbob;eve\r\neve;dan\r\n", PATH, (HEADER,)
    ),
    "windows letters": Case(
        "a.csv", "Nom;Ami\nZoé;Noël\nNoël;Éva\n".encode("cp1252"), {("Noël", "Zoé"): 1, ("Noël", "Éva"): 1},
        (HEADER, "read as cp1252, such as 'Noël'", "encoding="),
    ),
    "utf-16 of Excel": Case(
        "a.txt", "Von\tNach\nZoé\tNoël\nNoël\tÉva\n".encode("utf-16"), {("Noël", "Zoé"): 1, ("Noël", "Éva"): 1},
        (HEADER, "read as utf-16"),
    ),
    "utf-16 without a mark": Case("a.txt", list_of(*FRIENDS).encode("utf-16-le"), PATH, ("read as utf-16-le",)),
    "gzip": Case("a.csv.gz", gzip.compress(list_of(("Von", "Nach"), *FRIENDS).encode()), PATH, (HEADER,)),
    "quoted names": Case(
        "a.csv", '"Name","Freund"\n"Lee, Ann","Bo"\n"Bo","Cem"\n', {("Bo", "Lee, Ann"): 1, ("Bo", "Cem"): 1}, (HEADER,)
    ),
    "delimiters at all ends": Case("a.csv", "Von;Nach;\nann;bob;\nbob;eve;\neve;dan;\n", PATH, ("ends of lines",)),
    "delimiters at some ends": Case("a.csv", "Von;Nach\nann;bob;\nbob;eve;;\neve;dan;\n", PATH, ("ends of lines",)),
    # weights and times
    "decimal commas": Case(
        "a.csv", "Von;Nach;Gewicht\nann;bob;1,5\nbob;eve;2\neve;dan;0,25\n", WEIGHTED, ("decimal commas: '1,5' is 1.5",)
    ),
    "decimal commas without header": Case(
        "a.txt", "ann bob 1,5\nbob eve 2,0\neve dan 0,25\n", WEIGHTED, (LINK, "decimal commas")
    ),
    "quoted decimal commas": Case(
        "a.csv", 'de,para,peso\nann,bob,"1,5"\nbob,eve,"2,0"\neve,dan,"0,25"\n', WEIGHTED, (HEADER, "decimal commas")
    ),
    "weights of words": Case(
        "a.csv", "from,to,strength\nann,bob,strong\nbob,eve,weak\neve,dan,weak\n", PATH,
        ("'strength' holds no numbers",),
    ),
    "seconds since 1970": Case(
        "a.txt", "1 2 1082040961\n2 3 1082155839\n3 4 1082414391\n", NUMBERS, ("looks like times", "weight=2")
    ),
    "years": Case("a.csv", "ann,bob,1999\nbob,eve,2004\neve,dan,2011\n", PATH, ("looks like times",)),
    "friendships written twice": Case(
        "a.csv", list_of(*MANY, ("p1", "p0"), ("p3", "p2")), REVERSED, ("only 2 of 40 pairs stand in both orders",)
    ),
    "messages both ways": Case(
        "a.csv", "sender,receiver\nann,bob\nbob,ann\nbob,eve\n",
        {("ann", "bob"): 1, ("bob", "ann"): 1, ("bob", "eve"): 1}, ("1 of 2 pairs stands in both orders",),
        directed=True,
    ),
    # Gephi
    "gephi directed": Case("a.csv", GEPHI.format("Directed"), ARROWS, ("'type' says so",), directed=True),
    "gephi undirected": Case("a.csv", GEPHI.format("Undirected"), WEIGHTED, ("'type' says so",)),
    # matrices
    "matrix with names": Case("a.csv", NAMED, PATH, ("square matrix with names", "symmetric")),
    "matrix without names": Case("a.txt", MATRIX.format(" "), ROWS, ("square matrix without names",)),
    "matrix with names across": Case("a.csv", "ann,bob,eve,dan\n" + MATRIX.format(","), PATH, ("with names",)),
    "matrix of R": Case(
        "a.txt", "ann bob eve dan\nann 0 1 0 0\nbob 1 0 1 0\neve 0 1 0 1\ndan 0 0 1 0\n", PATH, ("with names",)
    ),
    "matrix with rows in another order": Case(
        "a.csv", ";ann;bob;eve;dan\ndan;0;0;1;0\neve;0;1;0;1\nann;0;1;0;0\nbob;1;0;1;0\n", PATH, ("with names",)
    ),
    "matrix with commas and gaps": Case(
        "a.csv", ";ann;bob;eve\nann;;1,5;NA\nbob;0,5;;2\neve;NA;;\n",
        {("ann", "bob"): 1.5, ("bob", "ann"): 0.5, ("bob", "eve"): 2},
        ("directed .the two halves differ in 2 pairs", "Hidden for want of a value: 2 pairs", "empty cells read as 0"),
        directed=True, hidden=2,
    ),
    "matrix of crosses": Case(
        "a.csv", ";ann;bob;eve;dan\nann;;x;;\nbob;x;;x;\neve;;x;;x\ndan;;;x;\n", PATH, ("mark such as x",)
    ),
    "people and events": Case(
        "a.csv", MEETINGS, ATTENDED, ("two modes: 4 rows, 3 columns", "only pairs of 'row' and 'column'"), kinds=4
    ),
    "two modes without names": Case(
        "a.txt", "1 0 1\n1 1 0\n0 1 0\n0 0 1\n",
        {("c1", "r1"): 1, ("c3", "r1"): 1, ("c1", "r2"): 1, ("c2", "r2"): 1, ("c2", "r3"): 1, ("c3", "r4"): 1},
        ("two modes", "two_mode=False"), kinds=4,
    ),
    "list of people and events": Case(
        "a.csv", "Person,Event\nann,ball\nann,opera\nbob,ball\nbob,dinner\neve,dinner\ndan,opera\n", ATTENDED,
        (HEADER, "two kinds of nodes", "only pairs of 'person' and 'event'"), kinds=4,
    ),
    # Excel
    "excel list below a title": Case(
        "a.xlsx", workbook(Blatt1=[["Freundschaften 2019"], [], ["Von", "Nach", "Gewicht"], ["ann", "bob", 1.5],
                                   ["bob", "eve", 2], ["eve", "dan", 0.25]]),
        WEIGHTED, (HEADER, "Left out above the table: 'Freundschaften 2019'"), needs="openpyxl",
    ),
    "excel with a sheet of nodes": Case(
        "a.xlsx", workbook(Nodes=[["Name", "Age"], ["ann", 3], ["bob", 4], ["eve", 5], ["dan", 6], ["zoe", 7]],
                           Edges=[["Source", "Target"], *FRIENDS]),
        PATH, ("Read the sheet 'Edges'", "sheet 'Nodes' was not read; pass nodes=True"), needs="openpyxl",
    ),
    "excel matrix on a sheet by name": Case(
        "a.xlsx", workbook(notes=[["hello"]], advice=[[None, "ann", "bob", "eve", "dan"], ["ann", 0, 1, 0, 0],
                                                       ["bob", 1, 0, 1, 0], ["eve", 0, 1, 0, 1], ["dan", 0, 0, 1, 0]]),
        PATH, ("square matrix with names", "Read the sheet 'advice'"), options={"sheet": "advice"}, needs="openpyxl",
    ),
    # tables of columns
    "parquet": Case(
        "a.parquet", columns("parquet", source=["ann", "bob", "eve"], target=["bob", "eve", "dan"],
                             weight=[1.5, 2.0, 0.25]),
        WEIGHTED, (HEADER,), needs="pyarrow",
    ),
    "arrow": Case(
        "a.feather", columns("feather", sender=[1, 2, 3], receiver=[2, 3, 4]), NUMBERS, (HEADER,), needs="pyarrow"
    ),
    # UCINET
    "ucinet full matrix": Case("a.dl", DL.format("FULLMATRIX", MATRIX.format(" ")), PATH, ("square matrix",)),
    "ucinet list of links": Case(
        "a.dl", "dl n=4 format=edgelist1\nlabels embedded\ndata:\nann bob 1.5\nbob eve 2\neve dan 0.25\n", WEIGHTED,
        ("Links have weights from 0.25 to 2",),
    ),
    "ucinet list of nodes without suffix": Case(
        "a.txt", DL.format("nodelist1", "1 2\n2 1 3\n3 2 4\n4 3\n"), PATH, ("every pair stands in both orders",)
    ),
    "ucinet two modes": Case(
        "a.dl", "DL NR=4, NC=3\nROW LABELS:\nann\nbob\neve\ndan\nCOLUMN LABELS:\nball dinner opera\n"
        "DATA:\n1 0 1\n1 1 0\n0 1 0\n0 0 1\n", ATTENDED, ("two modes",), kinds=4,
    ),
    # Pajek and others
    "pajek": Case(
        "a.net", '*Vertices 4\n1 "ann"\n2 "bob"\n3 "eve"\n4 "dan"\n*Arcs\n1 2 1.5\n2 3 2\n3 4 0.25\n', ARROWS,
        ("Links have weights from 0.25 to 2",), directed=True,
    ),
    "pajek in windows letters": Case(
        "a.net", '*Vertices 2\n1 "Zoé"\n2 "Noël"\n*Edges\n1 2\n'.encode("cp1252"), {("Noël", "Zoé"): 1},
        ("read as cp1252, such as 'Zoé'",),
    ),
    "a table of nodes beside it": Case(
        "a.tsv", list_of(("Von", "Nach"), *FRIENDS, delimiter="\t"), PATH,
        (HEADER, r"a\.nodes\.tsv, line 1, 'Nom\\tVille', names the columns"), options={"nodes": True}, nodes=5,
    ),
}  # fmt: skip


def links(graph):
    """Each link with labels and value."""
    coo = sparse.coo_array(graph.links)
    found = {(graph.label(i), graph.label(j)): v for i, j, v in zip(coo.row, coo.col, coo.data)}
    return found if graph.directed else {tuple(sorted(pair)): v for pair, v in found.items()}


def test_there_are_fifty():
    assert len(CASES) >= 50


def written(tmp_path, name, content):
    """The path of a file with text, bytes, or what a function makes."""
    content = content() if callable(content) else content
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def becomes_what_it_must(case, tmp_path):
    """The graph that a file becomes has the links, nodes and notes of its case; its notes as one text."""
    if case.needs:
        pytest.importorskip(case.needs, reason=f"{case.needs} reads {case.name} and is not installed")
    graph = read_graph(written(tmp_path, case.name, case.content), **case.options)
    assert links(graph) == {p if case.directed else tuple(sorted(p)): v for p, v in case.links.items()}
    assert graph.directed == case.directed
    assert graph.n_nodes == (case.nodes or len({name for pair in case.links for name in pair}))
    assert graph.n_hidden == case.hidden
    assert (0 if graph.second_kind is None else (~graph.second_kind).sum()) == case.kinds
    said = " ".join(graph.notes)
    for words in case.notes:
        assert re.search(words, said), f"{words!r} is not in {said!r}"
    return said


@pytest.mark.parametrize("title", CASES)
def test_a_file_becomes_what_it_must(title, tmp_path):
    case = CASES[title]
    if case.options.get("nodes"):
        (tmp_path / "a.nodes.tsv").write_text("Nom\tVille\nann\tLyon\nbob\tNice\neve\tLyon\ndan\tNice\nzoe\tNice\n")
    said = becomes_what_it_must(case, tmp_path)
    is_list = not case.name.endswith((".dl", ".net")) and not re.search("matrix|every pair stands", said)
    assert len(re.findall(rf"Line \d+, '.*?', ({HEADER}|{LINK}) \(", said)) == is_list


def test_nodes_of_a_workbook_are_used_when_asked_for(tmp_path):
    pytest.importorskip("openpyxl", reason="openpyxl reads .xlsx and is not installed")
    path = tmp_path / "a.xlsx"
    path.write_bytes(CASES["excel with a sheet of nodes"].content())
    graph = read_graph(path, nodes=True)
    assert graph.labels.tolist() == ["ann", "bob", "eve", "dan", "zoe"]
    assert graph.attributes["Age"].tolist() == [3, 4, 5, 6, 7]


def test_a_workbook_without_a_sheet_of_nodes_says_what_to_call_it(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl reads .xlsx and is not installed")
    path, book = tmp_path / "a.xlsx", openpyxl.Workbook()
    for row in ("ann", "bob"), ("bob", "eve"):
        book.active.append(row)
    book.create_sheet("People").append(("name", "age"))
    book.save(path)
    with pytest.raises(GraphFileError, match=r"no sheet called nodes .* call the sheet 'nodes'"):
        read_graph(path, nodes=True)
    (tmp_path / "a.nodes.tsv").write_text("node\tage\nann\t3\nbob\t4\neve\t5\n")
    assert read_graph(path, nodes=True).attributes["age"].tolist() == [3, 4, 5]


def test_a_large_matrix_is_read_by_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("klafter.graph.io.tables.edge_list.BLOCK", 1 << 12)
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((90, 90)) < 0.1, 1).astype(int)
    whole = upper + upper.T
    names = [f"n{i}" for i in range(90)]
    lines = ["," + ",".join(names), *(f"{name}," + ",".join(map(str, row)) for name, row in zip(names, whole))]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    graph = read_graph(tmp_path / "a.csv")
    assert (graph.links.toarray() == whole).all()
    assert graph.labels.tolist() == names
