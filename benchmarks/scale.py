"""How KLafter(link="exposure").fit scales: planted overlapping communities of growing size, and the LFR graph.

    python benchmarks/scale.py 10000 100000 1000000 --lfr ../shared/data/networks/lfr_overlap_n1000_k28

The number of communities is never given. Every graph is made, and every fit runs, in a process of its own, so that
peaks are those of the fit; ``--keep`` is a folder in which graphs stay for the next run. Bytes a link are what the
process had at its peak beyond what it had before the graph, the graph among them. Results, with the command that made
them, go to benchmarks/results/scale.json.
"""

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from klafter import KLafter
from klafter.datasets import make_overlapping
from klafter.graph import Graph

RESULTS = Path(__file__).parent / "results" / "scale.json"
LARGE = 500_000  # links


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


def keep_planted(n: int, degree: float, seed: int, folder: str) -> str:
    """Make a planted graph, if it is not there yet; where it is."""
    path = Path(folder) / f"planted_{n}_{degree:g}_{seed}"
    if not path.exists():
        graph, truth = make_overlapping(n, mean_degree=degree, random_state=seed)
        unfinished = path.with_suffix(".part")
        unfinished.mkdir(parents=True, exist_ok=True)
        for name, csr in (("links", graph.links), ("truth", truth.memberships)):
            np.save(unfinished / f"{name}_indices.npy", csr.indices)
            np.save(unfinished / f"{name}_indptr.npy", csr.indptr)
        unfinished.rename(path)
    return str(path)


def read_planted(path: str):
    """The graph and the planted communities."""
    links, truth = (
        pattern(*(np.load(Path(path) / f"{name}_{part}.npy") for part in ("indices", "indptr")))
        for name in ("links", "truth")
    )
    n = truth.shape[0]
    links.resize((n, n))
    nothing = sparse.csr_array((n, n), dtype=bool)
    parts = dict.fromkeys(("labels", "kinds")) | {"attributes": {}, "covariates": {}, "notes": ()}
    return Graph.trusted(links, nothing, directed=False, **parts), truth


def pattern(indices: np.ndarray, indptr: np.ndarray) -> sparse.csr_array:
    """A matrix of ones."""
    shape = (len(indptr) - 1, int(indices.max(initial=-1)) + 1)
    return sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=shape)


def apart(work: Callable, *args):
    """What a function returns, in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, args)


def gigabytes(peak: bool = False) -> float:
    """Memory of this process, now or at its peak."""
    if peak:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**30


def measure(name: str, read: Callable, path: str, threads: int, seed: int) -> dict:
    """One fit: quality, time and memory."""
    compile_seconds()
    before = gigabytes()
    graph, truth = read(path)
    wall, cpu = time.perf_counter(), time.process_time()
    model = KLafter(link="exposure", n_init=1, n_jobs=threads, random_state=seed).fit(graph)
    seconds, cpu_seconds, peak = time.perf_counter() - wall, time.process_time() - cpu, gigabytes(peak=True)
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
        "peak_gb": round(peak, 3),
        "bytes_a_link": round((peak - before) * 2**30 / graph.n_links, 1),
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
    """Slope of log seconds against log links of large graphs; on smaller ones annealing takes most of the time."""
    planted = [row for row in rows if row["graph"] == "planted" and row["links"] >= LARGE]
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
    parser.add_argument("--keep", help="folder in which graphs stay for the next run")
    args = parser.parse_args()
    warm = apart(compile_seconds)
    rows = []
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    with tempfile.TemporaryDirectory() as temporary:
        for n in args.nodes:
            for seed in seeds:
                path = apart(keep_planted, n, args.degree, seed, args.keep or temporary)
                rows.append(apart(measure, "planted", read_planted, path, args.threads, seed))
                sys.stdout.write(json.dumps(rows[-1]) + "\n")
                sys.stdout.flush()
    for seed in seeds if args.lfr else ():
        rows.append(apart(measure, Path(args.lfr).name, read_lfr, args.lfr, args.threads, seed))
        sys.stdout.write(json.dumps(rows[-1]) + "\n")
    command = "python benchmarks/scale.py " + " ".join(sys.argv[1:])
    args.output.parent.mkdir(exist_ok=True)
    facts = {"command": command, "first_fit_cpu_seconds": warm, "exponent_cpu": exponent(rows), "fits": rows}
    args.output.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
