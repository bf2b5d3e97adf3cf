"""New nodes: where they belong and whom they would link to, without fitting again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from klafter.core.draws import Draw, ExposureDraw, LinearDraw
from klafter.core.families import FAMILIES, check_values
from klafter.graph import Graph
from klafter.models.checks import check_count
from klafter.prediction.left_out import degree_prior_of
from klafter.prediction.place_rows import (
    Exposure,
    Row,
    Side,
    alternatives,
    as_dyads,
    exposure_row,
    exposure_sums,
    flipped_row,
    law_of,
    linear_row,
    shares,
)

MOST_DRAWS = 60  # that a placement averages
LEAST = 1e-12  # probability of a 0/1 link value, where its logarithm is taken
SHOWN = 3  # communities in the representation of a placement
OTHERS = "others"  # all nodes but those that are linked


class Placement(NamedTuple):
    """Where a node that was not in the network belongs.

    ``probabilities`` (K,) are those of memberships (of MMSB proportions), ``memberships`` (K,) 0/1, ``communities``
    the names of those it is in.

    Examples
    --------
    >>> import klafter as kl
    >>> from klafter.datasets import load_karate
    >>> kl.KLafter(n_init=1, n_smooth=30, random_state=0).fit(load_karate()).place([33, 32, 23])  # doctest: +ELLIPSIS
    Placement(in 'Officer'; most probable: Officer ...)
    """

    memberships: np.ndarray
    probabilities: np.ndarray
    communities: list[str]
    draws: list[tuple[Draw, Row]]
    model: Any
    known: np.ndarray  # rows of nodes whose dyads with it were given
    columns: np.ndarray  # (p, n): what attributes say of its dyads
    possible: np.ndarray | None = None  # (n,) of a two-mode network: nodes of the other kind

    def __repr__(self) -> str:
        names, best = self.model.community_names_, np.argsort(-self.probabilities, kind="stable")[:SHOWN]
        told = ", ".join(f"{names[k]} {self.probabilities[k]:.2f}" for k in best)
        held = ", ".join(map(repr, self.communities[:SHOWN])) + (", ..." if len(self.communities) > SHOWN else "")
        return f"Placement(in {held or 'no community'}{f'; most probable: {told}' if told else ''})"

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
            weights, x = _predictors(draw, row, incoming)
            x = (x + explained(draw, self.columns))[:, rows]
            total += weights @ response.probability(x, self.model.precision_)
        return total / len(self.draws) * (1.0 if self.possible is None else self.possible[rows])

    def log_likelihood(self, nodes: Any, values: Any) -> np.ndarray:
        """Log of the probability, or density, of link values; of 0/1 links no less than that of 1e-12, as in ``score``.

        Parameters
        ----------
        nodes : list of labels or integer array of rows
        values : (m,) array
            Values of the links to these nodes, 0 where there is none.

        Returns
        -------
        (m,) array
        """
        rows, density = node_rows(self.model.graph_, nodes), self.model._response().log_density
        y, precision = np.asarray(values, float), self.model.precision_
        logs = []
        for draw, row in self.draws:
            weights, x = _predictors(draw, row, False)
            each = density(y, (x + explained(draw, self.columns))[:, rows], precision)
            logs.append(logsumexp(each, axis=0, b=weights[:, None]))
        found = np.asarray(logsumexp(logs, axis=0) - np.log(len(logs)))
        return np.maximum(found, np.log(LEAST)) if self.model._response().binary else found

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
        n, p = check_count(n, "top_links"), self.predict_proba()
        p[self.known] = -1.0
        if self.possible is not None:
            p[~self.possible] = -1.0
        best = np.argsort(-p, kind="stable")[: min(n, int((p >= 0).sum()))]
        return [(self.model.graph_.label(i), float(p[i])) for i in best]


def node_rows(graph: Graph, nodes: Any) -> np.ndarray:
    """Rows of nodes, given as labels or as an integer array of rows."""
    if isinstance(nodes, np.ndarray) and nodes.dtype.kind in "iu":
        return graph._check_rows(np.column_stack([nodes, nodes]))[:, 0]
    if isinstance(nodes, (str, bytes)) or not hasattr(nodes, "__iter__"):
        raise ValueError(f"place needs a list of nodes; it is {nodes!r}. Use [{nodes!r}].")
    return np.array([graph.index(node) for node in nodes], np.int64)


def place(
    model: Any, links: Any, unlinked: Any, linked_by: Any, values: Any, attributes: Mapping[str, Any] | None = None
) -> Placement:
    """See ``NetworkModel.place``."""
    graph = model.graph_
    if graph.covariates:
        raise ValueError(
            "place needs a model without covariates: those of a new node's dyads are not known. Fit one without them."
        )
    if linked_by is not None and not graph.directed:
        raise ValueError("linked_by is for directed networks; this one is undirected. Put all into links.")
    out = _links(graph, links, values)
    if values is not None:
        check_values(FAMILIES[getattr(model, "family", "bernoulli")], out.values, "place", "Use such values.")
    partners = _other_kind(graph, out, unlinked)
    sides = [(out, _rest(graph, out, unlinked, partners))]
    if graph.directed:
        back = _links(graph, () if linked_by is None else linked_by, None)
        sides.append((back, _rest(graph, back, None if linked_by is None else unlinked)))
    known = np.unique(np.concatenate([side.nodes for side, _ in sides]))
    columns = _columns(model, attributes or {})
    row = _rower(model, sides, columns)
    every = model._prediction_draws()
    some = [every[t] for t in np.unique(np.linspace(0, len(every) - 1, min(len(every), MOST_DRAWS)).astype(int))]
    draws = [(draw, row(draw)) for draw in some]
    proba, threshold = _membership_proba(model, row(model.point_).u)
    held = (proba >= threshold).astype(np.int8)
    names = [model.community_names_[k] for k in np.flatnonzero(held)]
    return Placement(held, proba, names, draws, model, known, columns, partners)


def _columns(model: Any, attributes: Mapping[str, Any]) -> np.ndarray:
    """What attributes of the newcomer say of its dyads with all nodes; those not given are unknown."""
    used = model._covariates(model.graph_)
    known = sorted({column.attribute for column in used.values()})
    for name in attributes:
        if name not in known:
            has = f"those of this model are {', '.join(known)}" if known else "this model was fitted without any"
            raise ValueError(f"place needs attributes that the model knows; {name!r} is none, {has}.")
    rows = [
        column.between(column.value_of(attributes.get(column.attribute)), column.values) for column in used.values()
    ]
    return np.array(rows).reshape(len(rows), model.graph_.n_nodes)


def explained(draw: Draw, columns: np.ndarray) -> np.ndarray:
    """What attributes add to x of the newcomer's dyads, (n,)."""
    if not len(columns) or isinstance(draw, ExposureDraw):
        return np.zeros(columns.shape[1])
    return np.asarray(np.asarray(draw.coefficients) @ columns)


