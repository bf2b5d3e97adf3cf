"""What to draw: all nodes of a small graph, or the network of communities of a large one and the members of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from klafter.graph import Graph
from klafter.graph.units import list_links
from klafter.models.results.cover import as_cover, pattern, rows, sizes
from klafter.report.communities import Community
from klafter.report.layout import force_layout, separate, spacing
from klafter.report.palette import NOBODY, community_colours

NODES = 2_000  # drawn one by one up to here
LINKS = 40_000  # drawn at most
STRONG = 4_000  # drawn while nothing is chosen: more hide each other
COMMUNITIES = 300  # drawn at most in the network of communities
MEMBERS = 100  # drawn at most inside one community
CLOSEST = 4  # other communities that each is connected with
UNIT = 500  # of a file for other programs to one of the page: they count in pixels
INNER = 300_000  # links drawn at most inside all communities together


@dataclass(frozen=True)
class Network:
    """Nodes with positions, and links as pairs of rows, the strongest first."""

    x: list[float]
    y: list[float]
    radius: list[float]
    links: list[tuple[int, int]]
    n_strong: int  # links that are drawn while nothing is chosen
    n_left_out: int  # links that are not drawn at all


@dataclass(frozen=True)
class Members:
    """The tightest members of a community: positions in 0 to 255, one radius for all, and the links between them."""

    x: np.ndarray  # uint8
    y: np.ndarray
    radius: float
    links: list[int]  # positions in the list of members, two for each link


@dataclass(frozen=True)
class Overview:
    """Communities with positions, connections between them, and the members of each."""

    numbers: list[int]
    x: list[float]
    y: list[float]
    radius: list[float]
    connections: list[tuple[int, int, int, int]]  # community, community, links between, members of both
    inner: list[Members]  # one for each community of the model
    members_drawn: int


def draw_network(graph: Graph, z: sparse.csr_array) -> Network:
    """Positions of all nodes; when links are very many, the strongest decide them."""
    links = pattern(graph.links)
    degree = np.asarray(links.maximum(links.T).sum(axis=1)).ravel()
    radius = 0.16 + 0.16 * np.sqrt(degree / max(degree.max(initial=0), 1))
    pairs = list_links(graph)[0]
    strong = len(pairs)
    if len(pairs) > STRONG:
        pairs, strong = pairs[strongest_first(graph, pairs)], STRONG
    first = pairs[:strong]
    near = sparse.csr_array((np.ones(strong), (first[:, 0], first[:, 1])), shape=graph.links.shape)
    place, radius = _place_parked(force_layout(near, z), radius, degree == 0)
    return Network(
        place[:, 0].tolist(),
        place[:, 1].tolist(),
        radius.tolist(),
        list(map(tuple, pairs[:LINKS].tolist())),
        strong,
        max(0, len(pairs) - LINKS),
    )


def strongest_first(graph: Graph, pairs: np.ndarray) -> np.ndarray:
    """An order of links: first the best of every node, then the second best, ..., by their neighbours in common.

    Common neighbours are counted as a share, c_ij / sqrt(d_i d_j), so that hubs do not take all.
    """
    a = pattern(graph.links)
    a = a.maximum(a.T)
    degree = np.maximum(np.asarray(a.sum(axis=1)).ravel(), 1)
    i, j = pairs.T
    common = np.asarray(sparse.csr_array(a @ a)[i, j]).ravel() / np.sqrt(degree[i] * degree[j])
    ranks = _rank_within(pairs.T.ravel(), np.tile(common, 2)).reshape(2, -1)
    return np.lexsort((-common, ranks.min(axis=0)))


def _rank_within(node: np.ndarray, score: np.ndarray) -> np.ndarray:
    """The rank of each score among those of the same node, the highest 0."""
    order = np.lexsort((-score, node))
    starts = np.flatnonzero(np.diff(node[order], prepend=-1))
    rank = np.empty(len(node), dtype=int)
    rank[order] = np.arange(len(node)) - np.repeat(starts, np.diff(starts, append=len(node)))
    return rank


def _place(place: np.ndarray, radius: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions without overlaps, and radii in the same unit; they came as shares of the distance of neighbours."""
    radius = radius * spacing(place)
    return separate(place, 1.2 * radius), radius


