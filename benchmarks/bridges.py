"""Bridges: held-out AUC of the sparse engine with and without affinities between communities, on the same splits.

    python benchmarks/bridges.py ../shared/data/networks

A fifth of the dyads is hidden, or on larger graphs a fifth of the links and a sample of non-links. Results go to
benchmarks/results/bridges.json, in the place of older ones of the same network and split.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

import klafter as kl

RESULTS = Path(__file__).parent / "results" / "bridges.json"
NETWORKS = (
    "celegansneural", "drosophila_left", "polblogs", "email_eu_core", "football", "ego_facebook_348", "usair",
    "yeast_pajek",
)  # fmt: skip
DIRECTED = {"celegansneural", "drosophila_left", "polblogs", "email_eu_core"}


def measure(train, held, bridges: bool) -> dict:
    """One fit: objective, communities, bridges, and AUC without and with the expert."""
    cpu = time.process_time()
    model = kl.KLafter(link="exposure", n_init=1, bridges=bridges, random_state=0).fit(train)
    seconds = time.process_time() - cpu
    w = model.affinities_.toarray() if hasattr(model.affinities_, "toarray") else model.affinities_
    number = np.count_nonzero(w - np.diag(np.diag(w)))
    expert = model.predict_proba(held.pairs)
    model.structure = 0.0
    alone = model.predict_proba(held.pairs)
    return {
        "bridges": int(number if train.directed else number // 2),
        "communities": model.n_communities_,
        "objective": round(model.objective_, 3),
        "auc_alone": round(float(roc_auc_score(held.values > 0, alone)), 4),
        "auc_with_expert": round(float(roc_auc_score(held.values > 0, expert)), 4),
        "log_likelihood_alone": round(model.score(held.pairs, held.values), 5),
        "cpu_seconds": round(seconds, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--networks", nargs="*", default=NETWORKS)
    parser.add_argument("--splits", type=int, default=6)
    parser.add_argument("--first-split", type=int, default=100)
    parser.add_argument("--nonlinks", type=int, default=100_000)
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    rows = json.loads(args.output.read_text())["fits"] if args.output.exists() else []
    for name in args.networks:
        graph = kl.read_graph(args.folder / f"{name}.tsv", directed=name in DIRECTED, weight=None)
        for split in range(args.first_split, args.first_split + args.splits):
            train, held = kl.split_dyads(graph, 0.2, random_state=split, max_nonlinks=args.nonlinks)
            facts = {how: measure(train, held, how == "with") for how in ("without", "with")}
            rows = [row for row in rows if (row["network"], row["split"]) != (name, split)]
            rows.append({"network": name, "directed": graph.directed, "split": split, **facts})
            sys.stdout.write(json.dumps(rows[-1]) + "\n")
            sys.stdout.flush()
            facts = {"command": "python benchmarks/bridges.py FOLDER", "fits": rows}
            args.output.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
