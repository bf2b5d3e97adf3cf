"""How long it takes to read an edge list: integers and names, by number of lines, beside polars and a CSR matrix.

    python benchmarks/reading.py 10000000

Polars is measured where it is installed, in the same run. Everything has one thread, and times are processor seconds.
Results, with the command that made them, go to benchmarks/results/reading.json.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

os.environ |= {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}  # before they are loaded

import numpy as np
from scipy import sparse

import klafter as kl

try:
    import polars
except ImportError:
    polars = None
try:
    import pyarrow.csv  # loading it is not reading
except ImportError:
    pyarrow = None
else:
    pyarrow.set_cpu_count(1)

RESULTS = Path(__file__).parent / "results" / "reading.json"


def write(path: Path, lines: int, prefix: str) -> None:
    """Random links among a tenth as many nodes."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        for first in range(0, lines, 1_000_000):
            pairs = rng.integers(0, lines // 10, (min(1_000_000, lines - first), 2)).tolist()
            file.writelines(f"{prefix}{a}\t{prefix}{b}\n" for a, b in pairs)


def by_polars(path: Path, prefix: str) -> sparse.csr_array:
    """The symmetric matrix of a file, by polars."""
    table = polars.read_csv(path, separator="\t", has_header=False)
    ends = table.get_columns()
    if prefix:
        names = polars.concat(ends).cast(polars.Categorical)
        ends = names.to_physical()[: len(table)], names.to_physical()[len(table) :]
    i, j = (end.to_numpy() for end in ends)
    n = int(max(i.max(), j.max())) + 1
    half = sparse.coo_array((np.ones(len(i)), (i, j)), shape=(n, n)).tocsr()
    return half + half.T


def measure(lines: int, prefix: str) -> dict:
    """Time and memory of one reading."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "links.tsv"
        write(path, lines, prefix)
        wall, cpu = time.perf_counter(), time.process_time()
        graph = kl.read_graph(path, directed=False)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begun = time.process_time()
        rival = None if polars is None else by_polars(path, prefix)
        theirs = None if rival is None else round(time.process_time() - begun, 2)
        return {
            "lines": lines,
            "names": "words" if prefix else "integers",
            "megabytes": round(path.stat().st_size / 2**20, 1),
            "seconds": round(wall, 2),
            "cpu_seconds": round(cpu, 2),
            "polars_cpu_seconds": theirs,
            "ratio": None if theirs is None else round(cpu / theirs, 2),
            "pyarrow": pyarrow is not None,
            "peak_gb": round(peak / 2**20, 2),
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
