"""Commands ended by signals while they write over a good file: it stays whole, and the next run cleans up.

Half of the signals come at a random moment, half at a random line of ``klafter.graph.writing``, and one command in ten
is a process of its own, so that its start is met too.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.torture.forks import forked
from benchmarks.torture.guard import guarded, part, tell
from klafter.graph import read_graph, writing
from klafter.models import load

QUICK = ["--restarts", "1", "--smooth", "2"]
COMMANDS = {
    "fit": (["fit", "florentine_families", *QUICK, "-o", "good.npz"], "good.npz"),
    "fit --checkpoint": (
        ["fit", "karate", *QUICK, "-o", "good.npz", "--checkpoint", "run.ckpt", "--checkpoint-every", "0"],
        "good.npz",
    ),
    "fit --report": (["fit", "florentine_families", *QUICK, "-o", "m.npz", "--report", "good.html"], "good.html"),
    "tune": (["tune", "florentine_families", "--penalties", "0", "--folds", "2", "-o", "good.npz"], "good.npz"),
    "watch": (["watch", "links.tsv", "-m", "good.npz", "--batch", "2"], "good.npz"),
    "export .csv": (["export", "model.npz", "good.csv"], "good.csv"),
    "export .graphml": (["export", "model.npz", "good.graphml"], "good.graphml"),
    "export .gexf": (["export", "model.npz", "good.gexf"], "good.gexf"),
    "export .json": (["export", "model.npz", "good.json"], "good.json"),
    "report": (["report", "model.npz", "-o", "good.html"], "good.html"),
    "compare": (["compare", "florentine_families", "--models", "irm", "--splits", "2", "--results", "runs.json"],
                "runs.json"),
}  # fmt: skip
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def whole(path: Path) -> bool:
    """Whether a file is complete."""
    if path.suffix == ".npz":
        return bool(load(path).n_communities_ >= 0)
    if path.suffix == ".html":
        return path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    if path.suffix == ".json":
        return bool(json.loads(path.read_text(encoding="utf-8")))
    if path.suffix == ".csv":
        return path.read_bytes().count(b"\n") >= 34
    return read_graph(path).n_nodes == 34


def command(words: list[str], folder: Path, strike: Callable[[], object] = lambda: None) -> None:
    """What a process that runs a command does."""
    from klafter.cli import main

    os.chdir(folder)
    sys.argv = ["klafter", *words]
    strike()
    main()


def strike_at(line: int, number: int) -> None:
    """Send this process a signal when so many lines of the module that writes have run."""
    left = line

    def trace(frame, event, arg):
        nonlocal left
        if frame.f_code.co_filename != writing.__file__:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                sys.settrace(None)
                os.kill(os.getpid(), number)
        return trace

    sys.settrace(trace)


class Workplace:
    """A folder with what commands need, and how long each takes."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        forked(lambda: command(["fit", "karate", *QUICK, "-o", "model.npz"], self.folder), self.folder)
        (self.folder / "links.tsv").write_text("1\t30\n2\t29\n5\t33\n9\t12\n1\t8\n7\t24\n")
        self.good: dict[str, bytes] = {}
        self.seconds: dict[str, float] = {}

    def prepare(self, name: str) -> None:
        """Run a command once, to know its time and what a good file looks like."""
        words, output = COMMANDS[name]
        if name == "watch":
            shutil.copy(self.folder / "model.npz", self.folder / output)
        code, said, self.seconds[name] = forked(lambda: command(words, self.folder), self.folder)
        assert code == 0, said
        assert whole(self.folder / output)
        self.good[name] = (self.folder / output).read_bytes()

    def trial(self, number: int) -> None:
        """One command, one signal, and what it left."""
        rng, name = random.Random(number), list(COMMANDS)[number % len(COMMANDS)]
        if name not in self.good:
            self.prepare(name)
        words, output = COMMANDS[name]
        words = [*words, "--seed", str(number)] if name == "compare" else words  # else all is known
        path = self.folder / output
        path.write_bytes(self.good[name])
        sent = SIGNALS[number // len(COMMANDS) % len(SIGNALS)]
        code, said = self.end(rng, words, self.seconds[name], sent)
        tell(kills=int(code != 0))
        assert "Traceback" not in said, said[-600:]
        assert code in (0, -sent, 128 + sent), f"exit code {code}: {said[-300:]}"
        assert whole(path), "a damaged file"
        if list(self.folder.glob(".klafter-*")):
            again = ["export", "model.npz", "other.csv"]
            forked(lambda: command(again, self.folder), self.folder)
        left = [found.name for found in self.folder.glob(".klafter-*")]
        assert not left, left
        (self.folder / "run.ckpt").unlink(missing_ok=True)

    def end(self, rng: random.Random, words: list[str], seconds: float, sent: int) -> tuple[int, str]:
        """Run a command and end it somewhere; its exit code and what it said."""
        kind = rng.random()
        if kind < 0.45:
            line = rng.randint(1, 120)
            return forked(lambda: command(words, self.folder, lambda: strike_at(line, sent)), self.folder)[:2]
        if kind < 0.9:
            return forked(lambda: command(words, self.folder), self.folder, rng.uniform(0, 1.1) * seconds, sent)[:2]
        running = subprocess.Popen(
            [sys.executable, "-m", "klafter", *words], cwd=self.folder, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        time.sleep(rng.uniform(0.2, 3.0))
        running.send_signal(sent)
        said = running.communicate(timeout=120)[1]
        return running.returncode, said


def run(first: int, last: int) -> None:
    """Trials from one number to another."""
    import klafter.cli.app  # noqa: F401  # children begin with it loaded

    place = Workplace()
    for number in range(first, last):
        name = list(COMMANDS)[number % len(COMMANDS)]
        guarded(number, name, lambda number=number: place.trial(number), (), limit=200)


if __name__ == "__main__":
    part(run)
