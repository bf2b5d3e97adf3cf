"""``python -m benchmarks.torture``: all parts, each from where the saved results end.

python -m benchmarks.torture --fits 100 --writers 500 --graphs 100000 --models 20000 --odd 10000
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.torture.kills import CheckpointedFits, KilledWriters, environment
from klafter.evaluation.saved import write_json

RESULTS = Path(__file__).parents[1] / "results" / "torture.json"
BATCH = 2000
MEMORY = 1024  # MB, of a process that reads small files


def main() -> None:
    """Run what is missing and save after every step."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, count in (("fits", 100), ("writers", 500), ("graphs", 100_000), ("models", 20_000), ("odd", 10_000)):
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args()
    environment()
    known = json.loads(asked.results.read_text()) if asked.results.exists() else {}
    known["command"] = "python -m benchmarks.torture " + " ".join(sys.argv[1:])
    for name, count, make in (
        ("checkpointed fits", asked.fits, CheckpointedFits),
        ("killed writers", asked.writers, KilledWriters),
    ):
        one_by_one(known, name, count, make, asked.results)
    for name, count in (("graph files", asked.graphs), ("model files", asked.models), ("odd graphs", asked.odd)):
        in_batches(known, name, count, asked.results)
    print(json.dumps({name: {k: v for k, v in part.items() if k != "bad"} for name, part in known.items()
                      if isinstance(part, dict)}, indent=1))  # fmt: skip


def one_by_one(known: dict, name: str, count: int, make, path: Path) -> None:
    """Trials that need processes of their own."""
    part = known.setdefault(name, {"tried": 0, "kills": 0, "good": 0, "seconds": 0.0, "bad": []})
    trial = make() if part["tried"] < count else None
    while part["tried"] < count:
        begun = time.perf_counter()
        found = trial(part["tried"])
        part["good"] += found["good"]
        part["kills"] += found["kills"]
        if not found["good"]:
            part["bad"].append({"number": part["tried"], **found})
        part["tried"] += 1
        part["seconds"] = round(part["seconds"] + time.perf_counter() - begun, 1)
        write_json(path, known)


def in_batches(known: dict, name: str, count: int, path: Path) -> None:
    """Trials by the thousand in processes that may be lost: one that dies is a crash of the file it was at."""
    part = known.setdefault(name, {"tried": 0, "good": 0, "seconds": 0.0, "memory": 0, "bad": []})
    while part["tried"] < count:
        first, last, begun = part["tried"], min(count, part["tried"] + BATCH), time.perf_counter()
        words = [sys.executable, "-m", "benchmarks.torture.fuzz", name, str(first), str(last)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        bad = [line for line in lines if "number" in line]
        ends = [line for line in lines if "memory" in line]
        if ends:
            part["memory"] = max(part["memory"], ends[0]["memory"])
        else:  # go on after the file that killed the process
            last = max((line["at"] for line in lines if "at" in line), default=first) + 1
            died = f"the process died ({done.returncode})"
            bad.append({"number": last - 1, "error": died, "where": done.stderr[-300:]})
        part["bad"] += bad
        part["good"] += last - first - len(bad)
        part["tried"] = last
        part["seconds"] = round(part["seconds"] + time.perf_counter() - begun, 1)
        write_json(path, known)


if __name__ == "__main__":
    main()
