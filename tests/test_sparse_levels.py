"""Levels of the sparse engine: the merges that raise the score least, and what readers see of them."""

import numpy as np
import pytest
from scipy import sparse
from typer.testing import CliRunner

from klafter import Graph, KLafter, load
from klafter.cli import app as cli_app
from klafter.datasets import make_overlapping
from klafter.report import gather
from klafter.search.sparse.affinities import as_affinities, off_diagonal_pairs
from klafter.search.sparse.levels import Merging, levels, merged, propose_union
from klafter.search.sparse.score import score
from klafter.search.sparse.state import as_problem, as_state, copy_state, members, memberships, without_empty
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import weights

POOL = ThreadPool(1)


def fitted(graph, z, pairs=None, **options):
    """A problem, and a state with given communities and the weights that fit them."""
    problem, ones = as_problem(graph, **options), np.ones(graph.n_nodes)
    pairs = np.zeros((0, 2), np.int64) if pairs is None else np.array(pairs)
    affinities = as_affinities(np.full(z.shape[1], 0.1), pairs, 0.02, directed=graph.directed)
    state = as_state(problem, sparse.csr_array(z), affinities, 1e-3, ones, ones)
    return problem, weights(problem, state, POOL, rounds=40)


def nested(seed, n=120):
    """Six communities, of which (0, 1), (2, 3) and (4, 5) are halves of three; some nodes are in two."""
    rng = np.random.default_rng(seed)
    z = np.eye(6)[np.arange(n) % 6]
    for i in rng.choice(n, n // 8, replace=False):
        z[i, rng.integers(6)] = 1
    near = np.eye(6) * 0.5 + np.kron(np.eye(3), np.ones((2, 2))) * 0.25 + 0.01
    rate = z @ near @ z.T
    links = np.triu(rng.random((n, n)) < 1 - np.exp(-rate), 1)
    return Graph((links | links.T).astype(float)), z


def brute_force(problem, state, counts):
    """Merges by the score itself: every pair tried, all weights fitted."""
    path = []
    while len(state.size) > 1:
        k = len(state.size)
        tries = [refitted(problem, state, (a, b)) for a in range(k) for b in range(a + 1, k)]
        state = min(tries, key=lambda other: score(problem, other, counts=counts))
        path.append((memberships(problem, state), score(problem, state, counts=counts)))
    return path


def refitted(problem, state, pair):
    start, nodes = members(problem, state)
    inside = {k: nodes[start[k] : start[k + 1]] for k in range(len(state.size))}
    union = propose_union(problem, state, pair, inside, False, POOL)
    return weights(problem, without_empty(merged(problem, copy_state(state), *pair, union)), POOL, rounds=8)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_merges_are_those_that_raise_the_score_least(seed, counts):
    graph, z = nested(seed)
    problem, state = fitted(graph, z)
    path = levels(problem, state, score(problem, state, counts=counts), POOL, counts=counts)
    wanted = brute_force(problem, state, counts)
    assert len(path) == 6
    for level, (cover, value) in zip(path[1:], wanted):
        assert (sorted(map(tuple, level.memberships.toarray().T))) == sorted(map(tuple, cover.toarray().T))
        assert level.score == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("hide", [False, True])
def test_the_estimate_is_near_the_rise_of_the_score(counts, hide):
    graph, z = nested(7)
    if hide:
        graph = graph.replace(hidden=np.array([[0, 6], [0, 1], [2, 9], [12, 18]]))
    problem, state = fitted(graph, z)
    start, nodes = members(problem, state)
    inside = {k: nodes[start[k] : start[k + 1]] for k in range(6)}
    before = score(problem, state, counts=counts)
    for pair in ((0, 1), (0, 5), (2, 4)):
        union = propose_union(problem, state, pair, inside, counts, POOL)
        after = score(problem, merged(problem, copy_state(state), *pair, union), counts=counts)
        assert union.rise == pytest.approx(after - before, rel=0.05, abs=0.5)


def test_off_diagonal_affinities_of_both_parts_stay():
    graph, z = nested(3)
    problem, state = fitted(graph, z, pairs=[[0, 2], [1, 2], [0, 1], [3, 4]])
    union = Merging(problem, copy_state(state), POOL, False)
    proposal = propose_union(problem, union.state, (0, 1), union.inside, False, POOL)
    other = without_empty(merged(problem, union.state, 0, 1, proposal))
    assert off_diagonal_pairs(other.affinities).tolist() == [[0, 1], [2, 3]]
    path = levels(problem, state, score(problem, state), POOL, counts=False)
    assert [level.memberships.shape[1] for level in path] == [6, 5, 4, 3, 2, 1]
    assert np.isfinite([level.score for level in path]).all()


def test_communities_that_nothing_links_are_merged_too():
    blocks = np.kron(np.eye(4), np.ones((6, 6))) - np.eye(24)
    problem, state = fitted(Graph(blocks), np.kron(np.eye(4), np.ones((6, 1))))
    path = levels(problem, state, score(problem, state), POOL, counts=False)
    assert [level.memberships.shape[1] for level in path] == [4, 3, 2, 1]


def test_of_many_only_the_last_levels_are_kept(monkeypatch):
    graph, truth = make_overlapping(600, mean_degree=12, community_size=30, memberships=(1, 1), random_state=0)
    problem, state = fitted(graph, truth.memberships.toarray())
    monkeypatch.setattr("klafter.search.sparse.levels.n_kept", lambda *_: 5)
    path = levels(problem, state, score(problem, state), POOL, counts=True)
    assert [level.memberships.shape[1] for level in path] == [20, 5, 4, 3, 2, 1]
    assert path[1].merged == ()
    assert len(path[2].merged) == 2


def test_the_score_of_a_level_is_that_of_its_cover():
    graph, z = nested(5)
    problem, state = fitted(graph, z)
    for level in levels(problem, state, score(problem, state, counts=True), POOL, counts=True):
        _, again = fitted(graph, level.memberships.toarray())
        assert level.score == pytest.approx(score(problem, again, counts=True), rel=2e-3)


@pytest.fixture(scope="module")
def model():
    graph, _ = nested(1)
    return KLafter(link="exposure", n_init=1, random_state=0).fit(graph)


def test_a_model_has_levels_down_to_one_community(model):
    found = model.levels()
    assert [level.n_communities for level in found] == list(range(model.n_communities_, 0, -1))
    assert [level.shown for level in found] == [True] + [False] * (len(found) - 1)
    assert found[0].score == model.objective_
    assert (found[0].memberships != model.memberships_).nnz == 0
    assert len(model.communities(level=2)) == 2


def test_a_model_at_another_level_has_its_communities_and_the_same_predictions(model, tmp_path):
    other = model.at_level(3)
    assert other.communities() == model.communities(level=3)
    assert other.n_communities_ == len(other.community_names_) == 3
    assert other.membership_proba_.shape == other.memberships_.shape == (120, 3)
    assert [level.n_communities for level in other.levels() if level.shown] == [3]
    pairs = np.array([[0, 1], [5, 40]])
    assert other.predict_proba(pairs) == pytest.approx(model.predict_proba(pairs))
    assert other.at_level(model.n_communities_).communities() == model.communities()
    other.save(tmp_path / "level.klafter")
    assert load(tmp_path / "level.klafter").communities() == other.communities()


def test_an_update_goes_on_from_the_cover_that_was_found(model):
    other = model.at_level(2)
    other.partial_fit([(0, 7)])
    assert other.n_communities_ == model.n_communities_


def test_without_communities_there_is_one_level():
    graph = Graph(np.array([[0.0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]))
    model = KLafter(link="exposure", n_init=1, random_state=0).fit(graph)
    assert len(model.levels()) == max(model.n_communities_, 1)


def test_commands_show_another_level(model, tmp_path):
    path = tmp_path / "model.klafter"
    model.save(path)
    assert [level.n_communities for level in load(path).levels()] == [level.n_communities for level in model.levels()]
    result = CliRunner().invoke(cli_app.app, ["communities", str(path), "--level", "2"], prog_name="klafter")
    assert result.exit_code == 0, result.output
    assert len(gather(model).levels) == len(model.levels())
