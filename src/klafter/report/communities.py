"""The table of communities: size, density, central and shared members, over-represented attributes; and overlaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from klafter.graph import Graph
from klafter.models.results.cover import entries, inner_degrees, pattern, rows, sizes
from klafter.models.results.enrichment import Enriched, enriched_values


@dataclass(frozen=True)
class Community:
    """One community; members and overlaps are rows of the graph and numbers of communities."""

    number: int
    name: str
    size: int
    inner_links: int
    density: float | None  # of the observed dyads inside; None when there are none
    members: list[int]  # those with links to most other members first
    tightness: list[float]  # of each of them, the share of other members it is linked with
    n_shared: int  # members that are in other communities too
    shared_with: list[tuple[int, int]]  # (community, members in both), most first
    enriched: list[Enriched] = field(default_factory=list)
    affinity: float | None = None
    stability: float | None = None


def community_table(
    graph: Graph, z: sparse.csr_array, affinities: Any = None, stability: Any = None, names: Sequence[str] | None = None
) -> list[Community]:
    """Every community of a cover, in the model's order."""
    member = pattern(z)
    inner = inner_degrees(graph.links, member)
    inner = inner if not graph.directed else inner + inner_degrees(graph.links.T, member)
    unseen = np.asarray(inner_degrees(graph.hidden, member).sum(axis=0)).ravel()
    overlap = sparse.csr_array(member.T @ member)
    several = (np.diff(member.indptr) > 1).astype(float)
    shared = np.asarray(member.T @ several).ravel()
    columns, degrees = sparse.csr_array(member.T), sparse.csr_array(inner.T)
    common = enriched_values(z, graph.attributes)
    table = []
    for k, size in enumerate(sizes(member).tolist()):
        partners = _partners_inside(graph, entries(columns, k)[0])
        order, tightness = _tightest_first(columns, degrees, k, partners)
        links = int(entries(degrees, k)[1].sum()) // 2
        dyads = (int(partners.sum()) - int(unseen[k]) * (2 if graph.directed else 1)) // 2
        table.append(
            Community(
                number=k,
                name=names[k] if names else "",
                size=size,
                inner_links=links,
                density=links / dyads if dyads > 0 else None,
                members=order,
                tightness=tightness,
                n_shared=int(shared[k]),
                shared_with=_partners(overlap, k),
                enriched=common[k],
                affinity=None if affinities is None else float(affinities[k, k]),
                stability=None if stability is None else float(stability[k]),
            )
        )
    return table


def _partners_inside(graph: Graph, members: np.ndarray) -> np.ndarray:
    """How many links each member could have to others, both ways when directed."""
    rule = graph.rule
    if rule is None:
        return np.full(len(members), (len(members) - 1) * (2 if graph.directed else 1))
    kind, table = rule.kind[members], rule.table.astype(np.int64)
    ways = table + table.T if graph.directed else table
    return np.asarray((ways @ np.bincount(kind, minlength=len(table)) - np.diag(ways))[kind])


def _tightest_first(columns, degrees, k: int, partners: np.ndarray) -> tuple[list[int], list[float]]:
    """Members of a community by the share of the others they are linked with."""
    members, _ = entries(columns, k)
    linked, degree = entries(degrees, k)
    count = dict(zip(linked.tolist(), degree.tolist()))
    share = np.array([count.get(i, 0.0) for i in members.tolist()]) / np.maximum(partners, 1)
    order = np.lexsort((members, -share))
    return members[order].tolist(), share[order].tolist()


def _partners(overlap: sparse.csr_array, k: int) -> list[tuple[int, int]]:
    """Communities that share members with k, those that share most first."""
    other, count = entries(overlap, k)
    pairs = [(j, int(c)) for j, c in zip(other.tolist(), count.tolist()) if j != k and c]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


@dataclass(frozen=True)
class Overlap:
    """Nodes whose communities are exactly these."""

    communities: tuple[int, ...]
    size: int


def overlap_table(z: sparse.csr_array, n: int = 30) -> list[Overlap]:
    """The commonest exact sets of communities; at least two thirds of the rows go to sets of two or more."""
    found = [Overlap(key, count) for key, count in Counter(map(tuple, rows(z))).items() if key]
    found.sort(key=lambda row: (-row.size, len(row.communities), row.communities))
    single = [row for row in found if len(row.communities) == 1]
    several = [row for row in found if len(row.communities) > 1][: n - min(len(single), n // 3)]
    kept = {*several, *single[: n - len(several)]}
    return [row for row in found if row in kept]
