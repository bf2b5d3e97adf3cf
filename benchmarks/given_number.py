"""What a given or limited number of communities costs: scores of such fits beside the level of a free one.

python benchmarks/given_number.py    into benchmarks/results/given_number.json
"""

from __future__ import annotations

import json
from pathlib import Path

import klafter as kl
from klafter.datasets import load_dataset

RESULTS = Path(__file__).parent / "results" / "given_number.json"
NUMBERS = {"karate": (2, 3), "les_miserables": (3, 4)}
SEEDS = range(2)


def found(graph: kl.Graph, **options) -> tuple[int, float]:
    """How many communities a default fit ends with, and its score."""
    model = kl.KLafter(**options).fit(graph)
    return model.n_communities_, round(float(model.objective_), 1)


def measure(name: str, seed: int) -> list[dict]:
    """One free fit, and for each number the score of its level, of a limit, and of the number as given."""
    graph = load_dataset(name)
    free = kl.KLafter(random_state=seed).fit(graph)
    levels = {level.n_communities: round(float(level.score), 1) for level in free.levels()}
    return [
        {
            "network": name,
            "seed": seed,
            "number": number,
            "level": levels.get(number),
            "max_communities": found(graph, max_communities=number, random_state=seed),
            "n_communities": found(graph, n_communities=number, random_state=seed),
        }
        for number in NUMBERS[name]
    ]


if __name__ == "__main__":
    rows = [row for name in NUMBERS for seed in SEEDS for row in measure(name, seed)]
    text = json.dumps({"command": "python benchmarks/given_number.py", "rows": rows}, indent=1)
    RESULTS.write_text(f"{text}\n", encoding="utf-8")
    for row in rows:
        print(*row.values())
