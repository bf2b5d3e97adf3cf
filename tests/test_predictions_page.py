"""The tables of docs/predictions.md are those of the saved runs."""

import sys
from pathlib import Path

import pytest

from klafter.evaluation.saved import Saved

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["corpus", "seal"])
def test_tables_are_those_of_the_saved_runs(name, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    benchmark = __import__(name)
    monkeypatch.delitem(sys.modules, name)
    if not benchmark.RUNS.exists():
        pytest.skip(f"{benchmark.RUNS.name} has not been measured")
    shown = (ROOT / "docs" / "predictions.md").read_text(encoding="utf-8")
    shown = shown.partition(f"<!-- {name} -->")[2].partition(f"<!-- end of {name} -->")[0]
    assert shown.strip() == benchmark.table(Saved(benchmark.RUNS))
