"""A short seeded part of each torture; ``make torture`` does the rest."""

import json
import os
import subprocess
import sys
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


def test_it_goes_on_from_what_is_saved(tmp_path):
    path = tmp_path / "torture.json"
    torture("graph files", 2, path)
    found = torture("graph files", 3, path)
    assert found["tried"] == found["good"] == 3
