"""New nodes: where they belong and whom they would link to, without fitting again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from klafter.core.draws import Draw, ExposureDraw, LinearDraw
from klafter.graph import Graph
from klafter.prediction.place_rows import Exposure, Row, Side, exposure_row, exposure_sums, linear_row

MOST_DRAWS = 60  # that a placement averages
OTHERS = "others"  # all nodes but those that are linked


class Placement(NamedTuple):
    """Where a node that was not in the network belongs.

    ``probabilities`` (K,) are those of memberships (of MMSB proportions), ``memberships`` (K,) 0/1, ``communities``
    the names of those it is in.
    """

    memberships: np.ndarray
    probabilities: np.ndarray
    communities: list[str]
    draws: list[tuple[Draw, Row]]
    model: Any
    known: np.ndarray  # rows of nodes whose dyads with it were given

    def predict_proba(self, nodes: Any = None, *, incoming: bool = False) -> np.ndarray:
        """Probability of a link to each node.

        Parameters
        ----------
        nodes : list of labels or integer array of rows, optional
            Default: all nodes of the network.
        incoming : bool
            Whether links come from these nodes, in a directed network.

        Returns
        -------
        (m,) array
        """
        rows = np.arange(self.model.graph_.n_nodes) if nodes is None else node_rows(self.model.graph_, nodes)
        response, total = self.model._response(), np.zeros(len(rows))
        for draw, row in self.draws:
            total += response.probability(_predictor(draw, row, rows, incoming), self.model.precision_)
        return total / len(self.draws)

    def top_links(self, n: int = 10) -> list[tuple[Any, float]]:
        """The likeliest links to nodes that were not among those given.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        list of (node, probability), best first
        """
        p = self.predict_proba()
        p[self.known] = -1.0
        best = np.argsort(-p, kind="stable")[: min(n, int((p >= 0).sum()))]
        return [(self.model.graph_.label(i), float(p[i])) for i in best]


def node_rows(graph: Graph, nodes: Any) -> np.ndarray:
    """Rows of nodes, given as labels or as an integer array of rows."""
    if isinstance(nodes, np.ndarray) and nodes.dtype.kind in "iu":
        return graph._check_rows(np.column_stack([nodes, nodes]))[:, 0]
    if isinstance(nodes, (str, bytes)) or not hasattr(nodes, "__iter__"):
        raise ValueError(f"place needs a list of nodes; it is {nodes!r}. Use [{nodes!r}].")
    return np.array([graph.index(node) for node in nodes], np.int64)


def place(model: Any, links: Any, unlinked: Any, linked_by: Any, values: Any) -> Placement:
    """See ``NetworkModel.place``."""
    graph = model.graph_
    if graph.covariates:
        raise ValueError(
            "place needs a model without covariates: those of a new node's dyads are not known. Fit one without them."
        )
    if linked_by is not None and not graph.directed:
        raise ValueError("linked_by is for directed networks; this one is undirected. Put all into links.")
    out = _links(graph, links, values)
    sides = [(out, _rest(graph, out, unlinked))]
    if graph.directed:
        back = _links(graph, () if linked_by is None else linked_by, None)
        sides.append((back, _rest(graph, back, None if linked_by is None else unlinked)))
    known = np.unique(np.concatenate([side.nodes for side, _ in sides]))
    draws = [(draw, _row(model, draw, sides)) for draw in _thinned(model._prediction_draws())]
    chances = _chances(model, sides)
    held = (chances >= _threshold(model)).astype(np.int8)
    names = [model.community_names_[k] for k in np.flatnonzero(held)]
    return Placement(held, chances, names, draws, model, known)


def _links(graph: Graph, nodes: Any, values: Any) -> Side:
    rows = node_rows(graph, nodes)
    if len(np.unique(rows)) < len(rows):
        raise ValueError("place needs each linked node once; some are there twice.")
    y = np.ones(len(rows)) if values is None else np.asarray(values, float)
    if y.shape != rows.shape or not np.isfinite(y).all():
        raise ValueError(f"place needs one finite value for each of {len(rows)} links; values have shape {y.shape}.")
    return Side(rows, y)


def _rest(graph: Graph, links: Side, unlinked: Any) -> Side | None:
    """Observed non-links; None: all other nodes."""
    if isinstance(unlinked, str) and unlinked == OTHERS:
        return None
    rows = np.setdiff1d(node_rows(graph, () if unlinked is None else unlinked), links.nodes)
    return Side(rows, np.zeros(len(rows)))


def _row(model: Any, draw: Draw, sides: list[tuple[Side, Side | None]]) -> Row:
    if isinstance(draw, ExposureDraw):
        prior = model.degree_prior if model.sociality else 0.0
        return exposure_row(draw, _sums(model, draw), model._response().binary, prior, sides)
    return linear_row(draw, model._response(), model.precision_, [_all(model.graph_, *side) for side in sides])


def _sums(model: Any, draw: ExposureDraw) -> Exposure:
    """Those of a draw, kept with the model as long as the draw is."""
    kept = model.__dict__.setdefault("_exposure_sums", {})
    if id(draw) not in kept or kept[id(draw)][0] is not draw:
        kept[id(draw)] = (draw, exposure_sums(draw))
    sums: Exposure = kept[id(draw)][1]
    return sums


def _all(graph: Graph, links: Side, rest: Side | None) -> Side:
    """Links and non-links of one direction together."""
    if rest is None:
        nodes = np.setdiff1d(np.arange(graph.n_nodes), links.nodes)
        rest = Side(nodes, np.zeros(len(nodes)))
    return Side(np.concatenate([links.nodes, rest.nodes]), np.concatenate([links.values, rest.values]))


def _chances(model: Any, sides: list[tuple[Side, Side | None]]) -> np.ndarray:
    """Probabilities for the communities that are shown."""
    row = _row(model, model.point_, sides).u
    u, w = sparse.csr_array(model.point_.memberships), model.point_.affinities
    graded = model._response().nonnegative and isinstance(model.point_, LinearDraw) and not (u.data == 1.0).all()
    if graded and not np.allclose(np.asarray(u.sum(axis=1)).ravel(), 1.0):
        row = -np.expm1(-row * (np.asarray(w) @ np.asarray(u.sum(axis=0)).ravel()))  # of a link through it
    return np.asarray(row[: model.n_communities_])


def _threshold(model: Any) -> float:
    """Of EPM half an expected link, of MMSB the share of one role, else a half."""
    u = sparse.csr_array(model.point_.memberships)
    if not model._response().nonnegative or isinstance(model.point_, ExposureDraw) or (u.data == 1.0).all():
        return 0.5
    simplex = np.allclose(np.asarray(u.sum(axis=1)).ravel(), 1.0)
    return 1.0 / u.shape[1] if simplex else float(-np.expm1(-0.5))


def _predictor(draw: Draw, row: Row, rows: np.ndarray, incoming: bool) -> np.ndarray:
    """x of the newcomer's dyads with some nodes."""
    w = draw.affinities.T if incoming else draw.affinities
    inside = np.asarray(sparse.csr_array(draw.memberships)[rows] @ np.asarray(row.u @ w).ravel()).ravel()
    if isinstance(draw, ExposureDraw):
        other = (draw.send if incoming else draw.receive)[rows]
        return np.asarray((row.receive if incoming else row.send) * other * (draw.background + inside))
    x = float(draw.offset) + inside
    side = draw.sender if incoming else draw.receiver
    return x if side is None else x + side[rows] + (row.receive if incoming else row.send)


def _thinned(draws: Sequence[Draw]) -> list[Draw]:
    return [draws[t] for t in np.unique(np.linspace(0, len(draws) - 1, min(len(draws), MOST_DRAWS)).astype(int))]