def are_rows_of_nodes(graph: Graph, matrix: Any) -> bool:
    """Whether it is a matrix of links to all nodes, as a fold of nodes in scikit-learn is, rather than pairs."""
    shape: tuple[int, ...] = getattr(matrix, "shape", ())
    return len(shape) == 2 and shape[1] == graph.n_nodes != 2


def score_newcomers(model: Any, rows: Any) -> float:
    """Mean log likelihood of the links of nodes that were not in the network, (m, n), NaN where nobody looked.

    Each node is placed by one half of its observed dyads, dealt with a fixed seed, to predict the other, and back.
    """
    y, n = _as_rows(rows), model.graph_.n_nodes
    if y.ndim != 2 or y.shape[1] != n or not len(y):
        raise ValueError(
            f"score needs pairs and their link values, as in model.score(held.pairs, held.values), or the links of new "
            f"nodes to the {n} nodes of the network, as a matrix with {n} columns; this has shape {y.shape}."
        )
    rng = np.random.default_rng(0)
    seen = [rng.permutation(np.flatnonzero(~np.isnan(row))) for row in y]
    logs = [half for row, nodes in zip(y, seen) if len(nodes) > 1 for half in _two_halves(model, row, nodes)]
    if not logs:
        raise ValueError("score needs new nodes with two observed dyads or more; here no row has them.")
    return float(np.concatenate(logs).mean())


def _as_rows(rows: Any) -> np.ndarray:
    """An array of numbers; one without a shape where it is something else."""
    try:
        return rows.toarray() if sparse.issparse(rows) else np.asarray(rows, float)
    except (TypeError, ValueError):
        return np.empty(())


def _two_halves(model: Any, y: np.ndarray, nodes: np.ndarray) -> Iterator[np.ndarray]:
    """Log likelihoods of each half of the dyads, given the other."""
    for known, asked in ((nodes[0::2], nodes[1::2]), (nodes[1::2], nodes[0::2])):
        linked = known[y[known] != 0]
        placed = place(model, linked, known[y[known] == 0], None, y[linked])
        yield placed.log_likelihood(asked, y[asked])


