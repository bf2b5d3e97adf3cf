"""Time of a default fit from 10 to 10^7 nodes, with Leiden and infomap on the same graphs, and the picture of it.

    python benchmarks/by_size.py [--largest 1000000]      measure; what is saved is not measured again
    python benchmarks/by_size.py --figure                 draw docs/images/speed.png

Planted overlapping communities of 50 nodes (a quarter of the nodes where there are fewer than 200), one or two to a
node, mean degree 20 (a fifth of the nodes at most). Their number is given to nobody. Processor seconds of all threads,
after kernels were compiled, and average F1. Results go to benchmarks/results/by_size.json. BigCLAM is measured where
karateclub is installed: the quick program of its authors is in no package index.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from pathlib import Path

import rivals
from results_table import by_size
from scale import average_f1
from scipy import sparse

import klafter as kl
from klafter.datasets import load_karate, make_overlapping
from klafter.evaluation.saved import Saved, code_digest

HERE = Path(__file__).parent
SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 100_000, 1_000_000, 10_000_000)
LOOKS = {"klafter": ("o-", "#0072b2"), "Leiden": ("s--", "#d55e00"), "infomap": ("^--", "#009e73")}
LOOKS["BigCLAM"] = ("v--", "#cc79a7")


def planted(n: int):
    """A graph of n nodes and the memberships it was drawn from."""
    degree, size = min(20.0, n / 5), max(5, min(50, n // 4))
    graph, truth = make_overlapping(n, mean_degree=degree, community_size=size, memberships=(1, 2), random_state=0)
    return graph, truth.memberships


def by_klafter(graph):
    return kl.KLafter(random_state=0, n_jobs=1).fit(graph).memberships_


def big_clam(graph, seed: int) -> list[set]:
    """BigCLAM as karateclub has it, with as many dimensions as it takes by default."""
    model = rivals.package("karateclub").BigClam(seed=seed)
    model.fit(rivals.as_networkx(graph))
    return rivals.groups([label for _, label in sorted(model.get_memberships().items())])


def by_rival(find):
    """The memberships that a rival's sets of rows are."""

    def fit(graph):
        found = find(graph, 0)
        rows = [node for community in found for node in community]
        columns = [k for k, community in enumerate(found) for _ in community]
        return sparse.csc_array(([1.0] * len(rows), (rows, columns)), shape=(graph.n_nodes, len(found)))

    return fit


METHODS = {
    "klafter": by_klafter, "Leiden": by_rival(rivals.leiden), "infomap": by_rival(rivals.infomap),
    "BigCLAM": by_rival(big_clam),
}  # fmt: skip


def measure(saved: Saved, sizes: list[int]) -> None:
    command = "python benchmarks/by_size.py " + " ".join(sys.argv[1:])
    for fit in METHODS.values():  # loading and compiling are not fitting
        with contextlib.suppress(rivals.Missing):
            fit(load_karate())
    for n in sizes:
        if all(f"{method}, {n}" in saved for method in METHODS):
            continue
        graph, truth = planted(n)
        for method in METHODS:
            if f"{method}, {n}" not in saved:
                run(saved, command, method, graph, truth)


def run(saved: Saved, command: str, method: str, graph, truth) -> None:
    """One fit and its record; a rival that is not installed has none."""
    begun = time.process_time()
    try:
        found = METHODS[method](graph)
    except rivals.Missing as reason:
        print(f"{method} is left out: {reason}", flush=True)
        return
    seconds = time.process_time() - begun
    record = {"method": method, "nodes": graph.n_nodes, "links": graph.n_links, "cpu": seconds}
    record |= {"f1": average_f1(truth, found), "communities": found.shape[1], "code": code_digest(), "command": command}
    saved.add(f"{method}, {graph.n_nodes}", record)
    print(f"{method}, {graph.n_nodes:,} nodes: {seconds:.2f} CPU s, F1 {record['f1']:.3f}", flush=True)


def draw(saved: Saved) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for method, (look, color) in LOOKS.items():
        rows = sorted((r["nodes"], r["cpu"]) for r in saved.values() if r["method"] == method)
        if rows:
            axes.loglog(*zip(*rows), look, color=color, label=method, ms=4, lw=1)
    axes.set(xlabel="nodes", ylabel="CPU seconds of a fit", title="Planted communities, mean degree 20")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE.parent / "docs" / "images" / "speed.png", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=1_000_000, metavar="NODES")
    parser.add_argument("--figure", action="store_true", help="only draw what is saved")
    given = parser.parse_args()
    saved = Saved(HERE / "results" / "by_size.json")
    if given.figure:
        draw(saved)
    else:
        measure(saved, [n for n in SIZES if n <= given.largest])
    print("\n".join(by_size()))


if __name__ == "__main__":
    main()
