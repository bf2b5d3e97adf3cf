"""Names and numbers of communities, and that they stay."""

import numpy as np
import pytest
from report_models import told, two_groups
from scipy import sparse

from klafter import load
from klafter.datasets import load_karate, make_lfrm
from klafter.graph import Graph
from klafter.models import IRM, KLafter
from klafter.models.results import cover
from klafter.models.results.names import central_members, name_communities, new_order, reordered


def test_without_attributes_a_community_is_called_after_its_most_central_members():
    z = np.ones((5, 1))
    star = np.zeros((5, 5))
    star[3] = star[:, 3] = 1.0
    star[0, 1] = star[1, 0] = 1.0
    star[3, 3] = 0.0
    assert name_communities(Graph(star, labels=list("abcde")), z) == ["d, a"]


def test_members_without_a_link_inside_still_give_a_name():
    assert central_members(Graph(np.zeros((3, 3))), sparse.csr_array([[0.0], [1.0], [1.0]])) == [["1", "2"]]


def test_an_over_represented_value_is_the_name():
    z = np.repeat(np.eye(2), 20, axis=0)
    graph = Graph(np.zeros((40, 40)), attributes={"field": np.array(["physics"] * 20 + ["biology"] * 20)})
    assert name_communities(graph, z) == ["physics", "biology"]
    years = Graph(np.zeros((40, 40)), attributes={"year": np.repeat([1, 2], 20)})
    assert name_communities(years, z) == ["year 1", "year 2"]


def test_no_two_communities_have_the_same_name():
    z = np.ones((4, 3))
    names = name_communities(Graph(np.ones((4, 4)) - np.eye(4)), z)
    assert names == ["0, 1", "0, 1 (2)", "0, 1 (3)"]


@pytest.mark.parametrize("order", [[1, 0], [0, 1]])
def test_a_refit_keeps_numbers_and_names(order):
    graph, z = two_groups(labels=list("abcdefgh"))
    model = told(graph, z)
    names, members = list(model.community_names_), model.communities()
    model.memberships = z[:, order]
    model.fit(graph)
    assert model.communities() == members
    assert model.community_names_ == names
    assert (model.point_.memberships.toarray() == model.memberships_).all()


def test_nodes_are_known_again_by_their_labels():
    graph, z = two_groups(labels=list("abcdefgh"))
    model = told(graph, z)
    members, back = model.communities(), np.arange(8)[::-1]
    model.memberships = z[back]
    model.fit(Graph(graph.links[back][:, back], labels=list("hgfedcba")))
    assert model.communities() == members


def test_a_name_stays_though_what_it_was_made_of_has_changed():
    graph, z = two_groups(labels=list("abcdefgh"))
    model = told(graph, z)
    names = list(model.community_names_)
    model.fit(Graph(np.zeros((8, 8)), labels=list("abcdefgh")))
    assert model.community_names_ == names


def test_a_community_that_overlaps_less_than_half_is_a_new_one():
    graph, z = two_groups(labels=list("abcdefgh"))
    model = told(graph, z)
    other = np.zeros((8, 1), int)
    other[[0, 4, 7]] = 1
    model.memberships = other
    model.fit(graph)
    assert model.community_names_[0] not in told(graph, z).community_names_


def test_a_number_that_is_gone_is_not_kept():
    assert new_order({0: 5, 1: 0}, 2).tolist() == [1, 0]


def test_levels_follow_a_new_order():
    model = KLafter(n_init=2, n_smooth=0, random_state=0).fit(make_lfrm(60, 4, memberships=(1, 1), random_state=1)[0])
    before = model.levels()
    assert model.n_communities_ > 2
    from klafter.models.results.publish import adopted

    order = np.roll(np.arange(model.n_communities_), 1)
    levels = reordered(adopted(model), order).more["levels"]
    shown = next(t for t, level in enumerate(before) if level.shown)
    model.levels_ = levels
    after = model.levels()
    assert (after[shown].memberships.toarray() == before[shown].memberships.toarray()[:, order]).all()
    merged = {k: set(np.flatnonzero(before[shown].memberships.toarray()[:, k])) for k in before[shown + 1].merged}
    moved = {k: set(np.flatnonzero(after[shown].memberships.toarray()[:, k])) for k in after[shown + 1].merged}
    assert list(merged.values()) == list(moved.values())


def test_names_are_kept_in_files(tmp_path):
    model = IRM(n_burn=5, n_draws=5, random_state=0).fit(load_karate())
    model.save(tmp_path / "m.npz")
    assert load(tmp_path / "m.npz").community_names_ == model.community_names_


def test_an_update_keeps_numbers_and_names():
    graph, _ = make_lfrm(60, 3, memberships=(1, 1), random_state=0)
    for link in ("logit", "exposure"):
        model = KLafter(link=link, n_init=2, **({"n_smooth": 0} if link == "logit" else {}), random_state=0).fit(graph)
        names, members = list(model.community_names_), model.communities()
        model.partial_fit(removed=[tuple(int(v) for v in np.argwhere(graph.links.toarray())[0])])
        assert model.community_names_ == names
        assert all(len(a & b) > len(a | b) / 2 for a, b in zip(members, model.communities()))


@pytest.mark.parametrize("directed", [False, True])
def test_links_inside_communities_are_counted_some_nodes_at_a_time(monkeypatch, directed):
    rng = np.random.default_rng(0)
    links = np.triu(rng.random((20, 20)) < 0.4, 1) * 2.0
    links = links if directed else links + links.T
    z = (rng.random((20, 4)) < 0.5).astype(float)
    monkeypatch.setattr(cover, "AT_ONCE", 6)
    found = cover.inner_degrees(sparse.csr_array(links), sparse.csr_array(z)).toarray()
    assert (found == z * ((links > 0) @ z)).all()
