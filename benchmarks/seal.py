"""SEAL's eight networks on the public splits that were published with WalkPool, beside the figures of both papers.

    python benchmarks/seal.py                          five splits of each, smallest networks first; it can be resumed
    python benchmarks/seal.py ns router --splits 1     some of them
    python benchmarks/seal.py --table                  what has been measured so far, into docs/predictions.md

KLAFTER_DATA names the folder that holds seal/NAME_SPLIT.mat. The hidden links and non-links of a split are hidden from
the model, nothing else. Each run is kept in benchmarks/results/seal_runs.json and not run again while it is there.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
from corpus import PAGE, insert, made_by
from scipy import sparse
from scipy.io import loadmat

import klafter as kl
from klafter.evaluation import link_measures
from klafter.evaluation.saved import Saved, code_digest
from klafter.graph import Graph
from klafter.graph.splits import Held

RUNS = Path(__file__).parent / "results" / "seal_runs.json"
PUBLISHED = {  # AUC of SEAL and of WalkPool
    "celegans": (0.903, 0.928), "usair": (0.971, 0.987), "pb": (0.950, 0.956), "ns": (0.989, 0.990),
    "ecoli": (0.976, 0.986), "yeast": (0.979, 0.984), "power": (0.876, 0.926), "router": (0.964, 0.973),
}  # fmt: skip


def read(name: str, split: int) -> tuple[Graph, Held]:
    """The training graph and the hidden pairs of a split."""
    parts = loadmat(Path(os.environ["KLAFTER_DATA"]) / "seal" / f"{name}_{split}.mat")
    visible, linked, unlinked = (parts[key].astype(int) for key in ("train_pos", "test_pos", "test_neg"))
    n = max(int(parts[key].max()) for key in ("train_pos", "train_neg", "test_pos", "test_neg")) + 1
    a = sparse.csr_array((np.ones(len(visible)), tuple(visible.T)), shape=(n, n))
    pairs = np.vstack([linked, unlinked])
    graph = Graph(sparse.csr_array(((a + a.T) != 0).astype(float)), directed=False).hide(pairs)
    return graph, Held(pairs, np.repeat([1.0, 0.0], [len(linked), len(unlinked)]))


def run(name: str, split: int, saved: Saved) -> None:
    if (key := f"{name} split {split}") in saved:
        return
    graph, held = read(name, split)
    began = time.process_time()
    model = kl.KLafter(random_state=0, n_jobs=1).fit(graph)
    p, seconds = model.predict_proba(held.pairs), time.process_time() - began
    model.structure = 0.0
    alone = link_measures(held.values, model.predict_proba(held.pairs))["roc_auc"]
    bare = (np.diff(graph.links.indptr)[held.pairs] == 0).any(axis=1)
    record = {"name": name, "split": split, "nodes": graph.n_nodes, **link_measures(held.values, p), "alone": alone}
    ends = {"bare_links": bare[held.values > 0].mean(), "bare_nonlinks": bare[held.values == 0].mean()}
    saved.add(key, {**record, **ends, "cpu": seconds, "code": code_digest()})
    print(f"{key}: AUC {record['roc_auc']:.4f}, model alone {alone:.4f}, {seconds:.0f} s", flush=True)


def table(saved: Saved) -> str:
    lines = [
        "| network | nodes | splits | KLafter | model alone | SEAL | WalkPool | links / non-links with a bare end |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    means = []
    for name, (seal, walkpool) in PUBLISHED.items():
        mine = [record for record in saved.values() if record["name"] == name]
        if not mine:
            continue
        auc, alone, links, nonlinks = (
            np.mean([r[m] for r in mine]) for m in ("roc_auc", "alone", "bare_links", "bare_nonlinks")
        )
        means.append((auc, alone, seal, walkpool))
        lines.append(
            f"| {name} | {mine[0]['nodes']} | {len(mine)} | {auc:.3f} | {alone:.3f} | {seal:.3f} | {walkpool:.3f} "
            f"| {links:.0%} / {nonlinks:.0%} |"
        )
    cells = " | ".join(f"{mean:.3f}" for mean in np.mean(means, axis=0))
    return "\n".join([*lines, f"| mean of {len(means)} networks | | | {cells} | |", "", made_by(list(saved.values()))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    saved = Saved(RUNS)
    for split in range(1, options.splits + 1):
        for name in () if options.table else options.names or PUBLISHED:
            run(name, split, saved)
    insert(PAGE, "seal", table(saved))


if __name__ == "__main__":
    main()
