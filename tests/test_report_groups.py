"""Many communities in groups: everyone is in one group, and planted groups are found."""

import numpy as np
import pytest
from report_models import told
from scipy import sparse

from klafter.graph import Graph
from klafter.report import groups as grouping
from klafter.report.facts import gather
from klafter.report.groups import group_communities


def planted(n_groups=4, each=5, size=6):
    """Cliques of some nodes, those of a group joined in a ring."""
    k = n_groups * each
    z = np.kron(np.eye(k, dtype=int), np.ones((size, 1), int))
    links = z @ z.T
    for c in range(k):
        after = c - c % each + (c + 1) % each
        for t in range(3):
            links[c * size + t, after * size + t] = links[after * size + t, c * size + t] = 1
    np.fill_diagonal(links, 0)
    return Graph(links), z


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(grouping, "MANY", 20)


def test_planted_groups_are_found(few):
    graph, z = planted()
    found = group_communities(graph, sparse.csr_array(z))
    assert sorted(sorted(group.communities) for group in found.groups) == [
        list(range(5 * g, 5 * g + 5)) for g in range(4)
    ]
    assert [group.n_nodes for group in found.groups] == [30] * 4
    assert len(found.circles.x) == 4
    assert found.circles.connections == []  # nothing joins the groups
    assert all(len(group.circles.x) == 5 for group in found.groups)


def test_few_communities_stay_as_they_are():
    graph, z = planted()
    assert group_communities(graph, sparse.csr_array(z)) is None


def test_a_large_graph_of_many_communities_has_groups_in_its_facts(few, monkeypatch):
    monkeypatch.setattr("klafter.report.facts.NODES", 100)
    graph, z = planted()
    facts = gather(told(graph, z))
    assert sorted(k for group in facts.groups.groups for k in group.communities) == list(range(20))
    assert gather(told(graph, z[:, :5])).groups is None
