"""How well communities are found again, by restarts and without some of the links."""

import numpy as np
import pytest
from report_models import told, two_groups

from klafter.datasets import make_lfrm
from klafter.graph import Graph
from klafter.models import KLafter
from klafter.models.results.stability import hide_links


@pytest.mark.parametrize("directed", [False, True])
def test_a_share_of_the_links_becomes_unobserved(directed):
    graph, _ = make_lfrm(40, 3, directed=directed, random_state=0)
    less = hide_links(graph, 0.1, np.random.default_rng(0))
    n_gone = int(np.ceil(0.1 * graph.n_links))
    assert less.n_links == graph.n_links - n_gone
    assert less.n_hidden == n_gone


def test_clear_communities_are_found_again_without_some_links():
    graph, _ = make_lfrm(60, 3, memberships=(1, 1), random_state=0)
    model = KLafter(n_init=2, n_smooth=0, random_state=0).fit(graph)
    assert (model.stability(2) > 0.9).all()
    assert (model.stability_ > 0.9).all()


def test_with_one_restart_nothing_is_known():
    graph, z = two_groups()
    assert told(graph, z, n_runs=1).stability_ is None
    assert not hasattr(KLafter(), "stability_")


def test_a_share_that_is_none_is_refused():
    model = told(*two_groups())
    with pytest.raises(ValueError, match="between 0 and 1; it is 5"):
        model.stability(drop=5)


def test_without_links_there_is_nothing_to_hide():
    graph = Graph(np.zeros((4, 4)))
    assert hide_links(graph, 0.5, np.random.default_rng(0)).n_hidden == 0
