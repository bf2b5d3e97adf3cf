"""The facts of a report: communities, what they have in common, overlaps, fit, held-out dyads."""

import numpy as np
import pytest
from report_models import Told, told, two_groups
from scipy import sparse
from scipy.stats import hypergeom

from klafter.core.draws import LinearDraw
from klafter.graph import Graph
from klafter.models.results.cover import as_cover
from klafter.models.results.enrichment import as_categories, enriched_values, false_discovery_rates, hypergeometric_tail
from klafter.models.results.stability import community_stability, main_loadings
from klafter.report.communities import community_table, overlap_table
from klafter.report.facts import gather
from klafter.report.matrices import community_order, matrices
from klafter.report.network import draw_overview
from klafter.report.suggestions import surprising_links


def test_size_density_and_shared_members():
    graph, z = two_groups()
    first, second = community_table(graph, as_cover(z))
    assert (first.size, first.inner_links, first.density) == (4, 6, 1.0)
    assert first.n_shared == second.n_shared == 1
    assert first.shared_with == [(1, 1)]
    assert sorted(second.members) == [3, 4, 5, 6]


def test_density_counts_only_observed_dyads():
    graph, z = two_groups(hidden=np.array([[0, 1], [0, 2]]))
    first, _ = community_table(graph, as_cover(z))
    assert (first.inner_links, first.density) == (4, 1.0)


def test_directed_density_and_tightest_first():
    links = np.zeros((4, 4))
    links[0, 1] = links[1, 0] = links[0, 2] = 1
    (row,) = community_table(Graph(links, directed=True), as_cover(np.ones((4, 1))))
    assert row.inner_links == 3
    assert row.density == pytest.approx(3 / 12)
    assert row.members == [0, 1, 2, 3]
    assert row.tightness == pytest.approx([3 / 6, 2 / 6, 1 / 6, 0])


def test_a_community_of_one_has_no_density():
    (row,) = community_table(Graph(np.zeros((3, 3))), as_cover(np.array([[1], [0], [0]])))
    assert row.density is None


def test_enrichment_is_the_hypergeometric_tail_corrected():
    z = sparse.csr_array(np.repeat([[1, 0], [0, 1]], 10, axis=0))
    column = np.array(["a"] * 9 + ["b"] * 11)
    first, second = enriched_values(as_cover(z), {"kind": column})
    p = hypergeom.sf(8, 20, 9, 10)
    (best,) = first
    assert (best.attribute, best.value, best.inside, best.members, best.total, best.known) == (
        "kind",
        "a",
        9,
        10,
        9,
        20,
    )
    assert p <= best.q <= 4 * p
    assert [e.value for e in second] == ["b"]


def test_attributes_that_say_nothing_are_not_tested():
    z = as_cover(np.ones((4, 1)))
    assert enriched_values(z, {"same": np.array(["x"] * 4)}) == [[]]
    assert enriched_values(as_cover(np.zeros((4, 0))), {"kind": np.array(list("abab"))}) == []


def test_many_numbers_become_quarters_and_unknown_stays_unknown():
    values, codes = as_categories(np.array([*range(20), np.nan]))
    assert len(values) == 4
    assert values[0] == "0 to 4"
    assert codes[-1] == -1
    assert np.bincount(codes[:-1]).tolist() == [5, 5, 5, 5]


def test_overlaps_are_exact_sets():
    z = as_cover(np.array([[1, 0], [1, 0], [1, 1], [0, 0]]))
    assert [(row.communities, row.size) for row in overlap_table(z)] == [((0,), 2), ((0, 1), 1)]


def test_overlaps_leave_room_for_sets_of_two():
    z = np.zeros((61, 40), int)
    z[np.arange(60), np.arange(60) % 40] = 1
    z[60, :2] = 1
    assert any(len(row.communities) == 2 for row in overlap_table(as_cover(z)))


