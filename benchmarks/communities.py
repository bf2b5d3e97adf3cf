"""KLafter and its rivals on networks with known communities, in one run: labelled networks, LFR graphs, Amazon.

    python benchmarks/communities.py                                        everything (many hours; it can be resumed)
    python benchmarks/communities.py --only karate 'lfr_n1000_k20_mu0.3*' --seeds 1
    python benchmarks/communities.py --only karate --methods KLafter --again    after a change of KLafter
    python benchmarks/communities.py --table                                what has been measured so far

KLAFTER_DATA names the folder that holds networks/ and lfr/, with NAME.tsv and NAME.communities.txt in them. All methods
have their defaults and see the same graphs, 0/1 and without direction; each run has a process of its own. Groups of
fewer than three nodes count as none, in the truth and in what is found. Measures: ONMI (normalised by the larger
entropy), average F1, omega index, share of nodes in a community, number of communities, CPU seconds, and stability,
the mean average F1 between the communities of different seeds.

Each run is kept in benchmarks/results/communities_runs, and is not run again while it is there. The summary goes to
benchmarks/results/communities.json. Needs the extra ``bench``; graph-tool, which pip does not have, is skipped where it
is not installed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import queue
import re
import resource
import sys
import time
from fnmatch import fnmatch
from pathlib import Path

import rivals
from known import hide_paths, read_network, rows_of, summary

import klafter as kl
from klafter.evaluation import community_measures, stability
from klafter.graph.fingerprint import fingerprint
from klafter.graph.writing import write_json

RESULTS = Path(__file__).parent / "results" / "communities.json"
RUNS = RESULTS.with_name("communities_runs")
SHARED = Path(__file__).parents[2] / "shared" / "data"
LEAST = 3  # nodes of a group that counts
LABELLED = (
    "karate", "aucs", "ukfaculty", "polbooks", "football", "drosophila_left", "ego_facebook_348", "ego_facebook_414",
    "ego_facebook_686", "email_eu_core", "polblogs", "cora_planetoid", "lfr_overlap_n1000_k28", "amazon_subset",
)  # fmt: skip
MEASURES = {
    "onmi": "ONMI", "average_f1": "F1", "omega": "omega", "coverage": "in a community", "n_communities": "communities",
    "stability": "stability", "cpu_seconds": "CPU s",
}  # fmt: skip


def klafter(graph, seed: int) -> list[set]:
    return rows_of(kl.KLafter(random_state=seed).fit(graph))


def installed(names: list[str]) -> tuple[dict, dict]:
    """Methods that can run here, their packages loaded, and why the others cannot."""
    methods, skipped = {"KLafter": klafter}, {}
    for name, (packages, find) in rivals.DETECTORS.items():
        try:
            if name in names:
                for package in packages:
                    rivals.package(package)
                methods[name] = find
        except rivals.Missing as reason:
            skipped[name] = str(reason)
    return {name: methods[name] for name in names if name in methods}, skipped


def list_networks(data: Path, patterns: list[str]) -> dict[str, Path]:
    """The folder of each network, small ones first: those labelled, then LFR graphs."""
    folders = {name: data / "networks" for name in LABELLED if (data / "networks" / f"{name}.tsv").exists()}
    grid = sorted((data / "lfr").glob("lfr_*.tsv"), key=lambda path: path.stat().st_size)
    folders |= {path.stem: data / "lfr" for path in grid}
    return {name: folder for name, folder in folders.items() if any(fnmatch(name, p) for p in patterns)}


def run_apart(find, graph, seed: int, patience: float) -> dict:
    """Communities and CPU seconds of one run in a process of its own, or what went wrong."""
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=answer, args=(find, graph, seed, answers))
    child.start()
    end = time.monotonic() + patience
    try:
        while time.monotonic() < end:
            with contextlib.suppress(queue.Empty):
                return answers.get(timeout=1)
            if child.exitcode:  # a crash, or no memory
                return {"failed": f"the process ended with code {child.exitcode}"}
        return {"failed": f"no answer in {patience:g} s"}
    finally:
        child.kill()
        child.join()


def answer(find, graph, seed: int, answers) -> None:
    """Run in the child; what a rival prints is not wanted."""
    try:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            begun, cpu = time.perf_counter(), cpu_seconds()
            found = find(graph, seed)
            facts = {"cpu_seconds": cpu_seconds() - cpu, "seconds": time.perf_counter() - begun}
        answers.put({**facts, "communities": [sorted(map(int, group)) for group in found]})
    except Exception as error:  # a rival that fails on one network is not the end of the comparison
        answers.put({"failed": f"{type(error).__name__}: {error}"[:200]})


def cpu_seconds() -> float:
    """Of this process and of those it has ended."""
    parts = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(part.ru_utime + part.ru_stime for part in parts)


def large(cover) -> list[set]:
    """The groups that count."""
    return [set(group) for group in cover if len(group) >= LEAST]


def measure_run(run: dict, truth: list, n: int) -> dict:
    """The measures of one run."""
    measures = community_measures(large(truth), large(run["communities"]), n_nodes=n)
    return {**measures, "cpu_seconds": run["cpu_seconds"], "seconds": run["seconds"]}


def kept_run(method: str, find, network: str, graph, seed: int, patience: float, again: bool) -> dict:
    """One run, from its file if it is there."""
    name = re.sub(r"\W+", "_", f"{method} {network} {fingerprint(graph)} {seed}")
    path = RUNS / f"{name}.json"
    if again or not path.exists():
        run = run_apart(find, graph, seed, patience)
        write_json(path, {"method": method, "network": network, "seed": seed, **run})
    return json.loads(path.read_text())


def compare_on(network: str, folder: Path, methods: dict, options) -> list[dict]:
    """All methods on one network: means over seeds, or what went wrong."""
    graph, truth = read_network(folder, network)
    rows = []
    for method, find in methods.items():
        seeds = 1 if method in rivals.WITHOUT_CHANCE else options.seeds
        runs = [kept_run(method, find, network, graph, seed, options.patience, options.again) for seed in range(seeds)]
        row = {"network": network, "nodes": graph.n_nodes, "links": graph.n_links, "method": method}
        rows.append({**row, **summarise(runs, truth, graph.n_nodes, options.seeds)})
        sys.stdout.write(show(rows[-1]) + "\n")
        sys.stdout.flush()
    return rows


def summarise(runs: list[dict], truth: list, n: int, seeds: int) -> dict:
    """Means and standard errors over the runs that answered, and how alike these are."""
    answered = [run for run in runs if "failed" not in run]
    failed = {"failed": next(run["failed"] for run in runs if "failed" in run)} if len(answered) < len(runs) else {}
    if not answered:
        return {"runs": 0, **failed}
    row = {"runs": len(answered), **failed, **summary([measure_run(run, truth, n) for run in answered])}
    covers = [large(run["communities"]) for run in answered]
    if len(covers) > 1:
        row["stability"] = stability(covers)
    elif len(runs) == 1 < seeds:  # nothing in it is random
        row["stability"] = 1.0
    return row


def saved_rows() -> list[dict]:
    return json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []


def merge(old: list[dict], new: list[dict]) -> list[dict]:
    """New rows in the place of older ones of the same method and network."""
    fresh = {(row["network"], row["method"]) for row in new}
    return [row for row in old if (row["network"], row["method"]) not in fresh] + new


def show(row: dict) -> str:
    cells = [f"{title} {row[name]:.3f}" for name, title in MEASURES.items() if row.get(name) is not None]
    return f"{row['network']:30} {row['method']:26} " + "  ".join(cells or [row["failed"]])


def kind(network: str) -> str:
    """The table a network belongs to."""
    if network == "amazon_subset":
        return "Amazon"
    return "LFR" if network.startswith("lfr_") else "labelled networks"


def table(rows: list[dict]) -> list[str]:
    """For each kind of network, means over those on which every method answered that answered on most."""
    lines = []
    for title in dict.fromkeys(kind(row["network"]) for row in rows):
        here = [row for row in rows if kind(row["network"]) == title]
        networks = list(dict.fromkeys(row["network"] for row in here))
        found = {(row["method"], row["network"]): row for row in here if row["runs"]}
        methods = list(dict.fromkeys(row["method"] for row in here))
        counts = {method: sum((method, network) in found for network in networks) for method in methods}
        steady = [method for method in methods if counts[method] > len(networks) / 2]
        common = [network for network in networks if all((method, network) in found for method in steady)]
        lines += [f"{title}: means over {len(common)} of {len(networks)}, on which all answered who answer on most", ""]
        lines += ["| method | answered | " + " | ".join(MEASURES.values()) + " |", "|---|---|" + "---|" * len(MEASURES)]
        means = {method: [mean([found[method, x].get(m) for x in common]) for m in MEASURES] for method in steady}
        for method in sorted(steady, key=lambda method: -(means[method][0] or 0.0)):
            cells = ["" if value is None else f"{value:.3f}" for value in means[method]]
            lines.append(f"| {method} | {counts[method]}/{len(networks)} | " + " | ".join(cells) + " |")
        lines += [f"| {m} | {counts[m]}/{len(networks)} |" + " |" * len(MEASURES) for m in methods if m not in steady]
        lines.append("")
    return lines


def mean(values: list) -> float | None:
    """Of all, or none where one was not measured."""
    return sum(values) / len(values) if values and None not in values else None


def warm_up() -> None:
    """Compile, and load, the kernels of both engines once, before processes are split off."""
    graph = kl.datasets.load_karate()
    for link in ("logit", "exposure"):
        kl.KLafter(link=link, n_init=1, max_iter=2, random_state=0).fit(graph)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=["*"], metavar="NETWORK", help="names, * for anything")
    every = ["KLafter", *rivals.DETECTORS]
    parser.add_argument("--methods", nargs="+", default=every, choices=every, metavar="METHOD")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--patience", type=float, default=1800, help="seconds for one run")
    parser.add_argument("--again", action="store_true", help="run even what has been run")
    parser.add_argument("--table", action="store_true", help="only print the saved results")
    options = parser.parse_args()
    if options.table:
        print("\n".join(table(saved_rows())))
        return
    networks = list_networks(Path(os.environ.get("KLAFTER_DATA", SHARED)), options.only)
    if not networks:
        print(
            "communities.py found no networks: set KLAFTER_DATA to the folder that holds networks/ and lfr/. Skipped."
        )
        return
    methods, skipped = installed(options.methods)
    warm_up()
    command = " ".join(["python benchmarks/communities.py", *hide_paths(sys.argv[1:])])
    for network, folder in networks.items():
        rows = merge(saved_rows(), compare_on(network, folder, methods, options))
        write_json(RESULTS, {"command": command, "skipped": skipped, "rows": rows})
    print("\n".join(["", *table([row for row in rows if row["network"] in networks])]))


if __name__ == "__main__":
    main()
