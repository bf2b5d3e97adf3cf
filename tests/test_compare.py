"""compare: paired, honest, resumable."""

import json
import math
import signal
from contextlib import suppress

import numpy as np
import pytest

from klafter.datasets import load_karate, load_les_miserables
from klafter.evaluation import BASELINES, Comparison, compare, link_measures
from klafter.evaluation.compare import describe, named, prepared
from klafter.evaluation.comparison import mean_and_error
from klafter.evaluation.saved import Saved
from klafter.graph import split_dyads
from klafter.graph.fingerprint import fingerprint
from klafter.graph.writing import jsonable
from klafter.models import IRM, KLafter, KLafterCV, PaperKLafter

QUICK = KLafter(n_init=1, n_smooth=0, max_iter=2)


@pytest.fixture(scope="module")
def karate():
    return load_karate()


@pytest.fixture(scope="module")
def table(karate):
    return compare({"quick": QUICK}, karate, splits=3)


class Coin:
    """A model that knows nothing, counts its fits, and is no estimator of scikit-learn."""

    fits = 0

    def __repr__(self):
        return "Coin()"

    def fit(self, graph):
        type(self).fits += 1
        return self

    def predict_proba(self, pairs):
        return np.full(len(pairs), 0.5)


def test_records_are_those_of_a_fit_by_hand(karate, table):
    train, held = split_dyads(karate, random_state=1)
    alone = prepared(QUICK, 1, None).fit(train)
    expected = link_measures(held.values, alone.predict_proba(held.pairs))
    record = next(r for r in table.records if r["model"] == "quick" and r["split"] == 1)
    assert all(record[name] == expected[name] for name in expected)
    assert record["n_communities"] == alone.n_communities_


def test_rows_are_means_and_paired_differences(table):
    rows = {row["model"]: row for row in table.rows}
    assert set(rows) == {"quick", *BASELINES}
    auc = np.array([table.values("quick")[s] for s in range(3)])
    assert rows["quick"]["roc_auc"] == pytest.approx(auc.mean())
    assert rows["quick"]["roc_auc_se"] == pytest.approx(auc.std(ddof=1) / math.sqrt(3))
    best = table.rows[0]
    assert best["difference"] == 0
    last = table.rows[-1]
    paired = [table.values(last["model"])[s] - table.values(best["model"])[s] for s in range(3)]
    assert last["difference"] == pytest.approx(np.mean(paired))
    assert [row["roc_auc"] for row in table.rows] == sorted((row["roc_auc"] for row in table.rows), reverse=True)


def test_a_baseline_has_no_log_loss(table):
    for row in table.rows:
        assert row["baseline"] == (row["model"] in BASELINES)
        assert math.isnan(row["log_loss"]) == row["baseline"]


def test_the_table_is_shown_in_four_ways(table, tmp_path):
    markdown, text, html = table.to_markdown(), str(table), table._repr_html_()
    for name in ("quick", *BASELINES):
        assert name in markdown
        assert name in text
        assert name in html
    assert markdown.splitlines()[3].startswith("| ---")
    assert json.loads(table.to_json(tmp_path / "table.json")) == json.loads((tmp_path / "table.json").read_text())
    assert len(json.loads(table.to_json())["rows"]) == 5


def test_the_title_says_which_protocol(karate):
    table = compare(Coin(), karate, protocol="entries", splits=1, structure=0.0)
    assert "paper's protocol (mirror entries visible)" in table.title
    assert "structural expert off for all" in table.title


def test_it_is_resumed_after_an_interruption(karate, tmp_path):
    path, Coin.fits = tmp_path / "runs.json", 0
    part = compare(Coin(), karate, splits=3, results=path, callback=lambda record: record["split"] == 1)
    assert Coin.fits == 2
    assert len(part.records) == 6
    whole = compare(Coin(), karate, splits=3, results=path)
    assert Coin.fits == 3
    again = compare(Coin(), karate, splits=3, results=path)
    assert Coin.fits == 3
    assert jsonable(again.records) == jsonable(whole.records)


def test_a_fit_that_was_cut_off_goes_on_from_its_checkpoint(karate, tmp_path, monkeypatch):
    from klafter.sampling.irm import IRMEngine

    path, model, step, sweeps = tmp_path / "runs.json", IRM(n_burn=5, n_draws=20, n_chains=2), IRMEngine.step, []

    def killed(self, *state):
        sweeps.append(1)
        if len(sweeps) == 30:
            raise MemoryError("killed")
        return step(self, *state)

    whole = compare(model, karate, splits=1, baselines=False)
    monkeypatch.setattr(IRMEngine, "step", killed)
    with pytest.raises(MemoryError):
        compare(model, karate, splits=1, baselines=False, results=path)
    assert [found.suffix for found in tmp_path.iterdir()] == [".ckpt"]
    again = compare(model, karate, splits=1, baselines=False, results=path)
    assert len(sweeps) < 30 + 50
    assert math.isnan(again.records[0]["seconds"])
    assert again.records[0]["roc_auc"] == whole.records[0]["roc_auc"]
    assert [found.name for found in tmp_path.iterdir()] == ["runs.json"]


