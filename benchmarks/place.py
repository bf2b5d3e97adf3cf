"""Newcomers placed from half of their links, against a fit that knew them: AUC and log loss on the other half.

    python benchmarks/place.py FILE... [--seeds 3] [--restarts 4] [--timing]

Of each network 5% of the nodes (with at least four links) are taken out. ``place`` sees half of their links to the
others and half of the nodes that they do not link to; a full fit sees the same dyads and hides the rest. Both are
judged on the dyads that neither saw, without the structural expert and with it.
With --timing also the time of one placement among 100,000 nodes. Seconds are those of the processor. Writes
benchmarks/results/place.json; what is not measured stays as it was.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score

import klafter as kl
from klafter.datasets import make_overlapping
from klafter.evaluation.saved import code_digest
from klafter.graph import Graph

RESULTS = Path(__file__).parent / "results" / "place.json"
SHARE, LEAST_LINKS = 0.05, 4


def newcomers(graph: Graph, rng: np.random.Generator) -> np.ndarray:
    degree = np.diff(graph.links.indptr)
    able = np.flatnonzero(degree >= LEAST_LINKS)
    return np.sort(rng.choice(able, max(2, min(len(able), round(SHARE * graph.n_nodes))), replace=False))


def measure(graph: Graph, seed: int, restarts: int | str) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    new = newcomers(graph, rng)
    old = np.setdiff1d(np.arange(graph.n_nodes), new)
    dense = graph.links[new][:, old].toarray() != 0
    seen = rng.random(dense.shape) < 0.5
    model = kl.KLafter(structure=0.0, n_init=restarts, random_state=seed)
    base = clone(model).set_params(structure="auto").fit(Graph(graph.links[old][:, old]))
    base.structure = 0.0
    base.place(old[:0], np.arange(2))  # compiles
    placed, seconds = predictions_of(base, dense, seen)
    base.structure = "auto"
    base.predict_proba(np.array([[0, 1]]))  # the expert learns
    with_structure, more_seconds = predictions_of(base, dense, seen)
    i, j = np.nonzero(~seen)
    hidden = np.column_stack([new[i], old[j]])
    a, b = np.triu_indices(len(new), 1)
    whole = kl.KLafter(n_init=restarts, random_state=seed)
    whole.fit(graph.hide(hidden).hide(np.column_stack([new[a], new[b]])))
    with_expert = whole.predict_proba(hidden)
    whole.structure = 0.0
    y, p, q = dense[~seen], placed[~seen], whole.predict_proba(hidden)
    return {
        "place": float(roc_auc_score(y, p)),
        "place with expert": float(roc_auc_score(y, with_structure[~seen])),
        "refit": float(roc_auc_score(y, q)),
        "refit with expert": float(roc_auc_score(y, with_expert)),
        "place log loss": float(log_loss(y, p)),
        "refit log loss": float(log_loss(y, q)),
        "place with expert log loss": float(log_loss(y, with_structure[~seen])),
        "refit with expert log loss": float(log_loss(y, with_expert)),
        "seconds": seconds,
        "seconds with expert": more_seconds,
        "newcomers": len(new),
        "nodes": graph.n_nodes,
    }


def predictions_of(model: kl.KLafter, dense: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, float]:
    """Probabilities of all links of newcomers that are placed by what was seen of them, and the time for each."""
    begun = time.process_time()
    placed = [model.place(np.flatnonzero(y & s), np.flatnonzero(~y & s)).predict_proba() for y, s in zip(dense, seen)]
    return np.array(placed), (time.process_time() - begun) / len(dense)


def timing() -> dict[str, float]:
    graph, _ = make_overlapping(100_000, random_state=0)
    model = kl.KLafter(random_state=0, max_iter=2).fit(graph)
    begun = time.process_time()
    model.place([0, 1, 2])
    first = time.process_time() - begun
    begun = time.process_time()
    for i in range(200):
        model.place(graph.links.indices[graph.links.indptr[i] : graph.links.indptr[i + 1]][:3].astype(np.int64))
    return {"first_seconds": first, "seconds": (time.process_time() - begun) / 200, "nodes": graph.n_nodes}


def summarise(rows: list[dict[str, float]]) -> dict[str, float]:
    """Means over seeds, and the standard error of what a full fit gains."""
    gains = [row["refit"] - row["place"] for row in rows]
    error = float(np.std(gains, ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0
    means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    return {**means, "error": error, "seeds": len(rows)}


def save(command: str, name: str, found: dict[str, float]) -> None:
    """One line of the results, the others as they were."""
    table = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    table[name] = {"command": command, "code": code_digest(), **found}
    RESULTS.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    print(name, found, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--restarts", type=int)
    parser.add_argument("--timing", action="store_true")
    options = parser.parse_args()
    for path in options.files:
        graph = kl.read_graph(path, directed=False).binarize()
        rows = [measure(graph, seed, options.restarts or "auto") for seed in range(options.seeds)]
        restarts = f" --restarts {options.restarts}" if options.restarts else ""
        command = f"python benchmarks/place.py {path.name} --seeds {options.seeds}{restarts}"
        save(command, path.name, summarise(rows))
    if options.timing:
        save("python benchmarks/place.py --timing", "timing", timing())


if __name__ == "__main__":
    main()
