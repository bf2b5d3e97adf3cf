"""``tune``, ``compare`` and ``reproduce``, killed with ``kill -9`` up to three times and run again, find the same."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.torture.forks import forked
from benchmarks.torture.guard import guarded, part, tell
from benchmarks.torture.writers import command
from klafter.models import load

TUNE = ["tune", "florentine_families", "-q", "--penalties", "0,1", "--folds", "3", "-o", "m.npz"]
COMMANDS = {
    "tune": [*TUNE, "--checkpoint", "run.ckpt", "--checkpoint-every", "0"],
    "compare": ["compare", "karate", "-q", "--models", "klafter,irm", "--splits", "2", "--results", "runs.json"],
    "reproduce": ["reproduce", "convergence", "-q", "--quick", "--results", "runs"],
}
CLOCKS = ("second", "time", "cpu", "hours")


def without_clocks(value: Any) -> Any:
    """Results without what is never the same twice."""
    if isinstance(value, dict):
        return {k: without_clocks(v) for k, v in value.items() if not any(word in k.lower() for word in CLOCKS)}
    return [without_clocks(part) for part in value] if isinstance(value, list) else value


def found_in(folder: Path) -> str:
    """What a command left: the model, bit by bit, and every result."""
    found = [
        (path.relative_to(folder).as_posix(), without_clocks(json.loads(path.read_text(encoding="utf-8"))))
        for path in sorted(folder.rglob("*.json"))
    ]
    if (folder / "m.npz").exists():
        model = load(folder / "m.npz")
        pairs = np.column_stack(np.triu_indices(model.graph_.n_nodes, 1))
        found.append(("model", [model.objective_.hex(), model.predict_proba(pairs).tobytes().hex()]))
    return json.dumps(found, sort_keys=True)


class Uninterrupted(dict):
    """What commands find that nobody kills, and their seconds."""

    def __missing__(self, kind: str) -> tuple[str, float]:
        with tempfile.TemporaryDirectory() as name:
            code, said, seconds = forked(lambda: command(COMMANDS[kind], Path(name)), Path(name))
            assert code == 0, said[-600:]
            self[kind] = found_in(Path(name)), seconds
        return self[kind]


def trial(number: int, wanted: Uninterrupted) -> None:
    """Kill, kill, kill, and leave alone."""
    rng, kind = random.Random(number), list(COMMANDS)[number % len(COMMANDS)]
    result, seconds = wanted[kind]
    kills = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for after in (*(rng.uniform(0.05, 0.7) * seconds for _ in range(3)), None):
            code, said, _ = forked(lambda: command(COMMANDS[kind], folder), folder, after)
            assert code == 0 or (code == -9 and after), said[-600:]
            kills += code == -9
        tell(kills=kills)
        assert found_in(folder) == result, "another result"
        left = [path.name for path in folder.rglob("*") if path.suffix in (".part", ".ckpt")]
        assert not left, left


def run(first: int, last: int) -> None:
    """Trials from one number to another."""
    import klafter.cli.app  # noqa: F401  # children begin with it loaded

    wanted = Uninterrupted()
    for number in range(first, last):
        kind = list(COMMANDS)[number % len(COMMANDS)]
        guarded(number, kind, lambda number=number: trial(number, wanted), (), limit=400, wall=900)


if __name__ == "__main__":
    part(run)
