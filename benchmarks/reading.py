"""How long it takes to read an edge list: integers and names, by number of lines.

    python benchmarks/reading.py 10000000

Results, with the command that made them, go to benchmarks/results/reading.json.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import klafter as kl

RESULTS = Path(__file__).parent / "results" / "reading.json"


def write(path: Path, lines: int, prefix: str) -> None:
    """Random links among a tenth as many nodes."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        for first in range(0, lines, 1_000_000):
            pairs = rng.integers(0, lines // 10, (min(1_000_000, lines - first), 2)).tolist()
            file.writelines(f"{prefix}{a}\t{prefix}{b}\n" for a, b in pairs)


def measure(lines: int, prefix: str) -> dict:
    """Time and memory of one reading."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "links.tsv"
        write(path, lines, prefix)
        wall, cpu = time.perf_counter(), time.process_time()
        graph = kl.read_graph(path, directed=False)
        return {
            "lines": lines,
            "names": "words" if prefix else "integers",
            "megabytes": round(path.stat().st_size / 2**20, 1),
            "seconds": round(time.perf_counter() - wall, 2),
            "cpu_seconds": round(time.process_time() - cpu, 2),
            "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
            "nodes": graph.n_nodes,
            "links": graph.n_links,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", type=int, nargs="*", default=[1_000_000, 10_000_000])
    args = parser.parse_args()
    rows = [measure(lines, prefix) for lines in args.lines for prefix in ("", "user")]
    sys.stdout.writelines(json.dumps(row) + "\n" for row in rows)
    command = "python benchmarks/reading.py " + " ".join(sys.argv[1:])
    RESULTS.write_text(json.dumps({"command": command, "readings": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
