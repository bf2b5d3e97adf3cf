"""From the links of a table to a graph: names, direction, two modes, and the notes that say what was decided."""

from __future__ import annotations

import numpy as np

from klafter.graph.assemble import Edges, assemble
from klafter.graph.graph import Graph
from klafter.graph.io.errors import misread, quote
from klafter.graph.io.files import ReadOptions, check_size
from klafter.graph.io.matrix import TOTALS
from klafter.graph.io.matrix_checks import missing_code
from klafter.graph.io.names import number_nodes, odd_names
from klafter.graph.io.tables.column_names import role, simplified
from klafter.graph.io.tables.edge_list import Opened, Table
from klafter.graph.io.tables.node_table import NodeTable
from klafter.graph.io.tables.table_layout import Layout
from klafter.graph.kinds.modes import name_apart, with_kinds


def links_graph(options: ReadOptions, opened: Opened, table: Table, nodes: NodeTable | None, notes: list[str]) -> Graph:
    """The graph of the links of a table, with a note for whatever was decided."""
    layout, encoding = opened.layout, opened.encoding
    labels, note = None if nodes is None else nodes.labels, ""
    if nodes is None:
        edges, n, labels, note = number_nodes(table.edges, table.names, opened.declared.nodes, encoding)
    else:
        edges, n = table.edges, len(nodes.identifiers)
        if len(table.names) > n:
            found, rule = f"the node {quote(table.names[n])}", "the table of nodes must name all nodes"
            raise misread(found, rule, "add it there, or read without nodes=")
    notes = [*notes, note] if note else list(notes)
    if table.remarks:
        notes.append(f"{table.remarks:,} comment lines among the links skipped.")
    notes += [*opened.notes, _first_line_note(opened), *layout.notes, *_left_out(layout)]
    notes += _alone(table, encoding)
    edges, directed, said = _stated_direction(edges, opened, table.direction, options.directed)
    if len(edges.source) > 1 and (edges.source == edges.target).all() and not options.two_mode:
        found, rule = "nothing but links of nodes to themselves", "a link has two ends"
        raise misread(found, rule, "put the columns of source and target first")
    stated = opened.declared.two_mode if options.two_mode is None else options.two_mode
    if stated is None and nodes is None:
        _refuse_node_table(edges, layout)
    two_mode, doubt = _find_modes(edges, n, layout, False if options.directed else stated)
    if two_mode:
        edges, size, labels, apart = name_apart(edges, n, labels, _kinds(layout))
        if size > n and nodes is not None:
            found, rule = f"{size - n:,} names in both columns", "two kinds of nodes need names of their own in nodes="
            raise misread(found, rule, "rename them, or read without nodes=")
        n, directed, doubt = size, False, doubt + apart
    attributes = None if nodes is None else nodes.attributes
    graph = assemble(
        edges,
        check_size(n),
        directed=directed,
        labels=labels,
        attributes=attributes,
        notes=[*notes, *said],
    )
    doubt += odd_names(labels)
    code = "" if edges.weight is None else missing_code(edges.weight)
    doubt += [code] if code else []
    graph = noted(graph, doubt) if doubt else graph
    if not two_mode:
        return graph
    second = np.zeros(n, bool)
    second[edges.target] = True
    return with_kinds(graph, second, _kinds(layout))


def _first_line_note(table: Opened) -> str:
    """What line 1 was taken for, why, and how to say otherwise."""
    is_header, reason = table.layout.first
    taken = "names the columns" if is_header else "is a link"
    cure = "pass header=False if not" if is_header else "pass header=True if it names the columns"
    cure = f"; {cure}" if reason != "as stated" else ""
    return f"Line {table.line}, {quote(table.lines[0].strip())}, {taken} ({reason}){cure}."


