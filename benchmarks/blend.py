"""What model and structural expert count beside each other: four ways to predict from the same fit.

    python benchmarks/blend.py                          the paper's networks and 17 of the corpus, split 100
    python benchmarks/blend.py --first 0 --splits 10 --networks lazega_work lazega_friend lazega_advice

``folds`` has the weights that refits to folds of the visible dyads give, ``left out`` those of visible pairs that each
are predicted without themselves, which is also how models without refits learn them. AUC and log loss (as a share of
the base rate's) of hidden pairs, clean splits; paired differences with standard errors over splits, or over networks.
Choices (folds, sweeps, prior and ridge) were made on splits from 100 on. Each run is kept in results/blend.json.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from pathlib import Path

import numpy as np
from corpus import read

import klafter as kl
from klafter.datasets import load_dataset
from klafter.evaluation import link_measures
from klafter.evaluation.saved import Saved, code_digest
from klafter.graph import split_dyads

RESULTS = Path(__file__).parent / "results" / "blend.json"
PAPER = ["lazega_work", "lazega_friend", "lazega_advice", "protein230", "nips234"]
WAYS = ("folds", "left out", "model alone", "expert alone")


def small_networks(nodes: int = 260, links: int = 2_500) -> list[str]:
    """Names of the corpus, by the numbers of nodes and links."""
    with (Path(os.environ["KLAFTER_DATA"]) / "corpus" / "index.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [row["name"] for row in rows if int(row["nodes"]) < nodes and int(row["links"]) < links]


def measured(name: str, seed: int) -> dict:
    """AUC and log loss of each way on one split."""
    graph = load_dataset(name) if name in PAPER else read(name)
    train, held = split_dyads(graph, random_state=seed)
    rate = float(np.mean(held.values > 0))
    base = -(rate * np.log(rate) + (1 - rate) * np.log(1 - rate))
    began = time.process_time()
    model = kl.KLafter(random_state=seed).fit(train)
    record = {"name": name, "split": seed, "code": code_digest(), "cpu": time.process_time() - began}
    record["weights"] = model.blend_weights_.tolist()
    for way in WAYS:
        if way == "left out":
            del model.blend_weights_
            model._weights = None
        elif way != "folds":
            model.structure = 0.0 if way == "model alone" else 1e9
        told = link_measures(held.values, model.predict_proba(held.pairs))
        record |= {f"{way}: {m}": told[m] for m in ("roc_auc", "slope")} | {f"{way}: loss": told["log_loss"] / base}
    return record


def summary(records: list[dict]) -> str:
    """Means of each way, and the paired difference of AUC between folds and the rest."""
    lines = []
    for way in WAYS:
        auc, loss, slope = (np.array([r[f"{way}: {m}"] for r in records]) for m in ("roc_auc", "loss", "slope"))
        gap = np.array([r["folds: roc_auc"] for r in records]) - auc
        error = gap.std(ddof=1) / len(gap) ** 0.5 if len(gap) > 1 else np.nan
        lines.append(
            f"  {way:14} AUC {auc.mean():.4f}  folds {gap.mean():+.4f} ± {error:.4f}  loss {loss.mean():.4f}  "
            f"slope {np.median(slope):.3f}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--networks", nargs="+")
    options = parser.parse_args()
    saved, networks = Saved(RESULTS), options.networks or [*PAPER, *small_networks()]
    for seed in range(options.first, options.first + options.splits):
        for name in networks:
            if f"{name} split {seed}" not in saved:
                saved.add(f"{name} split {seed}", measured(name, seed))
                print(name, seed, {way: round(saved[f"{name} split {seed}"][f"{way}: roc_auc"], 4) for way in WAYS})
    mine = [r for r in saved.values() if options.first <= r["split"] < options.first + options.splits]
    for kind, names in (("paper", PAPER), ("corpus", [n for n in networks if n not in PAPER])):
        if some := [r for r in mine if r["name"] in names and r["name"] in networks]:
            print(f"{kind}, {len(some)} splits\n{summary(some)}")


if __name__ == "__main__":
    main()
