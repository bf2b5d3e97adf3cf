"""One place for everyone, first choices of nodes in none, and communities above a threshold."""

import numpy as np
import pytest
from report_models import told, two_groups
from scipy import sparse

from klafter.graph import Graph
from klafter.models import KLafter
from klafter.models.results.places import first_choices, places


@pytest.fixture
def model():
    """Two groups of four that share d; h is alone."""
    graph, z = two_groups(labels=list("abcdefgh"))
    model = told(graph, z)
    chances = np.where(z == 1, 0.9, 0.05)
    chances[3] = [0.6, 0.7]
    chances[7] = [0.01, 0.2]
    model.membership_proba_ = chances
    return model


def test_a_node_is_placed_in_the_most_probable_of_its_communities(model):
    assert model.partition() == {"a": 0, "b": 0, "c": 0, "d": 1, "e": 1, "f": 1, "g": 1, "h": 1}
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]


def test_a_community_that_a_node_holds_goes_before_one_that_is_more_probable(model):
    model.membership_proba_[0] = [0.4, 0.6]
    assert model.partition()["a"] == 0


def test_the_first_choice_of_a_node_in_none_is_the_most_probable_community(model):
    (choice,) = model.first_choices()
    odds = np.array([0.01 / 0.99, 0.2 / 0.8])
    assert (choice.node, choice.community) == ("h", 1)
    assert choice.probability == pytest.approx(0.2)
    assert choice.share == pytest.approx(odds[1] / odds.sum())


def test_a_threshold_says_who_counts_as_a_member(model):
    assert model.communities(threshold=0.65)[0] == set("abc")
    assert model.communities(threshold=0.2)[1] == set("defgh")
    with pytest.raises(ValueError, match="threshold above 0 and at most 1; it is 5"):
        model.communities(threshold=5)
    with pytest.raises(ValueError, match="a level or a threshold"):
        model.communities(2, threshold=0.5)


@pytest.mark.parametrize("as_found", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_where_nothing_is_probable_neighbours_decide_then_size(as_found):
    z = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 0], [0, 0]])
    links = np.zeros((7, 7))
    links[0, 5] = 1.0  # 5 is linked to a member of 0; 6 is isolated
    graph = Graph(links + links.T)
    assert places(graph, as_found(z), as_found(1.0 * z)).tolist() == [0, 0, 1, 1, 1, 0, 1]
    assert [
        (c.node, c.community, c.probability, c.share) for c in first_choices(graph, as_found(z), as_found(1.0 * z))
    ] == [
        (5, 0, 0.0, 0.5),
        (6, 1, 0.0, 0.5),
    ]


def test_without_communities_all_are_in_one_place():
    graph = Graph(np.zeros((5, 5)))
    model = KLafter(n_init=1, n_smooth=0, random_state=0).fit(graph)
    assert set(model.partition().values()) == {0}
    assert model.first_choices() == []


def test_before_a_fit_there_are_no_labels():
    assert not hasattr(KLafter(), "labels_")
