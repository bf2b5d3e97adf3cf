"""`make_lfr` beside graphs of the authors' generator: degrees, sizes, mixing, clustering, correlation of degrees.

    python benchmarks/lfr.py [FOLDER] [--seeds 5]

FOLDER, by default the folder lfr in KLAFTER_DATA, holds NAME.tsv and NAME.communities.txt, with the parameters of each
graph in a line that begins "# truth: LFR benchmark". Each graph there is one draw; ours are several, so a difference in
units of their standard deviation says how likely it is one of ours. Writes benchmarks/results/lfr.json.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

import numpy as np
from known import read_network
from scipy import sparse
from scipy.stats import ks_2samp

from klafter.datasets import make_lfr
from klafter.graph.writing import write_json

RESULTS = Path(__file__).parent / "results" / "lfr.json"


def read_parameters(path: Path) -> dict:
    """Arguments of `make_lfr` from the line that names those of the graph."""
    text = path.read_text()
    line = next(line for line in text.splitlines() if line.startswith("# truth: LFR benchmark"))
    k, most, mu, on, om, least_size, most_size = (float(word) for word in re.findall(r"\d+(?:\.\d+)?", line))
    n = int(re.search(r"# nodes: (\d+)", text)[1])
    return {
        "n": n, "average_degree": k, "max_degree": int(most), "mu": mu, "on": int(on), "om": int(om),
        "min_community": int(least_size), "max_community": int(most_size),
    }  # fmt: skip


def describe(links: sparse.csr_array, communities: list[set]) -> dict:
    """Numbers of one graph, and its degrees and sizes."""
    n, degree = links.shape[0], np.diff(links.indptr)
    node = np.concatenate([sorted(members) for members in communities])
    column = np.repeat(np.arange(len(communities)), [len(members) for members in communities])
    z = sparse.csr_array((np.ones(len(node)), (node, column)), shape=(n, len(communities)))
    together = sparse.csr_array(z @ z.T)
    inner = np.diff(sparse.csr_array(links * together).indptr)
    mixing = 1 - inner / np.maximum(degree, 1)
    triangles = (links @ links * links).sum(axis=1)
    open_or_closed = degree * (degree - 1)
    first, second = links.nonzero()
    numbers = {
        "average_degree": degree.mean(),
        "max_degree": degree.max(),
        "n_communities": len(communities),
        "mixing": 1 - inner.sum() / degree.sum(),
        "mixing_sd_over_nodes": mixing.std(),
        "clustering": (triangles / np.maximum(open_or_closed, 1)).mean(),
        "degree_correlation": np.corrcoef(degree[first], degree[second])[0, 1],
    }
    return {"numbers": numbers, "degrees": degree, "sizes": np.bincount(column)}


def compare_graph(folder: Path, name: str, seeds: int) -> dict:
    """One graph of the authors' beside ours with the same parameters."""
    parameters = read_parameters(folder / f"{name}.tsv")
    graph, truth = read_network(folder, name)
    theirs = describe(graph.links, truth)
    ours = []
    for seed in range(seeds):
        made, planted = make_lfr(**parameters, random_state=seed)
        ours.append(describe(made.links, planted.communities()))
    row: dict = {"graph": name}
    for measure, value in theirs["numbers"].items():
        drawn = [draw["numbers"][measure] for draw in ours]
        row[measure] = {"theirs": value, "ours": np.mean(drawn), "sd": np.std(drawn, ddof=1)}
    for what in ("degrees", "sizes"):
        distance = ks_2samp(theirs[what], np.concatenate([draw[what] for draw in ours]))
        row[what] = {"ks": distance.statistic, "p": distance.pvalue}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path(os.environ.get("KLAFTER_DATA", ".")) / "lfr")
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    rows = []
    for path in sorted(args.folder.glob("lfr_*.tsv")):
        rows.append(compare_graph(args.folder, path.stem, args.seeds))
        sys.stdout.write(show(rows[-1]) + "\n")
        sys.stdout.flush()
    command = f"python benchmarks/lfr.py --seeds {args.seeds}"
    write_json(RESULTS, {"command": command, "rows": rounded(rows)})


def show(row: dict) -> str:
    measures = {name: cell for name, cell in row.items() if isinstance(cell, dict) and "theirs" in cell}
    cells = [f"{name} {cell['theirs']:.3g} / {cell['ours']:.3g}" for name, cell in measures.items()]
    return f"{row['graph']:32} " + "  ".join(cells) + f"  KS {row['degrees']['ks']:.3f} {row['sizes']['ks']:.3f}"


def rounded(value):
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return value if isinstance(value, str) else round(float(value), 5)


if __name__ == "__main__":
    main()
