"""How well links are predicted on networks of every kind: 43 of the CommunityFitNet corpus, one clean split a seed.

    python benchmarks/corpus.py                       all networks, smallest first; it can be resumed
    python benchmarks/corpus.py --seeds 2 --most 500  two seeds, networks of at most 500 nodes
    python benchmarks/corpus.py NAME ...              some of them
    python benchmarks/corpus.py --table               what has been measured so far, into docs/predictions.md

KLAFTER_DATA names the folder that holds corpus/ with index.tsv and NAME.tsv. A fifth of the links and of the non-links
is hidden, no node loses all links. Contestants have their defaults; ``model alone`` is KLafter from the same fit with
structure=0. Each run is kept in benchmarks/results/corpus_runs.json and not run again while it is there; contestants
that are missing are run alone, so that those whose code is the same need not be run again.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from pathlib import Path

import numpy as np

import klafter as kl
from klafter.evaluation import BASELINES, RIVALS, Stack, link_measures
from klafter.evaluation.protocols import degree_corrected_auc
from klafter.evaluation.saved import Saved, code_digest
from klafter.graph import Graph, split_dyads

HERE = Path(__file__).parent
RUNS = HERE / "results" / "corpus_runs.json"
PAGE = HERE.parent / "docs" / "predictions.md"
OURS, ALONE, STACK = "KLafter", "KLafter, model alone", "Stack"
SCORES = {**BASELINES, **RIVALS}


def read(name: str) -> Graph:
    """A network of the corpus: a header with the number of nodes, then pairs."""
    path = Path(os.environ["KLAFTER_DATA"]) / "corpus" / f"{name}.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    n = next(int(line.split(":")[1]) for line in lines if line.startswith("# nodes"))
    pairs = np.array([line.split()[:2] for line in lines if not line.startswith("#")], int)
    links = np.zeros((n, n))
    links[pairs.min(axis=1), pairs.max(axis=1)] = 1.0
    np.fill_diagonal(links, 0.0)
    return Graph(links, directed=False)


def measure(graph: Graph, held, scores: np.ndarray, seconds: float) -> dict:
    degrees = np.asarray((graph.links != 0).sum(axis=1)).ravel()
    corrected = degree_corrected_auc(degrees, held.pairs, held.values, scores)
    spread = bool(degrees.var() < degrees.mean())
    return {**link_measures(held.values, scores), "corrected": corrected, "cpu": seconds, "lattice": spread}


def run(name: str, seed: int, saved: Saved) -> None:
    """All contestants that are missing on one split."""
    missing = [who for who in (OURS, ALONE, STACK, *SCORES) if f"{who} on {name} split {seed}" not in saved]
    if not missing:
        return
    graph = read(name)
    train, held = split_dyads(graph, 0.2, "clean", seed)
    base = held.values.mean()
    base_loss = -(base * np.log(base) + (1 - base) * np.log(1 - base))
    for who, (found, seconds) in predictions(missing, train, held.pairs, seed).items():
        record = measure(graph, held, found, seconds)
        if who in SCORES:  # no probabilities
            record.update(dict.fromkeys(("log_loss", "brier", "slope", "expected"), float("nan")))
        about = {"who": who, "name": name, "split": seed, "code": code_digest(), "base_loss": base_loss}
        saved.add(f"{who} on {name} split {seed}", {**about, **record})
    ours = [saved[f"{who} on {name} split {seed}"] for who in (OURS, ALONE, STACK)]
    told = " ".join(f"{record['who']} {record['roc_auc']:.3f}" for record in ours)
    print(f"{name} {graph.n_nodes} nodes, seed {seed}: {told} ({ours[0]['cpu']:.0f} s)", flush=True)


def predictions(wanted: list[str], train: Graph, pairs: np.ndarray, seed: int) -> dict[str, tuple[np.ndarray, float]]:
    """Scores of the pairs by each contestant, and its CPU seconds."""
    found = {}
    began = time.process_time()
    if OURS in wanted or ALONE in wanted:
        model = kl.KLafter(random_state=seed, n_jobs=1).fit(train)
        found[OURS] = model.predict_proba(pairs), time.process_time() - began
        model.structure = 0.0
        found[ALONE] = model.predict_proba(pairs), found[OURS][1]
    for who in wanted:
        if who in (OURS, ALONE):
            continue
        began = time.process_time()
        stack = who == STACK
        scores = Stack(random_state=seed).fit(train).predict_proba(pairs) if stack else SCORES[who](train, pairs)
        found[who] = scores, time.process_time() - began
    return found


def table(saved: Saved) -> str:
    """Means over networks (those of seeds first), and how KLafter stands against each."""
    records = list(saved.values())
    names = sorted({r["name"] for r in records if r["who"] == OURS})
    lines = [
        f"{len(names)} networks, seeds {sorted({r['split'] for r in records})}, clean protocol, 20% hidden. "
        + made_by([r for r in records if r["who"] == OURS]),
        "",
        "| contestant | AUC | degree-corrected AUC | AP | log loss / base rate | slope, median | KLafter ahead |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    whose = {who: _by_name(records, who) for who in dict.fromkeys(r["who"] for r in records)}
    order = sorted(whose, key=lambda who: -np.mean([whose[who][n]["roc_auc"] for n in names]))
    for who in order:
        mine = [whose[who][name] for name in names]
        loss = np.mean([r["log_loss"] / r["base_loss"] for r in mine])
        slope = np.median([r["slope"] for r in mine])
        ahead = sum(whose[OURS][n]["roc_auc"] > whose[who][n]["roc_auc"] for n in names)
        cells = [f"{np.mean([r[m] for r in mine]):.4f}" for m in ("roc_auc", "corrected", "average_precision")]
        cells += ["-" if np.isnan(v) else f"{v:.3f}" for v in (loss, slope)]
        lines.append(f"| {who} | {' | '.join(cells)} | {'' if who == OURS else f'{ahead} of {len(names)}'} |")
    gap = {n: whose[OURS][n]["roc_auc"] - whose[STACK][n]["roc_auc"] for n in names}
    error = np.std(list(gap.values()), ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
    lattice = [gap[n] for n in names if whose[OURS][n]["lattice"]]
    worst = min(gap, key=gap.__getitem__)
    lines += [
        "",
        f"KLafter minus Stack: {np.mean(list(gap.values())):+.4f} ± {error:.4f} (standard error over networks); "
        f"worst {gap[worst]:+.3f} ({worst}), more than .01 behind on {sum(v < -0.01 for v in gap.values())}"
        + (
            f"; networks with less variance of degrees than mean: {np.mean(lattice):+.4f} on {len(lattice)}."
            if lattice
            else "."
        ),
    ]
    return "\n".join(lines)


def made_by(records: list[dict]) -> str:
    """A sentence on the code that measured some records."""
    codes = sorted({r["code"] for r in records if "code" in r})
    return f"Measured by code {', '.join(codes)}." if codes else "Measured by an earlier version."


def _by_name(records: list[dict], who: str) -> dict[str, dict]:
    """Means over seeds."""
    mine: dict[str, list[dict]] = {}
    for record in records:
        if record["who"] == who:
            mine.setdefault(record["name"], []).append(record)
    numbers = ("roc_auc", "corrected", "average_precision", "log_loss", "base_loss", "slope", "expected", "lattice")
    return {name: {m: float(np.mean([r[m] for r in some])) for m in numbers} for name, some in mine.items()}


def insert(page: Path, mark: str, text: str) -> None:
    """Put text between the markers of a page."""
    begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    old = page.read_text(encoding="utf-8")
    head, tail = old.index(begin) + len(begin), old.index(end)
    page.write_text(f"{old[:head]}\n{text}\n{old[tail:]}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--most", type=int, default=10**9, help="nodes")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    saved = Saved(RUNS)
    if not options.table:
        index = Path(os.environ["KLAFTER_DATA"]) / "corpus" / "index.tsv"
        with open(index, encoding="utf-8") as lines:
            rows = sorted(csv.DictReader(lines, delimiter="\t"), key=lambda row: int(row["nodes"]) * int(row["links"]))
        for seed in range(options.seeds):
            for row in rows:
                if int(row["nodes"]) <= options.most and (not options.names or row["name"] in options.names):
                    run(row["name"], seed, saved)
    insert(PAGE, "corpus", table(saved))


if __name__ == "__main__":
    main()
