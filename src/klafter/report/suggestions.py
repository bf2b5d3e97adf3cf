"""Links to look at: the likeliest that nobody has seen, and the observed ones that surprise the model."""

from __future__ import annotations

from dataclasses import dataclass

PARTS = 6  # of an explanation


@dataclass(frozen=True)
class Suggestion:
    """A dyad, how likely a link is, and why."""

    source: int
    target: int
    probability: float
    hidden: bool
    parts: list[tuple[str, float]]


def missing_links(model, n: int = 20) -> list[Suggestion]:
    """The likeliest dyads without a known link."""
    return [_explained(model, *row) for row in model.top_links(n)]


def surprising_links(model, n: int = 20) -> list[Suggestion]:
    """The observed links that the model finds least likely."""
    return [_explained(model, *row) for row in model.surprising_links(n)]


def _explained(model, source, target, probability: float) -> Suggestion:
    graph = model.graph_
    i, j = graph.index(source), graph.index(target)
    parts = model.explain(source, target).parts[:PARTS]
    hidden = bool(graph.hidden[i, j])
    return Suggestion(i, j, probability, hidden, [(str(what), float(value)) for what, value in parts])
