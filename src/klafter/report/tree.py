"""The tree of levels: which community of a level became part of which at the next, laid out as a dendrogram."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from klafter.models.results.levels import Level
from klafter.models.results.matching import holders


@dataclass(frozen=True)
class Tree:
    """Where the communities of every level stand; leaves are those of the finest."""

    order: list[int]  # leaves from left to right
    x: list[list[float]]  # of each community of each level
    height: list[float]  # of each level: how much its score is above the finest, never falling
    parents: list[list[int]]  # of each community of each level but the last, its community at the next


def level_tree(levels: list[Level]) -> Tree:
    """The tree of a model's ``levels()``."""
    parents = [_parents(here, there) for here, there in pairwise(levels)]
    order = _leaves(parents, len(levels) - 1, range(levels[-1].n_communities))
    x = [np.argsort(order).astype(float).tolist()]
    for t, up in enumerate(parents):
        columns = range(levels[t + 1].n_communities)
        x.append([float(np.mean([x[t][k] for k, to in enumerate(up) if to == parent] or [0.0])) for parent in columns])
    rises = [level.score - levels[0].score for level in levels]
    return Tree(order, x, np.maximum.accumulate(rises).tolist(), parents)


def _parents(here: Level, there: Level) -> list[int]:
    """The community of the next level that holds most of each; those that merge go to the same."""
    up = holders(here.memberships.toarray(), there.memberships.toarray()).argmax(axis=1)
    if there.merged:
        up[list(there.merged)] = min(up[there.merged[0]], there.n_communities - 1)
    return [int(k) for k in up]


def _leaves(parents: list[list[int]], t: int, columns: Any) -> list[int]:
    """The leaves below some communities of level t, those of one community side by side."""
    if t == 0:
        return list(columns)
    found: list[int] = []
    for k in columns:
        found += _leaves(parents, t - 1, [child for child, to in enumerate(parents[t - 1]) if to == k])
    return found
