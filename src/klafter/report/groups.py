"""Many communities in groups: a coarser level of the drawing of a large network, to be opened one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from klafter.graph import Graph
from klafter.models.results.cover import entries, pattern, sizes
from klafter.report.network import closest, place_circles

MANY = 80  # communities from which they are drawn in groups
CLOSE = 8  # others that hold a community to its group
DRAWN = 300  # communities of one group that are drawn at most


@dataclass(frozen=True)
class Circles:
    """Circles with positions, and connections between them by their places in the lists."""

    x: list[float]
    y: list[float]
    radius: list[float]
    connections: list[tuple[int, int, int, int]]  # place, place, links between, members of both


@dataclass(frozen=True)
class Group:
    """Communities that are linked with each other more than with others, largest first."""

    communities: list[int]
    n_nodes: int  # in any of them
    circles: Circles  # of the communities, as many as are drawn


@dataclass(frozen=True)
class Groups:
    """All groups, and the drawing of them."""

    groups: list[Group]
    circles: Circles


def group_communities(graph: Graph, z: sparse.csr_array) -> Groups | None:
    """The communities in groups; None for few communities, or where they do not part into groups."""
    if z.shape[1] < MANY:
        return None
    member = pattern(z)
    parts = _parts(graph, member)
    if not 1 < len(parts) <= z.shape[1] // 3:
        return None
    of = np.zeros(z.shape[1], dtype=int)
    for g, part in enumerate(parts):
        of[part] = g
    whole = pattern(member @ sparse.csr_array((np.ones(len(of)), (np.arange(len(of)), of))))
    return Groups([_group(graph, member, part) for part in parts], draw_circles(graph, whole))


def _parts(graph: Graph, member: sparse.csr_array) -> list[list[int]]:
    """Communities by group, by Louvain's method on what they share: links, and members five times."""
    import networkx as nx

    links = member.T @ pattern(graph.links) @ member
    shared = sparse.csr_array(links + links.T + 5 * (member.T @ member))
    size, net = sizes(member), nx.Graph()
    net.add_nodes_from(range(member.shape[1]))
    for k in range(member.shape[1]):
        others, weight = entries(shared, k)
        weight = np.where(others == k, 0, weight / np.sqrt(np.maximum(size[k] * size[others], 1)))
        for t in np.argsort(-weight, kind="stable")[:CLOSE].tolist():
            if weight[t] > 0:
                net.add_edge(k, int(others[t]), weight=float(weight[t]))
    found = nx.community.louvain_communities(net, seed=0)
    parts = [sorted(part, key=lambda k: (-size[k], k)) for part in found]
    return sorted(parts, key=lambda part: (-len(part), part[0]))


def _group(graph: Graph, member: sparse.csr_array, part: list[int]) -> Group:
    mine = sparse.csr_array(member[:, part])
    shown = sparse.csr_array(mine[:, : min(DRAWN, len(part))])
    return Group(part, int((np.diff(mine.indptr) > 0).sum()), draw_circles(graph, shown))


def draw_circles(graph: Graph, member: sparse.csr_array) -> Circles:
    """A circle for each column of nodes."""
    connections = closest(graph, member)
    place, radius = place_circles(sizes(member), connections)
    x, y = place.T.tolist()
    return Circles(x, y, radius.tolist(), list(map(tuple, connections.tolist())))
