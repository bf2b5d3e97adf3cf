"""Several kinds of nodes and a rule of which may be linked: what knowing the rule is worth, and what memory it takes.

    python benchmarks/kind_pairs.py --seeds 5      planted networks of people, papers and venues; it can be resumed
    python benchmarks/kind_pairs.py --memory 100000   so many nodes of each kind, ten links for each
    python benchmarks/kind_pairs.py --table       what has been measured, as docs/two_mode.md has it

People are linked to papers, papers to papers and to venues. Links within planted fields are as likely whatever the
kinds. A fifth of the links, and of the unlinked pairs that are possible, is hidden from two models with their defaults:
one that is told the rule, and one that takes every pair for possible, from which a fifth of the impossible pairs is
hidden as well. Both are judged on the hidden pairs that are possible.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from node_tables import kind_memory, kind_pairs
from scipy import sparse
from sklearn.metrics import roc_auc_score

import klafter as kl
from klafter.evaluation.saved import Saved, code_digest
from klafter.graph import Graph, split_dyads

RUNS = Path(__file__).parent / "results" / "kind_pairs.json"
RULE = [("person", "paper"), ("paper", "paper"), ("paper", "venue")]


def planted(n: int, seed: int, fields: int = 5, inside: float = 0.3, outside: float = 0.01) -> Graph:
    """People, papers and venues of some fields, two papers for each of the others."""
    rng = np.random.default_rng(seed)
    kinds, field = np.resize(["person", "paper", "paper", "venue"], n), rng.integers(0, fields, n)
    empty = Graph(np.zeros((n, n)), kinds=kinds, kind_pairs=RULE)
    pairs = np.argwhere(np.triu(rng.random((n, n)) < np.where(field[:, None] == field, inside, outside), 1))
    pairs = pairs[empty.is_possible(pairs)]
    return empty.replace(links=sparse.csr_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n)))


def run(n: int, seed: int, saved: Saved) -> None:
    key = f"{n} nodes, seed {seed}"
    if key in saved:
        return
    graph = planted(n, seed)
    train, held = split_dyads(graph, 0.2, "clean", seed)
    pairs = np.column_stack(np.triu_indices(n, 1))
    barred = pairs[~graph.is_possible(pairs)]
    some = np.random.default_rng(seed).choice(len(barred), len(barred) // 5, replace=False)
    record = {"nodes": n, "seed": seed, "code": code_digest(), "links": graph.n_links}
    for who, seen in (("rule", train), ("no rule", train.replace(kinds=None).hide(barred[np.sort(some)]))):
        began = time.process_time()
        model = kl.KLafter(random_state=seed, n_jobs=1).fit(seen)
        p = model.predict_proba(held.pairs)
        record[f"{who}: seconds"] = time.process_time() - began
        record[f"{who}: communities"] = model.n_communities_
        record[f"{who}: AUC"] = roc_auc_score(held.values > 0, p)
    saved.add(key, record)
    print(key, {k: round(v, 4) for k, v in record.items() if isinstance(v, float)}, flush=True)


def memory(saved: Saved, side: int, per_node: int = 10) -> None:
    """Peak memory of a fit of 3 x side nodes in planted communities of all kinds."""
    rng = np.random.default_rng(0)
    ends = []
    for a, b in ((0, 1), (1, 1), (1, 2)):
        row = np.repeat(np.arange(side), per_node)
        near = rng.random(len(row)) < 0.7
        column = np.where(near, row // 20 * 20 + rng.integers(0, 20, len(row)), rng.integers(0, side, len(row)))
        ends.append(np.column_stack([a * side + row, b * side + column]))
    i, j = np.concatenate(ends)[np.concatenate([e[:, 0] != e[:, 1] for e in ends])].T
    links = sparse.csr_array(
        (np.ones(2 * len(i)), (np.append(i, j), np.append(j, i))), shape=(3 * side, 3 * side)
    ).sign()
    graph = Graph(links, kinds=np.repeat(["person", "paper", "venue"], side), kind_pairs=RULE)
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, time.process_time()
    model = kl.KLafter(link="exposure", n_init=1, max_iter=3, structure=0, n_jobs=1, random_state=0).fit(graph)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    record = {
        "code": code_digest(), "nodes": graph.n_nodes, "links": graph.n_links, "communities": model.n_communities_,
        "megabytes before": before, "megabytes at most": peak, "cpu seconds": time.process_time() - began,
        "bytes a link": (peak - before) * 2**20 / graph.n_links,
    }  # fmt: skip
    saved.add(f"memory of 3 x {side} nodes", record)
    print(record)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--nodes", type=int, nargs="+", default=[100, 200])
    parser.add_argument("--memory", type=int, metavar="NODES")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    runs = Saved(RUNS)
    if given.memory:
        memory(runs, given.memory)
    elif not given.table:
        for seed in range(given.seeds):
            for n in given.nodes:
                run(n, seed, runs)
    print("\n".join([*kind_pairs(runs), "", *kind_memory(runs)]))
