"""What predictions still lack, on folds inside the training part: which links are missed, and what more sweeps give.

    python benchmarks/remaining.py [--networks protein230 nips234] [--splits 5]

Of the training part of each clean split a fifth is hidden again: nothing here looks at the hidden part itself. A hidden
link misses AUC by the share of hidden non-links that are ranked above it; misses are summed by how many visible links
the less linked of its two nodes has. Writes benchmarks/results/remaining.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from klafter import KLafter, split_dyads
from klafter.datasets import load_dataset

RESULTS = Path(__file__).parent / "results" / "remaining.json"
SHARED = Path(__file__).parents[2] / "shared" / "data"
BINS = {"1": (1, 1), "2": (2, 2), "3 or 4": (3, 4), "5 or more": (5, 10**9)}
USUAL = "12 restarts of 120 sweeps"  # of which is said what it misses
SETTINGS = {
    "6 restarts of 240 sweeps": {"n_init": 6, "n_smooth": 240},
    USUAL: {"n_init": 12, "n_smooth": 120},
    "24 restarts of 60 sweeps": {"n_init": 24, "n_smooth": 60},
    "24 restarts of 240 sweeps": {"n_init": 24, "n_smooth": 240},
}


def misses(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    """For every link the share of non-links ranked above it, ties by halves; 1 - AUC is their mean."""
    others = np.sort(p[y == 0])
    below = np.searchsorted(others, p[y == 1], "left") + np.searchsorted(others, p[y == 1], "right")
    return 1.0 - 0.5 * below / len(others)


def inner_split(graph, split: int):
    """The training part of a split without a fifth of it, and that fifth."""
    train, _ = split_dyads(graph, 0.2, protocol="clean", random_state=split)
    return split_dyads(train, 0.2, protocol="clean", random_state=1000 + split)


def measure(network: str, n_splits: int) -> dict:
    graph, settings = load_dataset(network), {}
    missed, degree = [], []
    for name, options in SETTINGS.items():
        auc, alone, begun = [], [], time.process_time()
        for split in range(n_splits):
            inner, held = inner_split(graph, split)
            y = (held.values > 0).astype(int)
            model = KLafter(random_state=split, **options).fit(inner)
            found = misses(model.predict_proba(held.pairs), y)
            auc.append(1.0 - found.mean())
            alone.append(1.0 - misses(model.set_params(structure=0.0).predict_proba(held.pairs), y).mean())
            if name == USUAL:
                visible = np.diff(inner.links.tocsr().indptr)
                missed.append(found)
                degree.append(visible[held.pairs[y == 1]].min(axis=1))
        seconds = (time.process_time() - begun) / n_splits
        settings[name] = {"auc": np.mean(auc), "auc_alone": np.mean(alone), "cpu_seconds": seconds}
        print(network, name, settings[name], flush=True)
    found, least = np.concatenate(missed), np.concatenate(degree)
    links = {}
    for name, (low, high) in BINS.items():
        inside = (least >= low) & (least <= high)
        links[name] = {"share_of_links": inside.mean(), "auc": 1.0 - found[inside].mean(),
                       "share_of_what_is_missed": found[inside].sum() / found.sum()}  # fmt: skip
        print(network, "visible links:", name, links[name], flush=True)
    return {"settings": settings, "by_visible_links": links}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", default=["protein230", "nips234"])
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    if "KLAFTER_DATA" not in os.environ and SHARED.is_dir():
        os.environ["KLAFTER_DATA"] = str(SHARED)
    found = {network: measure(network, options.splits) for network in options.networks}
    command = " ".join(["python benchmarks/remaining.py", *sys.argv[1:]])
    RESULTS.write_text(json.dumps({"command": command, "networks": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
