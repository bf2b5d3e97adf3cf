"""What an update costs beside a fresh fit: planted communities, a share of the links held back and then added.

    python benchmarks/online.py 100000 --share 0.01

Results, with the command that made them, go to benchmarks/results/online.json.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from scale import average_f1, compile_seconds
from scipy import sparse

import klafter as kl
from klafter.datasets import make_overlapping
from klafter.graph.changes import change_graph

RESULTS = Path(__file__).parent / "results" / "online.json"


def timed(work) -> float:
    """CPU seconds of a piece of work."""
    began = time.process_time()
    work()
    return round(time.process_time() - began, 3)


def measure(n: int, share: float, seed: int) -> dict:
    """One update: its cost and quality beside those of a fresh fit to the whole graph."""
    graph, truth = make_overlapping(n, random_state=seed)
    links = sparse.triu(graph.links, 1, format="coo")
    pairs = np.column_stack([links.row, links.col]).astype(np.int64)
    held = pairs[np.random.default_rng(seed).random(len(pairs)) < share]
    before = change_graph(graph, (), held).graph
    model, fresh = (kl.KLafter(link="exposure", n_init=1, random_state=seed) for _ in range(2))
    first = timed(lambda: model.fit(before))
    f1_before = average_f1(truth.memberships, model.memberships_)
    whole = timed(lambda: fresh.fit(graph))
    update = timed(lambda: model.partial_fit(held))
    again = timed(lambda: model.partial_fit((), held))
    model.partial_fit(held)
    return {
        "nodes": n,
        "links": graph.n_links,
        "seed": seed,
        "links_added": len(held),
        "first_fit_cpu_seconds": first,
        "fresh_fit_cpu_seconds": whole,
        "update_cpu_seconds": update,
        "removal_cpu_seconds": again,
        "share_of_fresh": round(update / whole, 4),
        "f1_before": round(f1_before, 4),
        "f1_updated": round(average_f1(truth.memberships, model.memberships_), 4),
        "f1_fresh": round(average_f1(truth.memberships, fresh.memberships_), 4),
        "communities_updated": model.n_communities_,
        "communities_fresh": fresh.n_communities_,
        "planted": truth.n_communities,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int, nargs="*", default=[100_000])
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--seeds", type=int, default=2)
    args = parser.parse_args()
    compile_seconds()
    measure(5_000, args.share, 0)
    rows = []
    for n in args.nodes:
        for seed in range(200, 200 + args.seeds):
            rows.append(measure(n, args.share, seed))
            sys.stdout.write(json.dumps(rows[-1]) + "\n")
            sys.stdout.flush()
    command = "python benchmarks/online.py " + " ".join(sys.argv[1:])
    RESULTS.write_text(json.dumps({"command": command, "updates": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
