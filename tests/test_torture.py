"""A short seeded part of each torture; ``make torture`` does the rest."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def torture(part, count, path):
    words = [sys.executable, "-m", "benchmarks.torture", "--part", part, "--count", str(count), "--results", path]
    quick = {**os.environ, "KLAFTER_CHECK_CLAIMS": "0"}
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, env=quick)
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text())[part]


@pytest.mark.skipif(os.name == "nt", reason="forks and signals of POSIX")
@pytest.mark.parametrize(
    ("part", "count"),
    [
        ("graph files", 300),
        ("model files", 24),
        ("odd graphs", 40),
        pytest.param("checkpointed fits", 7, marks=pytest.mark.slow),
        pytest.param("resumed commands", 2, marks=pytest.mark.slow),
        pytest.param("killed writers", 11, marks=pytest.mark.slow),
    ],
)
def test_nothing_is_lost_and_nothing_let_in(tmp_path, part, count):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    found = torture(part, count, tmp_path / "torture.json")
    assert not found["bad"]
    assert found["tried"] == found["good"] == count


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="forks and signals of POSIX")
def test_a_reproduction_that_is_killed_and_called_again_finds_the_same(tmp_path, data_home, monkeypatch):
    monkeypatch.setenv("KLAFTER_DATA", str(data_home))
    found = torture("resumed commands", 3, tmp_path / "torture.json")
    assert found["tried"] == found["good"] == 3


def test_it_goes_on_from_what_is_saved(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    program, path, asked = import_module("benchmarks.torture.__main__"), tmp_path / "torture.json", []

    def run(module, first, last):
        asked.append((first, last))
        said = [{"at": number} for number in range(first, last)] + [{"memory": 1, "all": False}]
        return subprocess.CompletedProcess([], 0), said + [{"number": 4, "error": "odd"}] * (first <= 4 < last)

    monkeypatch.setattr(program, "run", run)
    for count in (2, 8, 8):
        program.in_batches("a part", program.Part("a module", count, 3), path, 0)
    assert asked == [(0, 2), (2, 5), (5, 8)]
    found = json.loads(path.read_text())["a part"]
    assert (found["tried"], found["good"]) == (8, 7)
