"""kill -9 of checkpointed fits, which then go on, and signals to commands that write over a good file."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

FIT = """
import sys
import numpy as np
from klafter.datasets import load_karate, load_les_miserables
from klafter.models import EPM, IRM, LFRM, KLafter
name, out, checkpoint = sys.argv[1:]
chains = {"n_burn": 60, "n_draws": 60, "n_chains": 2, "random_state": 0}
model, graph = {
    "dense": (KLafter(n_init=4, n_smooth=20, random_state=0), load_les_miserables().binarize()),
    "sparse": (KLafter(link="exposure", n_init=12, random_state=0), load_les_miserables().binarize()),
    "lfrm": (LFRM(**chains), load_karate()),
    "irm": (IRM(**{**chains, "n_draws": 600}), load_karate()),
    "epm": (EPM(**{**chains, "n_draws": 300}), load_karate()),
}[name]
how = {} if checkpoint == "none" else {"checkpoint": checkpoint, "checkpoint_every": 0}
model.fit(graph, **how)
parts = [np.asarray(model.memberships_.toarray() if hasattr(model.memberships_, "toarray") else model.memberships_)]
rows = np.column_stack(np.triu_indices(graph.n_nodes, 1))
np.savez(out, parts[0], model.predict_proba(rows), np.array([model.objective_]))
"""
MODELS = ("dense", "sparse", "lfrm", "irm", "epm")
WRITERS = {
    "fit": ["fit", "florentine_families", "--restarts", "1", "--smooth", "2", "-o", "good"],
    "export": ["export", "model.npz", "good.csv"],
    "report": ["report", "model.npz", "-o", "good.html"],
}
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def digest(path: Path) -> str:
    """What a fit found, in a few characters."""
    with np.load(path) as file:
        return hashlib.sha256(b"".join(file[name].tobytes() for name in file.files)).hexdigest()[:16]


def fit(name: str, out: Path, checkpoint: str) -> subprocess.Popen:
    words = [sys.executable, "-c", FIT, name, str(out), checkpoint]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class CheckpointedFits:
    """Fits that are killed up to three times at random moments and then left alone."""

    def __init__(self) -> None:
        self.wanted: dict[str, tuple[str, float]] = {}

    def reference(self, name: str) -> tuple[str, float]:
        """The result of an uninterrupted fit without a checkpoint, and its time."""
        if name not in self.wanted:
            with tempfile.TemporaryDirectory() as folder:
                out = Path(folder) / "out.npz"
                fit(name, out, "none").wait()
                begun = time.perf_counter()
                fit(name, out, "none").wait()
                self.wanted[name] = digest(out), time.perf_counter() - begun
        return self.wanted[name]

    def __call__(self, number: int) -> dict:
        rng, name = random.Random(number), MODELS[number % len(MODELS)]
        wanted, seconds = self.reference(name)
        kills = 0
        with tempfile.TemporaryDirectory() as folder:
            out, checkpoint = Path(folder) / "out.npz", Path(folder) / "run.ckpt"
            for _ in range(3):
                running = fit(name, out, str(checkpoint))
                try:
                    running.wait(rng.uniform(0.2, 1.1) * seconds)
                except subprocess.TimeoutExpired:
                    running.kill()
                    kills += 1
                running.wait()
                running.stderr.close()
            last = fit(name, out, str(checkpoint))
            said = last.communicate()[1].decode()[-300:]
            same = last.returncode == 0 and digest(out) == wanted
            left = [path.name for path in Path(folder).iterdir() if path.suffix == ".part"]
        return {"good": same and not left, "kind": name, "kills": kills, **({} if same else {"said": said})}


class KilledWriters:
    """Commands that are ended while they write over a good file: it stays whole, and the next run cleans up."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.run(["fit", "karate", "--restarts", "2", "--smooth", "5", "-o", "model.npz"]).wait()
        self.seconds: dict[str, float] = {}

    def run(self, words: list[str]) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", "klafter", *words], cwd=self.folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    def __call__(self, number: int) -> dict:
        rng, name = random.Random(number), list(WRITERS)[number % len(WRITERS)]
        ended, words = SIGNALS[number // 3 % len(SIGNALS)], WRITERS[name]
        path = self.folder / words[-1]
        if name not in self.seconds:
            self.run(words).wait()
            begun = time.perf_counter()
            self.run(words).wait()
            self.seconds[name] = time.perf_counter() - begun
        path.write_bytes(b"good")
        running = self.run(words)
        time.sleep(rng.uniform(0.5, 1.05) * self.seconds[name])
        running.send_signal(ended)
        said = running.communicate()[1].decode()
        whole = path.read_bytes() == b"good" or self.is_whole(name, path)
        cleaned = True
        if list(self.folder.glob(".klafter-*")):
            self.run(words).wait()
            cleaned = not list(self.folder.glob(".klafter-*"))
        good = whole and cleaned and "Traceback" not in said
        return {"good": good, "kind": f"{name} {ended.name}", "kills": 1, **({} if good else {"said": said[-300:]})}

    def is_whole(self, name: str, path: Path) -> bool:
        """Whether the new file is complete."""
        if name == "fit":
            import klafter

            return klafter.load(path).n_communities_ >= 0
        text = path.read_text(encoding="utf-8")
        return text.rstrip().endswith("</html>") if name == "report" else text.count("\n") >= 34


def environment() -> None:
    """One thread for each process: results are compared, not times."""
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
