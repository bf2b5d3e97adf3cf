"""Seconds of a fit as ratios to plain NumPy, of a whole default fit, and of the first and the later starts.

    python benchmarks/speed.py [--networks nips234 protein230] [--split 0]

Everything runs in one process on one core, one after the other, in CPU seconds; starts are separate processes. Linear
algebra has one thread: a second would be counted while it waits. Writes benchmarks/results/speed.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")  # before NumPy

from plain import plain_kernels

from klafter import KLafter, split_dyads
from klafter.datasets import load_dataset, load_karate
from klafter.graph import write_graph

RESULTS = Path(__file__).parent / "results" / "speed.json"
SHARED = Path(__file__).parents[2] / "shared" / "data"
TRIALS = 5


def seconds(call) -> float:
    begun = time.process_time()
    call()
    return time.process_time() - begun


def fits(network: str, split: int) -> dict:
    """One restart without smoothing, compiled and on NumPy's kernels, move by move the same; and the default fit."""
    train, _ = split_dyads(load_dataset(network), 0.2, protocol="clean", random_state=split)
    single = KLafter(n_init=1, n_smooth=0, prior="buffet", random_state=0)
    ours = min(seconds(lambda: single.fit(train)) for _ in range(TRIALS))
    slow = KLafter(n_init=1, n_smooth=0, prior="buffet", random_state=0)
    with plain_kernels():
        theirs = seconds(lambda: slow.fit(train))
    return {
        "rounds": single.n_iter_,
        "single_fit": ours,
        "plain_numpy": theirs,
        "ratio": theirs / ours,
        "objective": single.objective_,
        "objective_plain_numpy": slow.objective_,
        "default_fit": seconds(lambda: KLafter(random_state=0).fit(train)),
    }


def start(arguments: list[str], cache: str) -> float:
    """Wall seconds of one command in its own process."""
    environment = os.environ | {"KLAFTER_CACHE_DIR": cache}
    begun = time.perf_counter()
    subprocess.run([sys.executable, *arguments], env=environment, check=True, capture_output=True)
    return time.perf_counter() - begun


def starts() -> dict:
    """Import, and `klafter fit` on Karate and `klafter demo`: the first time, with compilation, and later."""
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as place:
        edges = Path(place) / "karate.tsv"
        write_graph(load_karate(), edges)
        fit = ["-m", "klafter", "fit", str(edges), "-o", str(Path(place) / "m.npz")]
        empty = min(start(["-c", "pass"], cache) for _ in range(TRIALS))
        return {
            "import": min(start(["-c", "import klafter"], cache) for _ in range(TRIALS)) - empty,
            "first_fit": start(fit, cache),
            "later_fit": min(start(fit, cache) for _ in range(TRIALS)),
            "later_fit_without_smoothing": min(
                start([*fit, "--restarts", "1", "--smooth", "0"], cache) for _ in range(TRIALS)
            ),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=["nips234", "protein230"])
    parser.add_argument("--split", type=int, default=0)
    options = parser.parse_args()
    if "KLAFTER_DATA" not in os.environ and SHARED.is_dir():
        os.environ["KLAFTER_DATA"] = str(SHARED)
    KLafter(n_init=2, n_smooth=6, random_state=0).fit(load_karate())  # compiles
    out = {"command": " ".join(["python benchmarks/speed.py", *sys.argv[1:]]), "networks": {}, "starts": starts()}
    print(json.dumps(out["starts"], indent=1), flush=True)
    for network in options.networks:
        out["networks"][network] = fits(network, options.split)
        print(network, json.dumps(out["networks"][network], indent=1), flush=True)
    RESULTS.write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
