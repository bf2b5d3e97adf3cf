"""Where the time of a default fit goes, by stage: processor seconds of what runs inside each, kernels apart.

    python benchmarks/stages.py yeast_pajek                  shares of one fit, into benchmarks/results/stages.json
    python benchmarks/stages.py --label before yeast_pajek   under another label

Functions are replaced by ones that look at the clock, so that a stage counts without those inside of it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from middle import read

import klafter as kl
from klafter.datasets import load_karate
from klafter.evaluation.saved import Saved

RUNS = Path(__file__).parent / "results" / "stages.json"
STAGES = {
    "klafter.search.choose_link": ["choose", "restart", "descend_below"],
    "klafter.search.sparse.fit": ["search"],
    "klafter.search.sparse.combine": ["combined"],
    "klafter.models.engines.dense": ["restart", "smooth", "rebuilt", "learn_weights", "from_restarts"],
    "klafter.models.engines.refits": ["smooth", "fit_expert", "quick_draws"],
    "klafter.search.restart": ["enrich", "prune", "covering_state", "resets", "propose_rebuild"],
    "klafter.search.dense.engine": ["give_birth", "sweep", "merges", "splits", "deaths"],
}
KERNELS = {
    "klafter.search.moves.birth": ["next_birth", "laplace_evidence"],
    "klafter.search.moves.flip": ["descend", "fit_parameters", "fit_column", "score", "score_of"],
    "klafter.search.dense.weights": ["fit_parameters"],
    "klafter.search.moves.row_reset": ["reset_rows"],
    "klafter.sampling.lfrm": ["sweep"],
}


class Clock:
    """Seconds of each stage, named by those around it, without what ran inside."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._open: list[list] = []

    def around(self, name: str, job: Callable) -> Callable:
        def timed(*args, **options):
            begun = time.process_time()
            self._open.append([name, 0.0])
            try:
                return job(*args, **options)
            finally:
                path = " / ".join(name for name, _ in self._open)
                took, inside = time.process_time() - begun, self._open.pop()[1]
                self.seconds[path] += took - inside
                if self._open:
                    self._open[-1][1] += took

        return timed

    def put_in(self, spots: dict[str, list[str]], mark: str) -> None:
        for module, names in spots.items():
            for name in names:
                owner = import_module(module)
                setattr(owner, name, self.around(mark + name, getattr(owner, name)))


def measure(name: str) -> dict:
    graph, clock = read(name), Clock()
    clock.put_in(STAGES, "")
    clock.put_in(KERNELS, "kernel ")
    begun = time.process_time()
    model = clock.around("fit", kl.KLafter(random_state=0, n_jobs=1).fit)(graph)
    facts = {"name": name, "cpu": time.process_time() - begun, "score": model.objective_, "link": model.link_}
    stages, kernels = defaultdict(float), defaultdict(float)
    for path, seconds in clock.seconds.items():
        inner = path.split(" / ")
        stages[" / ".join(part for part in inner if not part.startswith("kernel ")).removeprefix("fit / ")] += seconds
        kernels[inner[-1] if inner[-1].startswith("kernel ") else "outside of these kernels"] += seconds
    return {**facts, "stages": largest(stages), "kernels": largest(kernels)}


def largest(seconds: dict[str, float]) -> dict[str, float]:
    """Those that take a hundredth of the time or more, largest first."""
    least = 0.01 * sum(seconds.values())
    return {k: round(s, 2) for k, s in sorted(seconds.items(), key=lambda pair: -pair[1]) if s >= least}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("--label", default="")
    given = parser.parse_args()
    kl.KLafter(random_state=0, n_init=2).fit(load_karate())
    record = {"command": " ".join(["python benchmarks/stages.py", *sys.argv[1:]]), **measure(given.name)}
    Saved(RUNS).add(f"{given.name}, {given.label or 'now'}", record)
    for part in ("stages", "kernels"):
        for name, seconds in record[part].items():
            print(f"{seconds:9.2f} {100 * seconds / record['cpu']:5.1f}%  {name}")


if __name__ == "__main__":
    main()
