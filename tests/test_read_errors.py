"""Bad files give one sentence with file, line, rule and cure, and never a parser's traceback."""

import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import io, sparse

from klafter.graph import GraphFileError, read_graph

MTX = "%%MatrixMarket matrix coordinate real general\n"
BAD = {
    "ragged": ("g.txt", b"a b\nc d\ne\n", "line 3"),
    "too many": ("g.csv", b"a,b\nc,d\ne,f,g\n", "line 3"),
    "text weight": ("g.txt", b"a b 1\nb c lots\n", "line 2.*'lots'.*weight=None"),
    "nan weight": ("g.txt", b"a b 1\nb c nan\n", "line 2.*'nan'.*finite"),
    "infinite weight": ("g.csv", b"source,target,weight\na,b,inf\n", "line 2.*'inf'"),
    "missing end": ("g.csv", b"a,b\n,c\n", "line 2.*two nodes"),
    "empty": ("g.txt", b"", "nothing"),
    "blank": ("g.txt", b"\n  \n", "nothing"),
    "only comments": ("g.txt", b"# one\n# two\n", "only comments"),
    "only a header": ("g.csv", b"source,target\n", "0 nodes"),
    "binary": ("g.txt", b"a b\n\x00\x01\x02", "line 2.*binary"),
    "one column": ("g.txt", b"a\nb\n", "line 1.*two columns"),
    "one node": ("g.txt", b"a a\n", "1 nodes.*two or more"),
    "neither utf-8 nor cp1252": ("g.txt", b"a b\na \xff\x81\n", "encoding="),
    "square that may be a list": ("g.dat", b"1 2 3 4\n2 1 5 6\n3 2 1 7\n4 4 4 4\n", "matrix=True or matrix=False"),
    "square with text": ("g.csv", b",ann,bob,eve\nann,0,1,0\nbob,1,lots,1\neve,0,1,0\n", "'lots'.*holds numbers"),
    "square with other names": ("g.tsv", b"\tann\tbob\teve\nann\t0\t1\t0\nbob\t1\t0\t1\ncem\t0\t1\t0\n", "'ann' both"),
    "huge declared": ("g.txt", b"# nodes: 1000000000000\n0 1\n", "1,000,000,000,000 nodes"),
    "wrong gzip": ("g.txt.gz", b"a b\n", "no gzip data"),
    "cut gzip": ("g.txt.gz", gzip.compress(b"a b\n" * 1000)[:-20], "broken gzip"),
    "open quote": ("g.csv", b'a,b\n"c,d\ne,f\n', "line 2"),
    "open quote before others": ("g.csv", b'a,b\n"c,d\ne,"f, g"\n', "line 2.*close the mark"),
    "open quote that swallows": ("g.csv", b'a,b\nb,"c\nd,e\n', "line 2.*close the mark"),
    "json of something else": ("g.json", b'{"name": "ann", "age": 3}', "nodes and links"),
    "json rubbish": ("g.json", b'{"nodes": [', "check format"),
    "no archive": ("g.npz", b"rubbish", "archive of arrays"),
    "graphml rubbish": ("g.graphml", b"<graphml><oops", "check format"),
    "graphml bomb": ("g.graphml", b'<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', "entities"),
    "gml rubbish": ("g.gml", b"graph [ node [ id", "check format"),
    "gml one node": ("g.gml", b'graph [ node [ id 0 label "a" ] ]', "1 nodes"),
    "pajek end": ("g.net", b"*Vertices 3\n*Edges\n1 4\n", "line 3.*node 4.*1 to 3"),
    "pajek zero": ("g.net", b"*Vertices 3\n*Edges\n0 1\n", "line 3.*node 0"),
    "pajek text": ("g.net", b"*Vertices 3\n*Edges\n1 x\n", "line 3.*numbers"),
    "pajek short": ("g.net", b"*Vertices 3\n*Edges\n1\n", "line 3"),
    "pajek weight": ("g.net", b"*Vertices 3\n*Edges\n1 2 nan\n", "line 3.*finite"),
    "pajek huge": ("g.net", b"*Vertices 1000000000\n", "line 1.*1,000,000,000 nodes"),
    "pajek no number": ("g.net", b"*Vertices\n", "line 1"),
    "pajek none": ("g.net", b"hello\n", "line 1.*Vertices"),
    "pajek same names": ("g.net", b'*Vertices 2\n1 "a"\n2 "a"\n', "'a' stands twice"),
    "mtx huge": ("g.mtx", f"{MTX}1000000000 1000000000 1\n1 1000000000 1\n".encode(), "1,000,000,000 nodes"),
    "mtx lying": ("g.mtx", f"{MTX}5 5 1000000000000\n1 2 1\n".encode(), "announced"),
    "mtx outside": ("g.mtx", f"{MTX}3 3 1\n1 9 1\n".encode(), "whole numbers from 1 to 3"),
    "mtx negative": ("g.mtx", f"{MTX}3 3 1\n-1 2 1\n".encode(), "whole numbers from 1 to 3"),
    "mtx not square": (
        "g.mtx", b"%%MatrixMarket matrix array real general\n3 4\n" + b"1\n" * 12, "3 x 4.*square",
    ),
    "mtx beyond its columns": ("g.mtx", f"{MTX}3 4 1\n1 5 1\n".encode(), "from 1 to 3 and 4"),
    "mtx nan": ("g.mtx", f"{MTX}3 3 1\n1 2 nan\n".encode(), "NaN"),
    "mtx dense": ("g.mtx", b"%%MatrixMarket matrix array real general\n90000 90000\n1\n", "announced"),
    "npz rubbish": ("g.npz", b"PK\x03\x04rubbish", "no archive of arrays"),
    "mat rubbish": ("g.mat", b"rubbish" * 50, "no header of a MATLAB file"),
    "mat 7.3": ("g.mat", b"MATLAB 7.3 MAT-file" + b" " * 200, "-v7"),
}  # fmt: skip


