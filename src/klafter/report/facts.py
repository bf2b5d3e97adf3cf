"""The facts of a fitted model: one source for the page, the screen and the tests. What a model lacks is None."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from klafter.core.responses import RESPONSES
from klafter.models import Choice
from klafter.models.results.cover import as_cover, pattern, rows
from klafter.models.results.enrichment import show_value
from klafter.report.communities import Community, Overlap, community_table, overlap_table
from klafter.report.fit import Count, Run, Setting, counts, criterion, parameters, runs, settings_tried
from klafter.report.groups import Groups, group_communities
from klafter.report.held_out import HeldOut, evaluate_held_out
from klafter.report.levels import LevelFacts, describe_levels
from klafter.report.matrices import Matrices, matrices
from klafter.report.network import NODES, Network, Overview, draw_network, draw_overview
from klafter.report.palette import community_colours
from klafter.report.suggestions import Suggestions, missing_links, surprising_links
from klafter.report.words import summary_sentences

AFFINITIES = 80  # communities of a heat map at most


@dataclass(frozen=True)
class Summary:
    """The numbers at the top of the page."""

    model: str
    n_nodes: int
    n_links: int
    n_dyads: int
    n_hidden: int
    directed: bool
    kinds: list[str]  # kinds of nodes, or nothing
    values: tuple[float, float] | None  # least and largest link value, unless all are 1
    n_communities: int
    n_overlapping: int  # nodes in two communities or more
    n_unassigned: int
    objective: float | None
    link: str | None
    seconds: float | None
    n_steps: int | None
    converged: bool | None
    notes: list[str]


@dataclass(frozen=True)
class Nodes:
    """One entry for each node."""

    labels: list[str]
    degrees: list[int]
    memberships: list[list[int]]
    weights: list[list[float]] | None  # unless all memberships are whole
    certainty: list[list[int]] | None  # how probable each membership is, in percent, unless all are certain
    first: dict[int, tuple[int, float]]  # of nodes in none, the community they would join first and its probability
    attributes: dict[str, tuple[list[str], list[int]]]  # values, and a code for each node, -1 where unknown
    kind: list[int] | None  # which of the kinds each node is
    second: list[int] | None  # 1 for nodes of the second kind of a two-mode network


@dataclass(frozen=True)
class Affinities:
    """W between some communities."""

    numbers: list[int]
    values: list[list[float]]


@dataclass(frozen=True)
class Facts:
    """Everything that a report shows."""

    title: str
    summary: Summary
    words: list[str]  # what was found, in sentences
    nodes: Nodes
    communities: list[Community]
    colours: list[str]
    overlaps: list[Overlap]
    network: Network | None
    overview: Overview | None
    groups: Groups | None  # of communities, where they are many
    affinities: Affinities | None
    matrices: Matrices | None
    criterion: str  # what chose among the runs
    runs: list[Run]
    counts: list[Count]
    parameters: list[tuple[str, str]]
    settings: list[Setting]
    held: HeldOut | None
    missing: Suggestions
    surprising: Suggestions
    levels: list[LevelFacts]  # those that a reader can choose from, where nodes are drawn


def gather(model, held=None, title: str | None = None) -> Facts:
    """All facts of a fitted model; ``held`` are held-out pairs and their values.

    Parameters
    ----------
    model : a fitted model
    held : held-out pairs and their values, optional
        As ``split_dyads`` gives them.
    title : str, optional

    Returns
    -------
    Facts
    """
    graph, z = model.graph_, as_cover(model.memberships_)
    w = getattr(model, "affinities_", None)
    communities = community_table(graph, z, w, model.stability_, model.community_names_)
    small, colours = graph.n_nodes <= NODES, community_colours([c.size for c in communities])
    history, posterior = runs(model), counts(model)
    choices = model.first_choices() if (np.diff(z.indptr) == 0).any() else []
    return Facts(
        title=title or f"{type(model).__name__} on a network of {graph.n_nodes:,} nodes",
        summary=summarise(model, z),
        words=summary_sentences(model, communities, history, posterior),
        nodes=describe_nodes(graph, z, choices, model.membership_proba_),
        communities=communities,
        colours=colours,
        overlaps=overlap_table(z),
        network=draw_network(graph, z) if small else None,
        overview=None if small or not communities else draw_overview(graph, z, communities),
        groups=None if small else group_communities(graph, z),
        affinities=None if _is_plain(model, w) else _affinities(w, communities),
        matrices=matrices(model, z),
        criterion=criterion(model),
        runs=history,
        counts=posterior,
        parameters=parameters(model),
        settings=settings_tried(model),
        held=None if held is None else evaluate_held_out(model, held[0], held[1]),
        missing=missing_links(model, communities),
        surprising=surprising_links(model),
        levels=describe_levels(model, colours) if small else [],
    )


def summarise(model, z: sparse.csr_array) -> Summary:
    """The numbers at the top."""
    graph = model.graph_
    count = np.diff(z.indptr)
    data = graph.links.data
    valued = len(data) and (data != 1).any()
    return Summary(
        model=type(model).__name__,
        n_nodes=graph.n_nodes,
        n_links=graph.n_links,
        n_dyads=graph.n_dyads,
        n_hidden=graph.n_hidden,
        directed=graph.directed,
        kinds=list(graph.kind_names),
        values=(float(data.min()), float(data.max())) if valued else None,
        n_communities=z.shape[1],
        n_overlapping=int((count > 1).sum()),
        n_unassigned=int((count == 0).sum()),
        objective=getattr(model, "objective_", None),
        link=getattr(model, "link_", None),
        seconds=getattr(model, "fit_seconds_", None),
        n_steps=getattr(model, "n_iter_", None),
        converged=getattr(model, "converged_", None),
        notes=[*graph.notes, *(getattr(model, "notes_", None) or [])],
    )


def describe_nodes(graph, z: sparse.csr_array, choices: Sequence[Choice] = (), proba=None) -> Nodes:
    """Labels, degrees, memberships, how probable they are, and attributes; where nodes in none would go."""
    links = pattern(graph.links)
    degree = np.asarray(links.sum(axis=1)).ravel()
    degree = degree + np.asarray(links.sum(axis=0)).ravel() if graph.directed else degree
    whole = z.nnz == 0 or bool((z.data == 1).all())
    columns = {**({} if graph.kinds is None else {"kind": graph.kinds}), **graph.attributes}
    return Nodes(
        labels=[str(graph.label(i)) for i in range(graph.n_nodes)],
        degrees=degree.astype(int).tolist(),
        memberships=rows(z),
        weights=None if whole else rows(z, values=True),
        certainty=_certainty(z, proba),
        first={graph.index(c.node): (c.community, round(c.probability, 4)) for c in choices},
        attributes={name: _coded(column) for name, column in columns.items()},
        kind=None if graph.kinds is None else [graph.kind_names.index(kind) for kind in graph.kinds.tolist()],
        second=None if graph.second_kind is None else graph.second_kind.astype(int).tolist(),
    )


def _certainty(z: sparse.csr_array, proba) -> list[list[int]] | None:
    """How probable each membership is, in percent; None where all are certain."""
    if proba is None or not z.nnz:
        return None
    row = np.repeat(np.arange(z.shape[0]), np.diff(z.indptr))
    percent = np.rint(100 * np.asarray(proba[row, z.indices], float)).ravel()
    if (percent == 100).all():
        return None
    return rows(sparse.csr_array((percent, z.indices, z.indptr), shape=z.shape), values=True)


def _coded(column) -> tuple[list[str], list[int]]:
    """Different values as text, and the index of each node's among them, -1 where unknown."""
    places: dict[str, int] = {}
    codes = []
    for value in np.asarray(column).tolist():
        text = show_value(value)
        codes.append(places.setdefault(text, len(places)) if text else -1)
    return list(places), codes


def _is_plain(model, w) -> bool:
    """Whether communities only attract, and each only itself: a heat map of W would be a diagonal."""
    if w is None or not RESPONSES[model.response_].nonnegative:
        return False
    return sparse.csr_array(w).count_nonzero() == np.count_nonzero(w.diagonal())


def _affinities(w, communities: list[Community]) -> Affinities | None:
    """W between the largest communities."""
    if w is None or not communities:
        return None
    largest = sorted(communities, key=lambda c: (-c.size, c.number))[:AFFINITIES]
    numbers = [c.number for c in largest]
    dense = w[numbers][:, numbers]
    return Affinities(numbers, np.asarray(dense.toarray() if sparse.issparse(dense) else dense, float).tolist())
