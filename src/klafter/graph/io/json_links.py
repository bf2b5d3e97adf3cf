"""JSON of links: nodes and links, records of links, one document a line, and the elements of Cytoscape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from klafter.graph.convert import SOURCE_NAMES, TARGET_NAMES
from klafter.graph.io.errors import misread, quote

_NAMES = ("id", "name", "label", "key")


class Document(NamedTuple):
    """What a document says: identifiers with attributes, ends with attributes."""

    nodes: list[tuple[Any, dict[str, Any]]]
    links: list[tuple[Any, Any, dict[str, Any]]]
    directed: bool | None  # None if nothing is said of it
    hidden: list[Any]
    about: Mapping[str, Any]  # attributes of the whole graph


def parse(text: str) -> Document:
    """The nodes and links of a text in JSON."""
    found = _load(text)
    if isinstance(found, list):
        return Document([], [_ends(record) for record in found], None, [], {})
    if not isinstance(found, Mapping):
        found = {}
    if "elements" in found:  # Cytoscape wraps everything in data
        elements = found["elements"]
        if isinstance(elements, list):
            elements = {
                "nodes": [e for e in elements if "source" not in e.get("data", {})],
                "edges": [e for e in elements if "source" in e.get("data", {})],
            }
        found = {name: [e.get("data", e) for e in elements.get(name, [])] for name in ("nodes", "edges")}
    links = found.get("links", found.get("edges"))
    if links is None or "nodes" not in found:
        rule, cure = "JSON of a graph has nodes and links", "write it with write_graph, or use an edge list"
        raise misread("neither nodes nor links", rule, cure)
    nodes, ends = _nodes(found["nodes"]), [_ends(link) for link in links]
    if nodes and not any("id" in node for node in found["nodes"] if isinstance(node, Mapping)):
        ends = _by_place(nodes, ends)
    hidden = found.get("hidden") or []
    stated = found.get("directed")
    about = found.get("graph")
    return Document(
        nodes, ends, None if stated is None else bool(stated), hidden, about if isinstance(about, dict) else {}
    )


def _load(text: str) -> Any:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            found = [json.loads(line) for line in lines]
        except json.JSONDecodeError:
            place, rule = f"no JSON at column {error.colno}", "a .json file holds one document, or one a line"
            raise misread(place, rule, "correct it, or check format and suffix", error.lineno) from None
    return found


def _nodes(nodes: list[Any]) -> list[tuple[Any, dict[str, Any]]]:
    """Identifiers and attributes; a node may be a bare name."""
    if not all(isinstance(node, Mapping) for node in nodes):
        return [(node, {}) for node in nodes]
    key = next((name for name in _NAMES if nodes and all(name in node for node in nodes)), None)
    if nodes and key is None:
        raise misread("nodes without id", "each node has one", "add it")
    named = [(node[key], {k: v for k, v in node.items() if k != key}) for node in nodes]
    if key not in (None, "id") and len({name for name, _ in named}) < len(named):
        raise misread("equal names", "nodes without id must differ in name", "add an id")
    return named


def _ends(link: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Source, target and attributes of a link, whatever its ends are called."""
    if isinstance(link, (list, tuple)) and len(link) in (2, 3):
        weight = {"weight": link[2]} if len(link) == 3 else {}
        return link[0], link[1], weight
    lower = {str(name).lower(): name for name in link} if isinstance(link, Mapping) else {}
    source = next((lower[name] for name in SOURCE_NAMES if name in lower), None)
    target = next((lower[name] for name in TARGET_NAMES if name in lower), None)
    if source is None or target is None:
        raise misread(quote(json.dumps(link)), "a link has a source and a target", "name them so")
    ends = [end["id"] if isinstance(end, Mapping) and "id" in end else end for end in (link[source], link[target])]
    return ends[0], ends[1], {str(k): v for k, v in link.items() if k not in (source, target)}


def _by_place(nodes: list[tuple[Any, Any]], links: list[tuple[Any, Any, Any]]) -> list[Any]:
    """Links that say the places of nodes in their list, from 0, as D3 writes them; others as they are."""
    names = {name for name, _ in nodes}
    ends = [end for source, target, _ in links for end in (source, target)]
    if all(end in names for end in ends) or not all(isinstance(end, int) for end in ends):
        return links
    if any(not 0 <= end < len(nodes) for end in ends):
        found, rule = f"an end beyond {len(nodes):,} nodes", "links without id say places from 0"
        raise misread(found, rule, "add an id to the nodes")
    return [(nodes[source][0], nodes[target][0], known) for source, target, known in links]
