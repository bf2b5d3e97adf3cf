"""Which level to show first: the finest, two nats a member, or before the sharpest jump, by known communities.

    python benchmarks/level_rules.py [--seeds 0 1 2] [--only karate ...]

Default fits of small labelled networks (dense engine), and of small LFR graphs, where the finest level is the right one
to show. `two nats a member` stops before the first merge that raises the score by more than that for each member of the
smaller community; `jump` is ``klafter.search.levels.shown_level``, worked out from the levels. KLAFTER_DATA names the
folder of networks/. Writes benchmarks/results/level_rules.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from communities import large
from known import read_network
from scipy import sparse

import klafter as kl
from klafter.evaluation import community_measures
from klafter.graph.writing import write_json

RESULTS = Path(__file__).parent / "results" / "level_rules.json"
DATA = Path(os.environ.get("KLAFTER_DATA", Path(__file__).parents[2] / "shared" / "data"))
LABELLED = (
    "karate", "polbooks", "football", "aucs", "ukfaculty", "ego_facebook_348", "ego_facebook_414", "ego_facebook_686",
)  # fmt: skip
LFR = {  # of 150 nodes: mean degree, mixing, overlapping nodes and their memberships, smallest and largest community
    "degree 12, mixing 0.3": (12, 0.3, 0, 1, 12, 30),
    "degree 12, mixing 0.45": (12, 0.45, 0, 1, 15, 35),
    "degree 10, mixing 0.3, 20 in two": (10, 0.3, 20, 2, 15, 30),
    "degree 20, mixing 0.4": (20, 0.4, 0, 1, 20, 40),
}


def two_nats(levels: list, n: int) -> int:
    """The rule that was used before."""
    for t, (here, there) in enumerate(pairwise(levels)):
        smaller = min(sparse.csc_array(here.memberships)[:, list(there.merged)].sum(axis=0)) if there.merged else 1
        if there.score - here.score > 2.0 * smaller or (there.n_communities == 1 and n < 50):
            return t
    return len(levels) - 1


def jump(levels: list, n: int) -> int:
    """The level before the merge that raises the score by the highest multiple of any rise before it."""
    largest, sharpest, shown = np.log(n), 0.0, 0
    for t, (here, there) in enumerate(pairwise(levels)):
        rise = there.score - here.score
        if rise > sharpest * largest:
            sharpest, shown = rise / largest, t
        largest = max(largest, rise)
    return shown


RULES = {"finest": lambda levels, n: 0, "two nats a member": two_nats, "jump": jump}


def compare(levels: list, truth: list, n: int) -> dict:
    """ONMI, F1, share in none and number of communities of the level that each rule shows."""
    row = {}
    for rule, choose in RULES.items():
        columns = sparse.csc_array(levels[choose(levels, n)].memberships)
        bounds = zip(columns.indptr[:-1], columns.indptr[1:], strict=True)
        groups = [columns.indices[a:b].tolist() for a, b in bounds]
        found = community_measures(large(truth), large(groups), n_nodes=n)
        row[rule] = {
            "onmi": round(found["onmi"], 4), "f1": round(found["average_f1"], 4),
            "none": round(1 - found["coverage"], 4), "communities": len(groups),
        }  # fmt: skip
    return row


def planted(name: str, seed: int) -> tuple:
    """A small LFR graph."""
    k, mu, on, om, least, most = LFR[name]
    sizes = {"min_community": least, "max_community": most}
    options = {"average_degree": k, "max_degree": 2 * k, "mu": mu, "on": on, "om": om, **sizes}
    graph, truth = kl.datasets.make_lfr(150, random_state=10 * seed + list(LFR).index(name), **options)
    return graph, truth.communities()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--only", nargs="*", default=[*LABELLED, *LFR])
    args = parser.parse_args()
    rows = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    for seed in args.seeds:
        for name in args.only:
            graph, truth = planted(name, seed) if name in LFR else read_network(DATA / "networks", name)
            model = kl.KLafter(random_state=seed, n_jobs=1).fit(graph)
            row = {"network": name, "seed": seed, **compare(model.levels(), truth, graph.n_nodes)}
            rows = [old for old in rows if (old["network"], old["seed"]) != (name, seed)] + [row]
            sys.stdout.write(json.dumps(row) + "\n")
            sys.stdout.flush()
            write_json(
                RESULTS, {"command": " ".join(["python benchmarks/level_rules.py", *sys.argv[1:]]), "rows": rows}
            )


if __name__ == "__main__":
    main()
