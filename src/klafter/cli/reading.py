"""How commands read a graph: the same options wherever one is read, and what was read is told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from klafter.cli import completion
from klafter.cli.inputs import load_graph, read_pairs, text_lines
from klafter.cli.screen import say

if TYPE_CHECKING:
    from klafter.graph import Graph

INPUT = "How to read the graph"
GraphName = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH", help="A file of links, or the name of a data set.", autocompletion=completion.graphs
    ),
]
Directed = Annotated[
    bool | None,
    typer.Option("--directed/--undirected", help="What links are.", rich_help_panel=INPUT, show_default="as found"),
]
Weight = Annotated[
    str, typer.Option(help="Column of link values, by name or number from 0, or none.", rich_help_panel=INPUT)
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether line 1 names the columns.",
        rich_help_panel=INPUT,
        show_default="as found",
    ),
]
Sheet = Annotated[
    str | None, typer.Option(help="Sheet of a workbook, by name or number from 1.", rich_help_panel=INPUT)
]
Nodes = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Table of nodes and their attributes; auto takes the one beside the file or in the workbook.",
        rich_help_panel=INPUT,
    ),
]
Hidden = Annotated[
    Path | None, typer.Option(help="Pairs that nobody observed, two nodes a line.", rich_help_panel=INPUT)
]
Binarize = Annotated[bool, typer.Option("--binarize", help="Every link is 1.", rich_help_panel=INPUT)]
Read = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        metavar="NAME=VALUE",
        help="Any other option of the reader: encoding=latin-1, delimiter=;, relation=advice, matrix=yes.",
        rich_help_panel=INPUT,
    ),
]


def reader_options(weight: str, header: bool | None, sheet: str | None, nodes: str | None) -> dict[str, Any]:
    """Options of ``read_graph`` that were given, as it knows them."""
    value = None if weight == "none" else int(weight) if weight.isdigit() else weight
    given = {"header": header, "sheet": sheet, "nodes": True if nodes == "auto" else nodes}
    chosen = {name: option for name, option in given.items() if option is not None}
    return chosen if weight == "auto" else {**chosen, "weight": value}


def read_network(
    name: str,
    directed: bool | None,
    weight: str,
    header: bool | None,
    sheet: str | None,
    nodes: str | None,
    hidden: Path | None,
    binarize: bool,
    read: list[str] | None,
) -> Graph:
    """The graph that options describe."""
    graph = load_graph(name, directed, read, **reader_options(weight, header, sheet, nodes))
    graph = graph.binarize() if binarize else graph
    return graph if hidden is None else hide_pairs(graph, hidden)


def hide_pairs(graph: Graph, path: Path) -> Graph:
    """The graph with the pairs of a file hidden."""
    return graph.hide(read_pairs(graph, text_lines(path), str(path)))


def tell_graph(name: str, graph: Graph) -> None:
    """What was read and decided, in sentences."""
    from klafter.cli.facts import graph_sentence

    say(f"{name}: {graph_sentence(graph)}")
