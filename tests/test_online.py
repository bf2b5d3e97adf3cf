"""Networks that keep growing: changed graphs, partial_fit on both engines, and the command that follows a stream."""

import json

import numpy as np
import oracles_sparse as oracle
import pytest
from test_sparse import dense_groups
from typer.testing import CliRunner

import klafter as kl
import klafter.models.online
from klafter.cli.app import app
from klafter.cli.facts import describe_change
from klafter.datasets import make_overlapping
from klafter.graph import Graph
from klafter.graph.changes import change_graph
from klafter.search.sparse.fit import judged, state_of
from klafter.search.sparse.state import as_problem
from klafter.search.sparse.threads import ThreadPool


def named(directed=False):
    links = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    hidden = np.array([[0, 3]])
    return Graph(links, directed=directed, labels=list("abcd"), hidden=hidden, attributes={"age": [1, 2, 3, 4]})


@pytest.mark.parametrize("directed", [False, True])
def test_a_changed_graph_is_the_graph_built_anew(directed):
    rng = np.random.default_rng(0)
    start = np.triu(rng.random((30, 30)) < 0.2, 1).astype(float)
    graph = Graph(start, directed=directed)
    came = rng.integers(0, 40, (25, 2))
    went = np.argwhere(start)[:7]
    change = change_graph(graph, came, went)
    expected = np.zeros((change.graph.n_nodes,) * 2)
    expected[:30, :30] = start if directed else start + start.T
    for i, j in came:
        expected[i, j] = i != j
        expected[j, i] = expected[i, j] if not directed else expected[j, i]
    for i, j in went:
        expected[i, j] = 0
        expected[j, i] = 0 if not directed else expected[j, i]
    np.testing.assert_array_equal(change.graph.links.toarray(), expected)
    rebuilt = Graph(expected, directed=directed)
    np.testing.assert_array_equal(change.graph.dyads.links_in.node, rebuilt.dyads.links_in.node)
    before = np.zeros_like(expected)
    before[:30, :30] = graph.links.toarray()
    moved = np.argwhere(before != expected)
    assert set(moved.ravel()) <= set(change.nodes)


def test_new_names_values_and_hidden_dyads():
    change = change_graph(named(), [("a", "d"), ("b", "new", 2.5), ("a", "b", 4)], removed=[("c", "b")])
    graph = change.graph
    assert graph.labels.tolist() == ["a", "b", "c", "d", "new"]
    assert graph.n_hidden == 0
    assert graph.links[1, 4] == 2.5
    assert graph.links[0, 1] == 4
    assert graph.links[1, 2] == 0
    assert graph.attributes["age"].tolist() == [1, 2, 3, 4, None]
    assert change_graph(graph, [("a", "b", 4)], add=True).graph.links[1, 0] == 8
    assert (change.n_added, change.n_removed) == (3, 1)


@pytest.mark.parametrize(
    ("links", "removed", "part"),
    [
        ([("a",)], (), "two nodes each"),
        ("ab", (), "not a list of pairs"),
        ([("a", "b", 0)], (), "Use removed="),
        ([("a", "b", np.nan)], (), "finite"),
        ((), [("a", "c")], "only links can go"),
        ((), [("a", "zed")], "no node 'zed'"),
        (np.array([[0, 9]]), (), "labels"),
        (np.array([[0, -1]]), (), "no row -1"),
        (np.array([1, 2]), (), "shape"),
    ],
)
def test_changes_are_checked_at_the_door(links, removed, part):
    with pytest.raises((ValueError, KeyError), match=part):
        change_graph(named(), links, removed)


def test_numbers_continue_without_gaps():
    graph = Graph(np.ones((3, 3)))
    assert change_graph(graph, [(0, 3), ("1", "4")]).graph.n_nodes == 5
    with pytest.raises(KeyError, match="without gaps"):
        change_graph(graph, [(0, 10**9)])
    with pytest.raises(KeyError, match="Give the graph labels"):
        change_graph(graph, [(0, "eve")])


@pytest.mark.parametrize(("directed", "family"), [(False, "bernoulli"), (True, "poisson")])
def test_a_model_holds_its_whole_state(directed, family):
    graph, _ = dense_groups(90, 3, 0.6, 0.02, 1, directed, family == "poisson")
    model = kl.KLafter(link="exposure", family=family, n_init=1, random_state=0).fit(graph)
    problem = as_problem(graph, counts=family == "poisson", shrinkage=model.degree_prior_)
    found = judged("auto", problem, state_of(model.point_, problem), ThreadPool(1))
    assert found.score == pytest.approx(model.objective_, rel=1e-9)


def test_nothing_new_changes_nothing():
    graph, _ = dense_groups(90, 3, 0.6, 0.02, 1)
    model = kl.KLafter(link="exposure", n_init=1, random_state=0).fit(graph)
    before, value = model.memberships_.toarray(), model.objective_
    i, j = np.argwhere(graph.links.toarray())[0]
    model.partial_fit(np.array([[i, j]]))
    np.testing.assert_array_equal(model.memberships_.toarray(), before)
    assert model.objective_ == pytest.approx(value)


@pytest.mark.slow
def test_partial_fit_follows_a_growing_graph(unchecked):
    graph, truth = make_overlapping(n=2000, random_state=3)
    pairs = np.argwhere(np.triu(graph.links.toarray()))
    held = np.random.default_rng(0).random(len(pairs)) < 0.05
    late = (pairs >= 1975).any(axis=1)
    start = change_graph(Graph(graph.links[:1975, :1975]), (), pairs[held & ~late]).graph
    model = kl.KLafter(link="exposure", n_init=1, random_state=0).fit(start)
    model.partial_fit(pairs[held | late])
    fresh = kl.KLafter(link="exposure", n_init=1, random_state=0).fit(graph)
    assert model.graph_.n_links == graph.n_links
    found, best = (oracle.average_f1(truth.memberships, m.memberships_) for m in (model, fresh))
    assert found > best - 0.01
    assert model.predict_proba([(0, 1999)]).shape == (1,)


