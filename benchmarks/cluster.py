"""The sparse engine on Dask clusters of 1, 2 and 4 workers: the same answer, its time and its bytes per round.

    python benchmarks/cluster.py 10000

Results, with the command that made them, go to benchmarks/results/cluster.json.
"""

import argparse
import json
import logging
import sys
import time
from pathlib import Path

from scale import average_f1

import klafter as kl
from klafter.datasets import make_overlapping

RESULTS = Path(__file__).parent / "results" / "cluster.json"


def measure(graph, truth, workers: int) -> dict:
    """One fit on a cluster of processes on this machine."""
    from dask.distributed import Client, LocalCluster

    how = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.ERROR}
    with LocalCluster(n_workers=workers, **how) as cluster, Client(cluster) as client:
        began = time.perf_counter()
        model = kl.KLafter(link="exposure", random_state=0).fit(graph, client=client)
        return {
            "nodes": graph.n_nodes,
            "links": graph.n_links,
            "workers": workers,
            "seconds": round(time.perf_counter() - began, 2),
            "objective": model.objective_,
            "communities": model.n_communities_,
            "average_f1": round(average_f1(truth.memberships, model.memberships_), 4),
            "traffic": model.traffic_,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int, nargs="*", default=[10_000])
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    args = parser.parse_args()
    rows = []
    for n in args.nodes:
        graph, truth = make_overlapping(n, random_state=100)
        for workers in args.workers:
            rows.append(measure(graph, truth, workers))
            sys.stdout.write(json.dumps({k: v for k, v in rows[-1].items() if k != "traffic"}) + "\n")
            sys.stdout.flush()
    command = "python benchmarks/cluster.py " + " ".join(sys.argv[1:])
    RESULTS.write_text(json.dumps({"command": command, "fits": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
