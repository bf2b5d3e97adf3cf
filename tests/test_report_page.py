"""The page: one file, nothing from any network, labels never become markup, written whole or not at all."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from report_models import told, two_groups

import klafter as kl
from klafter.graph import Graph
from klafter.graph.writing import write_text
from klafter.report.facts import gather
from klafter.report.html import as_json, render

EVIL = '</script><script>alert("boo")</script>'


@pytest.fixture
def page(tmp_path):
    def write(model, **more):
        return kl.report(model, tmp_path / "page.html", **more).read_text(encoding="utf-8")

    return write


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))


def test_labels_and_titles_never_become_markup(page):
    labels = [EVIL, "<b>", "&amp;", "\u2028", "a", "b", "c", "d"]
    graph, z = two_groups(labels=labels, attributes={"<i>": np.array([EVIL] * 4 + ["x"] * 4)})
    text = page(told(graph, z), title=EVIL)
    assert text.count("<script") == text.count("</script>") == 2
    assert data_of(text)["nodes"]["labels"] == labels


def test_a_label_that_looks_like_a_slot_of_the_template(page):
    graph, z = two_groups(labels=["{{STYLE}}", *"bcdefgh"])
    assert data_of(page(told(graph, z), title="{{DATA}}"))["nodes"]["labels"][0] == "{{STYLE}}"


def test_nothing_is_loaded_from_anywhere(page):
    text = page(told(*two_groups()))
    addresses = set(re.findall(r"[a-z]+://[^\s\"')]+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, never fetched
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", text)
    assert "default-src 'none'" in text


def test_numbers_that_json_cannot_hold_are_left_out():
    graph, z = two_groups()
    model = told(graph, z)
    model.objective_ = float("inf")
    assert json.loads(as_json(gather(model)))["summary"]["objective"] is None


@pytest.mark.parametrize("k", [0, 1])
def test_few_communities(page, k):
    graph, z = two_groups()
    assert len(data_of(page(told(graph, z[:, :k])))["communities"]) == k


def test_a_graph_without_links(page):
    assert data_of(page(told(Graph(np.zeros((3, 3))), np.zeros((3, 0)))))["network"]["links"] == []


def test_held_dyads_are_in_the_page(page):
    held = (np.array([[0, 1], [0, 7]]), np.array([1.0, 0.0]))
    judged = data_of(page(told(*two_groups()), held=held))["held"]
    assert judged["n_links"] == 1
    assert len(judged["predictors"]) == 5


def test_an_old_page_survives_a_failed_write(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_model_gives_the_same_page():
    facts = [gather(told(*two_groups())) for _ in range(2)]
    assert as_json(facts[0]).split('"seconds"')[0] == as_json(facts[1]).split('"seconds"')[0]
    assert render(facts[0]).startswith("<!doctype html>")


def test_a_report_needs_no_drawing_library(tmp_path):
    code = "import sys, klafter.report.html; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"matplotlib", "bokeh", "pandas"} & set(loaded)


def test_a_missing_folder_is_named_before_work_begins(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*away to write page\.html in; make it first\."):
        kl.report(None, tmp_path / "away" / "page.html")


def test_a_name_that_is_no_page_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"'page.pdf' does not say. Use a name that ends in .html"):
        kl.report(told(*two_groups()), tmp_path / "page.pdf")
    assert not any(tmp_path.iterdir())
