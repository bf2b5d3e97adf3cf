"""Clean-split AUC of the default KLafter, with and without the structural expert, and of the paper's algorithm.

    python benchmarks/quality.py [--splits 10] [--paper-splits 3] [--networks protein230 nips234] [--jobs 2]

Writes benchmarks/results/quality.json. Splits are seeded 0, 1, ...; the hidden dyads are scored once.
"""

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path

import numpy as np

from klafter import KLafter, split_dyads
from klafter.datasets import load_dataset
from klafter.evaluation import link_measures
from klafter.evaluation.saved import code_digest

RESULTS = Path(__file__).parent / "results" / "quality.json"
SHARED = Path(__file__).parents[2] / "shared" / "data"


def measure(graph, seed, jobs, with_paper):
    """One split: the default model (both ways of predicting from the same fit) and the paper's, 30 iterations of it."""
    train, held = split_dyads(graph, 0.2, protocol="clean", random_state=seed)
    rows = []
    models = [("KLafter", KLafter(random_state=seed, n_jobs=jobs))]
    if with_paper:
        models.append(("paper", KLafter.paper(random_state=seed, max_iter=30)))
    for name, model in models:
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(train)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        for structure in (True, False) if name == "KLafter" else (False,):
            if not structure:
                model.structure = 0.0
            scores = link_measures(held.values, model.predict_proba(held.pairs))
            label = name + (" with structural expert" if structure else "")
            facts = {
                "model": label,
                "split": seed,
                "communities": int(model.n_communities_),
                "seconds": wall,
                "cpu": cpu,
            }
            rows.append(facts | scores)
            print(f"  split {seed} {label:32} AUC {scores['roc_auc']:.4f}  {wall:.1f} s", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--paper-splits", type=int, default=3)
    parser.add_argument("--networks", nargs="+", default=["protein230", "nips234"])
    parser.add_argument("--jobs", type=int, default=None)
    options = parser.parse_args()
    if "KLAFTER_DATA" not in os.environ and SHARED.is_dir():
        os.environ["KLAFTER_DATA"] = str(SHARED)
    out = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"networks": {}}
    command = " ".join(["python benchmarks/quality.py", *sys.argv[1:]])
    out["python"] = platform.python_version()
    for network in options.networks:
        graph = load_dataset(network)
        rows = [
            row
            for seed in range(options.splits)
            for row in measure(graph, seed, options.jobs, seed < options.paper_splits)
        ]
        summary = {}
        for label in dict.fromkeys(row["model"] for row in rows):
            auc = np.array([row["roc_auc"] for row in rows if row["model"] == label])
            error = float(auc.std(ddof=1) / len(auc) ** 0.5) if len(auc) > 1 else None
            summary[label] = {"auc": float(auc.mean()), "standard_error": error, "splits": len(auc)}
            print(f"{network:12} {label:32} AUC {auc.mean():.4f}")
        about = {"command": command, "code": code_digest()}
        out["networks"][network] = {**about, "summary": summary, "rows": rows}
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
