"""Kinds and rules in files, other libraries, placements, the screen and the page."""

import json
import re
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from kind_graphs import PEOPLE, RULES, possible, ruled
from typer.testing import CliRunner

import klafter as kl
from klafter import as_graph, read_graph
from klafter.cli.app import app
from klafter.graph import write_graph
from klafter.report.facts import gather

ROOT = Path(__file__).parents[1]
LINKS = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
KINDS = ["person", "paper", "paper", "person"]
SHORT = {"n_draws": 20, "n_burn": 10, "n_chains": 1, "random_state": 0, "structure": 0}
MODELS = {
    "dense": kl.KLafter(n_init=1, n_smooth=10, link="logit", structure=0, random_state=0),
    "exposure": kl.KLafter(link="exposure", n_init=1, random_state=0),
    "LFRM": kl.LFRM(**SHORT),
    "IRM": kl.IRM(**SHORT),
    "MMSB": kl.MMSB(n_communities=3, **SHORT),
    "EPM": kl.EPM(n_communities=6, **SHORT),
}


def run(*words):
    found = CliRunner().invoke(app, [str(word) for word in words])
    return found.exit_code, found.output


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A list of links, a table of nodes that says kinds, and a model of them."""
    folder, graph = tmp_path_factory.mktemp("kinds"), ruled("people and papers", hidden=0)
    pairs = np.argwhere(np.triu(graph.links.toarray()))
    (folder / "links.csv").write_text("source,target\n" + "\n".join(f"n{i},n{j}" for i, j in pairs), encoding="utf-8")
    rows = "\n".join(f"n{i},{kind},{i % 3}" for i, kind in enumerate(graph.kinds))
    (folder / "links.nodes.csv").write_text(f"id,role,age\n{rows}\n", encoding="utf-8")
    code, said = run("fit", *reading(folder), "--restarts", 2, "--seed", 0, "-o", folder / "m.npz")
    assert code == 0, said
    return folder


def reading(folder, pairs="person-paper,paper-paper,venue-paper"):
    return folder / "links.csv", "--nodes", folder / "links.nodes.csv", "--kinds", "role", "--kind-pairs", pairs


def test_tables_of_nodes_say_kinds(files):
    options = {"nodes": files / "links.nodes.csv", "kinds": "role"}
    graph = read_graph(files / "links.csv", kind_pairs=[*PEOPLE, ("venue", "paper")], **options)
    same = ruled("people and papers", hidden=0)
    assert graph.kinds.tolist() == same.kinds.tolist()
    assert set(map(frozenset, graph.kind_pairs)) == set(map(frozenset, same.kind_pairs))
    assert graph.n_dyads == same.n_dyads
    assert list(graph.attributes) == ["age"]
    assert "links may be" in " ".join(graph.notes)
    with pytest.raises(ValueError, match="Say with kind_pairs which"):
        read_graph(files / "links.csv", **options)
    with pytest.raises(ValueError, match="no 'kind'; those here are 'role', 'age'"):
        read_graph(files / "links.csv", nodes=files / "links.nodes.csv", kinds="kind")
    with pytest.raises(ValueError, match="leave one out"):
        read_graph(files / "links.csv", two_mode=True, **options)
    with pytest.raises(ValueError, match="this graph has no kinds"):
        read_graph(files / "links.csv", kind_pairs="across")


def test_commands_know_kinds(files):
    code, said = run("look", *reading(files), "--json")
    assert code == 0
    assert json.loads(said)["graph"]["kinds"] == {"paper": 14, "person": 7, "venue": 6}
    model = kl.load(files / "m.npz")
    assert model.graph_.n_dyads == ruled("people and papers", hidden=0).n_dyads
    code, said = run("look", *reading(files, "across"))
    assert code == 2
    assert "has a link to" in said
    code, said = run("look", *reading(files)[:-2])
    assert code == 2
    assert "--kind-pairs across" in " ".join(said.split())
    person, paper = (int(np.argmax(model.graph_.kinds == kind)) for kind in ("person", "paper"))
    code, said = run("place", files / "m.npz", f"n{paper}", "--only")
    assert code == 2
    assert "--kind" in said
    code, said = run("place", files / "m.npz", f"n{paper}", "--only", "--kind", "person", "--json")
    assert code == 0, said
    named = [row["node"] for row in json.loads(said)["links"]]
    assert {str(model.graph_.kinds[model.graph_.index(name)]) for name in named} == {"paper"}
    code, said = run("place", files / "m.npz", f"n{person}", "--json")
    assert code == 0, said
    code, said = run("communities", files / "m.npz", "--json")
    assert code == 0
    assert all(set(item["members_by_kind"]) == {"paper", "person", "venue"} for item in json.loads(said)["communities"])


@pytest.mark.parametrize("suffix", ["json", "graphml"])
@pytest.mark.parametrize("rule", ["chain", "directed", "across"])
def test_files_keep_kinds_and_rule(tmp_path, suffix, rule):
    graph = ruled(rule, hidden=0)
    write_graph(graph, tmp_path / f"a.{suffix}")
    again = read_graph(tmp_path / f"a.{suffix}")
    assert again.kinds.tolist() == graph.kinds.tolist()
    assert again.kind_pairs == graph.kind_pairs
    assert again.n_dyads == graph.n_dyads


def test_networkx_says_kinds_by_an_attribute():
    made = nx.Graph([("ann", "p1"), ("p1", "p2"), ("p2", "bob")])
    nx.set_node_attributes(made, {"ann": "person", "bob": "person", "p1": "paper", "p2": "paper"}, "role")
    graph = as_graph(made, kinds="role", kind_pairs=PEOPLE)
    assert (graph.n_pairs, graph.kind_names) == (5, ("person", "paper"))
    assert as_graph(LINKS, kinds=KINDS, kind_pairs=PEOPLE).n_pairs == 5
    made.graph.update(kinds="role", kind_pairs="person-person")
    assert "are not followed: Node 0, of kind 'person'" in as_graph(made).notes[-1]
    made.nodes["bob"].pop("role")
    with pytest.raises(ValueError, match="kind of every node"):
        as_graph(made, kinds="role", kind_pairs=PEOPLE)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("rule", ["people and papers", "directed"])
def test_models_are_saved_with_the_rule_and_place_newcomers(name, rule, tmp_path):
    graph = ruled(rule)
    if name == "EPM" and graph.directed:
        pytest.skip("EPM takes undirected networks")
    model = MODELS[name].fit(graph)
    model.save(tmp_path / "a.npz")
    again = kl.load(tmp_path / "a.npz")
    assert again.graph_.kind_pairs == graph.kind_pairs
    pairs = np.argwhere(possible(graph))[:40]
    assert np.allclose(again.predict_proba(pairs), model.predict_proba(pairs))
    assert (model.predict_proba(np.argwhere(~possible(graph))) == 0).all()
    assert graph.is_possible(graph.pair_indices([pair[:2] for pair in model.top_links(500)])).all()
    assert model.sample(0).n_pairs == graph.n_pairs
    papers = np.flatnonzero(graph.kinds == "paper")
    placed = again.place(papers[:4], unlinked="others", kind="person")
    p = placed.predict_proba()
    assert (p[papers] > 0).all()
    assert (p[graph.kinds != "paper"] == 0).all()
    assert len(placed.top_links(40)) == len(papers) - 4
    if graph.directed:
        assert (placed.predict_proba(incoming=True)[graph.kinds == "venue"] > 0).all()
        assert (placed.predict_proba(incoming=True)[graph.kinds != "venue"] == 0).all()
    with pytest.raises(ValueError, match="Which kind is the new node of"):
        again.place(papers[:4])
    with pytest.raises(ValueError, match="can have no link with"):
        again.place(papers[:4], np.flatnonzero(graph.kinds != "paper"), kind="person")
    with pytest.raises(ValueError, match="'author' is none of them"):
        again.place(papers[:4], kind="author")
    refused = np.argwhere(~possible(graph) & ~np.eye(graph.n_nodes, dtype=bool))[:2]
    for ask in (lambda: again.score(refused, np.zeros(2)), lambda: again.explain(*map(int, refused[0]))):
        with pytest.raises(ValueError, match="can have no link to"):
            ask()


def test_a_network_that_grows_keeps_its_kinds():
    model = MODELS["exposure"].fit(ruled("chain", 60, hidden=0))
    person, venue, papers = (np.flatnonzero(model.graph_.kinds == kind) for kind in ("person", "venue", "paper"))
    model.partial_fit([(person[0], 60), (person[1], 60), (venue[0], 60)])
    assert model.graph_.kinds[60] == "paper"
    assert (model.predict_proba(np.array([[papers[0], 60]])) == 0).all()


@pytest.mark.parametrize("rule", RULES)
def test_tables_and_the_page_count_possible_pairs(rule, tmp_path):
    graph = ruled(rule, 40)
    model = kl.KLafter(n_init=1, n_smooth=10, link="logit", structure=0, penalty=0.1, random_state=0).fit(graph)
    facts, z = gather(model), np.asarray(model.memberships_, bool)
    seen, links = possible(graph) & ~graph.hidden.toarray().astype(bool), graph.links.toarray() != 0
    assert facts.summary.kinds == list(graph.kind_names)
    assert [facts.summary.kinds[k] for k in facts.nodes.kind] == graph.kinds.tolist()
    order, apart = facts.matrices.order, ~np.eye(40, dtype=bool)
    assert np.array_equal(facts.matrices.hidden[apart], ~seen[np.ix_(order, order)][apart])
    table = model.communities_frame()
    for community in facts.communities:
        inside = np.ix_(z[:, community.number], z[:, community.number])
        if seen[inside].any():
            assert community.density == pytest.approx(links[inside].sum() / seen[inside].sum())
        if possible(graph)[inside].any():
            share = links[inside].sum() / possible(graph)[inside].sum()
            assert table["density"][community.number] == pytest.approx(share)
    made = model.to_networkx()
    assert as_graph(made).kind_pairs == graph.kind_pairs
    assert model.to_frame()["kind"].tolist() == graph.kinds.tolist()
    kl.report(model, tmp_path / "page.html")
    assert graph.count_nodes() in facts.words[0]


def test_the_page_of_kinds_does_what_it_says(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "two_mode.md").read_text(encoding="utf-8"), re.S)
    known = {}
    for block in blocks:
        exec(compile(block, "two_mode.md", "exec"), known)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "Graph(18 woman and 14 event nodes, 89 links, two-mode)"
    assert said[-4:-1] == ["Graph(3 person, 3 paper and 1 venue nodes, 7 links, undirected)", "15", "[0. 0.]"]
    assert {name for name, _ in known["model"].place(["p3"], kind="person").top_links(5)} == {"p1", "p2"}
