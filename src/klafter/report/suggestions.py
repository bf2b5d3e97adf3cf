"""Suggested links: the likeliest of those not observed, and the observed ones the model finds least likely.

A small graph is searched whole. Of a large one, missing links are sought among the tightest members of each
community, and surprising ones in a random part of the links; the structural expert is asked about those that the model
alone puts first. So a report takes seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klafter.graph.units import list_links
from klafter.prediction.explain import explain
from klafter.report.communities import Community

PARTS = 6  # of an explanation, the last of them all the rest
BUDGET = 1_500_000  # dyads times draws that are looked at
FEW = 2_000  # dyads that the structural expert is asked about, which takes longer than the model
TIGHT = 25  # members of a community whose pairs are looked at in a large graph


@dataclass(frozen=True)
class Suggestion:
    """A dyad, how likely a link is, and why: parts that add up to the log odds, and how much each kind has of them."""

    source: int
    target: int
    probability: float
    hidden: bool
    parts: list[tuple[str, float]]
    log_odds: float
    totals: list[tuple[str, float]]


@dataclass(frozen=True)
class Suggestions:
    """The dyads, and how many were looked at when it was not all of them."""

    links: list[Suggestion]
    n_looked_at: int | None


def missing_links(model, communities: list[Community], n: int = 20) -> Suggestions:
    """The likeliest dyads without a known link."""
    graph = model.graph_
    pairs, most = graph.n_nodes**2 // (1 if graph.directed else 2), BUDGET // len(model.draws_)
    if pairs <= most or graph.n_nodes <= 500:
        return Suggestions(_explained(model, model.top_links(n)), None)
    close = _close_pairs(graph, communities, most)
    return _pick(model, close, -1.0, n, len(close))


def surprising_links(model, n: int = 20) -> Suggestions:
    """The observed links that the model finds least likely."""
    graph, most = model.graph_, BUDGET // len(model.draws_)
    if graph.n_links <= min(most, FEW):
        return Suggestions(_explained(model, model.surprising_links(n)), None)
    pairs = list_links(graph)[0]
    if len(pairs) <= most:
        return _pick(model, pairs, 1.0, n, None)
    some = pairs[np.sort(np.random.default_rng(0).choice(len(pairs), most, replace=False))]
    return _pick(model, some, 1.0, n, most)


def _pick(model, pairs: np.ndarray, sign: float, n: int, n_looked_at: int | None) -> Suggestions:
    """The n pairs with the smallest probability, times sign, among those where it is smallest without the expert."""
    if len(pairs) > FEW:
        own = sign * model._own_probability(pairs)
        pairs = pairs[np.sort(np.argsort(own, kind="stable")[:FEW])]
    p = model.predict_proba(pairs)
    best = np.argsort(sign * p, kind="stable")[:n]
    label = model.graph_.label
    found = [(label(i), label(j), q) for (i, j), q in zip(pairs[best].tolist(), p[best].tolist())]
    return Suggestions(_explained(model, found), n_looked_at)


def _close_pairs(graph, communities: list[Community], most: int) -> np.ndarray:
    """Unlinked pairs of tight members of a community, those of denser communities first."""
    order = sorted(communities, key=lambda c: -(c.density or 0.0))
    blocks, room, n = [np.zeros(0, np.int64)], 2 * most, graph.n_nodes
    for community in order:
        members = np.sort(np.array(community.members[:TIGHT], np.int64))
        i, j = np.triu_indices(len(members), 1)
        blocks.append(members[i] * n + members[j])
        room -= len(i)
        if room < 0:
            break
    keys = np.sort(np.concatenate(blocks))
    pairs = np.column_stack(np.divmod(keys[np.diff(keys, prepend=-1) > 0], n))
    pairs = np.concatenate([pairs, pairs[:, ::-1]]) if graph.directed else pairs
    free = (np.asarray(graph.links[pairs[:, 0], pairs[:, 1]]).ravel() == 0) & graph.is_possible(pairs)
    return pairs[free][:most]


def _explained(model, links: list[tuple]) -> list[Suggestion]:
    """Links and their probabilities with the reasons."""
    graph = model.graph_
    pairs = np.array([(graph.index(a), graph.index(b)) for a, b, _ in links], np.int64).reshape(-1, 2)
    return [
        Suggestion(
            i, j, probability, bool(graph.hidden[i, j]), told.largest(PARTS), told.log_odds, list(told.totals.items())
        )
        for (i, j), (_, _, probability), told in zip(pairs.tolist(), links, explain(model, pairs))
    ]
