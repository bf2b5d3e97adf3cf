"""Facts about a fitted model that commands print: the same for the table and for JSON."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse


class Community(NamedTuple):
    """One community: its number, its members tightest first, how densely they are linked, who is also elsewhere."""

    number: int
    members: list
    n_links: int
    density: float  # links inside, as a share of the observed dyads inside
    shared: set


def describe_communities(model) -> list[Community]:
    """The communities of a model, largest first.

    The tightest member has the most links into the community; ties go to the member with fewer links in all.
    """
    graph = model.graph_
    u = sparse.csc_array(sparse.csr_array(model.memberships_) != 0, dtype=float)
    a = _pattern(graph.links)
    both = a + a.T if graph.directed else a
    inner, degree = sparse.csc_array((both @ u).multiply(u)), np.asarray(both.sum(axis=1)).ravel()
    hidden = np.asarray(sparse.csc_array((_pattern(graph.hidden) @ u).multiply(u)).sum(axis=0)).ravel()
    multiple = np.asarray(u.sum(axis=1)).ravel() > 1
    found = []
    for k in range(u.shape[1]):
        rows = u.indices[u.indptr[k] : u.indptr[k + 1]]
        links = np.asarray(inner[:, [k]].todense()).ravel()[rows]
        size, ways = len(rows), 1 if graph.directed else 2
        dyads = (size * (size - 1) - hidden[k]) / ways
        n_links = int(links.sum()) // 2
        order = rows[np.lexsort((rows, degree[rows], -links))]
        members = [graph.label(i) for i in order]
        shared = {graph.label(i) for i in order if multiple[i]}
        found.append(Community(k, members, n_links, n_links / dyads if dyads > 0 else float("nan"), shared))
    return sorted(found, key=lambda community: (-len(community.members), community.number))


def _pattern(matrix) -> sparse.csr_array:
    pattern = sparse.csr_array(matrix, dtype=float, copy=True)
    pattern.data[:] = 1.0
    return pattern


def describe_graph(graph) -> dict:
    """Size and kind of a graph, and what its reader had to say."""
    return {
        "nodes": graph.n_nodes,
        "links": graph.n_links,
        "directed": graph.directed,
        "hidden_dyads": graph.n_hidden,
        "notes": list(graph.notes),
    }


def describe_fit(model) -> dict:
    """What a fit came to."""
    return {
        "model": type(model).__name__,
        "communities": int(model.n_communities_),
        "unassigned": len(model.unassigned()),
        "objective": getattr(model, "objective_", None),
        "link": getattr(model, "link_", None),
        "seconds": getattr(model, "fit_seconds_", None),
        "notes": list(getattr(model, "notes_", [])),
        "parameters": model.get_params(deep=False),
    }


def graph_sentence(graph) -> str:
    """Size and kind of a graph in words."""
    kind = "directed" if graph.directed else "undirected"
    hidden = f", {graph.n_hidden:,} hidden dyads" if graph.n_hidden else ""
    return f"{graph.n_nodes:,} nodes, {graph.n_links:,} links, {kind}{hidden}."