class Impatient(Coin):
    """Ctrl-C in the middle of a fit, which keeps its best so far as all models do."""

    def __repr__(self):
        return "Impatient()"

    def fit(self, graph):
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return super().fit(graph)


def test_half_a_fit_is_no_measurement(karate, tmp_path):
    path = tmp_path / "runs.json"
    compare(Coin(), karate, splits=1, results=path)
    before = path.read_text()
    with pytest.raises(KeyboardInterrupt):
        compare({"impatient": Impatient()}, karate, splits=1, results=path)
    assert path.read_text() == before


def test_other_settings_graphs_and_protocols_are_run_anew(karate, tmp_path):
    path, Coin.fits = tmp_path / "runs.json", 0
    compare(Coin(), karate, splits=1, results=path)
    compare(Coin(), karate, splits=1, results=path, fraction=0.1)
    compare(Coin(), karate, splits=1, results=path, protocol="entries")
    compare(Coin(), karate.hide([(0, 1)]), splits=1, results=path)
    assert Coin.fits == 4
    assert describe(KLafter(penalty=1.0)) != describe(KLafter())
    assert describe(KLafter(n_jobs=2)) == describe(KLafter())


def test_structure_is_given_to_all_or_none(karate):
    models = {"plain": QUICK, "cv": KLafterCV([0.0], cv=2, estimator=QUICK), "paper": PaperKLafter()}
    for level in (0.0, 0.3):
        assert prepared(models["plain"], 0, level).structure == level
        assert prepared(models["cv"], 0, level).structure == level
        assert prepared(models["paper"], 0, level).structure == 0.0
    assert prepared(KLafterCV(), 0, 0.2).structure == 0.2
    assert QUICK.structure == KLafter().structure


def test_two_weights_of_the_expert_need_one_fit(karate, monkeypatch):
    fits, fit = [], KLafter.fit
    monkeypatch.setattr(KLafter, "fit", lambda self, graph: fits.append(self.structure) or fit(self, graph))
    both = compare({"quick": QUICK}, karate, splits=1, structure=[0.0, 0.5], baselines=False)
    assert len(fits) == 1
    for level, name in ((0.0, "quick"), (0.5, "quick + 0.5 expert")):
        alone = compare({"quick": QUICK}, karate, splits=1, structure=level, baselines=False)
        assert both.values(name) == alone.values("quick")


def test_a_model_that_cannot_have_the_expert_stands_once(karate):
    table = compare({"coin": Coin()}, karate, splits=2, structure=[0.0, 0.5], baselines=False)
    assert [record["model"] for record in table.records] == ["coin", "coin"]


def test_names(karate):
    assert list(named([QUICK, Coin()])) == ["KLafter", "Coin"]
    with pytest.raises(ValueError, match="the same"):
        named([QUICK, QUICK])
    with pytest.raises(ValueError, match="at least one split"):
        compare(QUICK, karate, splits=0)


def test_a_file_that_is_something_else_is_left_alone(tmp_path, karate):
    path = tmp_path / "notes.json"
    path.write_text("my notes")
    with pytest.raises(ValueError, match="does not hold the records"):
        compare(Coin(), karate, results=path)
    assert path.read_text() == "my notes"


def test_missing_measures_survive_the_file(tmp_path):
    runs = Saved(tmp_path / "runs.json")
    runs.add("a", {"log_loss": float("nan"), "roc_auc": np.float64(0.5)})
    again = Saved(tmp_path / "runs.json")
    assert math.isnan(again["a"]["log_loss"])
    assert again["a"]["roc_auc"] == 0.5


def test_fingerprints_tell_graphs_apart(karate):
    assert fingerprint(karate) == fingerprint(load_karate())
    others = [karate.hide([(0, 1)]), karate.replace(directed=True), karate.replace(covariates={"c": np.ones((34, 34))})]
    assert len({fingerprint(karate), *map(fingerprint, others)}) == 4


def test_standard_errors_of_few_values():
    assert math.isnan(mean_and_error([])[0])
    mean, error = mean_and_error([0.5, float("nan")])
    assert mean == 0.5
    assert math.isnan(error)
    assert Comparison([]).rows == []


def test_one_fit_serves_all_weights_of_the_expert_and_learns_them():
    """Whatever the order of levels, each has the predictions of a model that was fitted with it."""
    graph, model = load_les_miserables(), KLafter(n_init=1, n_smooth=30, max_iter=2)
    options = {"splits": 1, "baselines": False}
    both = compare(model, graph, structure=[0.0, "auto"], **options)
    alone, learned = (compare(model, graph, structure=level, **options).records[0] for level in (0.0, "auto"))
    assert [r["log_loss"] for r in both.records] == [alone["log_loss"], learned["log_loss"]]
