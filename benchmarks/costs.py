"""What samplers say that a sweep takes, beside what it takes: CPU seconds of one core on planted networks.

    python benchmarks/costs.py

Writes benchmarks/results/costs.json. Rates are in ``_sweep_seconds`` of each model.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from klafter.datasets import make_overlapping
from klafter.models import EPM, IRM, LFRM, MMSB

RESULTS = Path(__file__).parent / "results" / "costs.json"
CASES: list[tuple[Any, int, dict[str, Any]]] = [
    (IRM, 1000, {}),
    (IRM, 5000, {}),
    (LFRM, 300, {}),
    (LFRM, 1000, {}),
    (MMSB, 300, {}),
    (MMSB, 1000, {}),
    (MMSB, 1000, {"n_communities": 20}),
    (EPM, 1000, {}),
    (EPM, 5000, {}),
]
FEW, MANY = 2, 10  # sweeps of two fits, whose difference counts


def cpu(model: Any, graph: Any) -> float:
    """CPU seconds of a fit."""
    begun = time.process_time()
    model.fit(graph)
    return time.process_time() - begun


def measured(kind: Any, n: int, options: dict[str, Any]) -> dict[str, Any]:
    """What is said of a sweep and what it took."""
    graph = make_overlapping(n, random_state=0)[0]
    few, many = (
        kind(n_burn=1, n_draws=draws, n_chains=1, max_draws=2, random_state=0, **options) for draws in (FEW, MANY)
    )
    few.fit(graph)  # compiled
    seconds = (cpu(many, graph) - cpu(few, graph)) / (MANY - FEW)
    said = many._sweep_seconds(graph)
    found = {"model": kind.__name__, "nodes": n, "links": graph.n_links, **options}
    return found | {"said": said, "seconds": seconds, "ratio": said / seconds}


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    rows = [measured(*case) for case in CASES]
    command = " ".join(["python benchmarks/costs.py", *sys.argv[1:]])
    RESULTS.write_text(json.dumps({"command": command, "rows": rows}, indent=1) + "\n")
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
