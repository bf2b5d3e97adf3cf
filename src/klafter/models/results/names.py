"""Names and numbers of communities, which stay when a model is fitted again.

A community is called after the attribute value that is most over-represented among its members, else after its two most
central members, those with most links inside. One that overlaps a community of the last fit by half or more (Jaccard)
keeps that one's name, and its number where there still are as many.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from klafter.core.draws import Matrix
from klafter.graph import Graph
from klafter.models.results.cover import as_cover, entries, inner_degrees, pattern
from klafter.models.results.enrichment import Enriched, enriched_values
from klafter.models.results.matching import jaccard, match_columns

if TYPE_CHECKING:
    from klafter.models.results.publish import Fitted

SAME = 0.5  # Jaccard index from which a community is that of the last fit
CENTRAL = 2  # members in a name


def name_communities(graph: Graph, memberships: Matrix, known: dict[int, str] | None = None) -> list[str]:
    """A name for each community, no two the same; ``known`` are names that stay, by number."""
    z, known = as_cover(memberships), known or {}
    common, central = enriched_values(z, graph.attributes), central_members(graph, z)
    taken, names = set(known.values()), []
    for k in range(z.shape[1]):
        name = known.get(k) or _first_free([*map(_value, common[k]), ", ".join(central[k])], taken)
        taken.add(name)
        names.append(name)
    return names


def central_members(graph: Graph, z: sparse.csr_array) -> list[list[str]]:
    """The labels of the members with most links inside each community, of several the first."""
    member, links = pattern(z), graph.links
    inner = inner_degrees(links, member)
    inner = inner + inner_degrees(links.T, member) if graph.directed else inner
    score = sparse.csr_array((inner + 0.5 * member).T)  # members without a link inside come last
    found = []
    for k in range(z.shape[1]):
        rows, degree = entries(score, k)
        order = np.lexsort((rows, -degree))[:CENTRAL]
        found.append([str(graph.label(int(i))) for i in rows[order]])
    return found


def _value(common: Enriched) -> str:
    """An attribute value as a name: a number says nothing without its attribute."""
    plain = common.value.replace(".", "").replace(" to ", "").replace("-", "").isdigit()
    return f"{common.attribute} {common.value}" if plain or len(common.value) < 2 else common.value


def _first_free(names: list[str], taken: set[str]) -> str:
    """The first name that no other community has, or one made so."""
    free = [name for name in names if name and name not in taken]
    if free:
        return free[0]
    first = names[0] or "empty"
    number = 2
    while f"{first} ({number})" in taken:
        number += 1
    return f"{first} ({number})"


def known_rows(before: Graph, now: Graph, n_before: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of nodes that the last fit knew, then and now: by label, or by number where there are no labels."""
    if before.labels is None or now.labels is None:
        rows = np.arange(min(n_before, now.n_nodes) if before.labels is now.labels else 0)
        return rows, rows
    place = {label: i for i, label in enumerate(now.labels.tolist())}
    pairs = [(i, place[label]) for i, label in enumerate(before.labels[:n_before].tolist()) if label in place]
    found = np.array(pairs, np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def match_last(last: Matrix, now: Matrix, rows: tuple[np.ndarray, np.ndarray]) -> dict[int, int]:
    """Communities of now by their number, and which of the last fit each is; of the nodes that both fits know."""
    before, after = (sparse.csr_array(sparse.csr_array(cover)[known]) for cover, known in zip((last, now), rows))
    overlap = jaccard(before, after)
    pairs = zip(*(columns.tolist() for columns in match_columns(before, after)))
    return {k: was for was, k in pairs if overlap[was, k] >= SAME}


def new_order(match: dict[int, int], n_communities: int) -> np.ndarray:
    """The columns in the order that gives those of the last fit their numbers, the others the free ones.

    Examples
    --------
    >>> new_order({2: 0, 0: 7}, 3).tolist()
    [2, 0, 1]
    """
    order = np.full(n_communities, -1)
    for k, was in match.items():
        if was < n_communities:
            order[was] = k
    order[order < 0] = np.setdiff1d(np.arange(n_communities), order)
    return order


def reordered(fitted: Fitted, order: np.ndarray) -> Fitted:
    """What a fit found, its communities in another order."""
    k = len(order)
    if (order == np.arange(k)).all():
        return fitted
    point = fitted.point
    whole = np.concatenate([order, np.arange(k, point.affinities.shape[0])])
    affinities = fitted.affinities[order][:, order]
    probabilities = fitted.membership_proba
    return replace(
        fitted,
        memberships=fitted.memberships[:, order],
        membership_proba=None if probabilities is None else probabilities[:, order],
        affinities=affinities,
        point=point._replace(
            memberships=sparse.csr_array(sparse.csr_array(point.memberships)[:, whole]),
            affinities=point.affinities[whole][:, whole],
        ),
        more={**fitted.more, **_reordered_levels(fitted.more.get("levels"), order)},
    )


def _reordered_levels(levels: dict[str, Any] | None, order: np.ndarray) -> dict[str, Any]:
    """The level that is shown in another order, and what merges after it by the new numbers."""
    if levels is None:
        return {}
    shown, size = levels["shown"], levels["n_communities"]
    start = int(size[:shown].sum())
    columns = np.arange(int(size.sum()))
    columns[start : start + len(order)] = start + order
    merged = levels["merged"].copy()
    if shown + 1 < len(merged):
        number = np.argsort(order)
        merged[shown + 1] = [number[k] if k >= 0 else k for k in merged[shown + 1]]
    covers = sparse.csr_array(sparse.csc_array(levels["memberships"])[:, columns])
    return {"levels": {**levels, "memberships": covers, "merged": merged}}
