"""Time of default fits between 200 and 2,500 nodes, and what they are worth, beside Louvain in the same run.

    python benchmarks/middle.py                              all networks that are there; it can be resumed
    python benchmarks/middle.py --only nips234 email_eu_core some of them
    python benchmarks/middle.py --effort 4,240 --only ...    other restarts and sweeps beyond 500 nodes
    python benchmarks/middle.py --label before               the same under a name, of another version
    python benchmarks/middle.py --table                      what has been measured

KLAFTER_DATA names the folder with networks/ and corpus/. Processor seconds of one core, after kernels were compiled. On
planted networks F1 of the communities and the score; on others AUC of a fifth of the links that the fit did not see
(clean protocol) among 12,000 of the non-links, by the model alone and with the structural expert. Each run is kept in
benchmarks/results/middle.json, which holds the score, the link and the settings that were not at their defaults.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

import corpus
import numpy as np
from sklearn.metrics import roc_auc_score

import klafter as kl
from klafter.datasets import load_karate, make_overlapping
from klafter.evaluation import average_f1
from klafter.evaluation.saved import Saved
from klafter.graph import Graph, split_dyads
from klafter.graph.splits import Held
from klafter.search.config import VARIABLE

NONLINKS = 12_000
UNDIRECTED = "_undirected"  # at the end of a name: links without their direction
RUNS = Path(__file__).parent / "results" / "middle.json"
PLANTED = {"planted 500, degree 40": (500, 40.0), "planted 1,000, degree 40": (1000, 40.0)}
PLANTED["planted 1,000, degree 10"] = (1000, 10.0)
FILES = ("nips234", "protein230", "ego_facebook_348", "netscience_seal", "email_eu_core", "yeast_pajek")
CORPUS = ("545_58866954a411221d0e7c6780", "41_email_network_uni_r_v_spain_email_network_uni")


def read(name: str) -> Graph:
    if name in CORPUS:
        return corpus.read(name)
    graph = kl.read_graph(
        Path(os.environ["KLAFTER_DATA"]) / "networks" / f"{name.removesuffix(UNDIRECTED)}.tsv"
    ).binarize()
    return graph.symmetrize() if name.endswith(UNDIRECTED) else graph


def fit(graph: Graph, seed: int) -> tuple[kl.KLafter, dict]:
    begun = time.process_time()
    model = kl.KLafter(random_state=seed, n_jobs=1).fit(graph)
    facts = {"cpu": time.process_time() - begun, "score": model.objective_, "link": model.link_}
    begun = time.process_time()
    louvain(graph)
    return model, {**facts, "louvain": time.process_time() - begun, "nodes": graph.n_nodes, "links": graph.n_links}


def louvain(graph: Graph) -> None:
    import networkx as nx

    nx.community.louvain_communities(nx.from_scipy_sparse_array(graph.links, create_using=nx.Graph), seed=0)


def measure(name: str, seed: int) -> dict:
    """One fit and its figures."""
    if name in PLANTED:
        n, degree = PLANTED[name]
        graph, truth = make_overlapping(n, mean_degree=degree, community_size=50, random_state=seed)
        model, facts = fit(graph, seed)
        return {**facts, "f1": average_f1(truth.memberships, model.memberships_)}
    train, held = split_dyads(read(name), 0.2, "clean", seed)
    held = some_of(held)
    model, facts = fit(train, seed)
    both = roc_auc_score(held.values, model.predict_proba(held.pairs))
    model.structure = 0.0
    return {**facts, "auc": both, "alone": roc_auc_score(held.values, model.predict_proba(held.pairs))}


def some_of(held: Held) -> Held:
    """All of its links, and NONLINKS of the rest: on more the features of the expert would take longer than the fit."""
    nonlinks, rng = np.flatnonzero(held.values == 0), np.random.default_rng(0)
    asked = rng.choice(nonlinks, min(len(nonlinks), NONLINKS), replace=False)
    asked = np.concatenate([np.flatnonzero(held.values > 0), asked])
    return held._replace(pairs=held.pairs[asked], values=held.values[asked])


def table(saved: Saved) -> str:
    lines = ["| network | effort | nodes | links | CPU s | Louvain (networkx), s | score | link | F1, or AUC (alone) |"]
    lines.append("|---|---|---:|---:|---:|---:|---:|---|---|")
    for r in saved.values():
        predicted = f"{r['auc']:.4f} " if "auc" in r else ""
        worth = f"{predicted}({r['alone']:.4f})" if "alone" in r else f"{r['f1']:.3f}" if "f1" in r else ""
        louvain = f"{r['louvain']:.2f}" if "louvain" in r else ""
        lines.append(
            f"| {r['name']} | {r['effort'] or 'default'} | {r['nodes']:,} | {r['links']:,} | {r['cpu']:.1f} | "
            f"{louvain} | {r['score']:,.1f} | {r['link']} | {worth} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[*PLANTED, *FILES, *CORPUS], metavar="NAME")
    parser.add_argument("--effort", default="", metavar="RESTARTS,SWEEPS", help="beyond 500 nodes")
    parser.add_argument("--label", default="", help="of the version that is measured")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if given.effort and VARIABLE not in os.environ:  # settings are read when klafter is imported
        restarts, sweeps = map(int, given.effort.split(","))
        settings = {"effort.restarts": (8, 12, restarts), "effort.sweeps": (120, 120, sweeps)}
        os.environ[VARIABLE] = json.dumps(settings)
        os.execv(sys.executable, [sys.executable, *sys.argv])
    saved = Saved(RUNS)
    if not given.table:
        kl.KLafter(random_state=0, n_init=2).fit(load_karate())
        for name in given.only:
            effort = given.effort or given.label
            key = f"{name}, seed {given.seed}, {effort or 'default'}"
            if key not in saved:
                record = {"name": name, "seed": given.seed, "effort": effort, **measure(name, given.seed)}
                saved.add(key, record)
                print(json.dumps(record), flush=True)
    print(table(saved))


if __name__ == "__main__":
    main()
