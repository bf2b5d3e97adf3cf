"""What attributes are worth: predictions with and without them, and whether intervals of effects hold the truth.

    python benchmarks/attributes.py [--splits 10] [--graphs 20] [--only planted]

Lazega's friendships with office, practice and gender of the lawyers; and planted networks of 60 nodes with three
overlapping communities and sociality, whose attributes (one of three offices, an age) have effects on links, or none.
AUC and log loss are on a fifth of the dyads, hidden from both fits. Needs KLAFTER_DATA, see ``klafter datasets``.
Writes benchmarks/results/attributes.json; parts that are not measured stay as they were.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from scipy.special import expit
from sklearn.metrics import log_loss, roc_auc_score

import klafter as kl
from klafter.datasets import fetch_lazega
from klafter.evaluation.saved import code_digest
from klafter.graph import Graph
from klafter.graph.pair_columns import pair_columns

RESULTS = Path(__file__).parent / "results" / "attributes.json"
NODES = 60
EFFECTS = {"with effects": (1.0, 0.5), "strong effects": (2.0, 1.0), "no effects": (0.0, 0.0)}


def planted(effects: tuple[float, float], seed: int) -> Graph:
    """Three communities of a quarter of the nodes each, sociality, and links that attributes make likelier."""
    rng, n = np.random.default_rng(seed), NODES
    z = np.zeros((3, n))
    for row in z:
        row[rng.permutation(n)[: n // 4]] = 1
    known = {"office": [f"office {v}" for v in rng.integers(3, size=n)], "age": rng.normal(40, 8, n)}
    graph, social = Graph(np.zeros((n, n)), attributes=known), rng.normal(0, 0.7, n)
    x = -3 + social[:, None] + social + 2.5 * z.T @ z
    for effect, column in zip(effects, pair_columns(graph, list(known)).values()):
        x += effect * column.matrix()
    links = np.triu(rng.random((n, n)) < expit(x), 1)
    return graph.replace(links=links | links.T)


def measure(graph: Graph, attributes: list[str], seed: int, n_init: int | str = "auto") -> dict[str, list[float]]:
    """AUC, log loss and communities, without attributes and with them; and the effects."""
    train, held = kl.split_dyads(graph, fraction=0.2, random_state=seed)
    linked, row = held.values > 0, {"auc": [], "log_loss": [], "communities": []}
    for used in (None, attributes):
        model = kl.KLafter(attributes=used, n_init=n_init, random_state=seed).fit(train)
        p = model.predict_proba(held.pairs)
        row["auc"].append(float(roc_auc_score(linked, p)))
        row["log_loss"].append(float(log_loss(linked, p)))
        row["communities"].append(model.n_communities_)
    effects = model.attribute_effects_
    return {**row, **{name: list(map(float, effects[name])) for name in ("coefficient", "low", "high")}}


def summarise(rows: list[dict[str, list[float]]], truth: tuple[float, float] | None = None) -> dict[str, object]:
    """Means without and with attributes, mean gains with their standard errors, and how often intervals hold truth."""
    found: dict[str, object] = {"runs": len(rows)}
    for name in ("auc", "log_loss", "communities"):
        values = np.array([row[name] for row in rows], float)
        gain = values[:, 1] - values[:, 0]
        error = float(gain.std(ddof=1) / np.sqrt(len(gain)))
        found[name] = {"without": float(values[:, 0].mean()), "with": float(values[:, 1].mean())}
        found[name] |= {"gain": float(gain.mean()), "error": error}
    found["coefficients"] = np.mean([row["coefficient"] for row in rows], axis=0).tolist()
    if truth is not None:
        held = [[a < t < b for a, t, b in zip(row["low"], truth, row["high"])] for row in rows]
        found["interval_holds_truth"] = np.mean(held, axis=0).tolist()
    return found


def save(name: str, found: dict[str, object]) -> None:
    """One part of the results, the others as they were."""
    table = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    command = " ".join(["python benchmarks/attributes.py", *sys.argv[1:]])
    part = {"command": command, "code": code_digest(), **found}
    RESULTS.write_text(json.dumps({**table, name: part}, indent=1) + "\n")
    print(name, found, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--only", choices=("lazega", "planted"))
    args = parser.parse_args()
    if args.only != "planted":
        firm = fetch_lazega("friend")
        rows = [measure(firm, ["office", "practice", "gender"], seed) for seed in range(args.splits)]
        save("lazega_friend", summarise(rows))
    for name, effects in EFFECTS.items() if args.only != "lazega" else ():
        rows = [measure(planted(effects, seed), ["office", "age"], seed, n_init=4) for seed in range(args.graphs)]
        save(name, summarise(rows, effects))


if __name__ == "__main__":
    main()
