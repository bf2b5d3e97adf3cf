"""Networks drawn from a fitted model."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from scipy import sparse

from klafter.core.draws import Draw
from klafter.core.responses import RESPONSES
from klafter.graph import Graph

CHUNK = 500_000


def simulate(draw: Draw, response: str, precision: float, graph: Graph, covariates: Collection[Any], rng) -> Graph:
    """Link values of every dyad, some rows at a time; labels, attributes and covariates as in the graph."""
    n = graph.n_nodes
    height = max(1, CHUNK // max(n, 1))
    rows, columns, values = [], [], []
    for start in range(0, n, height):
        i = np.arange(start, min(start + height, n))
        pairs = np.column_stack([np.repeat(i, n), np.tile(np.arange(n), len(i))])
        pairs = pairs[graph.is_possible(pairs) & (graph.directed | (pairs[:, 0] < pairs[:, 1]))]
        y = RESPONSES[response].draw(draw.predictor(pairs, covariates), rng, precision)
        linked = y != 0
        rows.append(pairs[linked, 0])
        columns.append(pairs[linked, 1])
        values.append(y[linked])
    links = sparse.csr_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(n, n))
    return graph.replace(links=links, hidden=None)
