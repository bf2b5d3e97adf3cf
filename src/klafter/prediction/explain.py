"""Why a link is likely: the parts of x_ij under the point estimate, largest first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klafter.core.draws import COVARIATE, RECEIVER, SENDER, Part
from klafter.graph import Graph


@dataclass(frozen=True)
class Explanation:
    """The parts of the linear predictor of one dyad; ``parts`` are (what, value), largest first."""

    source: object
    target: object
    probability: float
    predictor: float
    parts: list[tuple[str, float]]

    def __str__(self) -> str:
        lines = [f"{self.source} - {self.target}: probability of a link {self.probability:.3f}"]
        lines += [f"  {value:+8.3f}  {what}" for what, value in self.parts]
        return "\n".join(lines)


def explain(model, i: int, j: int) -> Explanation:
    """The explanation of the dyad of rows i and j."""
    graph, draw = model.graph_, model.point_
    start, factors, terms = draw.parts(i, j, list(graph.covariates.values()))
    start *= float(np.exp(sum(part.value for part in factors)))
    parts = [("how common links are (offset)", start)] if start else []
    parts += [(_what(graph, i, j, part), part.value) for part in terms]
    parts.sort(key=lambda part: -abs(part[1]))
    x = sum(value for _, value in parts)
    pair = np.array([[i, j]])
    return Explanation(graph.label(i), graph.label(j), float(model._probability(pair)[0]), float(x), parts)


def _what(graph: Graph, i: int, j: int, part: Part) -> str:
    if part.kind == SENDER:
        return f"how much {graph.label(i)} links in general"
    if part.kind == RECEIVER:
        return f"how much {graph.label(j)} is linked in general"
    if part.kind == COVARIATE:
        return f"covariate {list(graph.covariates)[part.first]}"
    k, m = part.first, part.second
    return f"both in community {k}" if k == m else f"community {k} with community {m}"


__all__ = ["Explanation", "explain"]
