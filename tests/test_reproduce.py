"""The reproduction: it measures, saves, resumes, and the page says what the numbers say."""

import json
from importlib import import_module

import numpy as np
import pytest

from klafter.datasets import load_karate
from klafter.evaluation import reproduce
from klafter.evaluation.reproduce import curves, sections, verdicts
from klafter.evaluation.reproduce.convergence import search
from klafter.evaluation.reproduce.systems import SYSTEMS, systems
from klafter.evaluation.reproduce.table1 import able_to_fit
from klafter.evaluation.reproduce.table2 import described, matched
from klafter.graph import Graph, split_dyads
from klafter.models import EPM, IRM

STEPS = {"LFRM-MCMC": 4, "K-LAFTER, paper": 1, "K-LAFTER": 3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Results of all parts on the karate club, as quick as they get."""
    folder = tmp_path_factory.mktemp("results")
    reproduce.table1(True, folder, networks=["karate"], names=["KLafter", "IRM", "EPM", "Oracle"])
    reproduce.figure1(True, folder, network="karate", steps=STEPS)
    reproduce.convergence(True, folder, networks=["karate"], max_iter=3, paper_max_iter=1)
    return folder


def read(folder, name):
    return json.loads((folder / f"{name}_quick.json").read_text())


def test_table1_has_both_protocols_and_says_who_is_missing(folder):
    content = read(folder, "table1")
    assert [(t["network"], t["protocol"]) for t in content["tables"]] == [("karate", "clean"), ("karate", "entries")]
    assert content["missing"] == ["Oracle"]
    models = {row["model"] for row in content["tables"][0]["rows"]}
    assert {"KLafter", "KLafter + 0.5 expert", "IRM", "resource allocation"} <= models


def test_table1_is_not_measured_twice(folder):
    before = read(folder, "table1_runs")
    reproduce.table1(True, folder, networks=["karate"], names=["KLafter", "IRM", "EPM", "Oracle"])
    assert read(folder, "table1_runs") == before


def test_table1_can_be_stopped(tmp_path):
    content = reproduce.table1(True, tmp_path, networks=["karate"], names=["IRM"], callback=lambda record: True)
    assert len(content["tables"]) == 1


def test_figure1_has_a_point_for_every_step(folder):
    content = read(folder, "figure1")
    by_method = {curve["method"]: curve for curve in content["curves"]}
    assert len(by_method["LFRM-MCMC"]["roc_auc"]) == 5
    assert len(by_method["K-LAFTER, paper"]["roc_auc"]) == 2
    for curve in by_method.values():
        assert np.all(np.diff(curve["seconds"]) >= 0)
        assert all(0 <= auc <= 1 for auc in curve["roc_auc"])
    assert by_method["LFRM-MCMC"]["n_communities"][0] == 10


def test_curves_average_as_their_methods_do():
    train = split_dyads(load_karate())[0]
    averaged = curves.Smoothed()
    probabilities = [np.array([1.0]), np.array([3.0])]
    assert averaged("search", probabilities) == 3.0
    probabilities += [np.array([6.0]), np.array([2.0]), np.array([4.0])]
    assert averaged("smoothing", probabilities) == 3.0
    assert curves.later_half("sweep", probabilities[:4]) == 4.0
    stages = [stage for stage, state in curves.klafter_steps(train, np.random.default_rng(0), 2)]
    assert stages[-2:] == ["smoothing", "smoothing"]
    assert set(stages[:-2]) == {"search"}


def test_convergence_counts_rounds(folder):
    rows = read(folder, "convergence")["rows"]
    assert [(row["algorithm"], row["start"]) for row in rows] == [
        ("K-LAFTER", 1), ("K-LAFTER", 10), ("K-LAFTER, paper", 1), ("K-LAFTER, paper", 10)
    ]  # fmt: skip
    assert all(row["iterations"] <= row["limit"] for row in rows)
    assert search(load_karate(), 1, 0, 1)[0] == 1


def test_communities_are_listed_small_and_dense_first():
    graph = load_karate()
    z = np.zeros((34, 3), int)
    z[:, 0] = 1
    z[[0, 1, 2, 3], 1] = 1
    z[[0, 1, 2], 2] = 1
    rows = described(z, graph)
    assert [row["size"] for row in rows] == [3, 4, 34]
    assert rows[0]["density"] == 1.0
    assert [author["communities"] for author in rows[1]["authors"]] == [3, 3, 3, 2]


def test_table2_names_authors(data_home, tmp_path):
    content = reproduce.table2(True, tmp_path, data_home=data_home)
    names = {author["name"] for row in content["communities"] for author in row["authors"]}
    assert len(names) + content["unassigned"] == 234
    assert "2" in sections.table2(content)


def test_systems_take_what_is_there():
    found, missing = systems(quick=True)
    assert set(found) | set(missing) == set(SYSTEMS)
    assert found["KLafter"].n_init == 1
    assert systems(quick=False, n_jobs=2)[0]["KLafter"].n_jobs == 2


def test_the_page_says_what_is_there_and_what_is_not(folder, tmp_path):
    text = reproduce.page(folder, tmp_path / "docs" / "reproduction.md", quick=True)
    assert (tmp_path / "docs" / "reproduction.md").read_text() == text
    assert "Not installed here, therefore missing: Oracle." in text
    assert "quick runs" in text
    assert "EPM is fitted to the symmetrised graph on karate." in text
    assert "stay visible, as a node would lose all: karate" in text
    assert "without paired differences over several splits this proves nothing" in text
    assert "## Table 2: communities of NIPS authors\n\nNot measured yet" in text
    assert "mirror entries visible" in text
    assert "K-LAFTER is level with" in text or "K-LAFTER is behind" in text
    assert reproduce.page(tmp_path / "nowhere").count("Not measured yet") == 4


@pytest.mark.parametrize(("sibling", "level", "lead"), [(0.95, False, False), (0.905, True, False), (0.8, True, True)])
def test_the_verdict_follows_from_the_numbers(sibling, level, lead):
    rows = [
        {"model": "KLafter", "roc_auc": 0.9, "roc_auc_se": 0.01},
        {"model": "LFRM", "roc_auc": sibling, "roc_auc_se": None},
    ]
    found = verdicts.against_siblings([{"network": "karate", "rows": rows}])
    assert found["networks"] == {"karate": level}
    assert (found["mean"] > found["sibling_mean"]) == lead


def test_everything_is_the_four_parts(monkeypatch, tmp_path):
    for part in ("table1", "figure1", "table2", "convergence"):
        monkeypatch.setattr(import_module("klafter.evaluation.reproduce.everything"), part, lambda *a, **k: {"done": a})
    content = reproduce.all(True, tmp_path, document=tmp_path / "page.md")
    assert set(content) == {"table1", "figure1", "table2", "convergence"}
    assert (tmp_path / "page.md").exists()


def test_a_claim_needs_two_standard_errors():
    def tables(gaps):
        mine = [0.9 + gap for gap in gaps]
        rows = [("KLafter", mine), ("IRM", [0.9] * len(gaps))]
        rows = [{"model": n, "roc_auc": float(np.mean(a)), "roc_auc_se": 0.01, "aucs": a} for n, a in rows]
        return [{"network": "karate", "rows": rows}]

    assert "neither is ahead" in sections._verdict(tables([0.01, -0.005, 0.0]))
    assert "K-LAFTER is ahead" in sections._verdict(tables([0.01, 0.011, 0.012]))
    assert "K-LAFTER is behind" in sections._verdict(tables([-0.01, -0.011, -0.012]))
    bare = tables([0.01, 0.011])
    for row in bare[0]["rows"]:
        del row["aucs"]
    assert "proves nothing" in sections._verdict(bare)


def test_models_of_undirected_graphs_are_fitted_to_both_directions():
    arcs = Graph(np.triu(np.kron(np.eye(3), np.ones((5, 5))), 1), directed=True)
    refuses, takes = EPM(n_communities=5, n_burn=100, n_draws=100, n_chains=1), IRM()
    able, refused, symmetrised = able_to_fit({"EPM": refuses, "IRM": takes}, arcs)
    assert (list(able), refused, symmetrised) == (["EPM", "IRM"], {}, ["EPM"])
    model = able["EPM"].set_params(random_state=0).fit(arcs)
    there, back, across = model.predict_proba([[0, 1], [1, 0], [0, 7]])
    assert there == back > across


def test_the_papers_communities_are_looked_for_among_ours():
    printed = {"Robots": "Barto A, Sutton, Thrun S", "Speech": "McNair A"}
    members = [["Sutton_R", "Barto_A"], ["Thrun_S", "McNair_B"]]
    rows = matched(printed, [{"authors": [{"name": name} for name in some]} for some in members])
    assert rows[0] == {"name": "Robots", "authors": 3, "known": 3, "best": 0, "shared": ["Barto A", "Sutton"]}
    assert rows[1]["known"] == 0
