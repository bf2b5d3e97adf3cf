"""Two-mode networks: what it is worth that a model knows which pairs are possible, and what memory they take.

    python benchmarks/two_mode.py               six networks, three splits; it can be resumed
    python benchmarks/two_mode.py --seeds 30 --only NETWORK...   more splits of some of them
    python benchmarks/two_mode.py --memory 100000   so many nodes of each kind, ten links each
    python benchmarks/two_mode.py --table       what has been measured, as docs/two_mode.md has it

KLAFTER_DATA names the folder that holds corpus/; the networks are all of that corpus that have two colours, and the
Southern women. The same links and pairs across kinds are hidden from two models with their defaults: one that is told
the kinds, and one that takes every pair for possible, from which a fifth of the pairs within kinds is hidden as well.
Both are judged on the pairs across, and on all hidden pairs, of which the first knows that those within kinds are none.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from corpus import read
from node_tables import WEBS, two_mode
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components
from sklearn.metrics import roc_auc_score

import klafter as kl
from klafter.datasets import load_southern_women
from klafter.evaluation.saved import Saved, code_digest
from klafter.graph import Graph, split_dyads

RUNS = Path(__file__).parent / "results" / "two_mode.json"


def colours(graph: Graph) -> np.ndarray:
    """Which nodes are of the second colour, component by component."""
    second = np.zeros(graph.n_nodes, bool)
    _, component = connected_components(graph.links)
    for c in range(component.max() + 1):
        order, parent = breadth_first_order(graph.links, np.flatnonzero(component == c)[0], directed=False)
        for i in order[1:]:
            second[i] = not second[parent[i]]
    return second


def network(name: str) -> Graph:
    if name == "southern_women":
        return load_southern_women()
    graph = read(name)
    return graph.replace(kinds=np.where(colours(graph), "second", "first"))


def within(graph: Graph, rng: np.random.Generator) -> np.ndarray:
    """A fifth of the pairs within kinds."""
    pairs = np.argwhere(np.triu(graph.second_kind[:, None] == graph.second_kind, 1))
    return pairs[np.sort(rng.choice(len(pairs), len(pairs) // 5, replace=False))]


def run(name: str, seed: int, saved: Saved) -> None:
    key = f"{name} split {seed}"
    if key in saved:
        return
    graph = network(name)
    train, held = split_dyads(graph, 0.2, "clean", seed)
    inside = within(graph, np.random.default_rng(seed))
    record = {"network": name, "split": seed, "code": code_digest(), "nodes": graph.n_nodes, "links": graph.n_links}
    for who, seen in (("kinds", train), ("no kinds", train.replace(kinds=None).hide(inside))):
        began = time.process_time()
        model = kl.KLafter(random_state=seed, n_jobs=1).fit(seen)
        p = model.predict_proba(held.pairs)
        record[f"{who}: seconds"] = time.process_time() - began
        record[f"{who}: communities"] = model.n_communities_
        record[f"{who}: possible pairs"] = roc_auc_score(held.values > 0, p)
        every = np.append(p, model.predict_proba(inside))
        record[f"{who}: all pairs"] = roc_auc_score(np.append(held.values > 0, np.zeros(len(inside))), every)
        model.structure = 0
        record[f"{who}: model alone"] = roc_auc_score(held.values > 0, model.predict_proba(held.pairs))
    saved.add(key, record)
    print(key, {k: round(v, 4) for k, v in record.items() if isinstance(v, float)}, flush=True)


def memory(saved: Saved, side: int, per_node: int = 10) -> None:
    """Peak memory of a fit of 2 x side nodes in planted communities of both kinds."""
    rng = np.random.default_rng(0)
    row = np.repeat(np.arange(side), per_node)
    group = row // 20
    column = np.where(
        rng.random(len(row)) < 0.7, group * 20 + rng.integers(0, 20, len(row)), rng.integers(0, side, len(row))
    )
    graph = Graph.from_biadjacency(sparse.csr_array((np.ones(len(row)), (row, column)), shape=(side, side)).sign())
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, time.process_time()
    model = kl.KLafter(link="exposure", n_init=1, max_iter=3, structure=0, n_jobs=1, random_state=0).fit(graph)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    record = {
        "code": code_digest(), "nodes": graph.n_nodes, "links": graph.n_links, "communities": model.n_communities_,
        "megabytes before": before, "megabytes at most": peak, "cpu seconds": time.process_time() - began,
        "bytes a link": (peak - before) * 2**20 / graph.n_links,
    }  # fmt: skip
    saved.add(f"memory of {side} + {side} nodes, {per_node} links each", record)
    print(record)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most", type=int, default=2_000, help="nodes")
    parser.add_argument("--only", nargs="+", default=list(WEBS), choices=WEBS, metavar="NETWORK")
    parser.add_argument("--memory", type=int, metavar="NODES")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    runs = Saved(RUNS)
    if given.memory:
        memory(runs, given.memory)
    elif not given.table:
        for seed in range(given.seeds):
            for name in given.only:
                if network(name).n_nodes <= given.most:
                    run(name, seed, runs)
    print("\n".join(two_mode(runs)))
