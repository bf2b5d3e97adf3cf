"""What KLafter takes on sparse networks of some ten thousand nodes: processor seconds, score, communities.

    python benchmarks/sparse_real.py FOLDER ca_astroph email_enron deezer_ro [--label after]

FOLDER has NAME.tsv, a list of links. One fit by the defaults on one thread, after a small fit that loads the kernels.
Writes benchmarks/results/sparse_real.json, where fits under other labels stay: run it with PYTHONPATH at another
version of the library to compare two.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from pathlib import Path

import klafter
from klafter.datasets import make_overlapping

RESULTS = Path(__file__).parent / "results" / "sparse_real.json"


def measure(path: Path, seed: int) -> dict:
    """One fit by the defaults."""
    graph = klafter.read_graph(path).binarize()
    began = time.process_time()
    model = klafter.KLafter(random_state=seed, n_jobs=1).fit(graph)
    return {
        "network": path.stem,
        "seed": seed,
        "nodes": graph.n_nodes,
        "links": graph.n_links,
        "cpu_seconds": round(time.process_time() - began, 1),
        "score": round(model.objective_, 1),
        "communities": model.n_communities_,
        "steps": model.n_iter_,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--label", default="after")
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    klafter.KLafter(link="exposure", max_iter=2, random_state=0).fit(make_overlapping(1000, random_state=0)[0])
    for name in args.networks:
        row = {"label": args.label, **measure(args.folder / f"{name}.tsv", args.seed)}
        row["command"] = shlex.join(["python", "benchmarks/sparse_real.py", "FOLDER", name, "--label", args.label])
        saved = json.loads(args.output.read_text()) if args.output.exists() else {"fits": []}
        same = [row[key] for key in ("label", "network", "seed")]
        others = [fit for fit in saved["fits"] if [fit[key] for key in ("label", "network", "seed")] != same]
        args.output.write_text(json.dumps({**saved, "fits": [*others, row]}, indent=1) + "\n")
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