def _other_kind(graph: Graph, links: Side, unlinked: Any) -> np.ndarray | None:
    """Which nodes could be linked to a newcomer: those of the kind that it names; None where there is one kind."""
    if graph.second_kind is None:
        return None
    others = () if unlinked is None or (isinstance(unlinked, str) and unlinked == OTHERS) else unlinked
    named = np.concatenate([links.nodes, node_rows(graph, others)])
    kinds = np.unique(graph.second_kind[named])
    if len(kinds) != 1:
        found = "these are of both kinds. Leave out those of its own kind" if len(kinds) else "here is none. Name some"
        raise ValueError(
            f"A new node of a two-mode network names nodes of one kind, {' or '.join(map(repr, graph.kind_names))}; "
            f"{found}."
        )
    return np.asarray(graph.second_kind == kinds[0])


def _links(graph: Graph, nodes: Any, values: Any) -> Side:
    rows = node_rows(graph, nodes)
    if len(np.unique(rows)) < len(rows):
        raise ValueError("place needs each linked node once; some are there twice.")
    y = np.ones(len(rows)) if values is None else np.asarray(values, float)
    if y.shape != rows.shape or not np.isfinite(y).all():
        raise ValueError(f"place needs one finite value for each of {len(rows)} links; values have shape {y.shape}.")
    return Side(rows, y)


def _rest(graph: Graph, links: Side, unlinked: Any, partners: np.ndarray | None = None) -> Side | None:
    """Observed non-links; None: all other nodes."""
    if isinstance(unlinked, str) and unlinked == OTHERS:
        if partners is None:
            return None
        unlinked = np.flatnonzero(partners)
    rows = np.setdiff1d(node_rows(graph, () if unlinked is None else unlinked), links.nodes)
    return Side(rows, np.zeros(len(rows)))


def _rower(model: Any, sides: list[tuple[Side, Side | None]], columns: np.ndarray) -> Callable[[Any], Row]:
    """The function that gives the newcomer's row under a draw."""
    response = model._response()
    if isinstance(model.point_, ExposureDraw):
        prior = degree_prior_of(model) if model.sociality else 0.0
        return lambda draw: exposure_row(draw, _sums(model, draw), response.binary, prior, sides)
    whole = [_all(model.graph_, *side) for side in sides]
    if response.nonnegative:
        return lambda draw: linear_row(draw, response, model.precision_, whole)
    law, dyads = law_of(response, model.precision_), as_dyads(whole)
    return lambda draw: flipped_row(draw, law, dyads, explained(draw, columns))


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


def _membership_proba(model: Any, row: np.ndarray) -> tuple[np.ndarray, float]:
    """Probabilities for the communities that are shown, and from which on the newcomer is a member.

    That is half an expected link for EPM, the share of one role for MMSB, else a half.
    """
    u, threshold = sparse.csr_array(model.point_.memberships), 0.5
    graded = model._response().nonnegative and isinstance(model.point_, LinearDraw) and not (u.data == 1.0).all()
    if graded and np.allclose(np.asarray(u.sum(axis=1)).ravel(), 1.0):
        threshold = 1.0 / u.shape[1]
    elif graded:
        through = np.asarray(model.point_.affinities) @ np.asarray(u.sum(axis=0)).ravel()
        row, threshold = -np.expm1(-row * through), float(-np.expm1(-0.5))
    return np.asarray(row[: model.n_communities_]), threshold


def _predictors(draw: Draw, row: Row, incoming: bool) -> tuple[np.ndarray, np.ndarray]:
    """x of the newcomer's dyads with all nodes, (s, n), for each of the rows that count, and their weights."""
    weights, u = alternatives(row)
    w = draw.affinities.T if incoming else draw.affinities
    if isinstance(draw, ExposureDraw):
        inside = np.asarray(draw.loadings @ np.asarray(shares(row.u, draw.shared) @ w).ravel()).ravel()
        other = draw.send if incoming else draw.receive
        return weights, np.asarray((row.receive if incoming else row.send) * other * (draw.background + inside))[None]
    x = float(draw.offset) + np.asarray(draw.memberships @ np.asarray(u @ w).T).T
    side = draw.sender if incoming else draw.receiver
    return weights, x if side is None else x + side + (row.receive if incoming else row.send)
