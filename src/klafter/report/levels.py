"""The levels of a model: the tree of their merges, and what a reader of the page sees of each, in steady colours."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from klafter.models.results.cover import as_cover, rows, sizes
from klafter.models.results.levels import Level
from klafter.models.results.matching import holders
from klafter.models.results.names import known_rows, match_last, name_communities
from klafter.report.palette import COLOURS

MOST = 40  # communities of a level on the slider
LARGE = 10_000  # nodes beyond which levels that are not known yet are left out: they take as long as a fit


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


@dataclass(frozen=True)
class LevelFacts:
    """One level: its score, how many nodes are in none, and its communities."""

    score: float
    shown: bool
    n_unassigned: int
    names: list[str]
    sizes: list[int]
    colours: list[str]
    memberships: list[list[int]]  # of each node


def describe_levels(model, colours: list[str]) -> list[LevelFacts]:
    """The levels of a model, finest first; none where there is one only. ``colours`` are those of the level shown."""
    if model.graph_.n_nodes > LARGE and not model._knows_levels():
        return []
    levels = [level for level in model.levels() if level.n_communities <= MOST or level.shown]
    if len(levels) < 2:
        return []
    inks = level_colours(levels, colours)
    return [_describe(model, level, ink) for level, ink in zip(levels, inks)]


def _describe(model, level: Level, colours: list[str]) -> LevelFacts:
    z, graph = as_cover(level.memberships), model.graph_
    names = dict(enumerate(model.community_names_))
    if not level.shown:
        same = match_last(model.memberships_, z, known_rows(graph, graph, graph.n_nodes))
        names = {k: names[was] for k, was in same.items()}
    alone = int((np.diff(z.indptr) == 0).sum())
    words = name_communities(graph, z, names)
    return LevelFacts(level.score, level.shown, alone, words, sizes(z).tolist(), colours, rows(z))


def level_colours(levels: list[Level], colours: list[str]) -> list[list[str]]:
    """Colours of every level: a community keeps that of its largest part, and of two parts the larger has it."""
    parents, members = level_tree(levels).parents, [sizes(as_cover(level.memberships)) for level in levels]
    shown = next(t for t, level in enumerate(levels) if level.shown)
    inks: list[list[str]] = [[] for _ in levels]
    inks[shown] = list(colours)
    for t in range(shown, len(parents)):
        inks[t + 1] = [""] * levels[t + 1].n_communities
        for k in np.argsort(members[t], kind="stable").tolist():  # the largest writes last
            inks[t + 1][parents[t][k]] = inks[t][k]
    for t in range(shown - 1, -1, -1):
        inks[t] = _split_colours(parents[t], members[t], inks[t + 1])
    return [_filled(ink) for ink in inks]


def _split_colours(parents: list[int], members: np.ndarray, above: list[str]) -> list[str]:
    """Colours of the parts of communities: the largest of each has that of the whole."""
    found, given = [""] * len(parents), set()
    for k in np.argsort(-members, kind="stable").tolist():
        if parents[k] not in given:
            found[k] = above[parents[k]]
            given.add(parents[k])
    return found


def _filled(colours: list[str]) -> list[str]:
    """Where there is none yet, colours that are not taken, as long as there are any."""
    free = [colour for colour in COLOURS if colour not in colours] or list(COLOURS)
    spare = iter(free * len(colours))
    return [colour or next(spare) for colour in colours]
