"""Figures draw on the axes they are given, return them, and can be saved as vectors."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
from report_models import told, two_groups

from klafter import report
from klafter.report.palette import COLOURS, community_colours

plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("agg")
HELD = (np.array([[0, 1], [0, 7]]), np.array([1.0, 0.0]))


TUNED = SimpleNamespace(
    scoring="roc_auc",
    best_params_={"penalty": 1.0},
    cv_results_={
        "params": [{"penalty": 1.0}, {"penalty": 0.0}],
        "mean_test_score": [0.9, 0.8],
        "std_error": [0.01, 0.02],
    },
)
DRAW = {
    "adjacency": lambda model, ax: report.plot_adjacency(model, ax),
    "predicted": lambda model, ax: report.plot_adjacency(model, ax, predicted=True),
    "affinities": lambda model, ax: report.plot_affinities(model, ax),
    "memberships": lambda model, ax: report.plot_memberships(model, ax),
    "network": lambda model, ax: report.plot_network(model, ax, labels=True),
    "roc": lambda model, ax: report.plot_roc(model, *HELD, ax=ax),
    "history": lambda model, ax: report.plot_history(model, ax, quantity="n_communities"),
    "path": lambda model, ax: report.plot_path(TUNED, ax),
}


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("name", DRAW)
def test_a_figure_returns_its_axes_and_saves_as_vectors(name, k, ax):
    graph, z = two_groups()
    assert DRAW[name](told(graph, z[:, :k]), ax) is ax
    out = io.BytesIO()
    ax.figure.savefig(out, format="svg")
    text = out.getvalue().decode()
    assert "<path" in text
    assert ("data:image" in text) == (name in ("predicted", "affinities"))  # heat maps are pixels


@pytest.mark.parametrize("name", ["adjacency", "memberships", "network"])
def test_no_communities(name, ax):
    graph, z = two_groups()
    assert DRAW[name](told(graph, z[:, :0]), ax) is ax


def test_a_new_figure_when_none_is_given():
    axes = report.plot_history(told(*two_groups()))
    assert len(axes.lines) == 2
    plt.close(axes.figure)


def test_the_path_of_settings_without_penalties(ax):
    params = [{"temperature": t, "weight_scale": w} for t in (0.5, 1.0) for w in (1.0, 3.0)]
    table = {"params": params, "mean_test_score": [0.8, 0.7, 0.9, 0.6], "std_error": [0.01] * 4}
    report.plot_path(SimpleNamespace(scoring="roc_auc", best_params_=params[2], cv_results_=table), ax)
    assert ax.get_xlabel() == "temperature"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["weight_scale 1", "weight_scale 3"]


def test_messages_say_what_to_do():
    model = told(*two_groups())
    with pytest.raises(ValueError, match="needs a fitted KLafterCV"):
        report.plot_path(model)
    with pytest.raises(ValueError, match="needs links and non-links"):
        report.plot_roc(model, HELD[0], [0, 0])
    with pytest.raises(ValueError, match="is neither"):
        report.plot_history(model, quantity="loss")


def test_the_largest_communities_get_the_first_colours():
    assert community_colours([1, 3, 2]) == [COLOURS[2], COLOURS[0], COLOURS[1]]
    assert len(set(community_colours(range(17)))) == 17
