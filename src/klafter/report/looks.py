"""How nodes look in other programs: the colours, places and sizes of the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from klafter.models.cover import as_cover, rows, sizes
from klafter.report.network import NODES, draw_network
from klafter.report.palette import NOBODY, community_colours

UNIT = 500  # of the file to one of the page: programs for networks count in pixels


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
