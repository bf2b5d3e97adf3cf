"""Two-mode networks on the screen and on the page."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import klafter as kl
from klafter.cli.app import app
from klafter.datasets import load_southern_women
from klafter.graph import write_graph
from klafter.report.facts import gather


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a list of attendances and a model of them."""
    folder, graph = tmp_path_factory.mktemp("women"), load_southern_women()
    links = np.argwhere(graph.links[:18].toarray() != 0)
    text = "\n".join(f"{graph.label(i)}\t{graph.label(j)}" for i, j in links)
    (folder / "women.tsv").write_text(f"woman\tevent\n{text}\n", encoding="utf-8")
    kl.KLafter(n_init=2, n_smooth=30, random_state=0).fit(graph).save(folder / "model.npz")
    return folder


def run(*words):
    found = CliRunner().invoke(app, [str(word) for word in words])
    return found.exit_code, found.output


def test_look_and_fit_take_lists_of_two_kinds(place):
    code, said = run("look", place / "women.tsv", "--bipartite", "--json")
    assert code == 0
    assert json.loads(said)["graph"]["kinds"] == {"woman": 18, "event": 14}
    code, said = run("look", place / "women.tsv", "--bipartite")
    assert "--bipartite" in said
    code, said = run("look", place / "women.tsv", "--no-bipartite", "--json")
    assert json.loads(said)["graph"]["kinds"] == {}
    code, said = run("fit", place / "women.tsv", "--bipartite", "--restarts", 1, "--seed", 0, "-o", place / "m.npz")
    assert code == 0, said
    assert kl.load(place / "m.npz").graph_.n_dyads == 252


def test_communities_are_listed_by_kind(place):
    code, said = run("communities", place / "model.npz", "--json")
    found = json.loads(said)["communities"]
    assert code == 0
    assert {len(item["members_by_kind"]["event"]) for item in found} == {6}
    code, said = run("communities", place / "model.npz", "--members", 0)
    assert "woman:" in said
    assert "event:" in said


def test_other_commands_know_kinds(place):
    code, said = run("predict", place / "model.npz", "--top", 400, "--json")
    assert code == 0
    assert len(json.loads(said)["links"] if isinstance(json.loads(said), dict) else json.loads(said)) == 252 - 89
    code, said = run("explain", place / "model.npz", "E1", "E2")
    assert code == 2
    code, said = run("place", place / "model.npz", "E1", "E2", "E3", "--only", "--json")
    assert code == 0
    assert {row["node"][0] for row in json.loads(said)["links"]} == {"E"}
    for name in ("a.graphml", "a.json"):
        code, said = run("export", place / "model.npz", place / name)
        assert code == 0, said
        assert kl.read_graph(place / name).kind_names == ("woman", "event")


def test_the_page_has_kinds(place):
    model = kl.load(place / "model.npz")
    facts = gather(model)
    assert facts.summary.kinds == ["woman", "event"]
    assert sum(facts.nodes.second) == 14
    assert facts.nodes.attributes["kind"][0] == ["woman", "event"]
    assert "18 woman and 14 event nodes" in facts.words[0]
    assert facts.matrices.hidden.sum() == 18**2 + 14**2
    z, links = np.asarray(model.memberships_, bool), model.graph_.links.toarray() != 0
    for community in facts.communities:
        rows, columns = z[:18, community.number], z[18:, community.number]
        assert community.density == pytest.approx(links[:18, 18:][rows][:, columns].mean())
        assert max(community.tightness) <= 1
    kl.report(model, place / "page.html")
    assert "Discs stand for" in (place / "page.html").read_text(encoding="utf-8")


def test_written_graphs_are_read_with_their_kinds(tmp_path):
    write_graph(load_southern_women(), tmp_path / "a.json")
    code, said = run("look", tmp_path / "a.json")
    assert code == 0
    assert "Two kinds of nodes" in said
