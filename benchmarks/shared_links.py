"""Links shared among the communities of a node: what the score's choice does to communities, in pairs.

    python benchmarks/shared_links.py [--lfr NAME ...] [--real NAME ...] [--seeds 3]

Default fits of LFR graphs, each the cover that the searches found and the one after nodes may share their links (the
same fit, so only that differs); and fits with link="exposure" of real networks, where it is asked whether shared links
are taken, and what asking costs. KLAFTER_DATA names the folder of networks/ and lfr/. Groups of fewer than three count
as none. Writes benchmarks/results/shared_links.json after every fit; rows that are there are not measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from fnmatch import fnmatch
from pathlib import Path

from communities import large
from known import read_network
from scipy import sparse

import klafter as kl
from klafter.evaluation import community_measures
from klafter.graph.writing import write_json
from klafter.search.sparse import sharing
from klafter.search.sparse.state import memberships

RESULTS = Path(__file__).parent / "results" / "shared_links.json"
DATA = Path(os.environ.get("KLAFTER_DATA", Path(__file__).parents[2] / "shared" / "data"))
REAL = ("football", "usair", "netscience_seal", "ego_facebook_348", "ego_facebook_414", "email_eu_core", "polblogs")
LFR = ("lfr_n1000_k20_mu0.3_on[15]*", "lfr_n1000_k10_mu0.3_on[15]*", "lfr_n1000_k20_mu0.5_on10_om2")
choose = sharing.share_if_better


def watched(seen: dict):
    """`share_if_better`, noting what it was given and how long it took."""

    def shared(settings, outcomes, seed):
        best = min(outcomes, key=lambda outcome: outcome.score)
        seen.update(score=best.score, cover=memberships(best.problem, best.state))
        begun = time.process_time()
        found = choose(settings, outcomes, seed)
        seen["seconds"] = time.process_time() - begun
        return found

    return shared


def measures(cover, truth: list, score: float) -> dict:
    """How near a cover is to the truth, and its score."""
    n, columns = cover.shape[0], sparse.csc_array(cover)
    groups = [columns.indices[a:b].tolist() for a, b in zip(columns.indptr[:-1], columns.indptr[1:], strict=True)]
    found = community_measures(large(truth), large(groups), n_nodes=n)
    return {
        "score": round(float(score), 1), "onmi": round(found["onmi"], 4), "f1": round(found["average_f1"], 4),
        "none": round(1 - found["coverage"], 4), "communities": len(groups), "true": len(truth),
    }  # fmt: skip


def run(folder: str, name: str, seed: int, **parameters) -> dict:
    """One fit, before and after."""
    graph, truth = read_network(DATA / folder, name)
    graph, seen = kl.Graph(sparse.csr_array((graph.links + graph.links.T) != 0).astype(float)), {}
    sharing.share_if_better = watched(seen)
    begun = time.process_time()
    model = kl.KLafter(random_state=seed, n_jobs=1, **parameters).fit(graph)
    row = {"network": name, "seed": seed, **parameters, "link": model.link_, "cpu_seconds": time.process_time() - begun}
    row["cpu_seconds"] = round(row["cpu_seconds"], 1)
    after = measures(model.memberships_, truth, model.objective_)
    if model.link_ != "exposure":
        return {**row, "shared": False, "before": after, "after": after}
    row |= {"shared": bool(model.links_shared_), "cpu_of_asking": round(seen["seconds"], 2)}
    return {**row, "before": measures(seen["cover"], truth, seen["score"]), "after": after}


def saved() -> list[dict]:
    return json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lfr", nargs="*", default=LFR)
    parser.add_argument("--real", nargs="*", default=REAL)
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    args = parser.parse_args()
    grid = sorted(path.stem for path in (DATA / "lfr").glob("lfr_*.tsv"))
    tasks = [("lfr", n, s, {}) for s in args.seeds for p in args.lfr for n in grid if fnmatch(n, p)]
    real = {"link": "exposure", "n_init": 1}
    tasks += [("networks", name, 0, real) for name in args.real if (DATA / "networks" / f"{name}.tsv").exists()]
    kl.KLafter(link="exposure", n_init=1, random_state=0).fit(kl.datasets.load_karate())
    for folder, name, seed, parameters in tasks:
        if (name, seed) in {(row["network"], row["seed"]) for row in saved()}:
            continue
        row = run(folder, name, seed, **parameters)
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()
        write_json(RESULTS, {"command": "python benchmarks/shared_links.py", "rows": [*saved(), row]})


if __name__ == "__main__":
    main()
