"""What tools do on small networks whose answer is known: overlap, number, chance, roles, seeds.

    python benchmarks/features.py

Each tool has its defaults and is not told the number of communities. Groups of fewer than three nodes count as none.
Needs the extra ``bench``; tools that are not installed are named in the result, benchmarks/results/features.json.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import rivals
from known import rows_of

import klafter as kl
from klafter.graph.writing import write_json

RESULTS = Path(__file__).parent / "results" / "features.json"
SEEDS = 5
LEAST = 3  # nodes of a group that counts


def network(chance: np.ndarray, seed: int) -> kl.Graph:
    """Links drawn with these probabilities."""
    drawn = np.random.default_rng(seed).random(chance.shape) < chance
    return kl.Graph(np.triu(drawn, 1).astype(float))


def members(*groups: range) -> np.ndarray:
    """Memberships (n, K) of groups of rows."""
    z = np.zeros((max(group.stop for group in groups), len(groups)))
    for k, group in enumerate(groups):
        z[list(group), k] = 1
    return z


def within(z: np.ndarray, inside: float, outside: float) -> np.ndarray:
    return np.where(z @ z.T > 0, inside, outside)


SHARED = members(range(0, 30), range(24, 54))
AMONG_OTHERS = np.pad(SHARED, ((0, 30), (0, 0)))
FOUR = members(*(range(20 * k, 20 * k + 20) for k in range(4)))
SIDES = members(range(0, 30), range(30, 60))


def shares(find, seed: int) -> float:
    """Two groups of 30, six nodes in both, nobody in neither: the share of the six that is put into two groups."""
    return shared(find, SHARED, seed)


def shares_among_others(find, seed: int) -> float:
    """The same two groups, and 30 nodes in neither."""
    return shared(find, AMONG_OTHERS, seed)


def shared(find, z: np.ndarray, seed: int) -> float:
    found = find(network(within(z, 0.5, 0.02), seed), seed)
    return float(np.mean([sum(node in group for group in found) > 1 for node in range(24, 30)]))


def counts(find, seed: int) -> float:
    """Four groups of 20: whether four are found."""
    return float(len(find(network(within(FOUR, 0.5, 0.03), seed), seed)) == 4)


def sees_nothing(find, seed: int) -> float:
    """Links by chance alone, between 80 nodes: whether none, or one of all, is found."""
    return float(len(find(network(np.full((80, 80), 0.1), seed), seed)) <= 1)


def sees_roles(find, seed: int) -> float:
    """Two sides of 30 that link only across: whether two groups are found that are the sides, but for three nodes."""
    found = find(network(within(SIDES, 0.0, 0.3), seed), seed)
    truth = [set(range(30)), set(range(30, 60))]
    return float(len(found) == 2 and all(min(len(side ^ group) for group in found) <= 3 for side in truth))


def repeats(find, seed: int) -> float:
    """Whether the same seed gives the same groups."""
    graph = network(within(FOUR, 0.3, 0.08), seed)
    first, again = ({frozenset(group) for group in find(graph, seed)} for _ in range(2))
    return float(first == again)


PROBES = {
    "overlap": shares,
    "overlap_among_others": shares_among_others,
    "number": counts,
    "chance": sees_nothing,
    "roles": sees_roles,
    "seed": repeats,
}


def klafter(graph, seed: int) -> list[set]:
    return rows_of(kl.KLafter(random_state=seed).fit(graph))


def measured(find) -> dict[str, float]:
    """Each probe, as a mean over seeds."""

    def large(graph, seed: int) -> list[set]:
        random.seed(seed)  # some draw from the global generators and take no seed
        np.random.seed(seed)  # noqa: NPY002
        return [group for group in find(graph, seed) if len(group) >= LEAST]

    return {name: float(np.mean([probe(large, seed) for seed in range(SEEDS)])) for name, probe in PROBES.items()}


def main() -> None:
    tools = {"KLafter": klafter, **{name: find for name, (_, find) in rivals.DETECTORS.items()}}
    rows, skipped = {}, {}
    for name, find in tools.items():
        try:
            rows[name] = measured(find)
            print(name, rows[name])
        except rivals.Missing as reason:
            skipped[name] = str(reason)
    write_json(RESULTS, {"command": "python benchmarks/features.py", "seeds": SEEDS, "rows": rows, "skipped": skipped})


if __name__ == "__main__":
    main()
