"""The levels that a reader of the page can go through: communities of each, in colours that stay over merges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klafter.models.results.cover import as_cover, rows, sizes
from klafter.models.results.levels import Level
from klafter.models.results.names import known_rows, match_last, name_communities
from klafter.report.palette import COLOURS
from klafter.report.tree import level_tree

MOST = 40  # communities of a level on the slider
LARGE = 10_000  # nodes beyond which levels that are not known yet are left out: they take as long as a fit


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
