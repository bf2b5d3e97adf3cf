"""The quick reader of two columns of integers gives what the careful one gives, or nothing."""

import numpy as np
import pytest

import klafter as kl
from klafter.graph.io.tables import edge_list, plain_pairs
from klafter.graph.io.tables.edge_fields import Block
from klafter.graph.io.tables.table_layout import Declared, find_layout

pytest.importorskip("pyarrow")

NOT_PLAIN = {
    "a leading zero": "1\t2\n007\t3\n",
    "a sign": "1\t2\n+4\t3\n",
    "minus": "1\t2\n-4\t3\n",
    "a blank": "1\t2\n4 \t3\n",
    "quotes": '1\t2\n"4"\t3\n',
    "a remark": "1\t2\n# no\t3\n",
    "an empty line": "1\t2\n\n3\t4\n",
    "a word": "1\t2\nann\t3\n",
    "a long number": "1\t2\n99999999999999999999\t3\n",
    "one column": "1\t2\n3\n",
    "three columns": "1\t2\n3\t4\t5\n",
    "nothing in a field": "1\t2\n\t4\n",
    "a decimal": "1\t2\n3.0\t4\n",
}


@pytest.fixture(autouse=True)
def any_size(monkeypatch):
    monkeypatch.setattr(plain_pairs, "LEAST", 0)


def pairs(text, path, like="1\t2"):
    layout = find_layout([like, like], Declared(), occurs=lambda word: 0)
    return plain_pairs.plain_pairs(Block(text.encode(), 2, "utf-8"), layout)


def test_plain_lines_are_taken(tmp_path):
    assert pairs("0\t10\n9\t1234567\n", tmp_path).tolist() == [0, 10, 9, 1234567]
    assert pairs("0 10\n9 12\n", tmp_path, "1 2").tolist() == [0, 10, 9, 12]


@pytest.mark.parametrize("text", NOT_PLAIN.values(), ids=NOT_PLAIN)
def test_all_else_is_left_to_the_careful_reader(tmp_path, text):
    assert pairs(text, tmp_path) is None


@pytest.mark.parametrize("head", ["", "source\ttarget\n", "# from a survey\n"])
@pytest.mark.parametrize("tail", ["", "0\t3\n" * 3, "5\t5\n", "ann\tbob\n", "#\n", "ann b\tbob\n"])
@pytest.mark.parametrize("name", ["{}", "1{}", "1000000000{}", "user{}", "ü{}", "0{}"])
def test_graphs_are_the_same_with_and_without_pyarrow(tmp_path, monkeypatch, head, tail, name):
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 60, (300, 2)).tolist()
    lines = "".join(f"{name.format(a)}\t{name.format(b)}\n" for a, b in pairs)
    (path := tmp_path / "links.tsv").write_text(head + lines + tail)
    monkeypatch.setattr(edge_list, "BLOCK", 512)  # some blocks are plain, others are not
    quick = kl.read_graph(path)
    monkeypatch.setattr(plain_pairs, "_pyarrow", lambda: None)
    careful = kl.read_graph(path)
    assert quick.notes == careful.notes
    np.testing.assert_array_equal(quick.labels, careful.labels)
    assert quick.directed == careful.directed
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(quick.links, part), getattr(careful.links, part))
