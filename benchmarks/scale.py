"""How KLafter(link="exposure").fit scales: planted overlapping communities of growing size, and the LFR graph.

    python benchmarks/scale.py 10000 100000 1000000 --lfr ../shared/data/networks/lfr_overlap_n1000_k28

The number of communities is never given. Results, with the command that made them, go to benchmarks/results/scale.json.
"""

import argparse
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from klafter import KLafter
from klafter.datasets import make_overlapping
from klafter.graph import Graph

RESULTS = Path(__file__).parent / "results" / "scale.json"


def average_f1(truth, found) -> float:
    """Mean of the best F1 of each true community and of each found one."""
    if found.shape[1] == 0:
        return 0.0
    truth, found = sparse.csr_array(truth), sparse.csr_array(found)
    overlap = (truth.T @ found).tocoo()
    sizes = truth.sum(axis=0)[overlap.row] + found.sum(axis=0)[overlap.col]
    f1 = sparse.csr_array((2 * overlap.data / sizes, (overlap.row, overlap.col)), shape=overlap.shape)
    return float(0.5 * (f1.max(axis=1).toarray().mean() + f1.max(axis=0).toarray().mean()))


def read_lfr(stem: str):
    """The graph and the planted communities of an LFR benchmark."""
    pairs = np.loadtxt(stem + ".tsv", comments="#", dtype=int)[:, :2]
    n = pairs.max() + 1
    graph = Graph(sparse.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n)))
    text = Path(stem + ".communities.txt").read_text().splitlines()
    lines = [line.split("\t")[1].split() for line in text if not line.startswith("#")]
    truth = np.zeros((n, len(lines)))
    for k, members in enumerate(lines):
        truth[np.array(members, int), k] = 1
    return graph, truth


def measure(name: str, graph: Graph, truth, args, seed: int) -> dict:
    """One fit: quality, time and memory."""
    wall, cpu = time.perf_counter(), time.process_time()
    model = KLafter(link="exposure", n_init=1, n_jobs=args.threads, random_state=seed).fit(graph)
    seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    found = model.memberships_
    return {
        "graph": name,
        "nodes": graph.n_nodes,
        "links": graph.n_links,
        "seed": seed,
        "communities": found.shape[1],
        "planted": truth.shape[1],
        "average_f1": round(average_f1(truth, found), 4),
        "objective": model.objective_,
        "steps": model.n_iter_,
        "converged": model.converged_,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu_seconds, 2),
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 3),
    }


def compile_seconds() -> float:
    """CPU time that a first small fit takes more than the second: compilation, if the cache is empty."""
    graph, _ = make_overlapping(n=1000, random_state=0)
    times = [time.process_time()]
    for _ in range(2):
        KLafter(link="exposure", n_init=1, n_jobs=1, max_iter=2, random_state=0).fit(graph)
        times.append(time.process_time())
    return round(times[1] - times[0] - (times[2] - times[1]), 2)


def exponent(rows: list[dict]) -> float | None:
    """Slope of log seconds against log links."""
    planted = [row for row in rows if row["graph"] == "planted"]
    if len({row["links"] for row in planted}) < 2:
        return None
    links, seconds = np.log([[row["links"], row["cpu_seconds"]] for row in planted]).T
    return round(float(np.polyfit(links, seconds, 1)[0]), 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int, nargs="*", default=[10_000], help="sizes of planted graphs")
    parser.add_argument("--degree", type=float, default=20.0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--lfr", help="stem of an LFR benchmark: STEM.tsv, STEM.communities.txt")
    parser.add_argument("--threads", type=int, default=-1, help="n_jobs of the fit; all cores if not given")
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    warm = compile_seconds()
    rows = []
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    for n in args.nodes:
        for seed in seeds:
            graph, truth = make_overlapping(n, mean_degree=args.degree, random_state=seed)
            rows.append(measure("planted", graph, truth.memberships, args, seed))
            sys.stdout.write(json.dumps(rows[-1]) + "\n")
            sys.stdout.flush()
    for seed in seeds if args.lfr else ():
        rows.append(measure(Path(args.lfr).name, *read_lfr(args.lfr), args, seed))
        sys.stdout.write(json.dumps(rows[-1]) + "\n")
    command = "python benchmarks/scale.py " + " ".join(sys.argv[1:])
    args.output.parent.mkdir(exist_ok=True)
    facts = {"command": command, "first_fit_cpu_seconds": warm, "exponent_cpu": exponent(rows), "fits": rows}
    args.output.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
