"""How strongly the weights of model and structural expert are drawn to their prior: the ridge of one regression.

    python benchmarks/blend.py                saved in benchmarks/results/blend.json

Weights are learned from visible pairs that each are predicted without themselves, and these predictions know the model
less well than hidden links will: a weak ridge trusts the expert too much. Networks of the corpus with fewer than 300
nodes, one clean split each (seed 0); AUC and log loss (as a share of the base rate's) of the hidden pairs.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
from pathlib import Path

import numpy as np
from corpus import read

import klafter as kl
from klafter.evaluation import link_measures
from klafter.graph import split_dyads
from klafter.prediction import structure

RESULTS = Path(__file__).parent / "results" / "blend.json"
RIDGES = (10.0, 100.0, 300.0, 1000.0)


def small_networks(most: int) -> list[str]:
    """Names of the corpus, by the number of nodes."""
    with (Path(os.environ["KLAFTER_DATA"]) / "corpus" / "index.tsv").open(encoding="utf-8") as file:
        return [row["name"] for row in csv.DictReader(file, delimiter="\t") if int(row["nodes"]) < most]


def measured(name: str) -> dict[str, dict[str, float]]:
    """AUC and log loss of one network at each ridge."""
    train, held = split_dyads(read(name), random_state=0)
    model, found = kl.KLafter(n_init=6, random_state=0).fit(train), {}
    rate = float(np.mean(np.asarray(held.values) > 0))
    base = -(rate * np.log(rate) + (1 - rate) * np.log(1 - rate))
    for ridge in RIDGES:
        structure.RIDGE, model._weights = ridge, None
        told = link_measures(held.values, model.predict_proba(held.pairs))
        found[f"{ridge:g}"] = {"roc_auc": told["roc_auc"], "log_loss": told["log_loss"] / base}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=300, help="networks of fewer nodes")
    networks = {}
    for name in small_networks(parser.parse_args().most):
        networks[name] = measured(name)
        print(name, networks[name], flush=True)
    means = {
        ridge: {m: float(np.mean([each[ridge][m] for each in networks.values()])) for m in ("roc_auc", "log_loss")}
        for ridge in networks[name]
    }
    content = {"command": "python benchmarks/blend.py", "means": means, "networks": networks}
    RESULTS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(means, indent=1))


if __name__ == "__main__":
    main()
