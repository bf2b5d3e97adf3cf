"""Graphs of several kinds of nodes: what others call bipartite, in lists, rectangles and attributes of networkx and
igraph, and rules of which kinds may be linked, with the name of an attribute that says kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from klafter.graph.assemble import Edges, assemble, plural
from klafter.graph.graph import Graph
from klafter.graph.kinds.names import NAMES, within
from klafter.graph.kinds.rule import as_text, in_words

KIND = "kind"  # the attribute of nodes in files
_TOLD = ("bipartite", "type")  # that of networkx and of igraph


def with_kinds(graph: Graph, second: np.ndarray, names: tuple[str, str]) -> Graph:
    """The graph with two kinds of nodes, and a note that says what follows."""
    if second.all() or not second.any():
        return graph
    names = names if names[0] != names[1] else NAMES
    said = f"Two kinds of nodes: only pairs of {names[0]!r} and {names[1]!r} could be linked."
    return graph.replace(kinds=np.where(second, names[1], names[0]), notes=(*graph.notes, said))


def name_apart(
    edges: Edges, n: int, labels: Sequence[Any] | np.ndarray | None, names: tuple[str, str]
) -> tuple[Edges, int, list[Any] | np.ndarray | None, list[str]]:
    """Edges whose sources and targets have no node in common: a name that is both becomes two nodes, "7 (user)" and
    "7 (film)", the second of them at the end. Also the number of nodes, their labels and a note."""
    first, second = np.zeros(n, bool), np.zeros(n, bool)
    first[edges.source], second[edges.target] = True, True
    both = np.flatnonzero(first & second)
    if not len(both):
        return edges, n, labels if labels is None or isinstance(labels, np.ndarray) else list(labels), []
    names = names if names[0] != names[1] else NAMES
    row = np.arange(n)
    row[both] = n + np.arange(len(both))
    told = [str(label) for label in (range(n) if labels is None else labels)]
    twins = [f"{told[i]} ({names[1]})" for i in both]
    for i in both:
        told[i] = f"{told[i]} ({names[0]})"
    said = (
        f"{len(both):,} {plural('name', len(both))} of both kinds became two nodes each, such as {told[both[0]]!r} and "
        f"{twins[0]!r}."
    )
    return edges._replace(target=row[edges.target]), n + len(both), [*told, *twins], [said]


def bipartite_list(edges: Edges, n: int, labels: Sequence[Any] | None, names: tuple[str, str]) -> Graph:
    """The two-mode graph of a list of links: sources are one kind, targets the other."""
    edges, n, told, said = name_apart(edges, n, labels, names)
    second = np.zeros(n, bool)
    second[edges.target] = True
    return with_kinds(assemble(edges, n, directed=False, labels=told, notes=said), second, names)


def told_by(graph: Graph, name: str) -> Graph:
    """The graph with kinds as its attribute ``name`` tells them, ``bipartite`` of networkx or ``type`` of igraph.

    They are called as the attribute ``kind`` says, if it parts the nodes alike. Without two values, with links inside
    a kind or with directed links the attribute stays what it was.
    """
    if name not in graph.attributes or not graph.n_nodes:
        return graph
    values = graph.attributes[name].tolist()
    found = sorted(set(map(str, values)))
    if len(found) != 2 or None in values:
        return graph
    second = np.array([str(value) == found[1] for value in values])
    if graph.directed or within(graph.links, second).any():
        reason = "links have a direction" if graph.directed else "some links lie within a kind"
        said = f"The attribute {name!r} does not make this a two-mode network: {reason}."
        return graph.replace(notes=(*graph.notes, said))
    called = [str(kind) for kind in graph.attributes.get("kind", [])]
    pairs = sorted(set(zip(second.tolist(), called)))
    names = (pairs[0][1], pairs[1][1]) if len(pairs) == 2 and pairs[0][1] != pairs[1][1] else NAMES
    rest = {key: column for key, column in graph.attributes.items() if key != name and not (called and key == "kind")}
    return with_kinds(graph.replace(attributes=rest), second, names)


def with_rule(graph: Graph, kinds: str | Sequence[Any] | np.ndarray, kind_pairs: Any = None) -> Graph:
    """The graph with kinds, an attribute or a name for each node, and a note that says which may be linked."""
    rest = dict(graph.attributes)
    values: Any = kinds
    if isinstance(kinds, str):
        own = graph.kinds is not None and kinds in (KIND, *_TOLD)
        if kinds not in rest and not own:
            has = ", ".join(map(repr, rest)) or "none"
            raise ValueError(f"kinds names an attribute of nodes, and there is no {kinds!r}; those here are {has}.")
        values = rest.pop(kinds).tolist() if kinds in rest else graph.kinds
        if any(value is None for value in values):
            raise ValueError(f"kinds needs the kind of every node; {kinds!r} has some without. Fill them in.")
    made = graph.replace(kinds=values, kind_pairs=kind_pairs, attributes=rest)
    pairs = in_words(made.kind_pairs, directed=made.directed) if made.kind_pairs else " - ".join(made.kind_names)
    said = f"Kinds of nodes: {', '.join(made.kind_names)}; links may be {pairs}."
    return made.replace(notes=(*graph.notes, said))


def rule_as_text(graph: Graph) -> dict[str, str]:
    """What a file or a graph of another library says of the whole graph, so that its rule is read again."""
    return {} if graph.kind_pairs is None else {"kinds": KIND, "kind_pairs": as_text(graph.kind_pairs)}


def told_by_graph(graph: Graph, about: Mapping[Any, Any]) -> Graph:
    """The graph with the rule that attributes of the whole graph tell, as ``rule_as_text`` makes them."""
    name, pairs = about.get("kinds"), about.get("kind_pairs")
    if not isinstance(name, str) or name not in graph.attributes or not isinstance(pairs, str):
        return graph
    try:
        return with_rule(graph, name, pairs)
    except ValueError as wrong:
        return graph.replace(notes=(*graph.notes, f"The graph's kind_pairs are not followed: {wrong}"))
