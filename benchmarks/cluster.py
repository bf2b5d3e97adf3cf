"""The sparse engine on Dask clusters of 1, 2 and 4 workers and without: answers, CPU seconds, bytes by kind of round.

    python benchmarks/cluster.py 10000 100000

0 workers are a fit without a cluster on one thread.

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
from klafter.search.sparse.engine import objective
from klafter.search.sparse.fit import problem_of, state_of

RESULTS = Path(__file__).parent / "results" / "cluster.json"


def cpu_seconds(client) -> dict[str, float]:
    """Of every worker, and of this process: the client and the scheduler."""
    return {"client and scheduler": time.process_time(), **client.run(time.process_time)}


def measure(graph, truth, workers: int) -> dict:
    """One fit on a cluster of processes on this machine, after a small one for which kernels are loaded."""
    from dask.distributed import Client, LocalCluster

    how = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.ERROR}
    with LocalCluster(n_workers=workers, **how) as cluster, Client(cluster) as client:
        fit(small(), client=client, max_iter=1)
        began, before = time.perf_counter(), cpu_seconds(client)
        model = fit(graph, client=client)
        seconds, after = time.perf_counter() - began, cpu_seconds(client)
    spent = {who: after[who] - before[who] for who in before}
    return {
        "nodes": graph.n_nodes,
        "links": graph.n_links,
        "workers": workers,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(sum(spent.values()), 2),
        "cpu_seconds_of_client_and_scheduler": round(spent["client and scheduler"], 2),
        **found(model, truth),
        "traffic": model.traffic_,
    }


def alone(graph, truth, **how) -> dict:
    """The same without a cluster, on one thread."""
    fit(small(), n_jobs=1, **how)
    began, before = time.perf_counter(), time.process_time()
    model = fit(graph, n_jobs=1, **how)
    cpu, seconds = time.process_time() - before, time.perf_counter() - began
    problem = problem_of(model._sparse_settings(), graph)
    value = objective(problem, state_of(model.point_, problem))
    return {
        "nodes": graph.n_nodes,
        "links": graph.n_links,
        "workers": 0,
        **how,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        **found(model, truth),
        "objective": value,
    }


def fit(graph, client=None, **how):
    """A fit of the sparse engine, one search."""
    return kl.KLafter(link="exposure", random_state=0, n_init=1, **how).fit(graph, client=client)


def small():
    """A graph that is fitted first."""
    return make_overlapping(2_000, random_state=1)[0]


def found(model, truth) -> dict:
    """What a fit found, and how it compares with what was planted; the objective is Q, without the price of learned
    counts."""
    return {
        "objective": model.objective_,
        "communities": model.n_communities_,
        "average_f1": round(average_f1(truth.memberships, model.memberships_), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int, nargs="*", default=[10_000])
    parser.add_argument("--workers", type=int, nargs="*", default=[0, 1, 2, 4])
    args = parser.parse_args()
    rows = []
    for n in args.nodes:
        graph, truth = make_overlapping(n, random_state=100)
        for workers in args.workers:
            rows.append(measure(graph, truth, workers) if workers else alone(graph, truth))
            sys.stdout.write(json.dumps({k: v for k, v in rows[-1].items() if k != "traffic"}) + "\n")
            sys.stdout.flush()
            command = "python benchmarks/cluster.py " + " ".join(sys.argv[1:])
            RESULTS.write_text(json.dumps({"command": command, "fits": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
