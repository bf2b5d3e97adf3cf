"""New nodes: where they belong and whom they would link to, without fitting again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from klafter.core.draws import Draw, ExposureDraw, LinearDraw
from klafter.core.families import FAMILIES, check_values
from klafter.graph import Graph
from klafter.graph.kinds.rule import Rule
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
from klafter.prediction.structure import blended, half

MOST_DRAWS = 60  # that a placement averages
LEAST = 1e-12  # probability of a 0/1 link value, where its logarithm is taken
MOST_NODES = 2_000  # up to which the structural expert looks around a newcomer; of 20,000 that takes five seconds
SHOWN = 3  # communities in the representation of a placement
OTHERS = "others"  # all nodes but those that are linked


class Partners(NamedTuple):
    """Which nodes could be linked to a newcomer, (n,), by the direction of the link."""

    outgoing: np.ndarray  # from the newcomer to the node
    incoming: np.ndarray


class Surroundings:
    """The network with the newcomer, its last node, and its links: what the structural expert looks at."""

    def __init__(self, graph: Graph, out: np.ndarray, back: np.ndarray):
        self.graph, self.out, self.back = graph, out, back

    @cached_property
    def links(self) -> sparse.csr_array:
        """(n + 1, n + 1), 1 for each link."""
        n = self.graph.n_nodes
        known, new = sparse.coo_array(self.graph.links), len(self.out) + len(self.back)
        row = np.concatenate([known.row, np.full(len(self.out), n), self.back])
        col = np.concatenate([known.col, self.out, np.full(len(self.back), n)])
        return sparse.csr_array((np.ones(known.nnz + new), (row, col)), shape=(n + 1, n + 1))

    def with_structure(self, model: Any, p: np.ndarray, rows: np.ndarray, incoming: bool) -> np.ndarray:
        """Probabilities of links with some nodes, with what the structural expert says of them.

        It counts half: its features are of what was seen of the newcomer, not of all its links. Nothing is said of one
        without links, nor beyond MOST_NODES nodes, where looking around takes long.
        """
        n = self.graph.n_nodes
        if n > MOST_NODES or not len(self.out) + len(self.back) or model.structure == 0:
            return p
        ends = np.full(len(rows), n), rows
        blend = model._blend(np.column_stack(ends[::-1] if incoming else ends), self.links)
        return p if blend is None else blended(p, half(blend))


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
    surroundings: Surroundings
    possible: Partners | None = None  # where there are kinds of nodes

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
        possible = self.possible and (self.possible.incoming if incoming else self.possible.outgoing)
        p = self.surroundings.with_structure(self.model, total / len(self.draws), rows, incoming)
        return p * (1.0 if possible is None else possible[rows])

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
            p[~self.possible.outgoing] = -1.0
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
    model: Any, links: Any, unlinked: Any, linked_by: Any, values: Any, attributes: Mapping[str, Any] | None = None,
    kind: str | None = None,
) -> Placement:  # fmt: skip
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
    back = _links(graph, () if linked_by is None else linked_by, None)
    partners = _partners(graph, out, back, unlinked, kind)
    sides = [(out, _rest(graph, out, unlinked, partners and partners.outgoing))]
    if graph.directed:
        others = None if linked_by is None else unlinked
        sides.append((back, _rest(graph, back, others, partners and partners.incoming)))
    known = np.unique(np.concatenate([side.nodes for side, _ in sides]))
    columns = _columns(model, attributes or {})
    row = _rower(model, sides, columns)
    every = model._prediction_draws()
    some = [every[t] for t in np.unique(np.linspace(0, len(every) - 1, min(len(every), MOST_DRAWS)).astype(int))]
    draws = [(draw, row(draw)) for draw in some]
    proba, threshold = _membership_proba(model, row(model.point_).u)
    held = (proba >= threshold).astype(np.int8)
    names = [model.community_names_[k] for k in np.flatnonzero(held)]
    around = Surroundings(graph, out.nodes, back.nodes if graph.directed else out.nodes)
    return Placement(held, proba, names, draws, model, known, columns, around, partners)


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


def _partners(graph: Graph, links: Side, back: Side, unlinked: Any, kind: str | None) -> Partners | None:
    """Which nodes could be linked to a newcomer of the kind that is given, or that its links leave; None where every
    pair is possible."""
    rule = graph.rule
    if rule is None:
        if kind is not None and kind not in graph.kind_names:
            raise ValueError(f"kind={kind!r} is for networks of several kinds of nodes, which this one has not.")
        return None
    others = () if unlinked is None or (isinstance(unlinked, str) and unlinked == OTHERS) else unlinked
    named = np.concatenate([links.nodes, node_rows(graph, others)])
    if graph.second_kind is not None and kind is None:
        _check_one_kind(graph, graph.second_kind[named])
    mine = _own_kind(rule, named, back.nodes, kind)
    found = Partners(rule.table[mine, rule.kind], rule.table[rule.kind, mine])
    for nodes, possible in ((named, found.outgoing), (back.nodes, found.incoming)):
        if not possible[nodes].all():
            wrong = nodes[np.argmin(possible[nodes])]
            raise ValueError(
                f"A new node of kind {rule.names[mine]!r} can have no link with {graph.label(wrong)!r}, of kind "
                f"{rule.names[rule.kind[wrong]]!r}. Leave it out, or pass another kind."
            )
    return found


def _check_one_kind(graph: Graph, named: np.ndarray) -> None:
    """That nodes, of the second kind or not, are of one kind."""
    kinds = np.unique(named)
    if len(kinds) != 1:
        found = "these are of both kinds. Leave out those of its own kind" if len(kinds) else "here is none. Name some"
        raise ValueError(
            f"A new node of a two-mode network names nodes of one kind, {' or '.join(map(repr, graph.kind_names))}; "
            f"{found}."
        )


def _own_kind(rule: Rule, to: np.ndarray, by: np.ndarray, kind: str | None) -> int:
    """The number of a newcomer's kind: as given, or the only one that may be linked to all that it names."""
    if kind is not None:
        if kind not in rule.names:
            raise ValueError(f"kind is one of {', '.join(map(repr, rule.names))}; {kind!r} is none of them.")
        return rule.names.index(kind)
    possible = rule.table[:, rule.kind[to]].all(axis=1) & rule.table[rule.kind[by]].all(axis=0)
    if possible.sum() == 1:
        return int(np.argmax(possible))
    left = [name for name, one in zip(rule.names, possible) if one]
    told = f"Its links allow {' or '.join(map(repr, left))}" if left else "No kind allows all of its links"
    raise ValueError(f"Which kind is the new node of? {told}. Pass kind={(left or rule.names)[0]!r}, or other links.")


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
