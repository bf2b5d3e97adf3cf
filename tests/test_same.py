"""The comparison of fits before and after a change."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
same = pytest.importorskip("same", reason="benchmarks/ is not beside tests/")


@pytest.fixture
def quick(monkeypatch):
    """Two of the networks, and fits of one restart."""
    some = {"two_mode": same.CASES["two_mode"], "exposure": same.CASES["exposure"]}
    short = {"n_init": 1, "max_iter": 2, "structure": 0.0}
    fits = {
        name: (make, {"n_smooth": 2, **short} if not options else {**options, **short})
        for name, (make, options) in some.items()
    }
    monkeypatch.setattr(same, "CASES", fits)


def test_a_fit_is_the_same_again_and_a_digit_is_seen(quick, tmp_path, capsys):
    kept = tmp_path / "before.json"
    names = ["--only", "two_mode", "exposure"]
    assert same.main(["--save", str(kept), *names]) == 0
    assert same.main(["--against", str(kept), *names]) == 0
    assert capsys.readouterr().out.endswith("two_mode: the same\nexposure: the same\n")
    saved = json.loads(kept.read_text())
    saved["records"]["exposure"]["objective"] *= 1 + 1e-15
    del saved["records"]["two_mode"]
    kept.write_text(json.dumps(saved))
    assert same.main(["--against", str(kept), *names]) == 1
    said = capsys.readouterr().out
    assert "two_mode: not in" in said
    assert "exposure: objective" in said


def test_every_part_of_a_record_counts():
    before = {"link": "logit", "prior": "counts", "objective": 1.0, "communities": [["a"]], "probabilities": [0.5]}
    assert same.differences(before, dict(before)) == []
    other = {"link": "exposure", "prior": "buffet", "objective": 2.0, "communities": [], "probabilities": [0.25]}
    for key, value in other.items():
        (found,) = same.differences(before, {**before, key: value})
        assert key in found


def test_there_is_something_to_compare_with(tmp_path, capsys):
    for words in ([], ["--against", str(tmp_path / "nothing.json")]):
        with pytest.raises(SystemExit):
            same.main(words)
    assert "does not exist: --save it" in capsys.readouterr().err


def test_there_are_twenty_fits_of_both_engines():
    assert len(same.CASES) == 20
    for make, _ in same.CASES.values():
        assert make().n_nodes >= 18