def _place_parked(place: np.ndarray, radius: np.ndarray, alone: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same, with nodes that have no links in rows below the others."""
    if alone.all() or not alone.any():
        return _place(place, radius)
    found, sizes = place.copy(), radius.copy()
    found[~alone], sizes[~alone] = _place(place[~alone], radius[~alone])
    low, high = found[~alone].min(axis=0), found[~alone].max(axis=0)
    unit = float(np.median(sizes[~alone]))
    sizes[alone] = 0.8 * unit
    across = max(1, int((high[0] - low[0]) / (3 * unit)))
    row, column = np.divmod(np.arange(int(alone.sum())), across)
    found[alone] = np.column_stack([low[0] + 3 * unit * column, high[1] + 5 * unit + 3 * unit * row])
    return found, sizes


def draw_overview(graph: Graph, z: sparse.csr_array, communities: list[Community]) -> Overview:
    """The largest communities and what connects them."""
    size = sizes(z)
    shown = np.sort(np.argsort(-size, kind="stable")[:COMMUNITIES])
    connections = closest(graph, pattern(z)[:, shown])
    place, radius = place_circles(size[shown], connections)
    connections[:, :2] = shown[connections[:, :2]]
    return Overview(
        shown.tolist(),
        place[:, 0].tolist(),
        place[:, 1].tolist(),
        radius.tolist(),
        list(map(tuple, connections.tolist())),
        draw_members(graph, communities),
        MEMBERS,
    )


def place_circles(size: np.ndarray, connections: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions and radii of circles of these areas, the connected near each other."""
    n = len(size)
    near = sparse.coo_array((np.ones(len(connections)), (connections[:, 0], connections[:, 1])), shape=(n, n))
    radius = 0.1 + 0.26 * np.sqrt(size / max(size.max(initial=0), 1))
    return _place(force_layout(sparse.csr_array(near), sparse.csr_array((n, 0))), radius)


def closest(graph: Graph, z: sparse.csr_array) -> np.ndarray:
    """Rows (community, community, links, shared members): for each community those it is closest to."""
    links = (z.T @ pattern(graph.links) @ z).toarray()
    links = links + links.T if graph.directed else links
    shared = (z.T @ z).toarray()
    closeness = (links + 5 * shared) / np.sqrt(np.outer(*(2 * [np.maximum(sizes(z), 1)])))
    np.fill_diagonal(closeness, 0)
    best = np.argsort(-closeness, axis=1, kind="stable")[:, :CLOSEST]
    pairs = {(min(k, m), max(k, m)) for k, row in enumerate(best.tolist()) for m in row if closeness[k, m] > 0}
    rows = [(k, m, int(links[k, m]), int(shared[k, m])) for k, m in sorted(pairs)]
    return np.array(rows, dtype=int).reshape(-1, 4)


def draw_members(graph: Graph, communities: list[Community]) -> list[Members]:
    """The tightest members of each community, laid out by the links between them."""
    links = _inner_links(graph, communities)
    return [_lay_out_members(min(c.size, MEMBERS), links.get(c.number, [])) for c in communities]


def _lay_out_members(n: int, links: list[int]) -> Members:
    if n == 0:
        return Members(np.zeros(0, np.uint8), np.zeros(0, np.uint8), 1.0, [])
    a, b = np.array(links, dtype=int).reshape(-1, 2).T
    near = sparse.csr_array((np.ones(len(a)), (a, b)), shape=(n, n))
    place, radius = _place(force_layout(near, sparse.csr_array((n, 0))), np.full(n, 0.2))
    place = place - place.min(axis=0)
    scale = 255 / max(place.max(), 1e-9)
    x, y = np.round(scale * place).astype(np.uint8).T
    return Members(x, y, float(scale * radius[0]), links)


def _inner_links(graph: Graph, communities: list[Community]) -> dict[int, list[int]]:
    """Links among the tightest members of each community, by their positions there."""
    position = _positions(communities, graph.n_nodes)
    pairs = list_links(graph)[0]
    blocks = [_inner_block(position, pairs[a : a + 200_000]) for a in range(0, len(pairs), 200_000)]
    rows = np.concatenate([np.zeros((0, 3), int), *blocks])
    tight = np.argsort(rows[:, 1:].max(axis=1), kind="stable")[:INNER]
    rows = rows[tight]
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    groups = np.split(rows[:, 1:], np.flatnonzero(np.diff(rows[:, 0])) + 1) if len(rows) else []
    numbers = np.unique(rows[:, 0]).tolist()
    return {k: group.ravel().tolist() for k, group in zip(numbers, groups)}


def _positions(communities: list[Community], n: int) -> sparse.csr_array:
    """One plus the index of each drawn member in its community."""
    members = [c.members[:MEMBERS] for c in communities]
    node = np.array([i for row in members for i in row], dtype=int)
    which = np.repeat([c.number for c in communities], [len(row) for row in members]).astype(int)
    place = np.array([t + 1 for row in members for t in range(len(row))], dtype=float)
    return sparse.csr_array((place, (node, which)), shape=(n, len(communities)))


def _inner_block(position: sparse.csr_array, pairs: np.ndarray) -> np.ndarray:
    """(community, position, position) of the links whose ends share a community."""
    here, there = position[pairs[:, 0]], position[pairs[:, 1]]
    both = pattern(here).multiply(pattern(there))
    first, second = sparse.coo_array(here.multiply(both)), sparse.coo_array(there.multiply(both))
    order = [np.lexsort((m.col, m.row)) for m in (first, second)]
    return np.column_stack(
        [first.col[order[0]], first.data[order[0]].astype(int) - 1, second.data[order[1]].astype(int) - 1]
    )


def node_looks(model) -> list[dict[str, Any]]:
    """Colour, size and, of graphs that are drawn node by node, position of each node, as GEXF names them."""
    graph, z = model.graph_, as_cover(model.memberships_)
    colours = community_colours(sizes(z).tolist())
    looks: list[dict[str, Any]] = [{"color": _rgb([colours[k] for k in mine] or [NOBODY])} for mine in rows(z)]
    if graph.n_nodes <= NODES:
        drawn = draw_network(graph, z)
        for look, x, y, radius in zip(looks, drawn.x, drawn.y, drawn.radius):
            look["position"] = {"x": UNIT * x, "y": -UNIT * y, "z": 0.0}  # up is up there
            look["size"] = 2 * UNIT * radius
    return looks


def _rgb(colours: list[str]) -> dict[str, int]:
    """The mean of some colours: a node has one there."""
    parts = np.array([[int(colour[t : t + 2], 16) for t in (1, 3, 5)] for colour in colours])
    return dict(zip("rgb", parts.mean(axis=0).round().astype(int).tolist()))
