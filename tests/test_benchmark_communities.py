"""The comparison of community finders: what counts, what is kept, and what becomes of rivals that fail."""

import json
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from klafter.datasets import load_karate

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
communities = pytest.importorskip("communities", reason="benchmarks/ is not beside tests/")

TRUTH = [{0, 1, 2, 3}, {4, 5, 6}, {7, 8}]


def run(*groups, **facts):
    return {"communities": [list(group) for group in groups], "cpu_seconds": 1.0, "seconds": 2.0, **facts}


def find_halves(graph, seed):
    return [set(range(17)), set(range(17 + seed, 34))]


def find_nothing(graph, seed):
    raise ZeroDivisionError("no neighbours")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The karate club as a file, and results that go nowhere else."""
    links = load_karate().links.tocoo()
    pairs = "".join(f"{i}\t{j}\n" for i, j in zip(links.row, links.col) if i < j)
    (tmp_path / "club.tsv").write_text(f"# nodes: 34\n{pairs}")
    halves = (range(17), range(17, 34))
    (tmp_path / "club.communities.txt").write_text("".join(f"g\t{' '.join(map(str, half))}\n" for half in halves))
    monkeypatch.setattr(communities, "RUNS", tmp_path / "runs")
    return tmp_path


def options(**given):
    return Namespace(**{"seeds": 2, "patience": 60.0, "again": False, **given})


def test_pairs_of_nodes_are_no_communities():
    found = communities.measure_run(run({0, 1, 2, 3}, {4, 5, 6}, {9, 10}), TRUTH, 12)
    assert found["onmi"] == found["average_f1"] == found["omega"] == 1.0
    assert found["n_communities"] == found["n_true"] == 2
    assert found["coverage"] == pytest.approx(7 / 12)


def test_finding_nothing_is_worth_nothing():
    found = communities.measure_run(run({0, 1}), TRUTH, 12)
    assert (found["onmi"], found["average_f1"], found["coverage"]) == (0.0, 0.0, 0.0)


def test_stability_compares_seeds_and_is_one_without_chance():
    first, second = run({0, 1, 2, 3}), run({0, 1, 2, 3, 4, 5})
    assert communities.summarise([first, second], TRUTH, 12, 2)["stability"] == pytest.approx(0.8)
    assert communities.summarise([first], TRUTH, 12, 2)["stability"] == 1.0
    assert "stability" not in communities.summarise([first], TRUTH, 12, 1)


def test_a_rival_that_fails_is_told_with_its_reason(folder):
    methods = {"halves": find_halves, "nothing": find_nothing}
    halves, nothing = communities.compare_on("club", folder, methods, options())
    assert halves["runs"] == 2
    assert halves["onmi"] > 0.9
    assert halves["n_communities_se"] == 0
    assert nothing["runs"] == 0
    assert nothing["failed"] == "ZeroDivisionError: no neighbours"


def test_what_has_been_run_is_not_run_again_unless_asked(folder):
    communities.compare_on("club", folder, {"halves": find_halves}, options(seeds=1))
    (path,) = (folder / "runs").iterdir()
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({**kept, "cpu_seconds": 77.0}))
    (row,) = communities.compare_on("club", folder, {"halves": find_halves}, options(seeds=1))
    assert row["cpu_seconds"] == 77.0
    (row,) = communities.compare_on("club", folder, {"halves": find_halves}, options(seeds=1, again=True))
    assert row["cpu_seconds"] < 77.0


def test_a_rival_that_takes_too_long_is_stopped():
    import time

    stopped = communities.run_apart(lambda graph, seed: time.sleep(60), load_karate(), 0, patience=0.5)
    assert stopped == {"failed": "no answer in 0.5 s"}


def test_the_table_takes_networks_on_which_all_answered_who_answer_on_most():
    measures = dict.fromkeys(communities.MEASURES, 0.5)
    rows = [{"network": f"n{i}", "method": method, "runs": 1, **measures} for i in range(3) for method in ("a", "b")]
    rows[-1] = {"network": "n2", "method": "b", "runs": 0, "failed": "late"}
    rows += [{"network": f"n{i}", "method": "c", "runs": 0, "failed": "late"} for i in range(3)]
    lines = communities.table(rows)
    assert lines[0].startswith("labelled networks: means over 2 of 3")
    assert [line.split("|")[1:3] for line in lines[4:7]] == [[" a ", " 3/3 "], [" b ", " 2/3 "], [" c ", " 0/3 "]]


def test_new_rows_replace_those_of_the_same_method_and_network():
    old = [{"network": "n", "method": m, "onmi": 0.1} for m in ("a", "b")]
    new = [{"network": "n", "method": "a", "onmi": 0.9}]
    assert [(row["method"], row["onmi"]) for row in communities.merge(old, new)] == [("b", 0.1), ("a", 0.9)]