def _stated_direction(
    edges: Edges, opened: Opened, directions: np.ndarray | None, directed: bool | None
) -> tuple[Edges, bool | None, list[str]]:
    """What comments or a column say of direction; in a mixture undirected links go both ways."""
    if directed is not None or directions is None or not len(directions):
        return edges, opened.declared.directed if directed is None else directed, []
    if directions.all() or not directions.any():
        found = bool(directions[0])
        called = f"The column {opened.layout.names[opened.layout.direction or 0]!r} says so of every link"
        return edges, found, [f"{called}: {'directed' if found else 'undirected'}."]
    both = ~directions
    source, target = np.append(edges.source, edges.target[both]), np.append(edges.target, edges.source[both])
    weight = None if edges.weight is None else np.append(edges.weight, edges.weight[both])
    said = f"{int(both.sum()):,} of {len(both):,} links are called undirected: they go both ways."
    return Edges(source, target, weight), True, [said]


def _find_modes(edges: Edges, n: int, layout: Layout, two_mode: bool | None) -> tuple[bool, list[str]]:
    """Whether sources and targets are two kinds of nodes, and what has to be said if nobody can tell."""
    if two_mode is False:
        return False, []
    second, first = np.zeros(n, bool), np.zeros(n, bool)
    first[edges.source], second[edges.target] = True, True
    overlap = int((first & second).sum())
    if two_mode or overlap or len(edges.source) < 4:
        return bool(two_mode), []
    roles = [role(layout.names[k]) for k in (layout.source, layout.target)] if layout.names else []
    if "group" in roles and roles[0] != roles[1]:
        kinds = " and ".join(map(quote, _kinds(layout)))
        return True, [f"Read as two kinds of nodes, {kinds}, since no name is both; pass two_mode=False if not."]
    said = "No name stands in both columns; pass two_mode=True if these are two kinds, such as people and events"
    return False, [f"{said}, and nodes= if it is a table of nodes."]


def _alone(table: Table, encoding: str) -> list[str]:
    """Nodes whose lines name nobody, in a sentence; sums at the end of a table are no node."""
    names = [name.decode(encoding, "replace") for name in table.alone]
    if not names:
        return []
    total = next((name for name in names if simplified(name) in TOTALS), None)
    if total is not None:
        raise misread(f"a line of {quote(total)}", "sums are no link", "delete the line")
    told = ", ".join(map(quote, names[:3])) + ", ..." * (len(names) > 3)
    be = "line names" if len(names) == 1 else "lines name"
    return [f"{len(names):,} {be} nobody: {told}; delete what is no node."]


def _refuse_node_table(edges: Edges, layout: Layout) -> None:
    """A table with one line for each identifier, and no identifier elsewhere, is one of nodes."""
    called = layout.names[layout.source] if layout.names else ""
    if called not in ("id", "node id", "nodeid", "node_id", "label") or len(edges.source) < 2:
        return
    if len(np.unique(edges.source)) == len(edges.source) and not np.isin(edges.source, edges.target).any():
        found, rule = f"one line for each {quote(called)}", "this looks like a table of nodes"
        cure = "give the file of links, and this one as nodes=, or pass two_mode=True"
        raise misread(found, rule, cure)


def _kinds(layout: Layout) -> tuple[str, str]:
    if not layout.names:
        return "source", "target"
    return layout.names[layout.source], layout.names[layout.target]


def _left_out(layout: Layout) -> list[str]:
    """The columns that nobody asked for, in a sentence."""
    used = {layout.source, layout.target, *layout.more_targets, layout.weight, layout.direction}
    others = sorted({*range(layout.columns)} - used - layout.empty)
    called = [quote(layout.names[k]) if k < len(layout.names) and layout.names[k] else str(k + 1) for k in others]
    found = [f"Left out: column{'s' * (len(called) > 1)} {', '.join(called)}."] if called else []
    if layout.loose_tail or layout.columns - 1 in layout.empty:
        found.append("Delimiters at the ends of lines ignored.")
    return found


def noted(graph: Graph, notes: list[str]) -> Graph:
    """The same graph with more notes; it was checked when it was made."""
    names = ("directed", "labels", "attributes", "covariates", "kinds", "kind_pairs")
    parts = {name: getattr(graph, name) for name in names}
    return Graph.trusted(graph.links, graph.hidden, **parts, notes=(*graph.notes, *notes))
