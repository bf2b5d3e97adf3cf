"""``python -m benchmarks.torture``: all parts, each from where the saved results end.

python -m benchmarks.torture --part "graph files" --count 1000000
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from klafter import __version__
from klafter.evaluation.saved import LAYERS, code_digest
from klafter.graph.writing import write_json

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "torture.json"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
SUMS = ("kills", "restarts", "sentences", "resumed", "cases")
FITS = ("jit", *LAYERS)  # the layers that decide a fit


class Part(NamedTuple):
    """A module with ``run(first, last)``, how many trials are wanted, how many a process does, and what is tried."""

    module: str
    count: int
    batch: int
    layers: tuple[str, ...] = FITS


PARTS = {
    "odd graphs": Part("odd_graphs", 10**9, 500),
    "determinism": Part("determinism", 10**9, 20),
    "graph files": Part("graph_files", 100_000, 2000, ("graph",)),
    "model files": Part("model_files", 20_000, 3000, ("graph", *FITS)),
    "checkpointed fits": Part("fits", 200, 16),
    "resumed commands": Part("commands", 100, 12, ("graph", *FITS, "evaluation", "cli")),
    "killed writers": Part("writers", 1000, 50, ("graph", *FITS, "cli")),
    "Dask clusters": Part("clusters", 100, 20),
}


def main() -> None:
    """Run what is missing and save after every batch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append", help="by default all")
    parser.add_argument("--count", type=int, help="trials of each part; by default as many as were promised")
    parser.add_argument("--first", type=int, default=0, help="number of the first trial, where nothing is saved yet")
    parser.add_argument("--again", action="store_true", help="try those again that were bad, and nothing else")
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args()
    for name in asked.part or PARTS:
        part = PARTS[name] if asked.count is None else PARTS[name]._replace(count=asked.count)
        if asked.again:
            try_again(name, asked.results)
        else:
            in_batches(name, part, asked.results, asked.first)


def in_batches(name: str, part: Part, path: Path, start: int) -> None:
    """Trials in processes that may be lost: one that dies is a crash of the trial it was at."""
    found = saved(path).get(name) or {"tried": 0, "good": 0, "seconds": 0.0, "memory": 0, "bad": [], "first": start}
    while found["tried"] < part.count and not found.get("all"):
        first, begun, code = found.get("first", 0) + found["tried"], time.perf_counter(), code_digest(part.layers)
        done, lines = run(part.module, first, first + min(part.count - found["tried"], part.batch))
        tried, bad = len([line for line in lines if "at" in line]), [line for line in lines if "number" in line]
        ended = [line for line in lines if "memory" in line]
        if not ended:
            said = f"the process died ({done.returncode})"
            bad.append({"number": first + tried - 1, "error": said, "where": done.stderr[-600:]})
        else:
            found["memory"] = max(found["memory"], ended[0]["memory"])
            found["all"] = ended[0]["all"]
        for key in SUMS:
            total = sum(line.get(key, 0) for line in lines)
            if total or key in found:
                found[key] = found.get(key, 0) + total
        found["bad"] += bad
        found["good"] += tried - len({line["number"] for line in bad})
        found["tried"] += tried
        found["code"] = {**found.get("code", {}), code: found.get("code", {}).get(code, 0) + tried}
        found["seconds"] = round(found["seconds"] + time.perf_counter() - begun, 1)
        found |= {"version": __version__, "command": f'python -m benchmarks.torture --part "{name}"'}
        write_json(path, {**saved(path), name: found})
        print(f"{name}: {found['good']:,} of {found['tried']:,} good, {found['seconds']:,.0f} s", flush=True)
        if not tried:
            break


def try_again(name: str, path: Path) -> None:
    """Trials that were bad; those that are good now are told as mended."""
    part, found = PARTS[name], saved(path).get(name, {"bad": []})
    for entry in found["bad"]:
        done, lines = run(part.module, entry["number"], entry["number"] + 1)
        if done.returncode == 0 and not any("number" in line for line in lines):
            found["bad"] = [other for other in found["bad"] if other != entry]
            found["mended"] = [*found.get("mended", []), {"number": entry["number"], "error": entry["error"][:160]}]
            found["good"] += 1
            write_json(path, {**saved(path), name: found})
        print(f"{name}: {len(found['bad'])} bad", flush=True)


def run(module: str, first: int, last: int) -> tuple[subprocess.CompletedProcess, list[dict]]:
    """One process, and the JSON that it said."""
    words = [sys.executable, "-m", f"benchmarks.torture.{module}", str(first), str(last)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, **ONE_THREAD})
    said = done.stdout.replace(f"{ROOT}{os.sep}", "").replace(sys.prefix + os.sep, "")  # no paths of this machine
    return done, [json.loads(line) for line in said.splitlines() if line.startswith("{")]


def saved(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


if __name__ == "__main__":
    main()