def test_stability_is_the_best_match_in_other_restarts():
    z = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    other = LinearDraw(sparse.csr_array(np.array([[1.0], [1.0], [0.0], [0.0]])), np.ones((1, 1)))
    same = LinearDraw(sparse.csr_array(z.astype(float)), np.eye(2))
    assert community_stability(as_cover(z), [other, same]).tolist() == [1.0, 0.0]
    assert community_stability(as_cover(z), [same, same]).tolist() == [1.0, 1.0]
    assert community_stability(as_cover(z), [same]) is None
    none = LinearDraw(sparse.csr_array((4, 0)), np.zeros((0, 0)))
    assert community_stability(as_cover(z), [same, none]).tolist() == [0.0, 0.0]


def test_main_loadings_are_the_memberships_when_whole():
    z = sparse.csr_array(np.array([[1.0, 1.0], [0.0, 1.0]]))
    assert (main_loadings(z) != z).nnz == 0
    assert main_loadings(np.array([[0.7, 0.2, 0.4]])).toarray().tolist() == [[1.0, 0.0, 1.0]]


def test_rows_of_the_matrix_follow_communities():
    order, first = community_order(as_cover(np.array([[0, 1], [1, 0], [1, 0], [0, 0], [1, 1]])))
    assert order.tolist() == [1, 2, 4, 0, 3]
    assert first.tolist() == [1, 0, 0, -1, 0]


def test_matrices_hold_links_and_probabilities():
    graph, z = two_groups(hidden=np.array([[0, 1]]))
    model = told(graph, z)
    cells = matrices(model, as_cover(z))
    i, j = cells.order.index(0), cells.order.index(2)
    p = model.predict_proba(np.array([[0, 2]]))[0]
    assert cells.observed[i, j] == 255
    assert cells.predicted[i, j] == round(255 * p)
    assert cells.hidden.sum() == 2


def test_all_facts_of_a_small_model():
    graph, z = two_groups(labels=list("abcdefgh"), attributes={"age": np.arange(8)})
    held = (np.array([[0, 1], [0, 7]]), np.array([1.0, 0.0]))
    facts = gather(told(graph, z), held)
    assert facts.summary.n_communities == 2
    assert facts.summary.n_overlapping == 1
    assert facts.summary.n_unassigned == 1
    assert facts.nodes.memberships[3] == [0, 1]
    assert facts.nodes.first == {7: (0, 0.0)}
    assert [c.name for c in facts.communities] == ["a, b", "d, e"]
    assert facts.nodes.attributes["age"][0][facts.nodes.attributes["age"][1][5]] == "5"
    assert facts.held.predictors[0].name == "Told"
    assert facts.held.predictors[0].measures["roc_auc"] == 1.0
    assert facts.communities[0].stability == 1.0
    assert len(facts.surprising.links) == 12
    assert facts.missing.links[0].parts
    assert facts.overview is None


def test_held_dyads_without_links_say_nothing():
    graph, z = two_groups()
    assert gather(told(graph, z), (np.array([[0, 7]]), np.array([0.0]))).held is None


def test_a_large_graph_is_drawn_by_communities(monkeypatch):
    monkeypatch.setattr("klafter.report.facts.NODES", 5)
    graph, z = two_groups()
    facts = gather(told(graph, z))
    assert facts.network is None
    assert facts.overview.numbers == [0, 1]
    assert [row[3] for row in facts.overview.connections] == [1]


def test_inner_links_of_an_overview_are_all_of_them():
    graph, z = two_groups()
    communities = community_table(graph, as_cover(z))
    inner = draw_overview(graph, as_cover(z), communities).inner
    for community in communities:
        pairs = np.array(inner[community.number].links).reshape(-1, 2)
        assert len(pairs) == community.inner_links
        assert all(graph.links[community.members[a], community.members[b]] for a, b in pairs)


