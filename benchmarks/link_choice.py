"""Is the link that the score chooses the better one? Each network with link="auto", "logit" and "exposure".

    python benchmarks/link_choice.py [NAME ...] [--seeds 1]

KLAFTER_DATA names the folder that holds networks/ and lfr/.
Writes benchmarks/results/link_choice.json after every fit; rows that are there are not measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

from communities import large
from known import read_network
from scipy import sparse

import klafter as kl
from klafter.evaluation import community_measures
from klafter.evaluation.saved import code_digest
from klafter.graph.writing import write_json

RESULTS = Path(__file__).parent / "results" / "link_choice.json"
DATA = Path(os.environ.get("KLAFTER_DATA", Path(__file__).parents[2] / "shared" / "data"))
LABELLED = [
    "karate",
    "aucs",
    "ukfaculty",
    "polbooks",
    "football",
    "ego_facebook_348",
    "ego_facebook_414",
    "ego_facebook_686",
]
LINKS = ("auto", "logit", "exposure")


def run(name: str, link: str, seed: int) -> dict:
    """One fit and how near its communities are to those that are known."""
    graph, truth = read_network(DATA / ("lfr" if name.startswith("lfr") else "networks"), name)
    graph = kl.Graph(sparse.csr_array((graph.links + graph.links.T) != 0).astype(float))
    begun = time.process_time()
    model = kl.KLafter(link=link, random_state=seed, n_jobs=1).fit(graph)
    seconds = time.process_time() - begun
    found = community_measures(large(truth), large(model.communities()), n_nodes=graph.n_nodes)
    measured = {key: round(found[key], 4) for key in ("onmi", "average_f1", "coverage")}
    about = {"network": name, "asked": link, "seed": seed, "link": model.link_, "code": code_digest()}
    return {**about, "score": round(float(model.objective_), 1), **measured, "cpu_seconds": round(seconds, 1)}


def saved() -> list[dict]:
    return json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seeds", type=int, default=1)
    args = parser.parse_args()
    grid = sorted(p.stem for p in (DATA / "lfr").glob("lfr_n1000_k?0_mu0.3_*.tsv"))
    for name in args.names or [*LABELLED, *grid]:
        for seed in range(args.seeds):
            for link in LINKS:
                if (name, link, seed) in {(row["network"], row["asked"], row["seed"]) for row in saved()}:
                    continue
                row = run(name, link, seed)
                sys.stdout.write(json.dumps(row) + "\n")
                sys.stdout.flush()
                write_json(RESULTS, {"command": "python benchmarks/link_choice.py", "rows": [*saved(), row]})


if __name__ == "__main__":
    main()
