"""Graph files changed by atheris, which keeps what reaches new lines of the readers: read, or refused in a sentence.

    pip install atheris "klafter[data,excel,tables]"
    python -m benchmarks.torture.guided --seconds 600

atheris is in no extra: it has no wheels for every platform. Figures are added to benchmarks/results/torture.json, what
fails is left in a folder that is told.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.torture.__main__ import RESULTS, saved
from klafter import __version__
from klafter.graph.writing import write_json

NAME = "guided graph files"
NAMED_BY = 1  # bytes before a file's own: which of the good files it was, and so its name
MEMORY = 1024  # MB


def main() -> None:
    """Fuzz for some seconds in a process of its own, and save how much was tried."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--folder", type=Path, default=None, help="what is found, and the files that reach new lines")
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="guided-"))
    write_corpus(folder)
    begun = time.perf_counter()
    limits = [f"-max_total_time={asked.seconds}", "-timeout=5", f"-rss_limit_mb={MEMORY}", "-max_len=20000"]
    words = [sys.executable, "-m", "benchmarks.torture.guided_trials", folder / "corpus", *limits]
    done = subprocess.run([*words, f"-artifact_prefix={folder}/"], stderr=subprocess.PIPE, text=True, check=False)
    save(asked.results, done.stderr, time.perf_counter() - begun, sorted(folder.glob("[clots]*-*")))
    print(f"{NAME}: see {folder}\n{done.stderr[-800:]}")


def write_corpus(folder: Path) -> None:
    """A good file of every format, after the byte that says which."""
    from benchmarks.torture.graph_files import seeds

    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, (name, data) in enumerate(sorted(seeds().items())):
        (corpus / name).write_bytes(bytes([number]) + data)


def save(path: Path, log: str, seconds: float, bad: list[Path]) -> None:
    """Figures of a run, added to those before."""
    tried, covered = (int(max(re.findall(rf"{what}(\d+)", log), key=int, default=0)) for what in ("#", "cov: "))
    memory = int(max(re.findall(r"rss: (\d+)Mb", log), key=int, default=0))
    before = saved(path).get(NAME, {"tried": 0, "good": 0, "seconds": 0.0, "memory": 0, "covered": 0, "bad": []})
    found = {
        "tried": before["tried"] + tried,
        "good": before["good"] + tried - len(bad),
        "seconds": round(before["seconds"] + seconds, 1),
        "memory": max(before["memory"], memory),
        "bad": before["bad"] + [{"file": one.name} for one in bad],
        "covered": max(before["covered"], covered),
        "version": __version__,
        "command": "python -m benchmarks.torture.guided",
    }
    write_json(path, {**saved(path), NAME: found})


if __name__ == "__main__":
    main()
