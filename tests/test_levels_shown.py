"""Levels for readers: a model at another level, the tree, and the commands."""

import json

import numpy as np
import pytest
from report_models import told, two_groups
from scipy import sparse
from typer.testing import CliRunner

from klafter.cli import app as cli_app
from klafter.datasets import make_lfr, make_lfrm
from klafter.models import KLafter, KLafterCV
from klafter.models.results.levels import Level
from klafter.report import gather, plot_levels
from klafter.report.levels import level_colours, level_tree
from klafter.search.levels import sharpest_jump


@pytest.fixture(scope="module")
def model():
    graph, _ = make_lfrm(60, 4, memberships=(1, 1), random_state=1)
    return KLafter(n_init=2, n_smooth=12, random_state=0).fit(graph)


def test_a_model_at_another_level_has_its_communities(model):
    sizes = [level.n_communities for level in model.levels()]
    assert len(sizes) > 2
    for size in sizes:
        other = model.at_level(size)
        assert other.communities() == model.communities(level=size)
        assert other.n_communities_ == len(other.community_names_) == size
        assert other.membership_proba_.shape == other.memberships_.shape == (60, size)
        assert other.affinities_.shape == (size, size)
        assert [level.n_communities for level in other.levels() if level.shown] == [size]
        assert other.membership_proba_[other.memberships_ == 1].mean() > 0.5
    assert len(model.communities()) == model.n_communities_


def test_predictions_are_those_of_all_draws_at_every_level(model):
    pairs = np.array([[0, 1], [5, 40]])
    assert model.at_level(1).predict_proba(pairs) == pytest.approx(model.predict_proba(pairs))
    assert "probability" in str(model.at_level(1).explain(0, 1))


@pytest.mark.parametrize(
    ("rises", "most", "shown"),
    [
        ([3.0, 4.8, 9.0, 54.5, 185.0], np.inf, 3),  # one step is sharper than all
        ([12.1, 14.4, 24.5, 28.6, 31.7], np.inf, 0),  # alike: the finest
        ([0.1, 1.5, 3.0], np.inf, 2),  # what is below the least counts as the least
        ([3.0, 4.8, 9.0, 54.5, 185.0], 110.0, 2),  # what follows is worse than nothing
        ([], np.inf, 0),
    ],
)
def test_the_level_before_the_sharpest_jump_is_shown(rises, most, shown):
    scores = [100.0, *(100.0 + np.cumsum(rises))]
    assert sharpest_jump(scores, 4.6, most) == shown


def test_all_communities_of_a_small_lfr_graph_are_shown():
    sizes = {"min_community": 15, "max_community": 35}
    graph, truth = make_lfr(150, average_degree=12, max_degree=24, mu=0.45, random_state=1, **sizes)
    model = KLafter(n_init=1, n_smooth=0, random_state=0).fit(graph)
    assert model.n_communities_ == len(truth.communities()) == 7


def test_a_level_that_is_not_there_is_refused(model):
    with pytest.raises(ValueError, match="no level of 99 communities; this model has levels of"):
        model.at_level(99)


def test_a_model_of_one_level_is_at_that_level():
    model = told(*two_groups())
    assert model.at_level(2).communities() == model.communities()
    with pytest.raises(ValueError, match="no level of 1 communities"):
        model.at_level(1)


def test_a_search_over_settings_has_the_levels_of_its_best():
    graph, _ = make_lfrm(40, 3, memberships=(1, 1), random_state=1)
    quick = KLafter(n_init=1, n_smooth=0, random_state=0)
    model = KLafterCV([0.0], cv=2, estimator=quick, random_state=0).fit(graph)
    assert len(model.at_level(1).communities()) == 1


def test_a_report_shows_another_level(model):
    facts = gather(model.at_level(2))
    assert len(facts.communities) == 2
    assert facts.summary.n_communities == 2


def test_the_page_has_the_communities_of_every_level(model):
    levels = gather(model).levels
    assert [len(level.sizes) for level in levels] == [level.n_communities for level in model.levels()]
    shown = next(level for level in levels if level.shown)
    assert shown.names == model.community_names_
    assert [len(set(level.colours)) for level in levels] == [len(level.sizes) for level in levels]


def test_a_merged_community_keeps_the_colour_of_its_largest_part():
    a, b, c = [1, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]
    fine = Level(3, 0.0, (), cover(a, b, c), False)
    middle = Level(2, 1.0, (0, 1), cover(np.add(a, b), c), True)
    coarse = Level(1, 2.0, (0, 1), cover(np.ones(6)), False)
    inks = level_colours([fine, middle, coarse], ["red", "blue"])
    assert inks[1:] == [["red", "blue"], ["blue"]]
    assert inks[0][::2] == ["red", "blue"]
    assert inks[0][1] not in ("", "red", "blue")


def cover(*columns):
    return sparse.csr_array(np.array(columns).T)


def test_the_tree_has_merged_communities_side_by_side():
    a, b, c = [1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1]
    levels = [
        Level(3, 10.0, (), cover(a, b, c), True),
        Level(2, 12.0, (0, 2), cover(np.add(a, c), b), False),
        Level(1, 11.0, (0, 1), cover(np.ones(6)), False),
    ]
    tree = level_tree(levels)
    assert tree.parents == [[0, 1, 0], [0, 0]]
    assert tree.order == [0, 2, 1]
    assert tree.x == [[0.0, 2.0, 1.0], [0.5, 2.0], [1.25]]
    assert tree.height == [0.0, 2.0, 2.0]


def test_the_figure_names_the_finest_communities(model):
    pytest.importorskip("matplotlib")
    ax = plot_levels(model)
    assert len(ax.get_xticklabels()) == model.levels()[0].n_communities
    ax.figure.canvas.draw()
    with pytest.raises(ValueError, match="found none"):
        plot_levels(told(two_groups()[0], np.zeros((8, 0))))


def run(*words):
    return CliRunner().invoke(cli_app.app, [str(word) for word in words], prog_name="klafter")


def test_commands_take_a_level(model, tmp_path):
    path, page = tmp_path / "m.npz", tmp_path / "page.html"
    model.save(path)
    document = json.loads(run("communities", path, "--level", 2, "--json").stdout)
    assert {frozenset(item["members"]) for item in document["communities"]} == set(map(frozenset, model.communities(2)))
    assert run("report", path, "-o", page, "--level", 2).exit_code == 0
    assert '"n_communities":2' in page.read_text().replace(" ", "")
    refused = run("communities", path, "--level", 99)
    assert refused.exit_code == 2
    assert "There is no level of 99 communities" in refused.stderr
