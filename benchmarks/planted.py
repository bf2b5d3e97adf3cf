"""Planted communities that relate to each other, directed or not, and sparse overlapping ones: average F1 and seconds.

    python benchmarks/planted.py [--seeds 3] [--n-jobs 1] [--only WORDS]

`make_lfrm` with a share of pairs of communities that attract each other too, and `make_overlapping` in small.
`KLafter()` is not told the number. Seeds from 200 on were not looked at while the search was made. Writes
benchmarks/results/planted.json, where fits of other networks stay.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from pathlib import Path

from klafter import KLafter
from klafter.datasets import make_lfrm, make_overlapping
from klafter.evaluation import average_f1

RESULTS = Path(__file__).parent / "results" / "planted.json"
FIRST = 200
PLANTED = {
    "related, 200 nodes, 6 communities": lambda seed: make_lfrm(200, 6, related=0.3, random_state=seed),
    "the same, directed": lambda seed: make_lfrm(200, 6, related=0.3, directed=True, random_state=seed),
    "related, 230 nodes, 10 communities": lambda seed: make_lfrm(230, 10, related=0.15, random_state=seed),
    "overlapping, 300 nodes, 8 communities": lambda seed: make_overlapping(
        300, community_size=40, mean_degree=15, memberships=(1, 2), random_state=seed
    ),
    "overlapping, 700 nodes, 14 communities": lambda seed: make_overlapping(
        700, community_size=50, mean_degree=15, memberships=(1, 2), random_state=seed
    ),
    "overlapping, 1000 nodes, 25 communities, degree 10": lambda seed: make_overlapping(
        1_000, community_size=40, mean_degree=10, memberships=(1, 3), random_state=seed
    ),
}


def measure(graph, truth: list, options: dict) -> dict:
    """One fit, judged by the truth."""
    began = time.process_time()
    model = KLafter(random_state=0, **options).fit(graph)
    return {
        "f1": average_f1(truth, model.communities()),
        "found": model.n_communities_,
        "planted": len(truth),
        "link": model.link_,
        "objective": model.objective_,
        "cpu_seconds": time.process_time() - began,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="networks whose name has these words in it")
    args = parser.parse_args()
    options = {"n_jobs": args.n_jobs}
    chosen = {name: make for name, make in PLANTED.items() if args.only in name}
    saved = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"command": "", "fits": []}
    rows = [row for row in saved["fits"] if row["network"] not in chosen]
    before = saved["command"] if rows else ""
    for name, make in chosen.items():
        for seed in range(FIRST, FIRST + args.seeds):
            graph, truth = make(seed)
            rows.append({"network": name, "seed": seed, **measure(graph, truth.communities(), options)})
            sys.stdout.write(json.dumps(rows[-1]) + "\n")
            sys.stdout.flush()
    command = shlex.join(["python", "benchmarks/planted.py", *sys.argv[1:]])
    found = {"command": "; ".join(dict.fromkeys(filter(None, [before, command]))), "fits": rows}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