def assert_one_sentence(error, name):
    message = str(error.value)
    assert "\n" not in message
    assert name in message
    assert message.endswith(".")
    assert error.value.__cause__ is None
    assert len(message) < 500


@pytest.mark.parametrize("case", BAD)
def test_bad_file(case, tmp_path):
    name, content, expected = BAD[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(GraphFileError, match=expected) as error:
        read_graph(tmp_path / name)
    assert_one_sentence(error, name)


def test_no_file_and_a_folder(tmp_path):
    for path, expected in (
        (tmp_path / "none.tsv", "no such file"),
        (tmp_path, "folder"),
        (tmp_path / "no.mtx", "no such"),
    ):
        with pytest.raises(GraphFileError, match=expected) as error:
            read_graph(path)
        assert_one_sentence(error, path.name)


def test_matrices_that_are_no_graphs(tmp_path):
    sparse.save_npz(tmp_path / "huge.npz", sparse.coo_array(([1.0], ([0], [1])), shape=(10**9, 10**9)))
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    io.savemat(tmp_path / "none.mat", {"x": np.ones((3, 1))})
    cases = {"huge.npz": "1,000,000,000", "other.npz": "save_npz", "none.mat": "no matrix"}
    for name, expected in cases.items():
        with pytest.raises(GraphFileError, match=expected) as error:
            read_graph(tmp_path / name)
        assert_one_sentence(error, name)


def test_bad_arguments_name_the_cure(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("source,target,cost\na,b,1\nb,c,2\n")
    with pytest.raises(GraphFileError, match=r"'cost'.*weight='price'"):
        read_graph(path, weight="price")
    with pytest.raises(GraphFileError, match="weight=9"):
        read_graph(path, weight=9)
    with pytest.raises(ValueError, match="one character"):
        read_graph(path, delimiter="::")
    with pytest.raises(GraphFileError, match="no such file"):
        read_graph(path, nodes=True)
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("node,age\na,1\nb,2\n")
    with pytest.raises(GraphFileError, match=r"'c'.*table of nodes"):
        read_graph(path, nodes=nodes)
    with pytest.raises(GraphFileError, match="labels='name'"):
        read_graph(path, nodes=nodes, labels="name")
    nodes.write_text("node,age\na,1\na,2\n")
    with pytest.raises(GraphFileError, match="twice"):
        read_graph(path, nodes=nodes)
    nodes.write_text("node,age\na,1\nb\n")
    with pytest.raises(GraphFileError, match="line 3"):
        read_graph(path, nodes=nodes)


def test_the_line_is_right_in_later_blocks_and_behind_comments(tmp_path, monkeypatch):
    monkeypatch.setattr("klafter.graph.io.tables.edge_list.BLOCK", 50)
    path = tmp_path / "g.txt"
    path.write_text("# top\n" + "a b 1\n" * 40 + "\n# middle\n" + "a b x\n")
    with pytest.raises(GraphFileError, match=r"line 44.*'x'"):
        read_graph(path)


ROUGH = st.binary(max_size=200) | st.text(st.sampled_from('ab1 ,\t\n\r";#%*.-<>[]xé\0'), max_size=120).map(str.encode)
SUFFIXES = [
    ".txt",
    ".csv",
    ".net",
    ".gml",
    ".graphml",
    ".gexf",
    ".mtx",
    ".npz",
    ".mat",
    ".txt.gz",
    ".mtx.gz",
    ".dl",
    ".xlsx",
    ".pq",
]
DL = [
    b"dl n=2\ndata:\n",
    b"dl n=3 format=edgelist1 labels embedded\ndata:\n",
    b"dl nr=2 nc=1\nrow labels:\na b\ndata:\n",
]
TABLES = [b"a b 1\n", b",a,b\na,0,1\n", b"0 1 1\n1 0 0\n", b"Von;Nach;Typ;\n", b"source,target,type\na,b,Directed\n"]
STARTS = [b"", b"*Vertices 3\n", MTX.encode() + b"3 3 2\n", b"\x1f\x8b", b"\xff\xfea\0", b"sep=;\n", *DL, *TABLES]


@given(ROUGH, st.sampled_from(SUFFIXES), st.sampled_from(STARTS))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_give_a_graph_or_one_sentence(tmp_path, content, suffix, start):
    path = tmp_path / f"g{suffix}"
    path.write_bytes(start + content)
    try:
        graph = read_graph(path)
    except GraphFileError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert graph.n_nodes > 1
        assert np.isfinite(graph.links.data).all()