def test_a_large_graph_is_searched_among_close_members(monkeypatch):
    graph, z = two_groups()
    monkeypatch.setattr("klafter.report.suggestions.BUDGET", 10)
    links = graph.links.toarray()
    links[0, 1] = links[1, 0] = 0
    wide = np.zeros((600, 600))
    wide[:8, :8] = links
    cover = np.vstack([z, np.zeros((592, 2), int)])
    facts = gather(Told(cover).fit(Graph(wide)))
    assert [(s.source, s.target) for s in facts.missing.links] == [(0, 1)]
    assert facts.missing.n_looked_at == 1
    assert facts.surprising.n_looked_at == 10


@pytest.mark.parametrize("response", ["log", "logit"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("k", [0, 1, 2])
def test_every_kind_of_graph_has_facts(directed, response, k):
    graph, z = two_groups(directed=directed, values=3.0 if response == "log" else 1.0)
    facts = gather(told(graph, z[:, :k], response=response))
    assert facts.summary.n_communities == k
    assert (facts.affinities is None) == (k == 0)
    assert facts.summary.values == ((3.0, 3.0) if response == "log" else None)


def test_tails_and_rates_are_those_of_scipy():
    from scipy.stats import false_discovery_control, hypergeom

    rng = np.random.default_rng(0)
    known = 500
    n, m = rng.integers(0, known + 1, (2, 400))
    k = np.clip(rng.hypergeometric(m, known - m, n) + rng.integers(-15, 16, 400), 0, None)
    p = hypergeometric_tail(k, n, m, known)
    expected = np.clip(hypergeom.sf(k - 1, known, m, n), 0, 1)
    np.testing.assert_allclose(p, expected, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(false_discovery_rates(expected), false_discovery_control(expected))


def test_the_chosen_run_has_the_score_that_chose():
    graph, z = two_groups()
    model = told(graph, z, n_runs=3)
    model.objective_ = min(line.objective for line in model.history_)
    facts = gather(model)
    assert [run.chosen for run in facts.runs] == [False, False, True]  # each run of the model ends one lower
    assert facts.runs[2].lowest == model.objective_
    assert facts.runs[2].n_found == 3


def test_how_probable_memberships_are_stands_beside_them():
    graph, z = two_groups()
    model = told(graph, z)
    assert gather(model).nodes.certainty is None  # all are certain
    model.membership_proba_ = 0.75 * z
    assert gather(model).nodes.certainty[:4] == [[75], [75], [75], [75, 75]]


def test_words_say_what_was_found():
    graph, z = two_groups(attributes={"kind": np.array(list("aaabbbbc"))})
    words = " ".join(gather(told(graph, z)).words)
    assert "8 nodes and 12 links" in words
    assert "found 2 communities" in words
    assert "1 node is in more than one community, 1 in none" in words
    none = " ".join(gather(told(graph, z[:, :0])).words)
    assert "found no communities" in none


def test_nodes_without_links_stand_below_the_others():
    graph, z = two_groups()
    drawn = gather(told(graph, z)).network
    assert drawn.y[7] > max(drawn.y[:7])


def test_the_expert_is_asked_about_the_pairs_that_the_model_puts_first(monkeypatch):
    rng = np.random.default_rng(0)
    z = (rng.random((40, 3)) < 0.4).astype(int)
    links = np.triu(rng.random((40, 40)) < np.where(z @ z.T > 0, 0.5, 0.1), 1)
    model = told(Graph((links | links.T).astype(float)), z, structure=0.5)
    pairs = np.argwhere(links)
    exact = surprising_links(model, 5)
    monkeypatch.setattr("klafter.report.suggestions.FEW", 20)
    found = surprising_links(model, 5)
    asked = np.sort(model._own_probability(pairs))[:20]
    assert found.n_looked_at is None
    assert all(model._own_probability(np.array([[s.source, s.target]]))[0] <= asked[-1] for s in found.links)
    for link in found.links:
        assert link.probability == pytest.approx(model.predict_proba([(link.source, link.target)])[0], abs=1e-12)
    assert [s.probability for s in found.links] == sorted(s.probability for s in found.links)
    assert found.links[0].probability >= exact.links[0].probability
