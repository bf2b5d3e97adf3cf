"""The tables of docs/predictions.md are those of the saved runs, and none calls itself current that is not."""

import importlib
import warnings
from pathlib import Path

import pytest

from klafter.evaluation.saved import Saved, code_digest

ROOT = Path(__file__).parents[1]
TABLES = [("corpus", "corpus", "RUNS"), ("seal", "seal", "RUNS")]


@pytest.mark.parametrize(("mark", "module", "runs"), TABLES)
def test_tables_are_those_of_the_saved_runs(mark, module, runs, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    benchmark = importlib.import_module(module)
    path = getattr(benchmark, runs)
    if not path.exists():
        pytest.skip(f"{path.name} has not been measured")
    saved = Saved(path)
    shown = (ROOT / "docs" / "predictions.md").read_text(encoding="utf-8")
    shown = shown.partition(f"<!-- {mark} -->")[2].partition(f"<!-- end of {mark} -->")[0]
    assert shown.strip() == benchmark.table(saved)
    codes = {record.get("code", "an earlier version") for record in saved.values()}
    if codes != {code_digest()}:
        assert "current" not in shown, (
            f"{path.name} is of {', '.join(codes)}; the code is {code_digest()}: run it again"
        )
        warnings.warn(f"{path.name} is of {', '.join(sorted(codes))}, not of {code_digest()}", stacklevel=1)
