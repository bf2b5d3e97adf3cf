"""K-LAFTER beside rivals from PyPI: overlapping communities with known truth, and links of three further networks.

    python benchmarks/compare.py --networks FOLDER           everything (about an hour)
    python benchmarks/compare.py --networks FOLDER --tiny    one small network each, to see that it works

FOLDER holds NAME.tsv and NAME.communities.txt. Results go to benchmarks/results/overlap.json and links.json, with the
command that made them.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np
import rivals
from scipy import sparse

import klafter as kl
from klafter.evaluation import community_measures, compare
from klafter.evaluation.comparison import mean_and_error
from klafter.evaluation.saved import Saved
from klafter.graph.fingerprint import fingerprint
from klafter.graph.writing import write_json

OVERLAP = ("lfr_overlap_n1000_k28", "ego_facebook_348", "ego_facebook_414", "ego_facebook_686")
LINKS = ("usair", "netscience_seal", "yeast_pajek")
HERE = Path(__file__).resolve().parent


def read_network(folder: Path, name: str):
    """The graph, 0/1 and undirected, with its isolated nodes, and the true communities."""
    lines = (folder / f"{name}.tsv").read_text().splitlines()
    n = next(int(line.split(":")[1]) for line in lines if line.startswith("# nodes:"))
    i, j = np.array([line.split()[:2] for line in lines if line and not line.startswith("#")], int).T
    graph = kl.Graph(sparse.coo_array((np.ones(len(i)), (i, j)), shape=(n, n))).binarize()
    path = folder / f"{name}.communities.txt"
    return graph, read_truth(path) if path.exists() else []


def read_truth(path: Path) -> list[set]:
    """Communities of a file with a label, a tab, and node numbers on each line."""
    lines = path.read_text().splitlines()
    return [set(map(int, line.split("\t")[1].split())) for line in lines if line and not line.startswith("#")]


def rows_of(model) -> list[set]:
    """Communities of a fitted model as rows."""
    columns = model.memberships_.T.tocsr() if hasattr(model.memberships_, "tocsr") else model.memberships_.T
    return [set(column.nonzero()[-1].tolist()) for column in columns]


def methods(tiny: bool) -> dict:
    """Every method as graph, seed -> communities in rows."""
    settings = {"n_init": 1, "max_iter": 3} if tiny else {}

    def ours(**link):
        return lambda graph, seed: rows_of(kl.KLafter(random_state=seed, **link, **settings).fit(graph))

    logit, exposure = ours(link="logit", n_smooth=0), ours(link="exposure")
    return {"KLafter logit": logit, "KLafter exposure": exposure, **rivals.COMMUNITIES}


def overlap(folder: Path, results: Path, tiny: bool, seeds: int, only: tuple = OVERLAP) -> dict:
    """Average F1 and the other measures of every method on every network with a known cover."""
    runs = Saved(results / f"overlap_runs{'_tiny' if tiny else ''}.json")
    skipped, rows = {}, []
    for network in only:
        graph, truth = read_network(folder, network)
        for name, find in methods(tiny).items():
            try:
                found = [overlap_run(runs, network, graph, truth, name, find, seed) for seed in range(seeds)]
            except rivals.Missing as reason:
                skipped[name] = str(reason)
                continue
            rows.append({"network": network, "method": name, **summary(found)})
            show(rows[-1], "average_f1")
    return {"rows": rows, "skipped": skipped}


def overlap_run(runs: Saved, network: str, graph, truth, name: str, find, seed: int) -> dict:
    """One method on one network with one seed, from the file if it is there."""
    key = f"{name} on {network} {fingerprint(graph)} seed {seed}"
    if key not in runs:
        begun = time.perf_counter()
        found = find(graph, seed)
        seconds = time.perf_counter() - begun
        runs.add(key, {**community_measures(truth, found, n_nodes=graph.n_nodes), "seconds": seconds})
    return runs[key]


def summary(found: list[dict]) -> dict:
    """Means and standard errors over seeds."""
    pairs = {name: mean_and_error([run.get(name, float("nan")) for run in found]) for name in found[0]}
    return {key: value for name, (m, e) in pairs.items() for key, value in ((name, m), (f"{name}_se", e))}


def links(folder: Path, results: Path, tiny: bool, splits: int, only: tuple = LINKS) -> dict:
    """AUC on clean splits, K-LAFTER with and without the structural expert, baselines and spectral rivals."""
    path = results / f"links_runs{'_tiny' if tiny else ''}.json"
    ours = kl.KLafter(n_init=1, n_smooth=6, max_iter=2) if tiny else kl.KLafter()
    skipped, contestants = {}, {"KLafter": ours}
    for name, rival in rivals.LINKS.items():
        try:
            rivals.package(rivals.NEEDS[name])
            contestants[name] = rival()
        except rivals.Missing as reason:
            skipped[name] = str(reason)
    tables = []
    for network in only:
        graph, _ = read_network(folder, network)
        table = compare(contestants, graph, splits=splits, structure=[0.0, 0.5], results=path)
        print(f"{network}: {table}\n", flush=True)
        tables.append({"network": network, "title": table.title, "rows": table.rows})
    return {"tables": tables, "skipped": skipped}


def show(row: dict, measure: str) -> None:
    print(f"{row['network']:24} {row['method']:24} {measure} {row[measure]:.3f}  {row['seconds']:.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=Path, default=os.environ.get("KLAFTER_NETWORKS"))
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--part", choices=("overlap", "links", "both"), default="both")
    parser.add_argument("--only", nargs="+", help="networks, instead of all of the part")
    parser.add_argument("--seeds", type=int, help="seeds of overlap, splits of links; default 5, tiny 1")
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args()
    if options.networks is None:
        print("compare.py needs the folder of network files: --networks FOLDER or KLAFTER_NETWORKS. Skipped.")
        return
    command = " ".join(["python benchmarks/compare.py", *hide_paths(sys.argv[1:])])
    ending, seeds = ("_tiny" if options.tiny else ""), options.seeds or (1 if options.tiny else 5)
    parts = {"overlap": (overlap, ("ego_facebook_686",)), "links": (links, ("usair",))}
    for part, (measure, small) in parts.items():
        if options.part in (part, "both"):
            only = {"only": tuple(options.only or small)} if options.only or options.tiny else {}
            content = measure(options.networks, options.results, options.tiny, seeds, **only)
            write_json(options.results / f"{part}{ending}.json", {"command": command, **content})


def hide_paths(arguments: list[str]) -> list[str]:
    """The command without the places of one machine."""
    return [Path(word).name if os.sep in word else word for word in arguments]


if __name__ == "__main__":
    main()
