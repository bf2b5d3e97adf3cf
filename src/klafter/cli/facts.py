"""Facts about a fitted model that commands print: the same for the table and for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from klafter.cli.screen import counted
from klafter.cli.sentences import in_shell_words


def describe_communities(model) -> list[dict[str, Any]]:
    """The communities of a model, largest first; members by label, tightest first."""
    from klafter.models.results.cover import as_cover
    from klafter.report.communities import community_table

    graph, cover = model.graph_, as_cover(model.memberships_)
    several = np.diff(cover.indptr) > 1
    found = [
        {
            "number": item.number,
            "name": item.name,
            "size": item.size,
            "links": item.inner_links,
            "density": item.density,
            "members": [graph.label(i) for i in item.members],
            **({"members_by_kind": members_by_kind(graph, item.members)} if graph.kinds is not None else {}),
            "over_represented": [vars(e) for e in item.enriched],
            "shared": [graph.label(i) for i in item.members if several[i]],
        }
        for item in community_table(graph, cover, names=model.community_names_)
    ]
    return sorted(found, key=lambda item: (-item["size"], item["number"]))


def members_by_kind(graph, members: list[int]) -> dict[str, list]:
    """Members of each kind, of a two-mode network."""
    return {kind: [graph.label(i) for i in members if graph.kinds[i] == kind] for kind in graph.kind_names}


def describe_graph(graph) -> dict:
    """Size and kind of a graph, and what its reader had to say."""
    return {
        "nodes": graph.n_nodes,
        "links": graph.n_links,
        "directed": graph.directed,
        "kinds": {kind: int((graph.kinds == kind).sum()) for kind in graph.kind_names},
        "hidden_dyads": graph.n_hidden,
        "notes": list(graph.notes),
    }


def describe_fit(model) -> dict:
    """What a fit came to."""
    effects = getattr(model, "attribute_effects_", {})
    return {
        "model": type(model).__name__,
        "communities": int(model.n_communities_),
        "unassigned": len(model.unassigned()),
        "objective": getattr(model, "objective_", None),
        "link": getattr(model, "link_", None),
        "seconds": getattr(model, "fit_seconds_", None),
        "notes": list(getattr(model, "notes_", [])),
        "attribute_effects": [dict(zip(effects, row)) for row in zip(*effects.values())],
        "parameters": model.get_params(deep=False),
    }


def graph_sentence(graph) -> str:
    """What a reader found, in its own words, or size and kind of a graph that was not read."""
    hidden = f" {counted(graph.n_hidden, 'hidden dyad')}." if graph.n_hidden else ""
    if graph.notes:
        return in_shell_words(" ".join(graph.notes)) + hidden
    nodes = counted(graph.n_nodes, "node") if graph.kinds is None else graph.count_nodes()
    return f"{nodes}, {counted(graph.n_links, 'link')}, {graph.form}.{hidden}"


def in_order(labels) -> list:
    """Labels as people sort them: numbers by size, then the rest by their letters."""
    numbers = [label for label in labels if isinstance(label, (int, float))]
    return sorted(numbers) + sorted((label for label in labels if not isinstance(label, (int, float))), key=str)


def describe_change(before, after) -> dict[str, int]:
    """Communities that are new or gone, and known nodes whose communities changed, by memberships before and after.

    Communities are the same if their F1 is above one half, best matches first; new nodes stand last.
    """
    from scipy import sparse

    old, new = sparse.csr_array(before, dtype=np.int64), sparse.csr_array(after, dtype=np.int64)
    n, k = old.shape
    common = sparse.coo_array(old.T @ new[:n])
    f1 = 2 * common.data / (old.sum(axis=0)[common.row] + new.sum(axis=0)[common.col])
    match: dict[int, int] = {}
    for t in np.argsort(-f1, kind="stable"):
        if f1[t] > 0.5 and common.col[t] not in match and common.row[t] not in match.values():
            match[int(common.col[t])] = int(common.row[t])
    column = np.array([match.get(c, k) for c in range(new.shape[1])], np.int64)
    there = new[:n].tocoo()
    same = sparse.csr_array((there.data, (there.row, column[there.col])), shape=(n, k + 1))
    was = sparse.csr_array((old.data, old.indices, old.indptr), shape=(n, k + 1))
    moved = np.unique((same != was).nonzero()[0])
    return {"born": new.shape[1] - len(match), "died": k - len(match), "moved": len(moved)}
