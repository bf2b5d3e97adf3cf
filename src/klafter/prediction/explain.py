"""Why a link is likely: the parts of x_ij under the point estimate, largest first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse


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
    parts = _community_parts(draw, i, j, model.n_communities_)
    if draw.offset:
        parts.append(("how common links are (offset)", float(draw.offset)))
    if draw.sender is not None and (draw.sender.any() or draw.receiver.any()):
        parts.append((f"how much {graph.label(i)} links in general", float(draw.sender[i])))
        parts.append((f"how much {graph.label(j)} is linked in general", float(draw.receiver[j])))
    for g, (name, v) in zip(draw.coefficients if draw.coefficients is not None else (), graph.covariates.items()):
        parts.append((f"covariate {name}", float(g * v[i, j])))
    parts.sort(key=lambda part: -abs(part[1]))
    x = sum(value for _, value in parts)
    pair = np.array([[i, j]])
    return Explanation(graph.label(i), graph.label(j), float(model._probability(pair)[0]), float(x), parts)


def _community_parts(draw, i: int, j: int, n_communities: int) -> list[tuple[str, float]]:
    """u_ik W_km u_jm for the communities of i and of j.

    The sparse engine keeps the background as one more community, and when directed a second set for receivers.
    """
    u, w = sparse.csr_array(draw.memberships), draw.affinities
    parts = []
    for k, a in _entries(u, i):
        for m, b in _entries(u, j):
            value = float(a * w[k, m] * b)
            if value:
                parts.append((_what(k % (n_communities + 1), m % (n_communities + 1), n_communities), value))
    return parts


def _what(k: int, m: int, n_communities: int) -> str:
    if k == m == n_communities:
        return "how common links are (background)"
    return f"both in community {k}" if k == m else f"community {k} with community {m}"


def _entries(u, i: int):
    row = slice(u.indptr[i], u.indptr[i + 1])
    return zip(u.indices[row].tolist(), u.data[row].tolist())


__all__ = ["Explanation", "explain"]