def test_new_communities_are_born_and_removed_ones_die():
    graph, _ = dense_groups(200, 5, 0.6, 0.02, 1)
    model = kl.KLafter(link="exposure", n_init=1, random_state=0).fit(graph)
    assert model.n_communities_ == 5
    members = np.arange(200, 240)
    i, j = np.triu_indices(40, 1)
    fresh = np.random.default_rng(0).random(len(i)) < 0.6
    pairs = np.column_stack([members[i[fresh]], members[j[fresh]]])
    model.partial_fit(pairs)
    assert set(members) in model.communities()
    assert model.n_communities_ == 6
    model.partial_fit((), pairs)
    assert model.n_communities_ == 5
    assert set(members) <= model.unassigned()


def test_the_dense_engine_goes_on_from_its_communities():
    graph, _ = dense_groups(60, 3, 0.6, 0.05, 1)
    model = kl.KLafter(n_init=1, n_smooth=0, random_state=0).fit(graph)
    model.partial_fit([(i, 60) for i in range(12)])
    assert model.memberships_.shape[0] == model.graph_.n_nodes == 61
    assert not model.warm_start
    near, far = (model.predict_proba([(i, 60) for i in some]).mean() for some in (range(12, 20), range(40, 60)))
    assert near > 2 * far


def test_the_first_partial_fit_is_a_fit():
    graph, _ = dense_groups(90, 3, 0.6, 0.02, 1)
    pairs = [(f"n{i}", f"n{j}") for i, j in np.argwhere(np.triu(graph.links.toarray()))]
    model = kl.KLafter(link="exposure", n_init=1, random_state=0).partial_fit(pairs)
    assert model.n_communities_ == 3
    assert "n0" in model.labels_in_


def test_a_model_whose_links_are_elsewhere_is_left_as_it_is():
    graph, _ = dense_groups(60, 3, 0.6, 0.02, 1)
    model = kl.KLafter(link="exposure", n_init=1, random_state=0).fit(graph)
    model.graph_ = Graph(np.zeros((60, 60)))  # as after a fit of a Dask table
    with pytest.raises(ValueError, match="stayed on the cluster"):
        model.partial_fit([(0, 1)])
    assert model.n_communities_ == 3


def test_changes_are_described():
    before = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    after = np.array([[0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0]])
    assert describe_change(before, after) == {"born": 1, "died": 0, "moved": 1}
    assert describe_change(before, before) == {"born": 0, "died": 0, "moved": 0}


@pytest.fixture
def followed(tmp_path):
    graph, _ = dense_groups(90, 3, 0.6, 0.02, 1)
    labels = [f"n{i}" for i in range(90)]
    kl.KLafter(link="exposure", n_init=1, random_state=0).fit(graph.replace(labels=labels)).save(tmp_path / "m.npz")
    return tmp_path / "m.npz"


def test_watch_updates_the_model_and_says_what_changed(followed, tmp_path):
    stream = tmp_path / "links.txt"
    stream.write_text("# today\nn0 new\nn1 new\nn2\tnew\n- n0 new\n- n0 never\n")
    done = CliRunner().invoke(app, ["watch", str(stream), "-m", str(followed), "--batch", "3", "--json"])
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["links_added"] for line in lines] == [3, 0]
    assert [line["nodes_added"] for line in lines] == [1, 0]
    assert lines[1]["links_removed"] == lines[1]["links_absent"] == 1
    graph = kl.load(followed).graph_
    assert graph.n_nodes == 91
    assert graph.links[graph.index("new")].sum() == 2


def test_watch_reads_stdin_and_speaks_plainly(followed):
    done = CliRunner().invoke(app, ["watch", "-", "-m", str(followed)], input="n0,n89\n")
    assert "1 links and 0 nodes came" in done.stdout
    assert "3 communities, 0 new" in " ".join(done.stdout.split())


def test_watch_does_not_count_links_from_a_node_to_itself(followed):
    before = kl.load(followed).graph_.n_links
    words = ["watch", "-", "-m", str(followed)]
    done = CliRunner().invoke(app, [*words, "--json"], input="n0 n0\nn1 n1\nn2 new\n")
    facts = json.loads(done.stdout)
    assert (facts["links_added"], facts["links_to_self"], facts["nodes_added"]) == (1, 2, 1)
    assert kl.load(followed).graph_.n_links == before + 1
    done = CliRunner().invoke(app, words, input="n0 n0\n")
    assert "0 links and 0 nodes came" in done.stdout
    assert "1 from a node to itself do not count." in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("text", "part"),
    [("n0\n", "line 1: 'n0' is not a link"), ("n0 n1 x\n", "'x' is not a number"), ("n0 n1 5\n", "values from 0 to 5")],
)
def test_watch_names_the_line(followed, text, part):
    done = CliRunner().invoke(app, ["watch", "-", "-m", str(followed)], input=text)
    assert done.exit_code == 2
    assert part in " ".join(done.stderr.split())


def test_watch_needs_a_model_that_can_follow(tmp_path):
    done = CliRunner().invoke(app, ["watch", "-", "-m", str(tmp_path / "none.npz")], input="a b\n")
    assert done.exit_code == 2
    assert "klafter fit GRAPH" in done.stderr
