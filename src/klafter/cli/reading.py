"""How commands read a graph: the same options wherever one is read, and what was read is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
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
Bipartite = Annotated[
    bool | None,
    typer.Option(
        "--bipartite/--no-bipartite",
        help="Whether sources and targets, or rows and columns, are two kinds of nodes.",
        rich_help_panel=INPUT,
        show_default="as found",
    ),
]
Kinds = Annotated[
    str | None,
    typer.Option(
        metavar="ATTRIBUTE",
        help="Attribute of nodes, in the file or the table of nodes, that says of which kind each is.",
        rich_help_panel=INPUT,
    ),
]
KindPairs = Annotated[
    str | None,
    typer.Option(
        metavar="PAIRS",
        help="Which kinds may be linked: across, within, or pairs such as person-paper,paper-paper.",
        rich_help_panel=INPUT,
    ),
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


@dataclass(frozen=True)
class Reading:
    """The options by which commands read a graph; ``with_reading`` puts each of them on the command line."""

    directed: Directed = None
    weight: Weight = "auto"
    header: Header = None
    sheet: Sheet = None
    nodes: Nodes = None
    hidden: Hidden = None
    binarize: Binarize = False
    read: Read = None
    bipartite: Bipartite = None
    kinds: Kinds = None
    kind_pairs: KindPairs = None

    def options(self) -> dict[str, Any]:
        """Options of ``read_graph`` that were given, as it knows them."""
        value = None if self.weight == "none" else int(self.weight) if self.weight.isdigit() else self.weight
        nodes = True if self.nodes == "auto" else self.nodes
        given = {
            "header": self.header,
            "sheet": self.sheet,
            "nodes": nodes,
            "two_mode": self.bipartite,
            "kinds": self.kinds,
            "kind_pairs": self.kind_pairs,
        }
        chosen = {name: option for name, option in given.items() if option is not None}
        return chosen if self.weight == "auto" else {**chosen, "weight": value}

    def files(self, name: str) -> tuple[str | Path | None, ...]:
        """What is read: the graph, and tables that belong to it."""
        return name, self.nodes, self.hidden

    def network(self, name: str) -> Graph:
        """The graph that the options describe."""
        return self.changed(load_graph(name, self.directed, self.read, **self.options()))

    def changed(self, graph: Graph) -> Graph:
        """What was read, with links of 1 and hidden pairs as the options say."""
        graph = graph.binarize() if self.binarize else graph
        if self.hidden is None:
            return graph
        return graph.hide(read_pairs(graph, text_lines(self.hidden), str(self.hidden)))


def with_reading(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of ``Reading``, each by itself, instead of its parameter ``reading``."""

    @wraps(command)
    def run(**given: Any) -> None:
        command(**{name: given[name] for name in own}, reading=Reading(**{name: given[name] for name in options}))

    own = dict(signature(command, eval_str=True).parameters)
    options = signature(Reading, eval_str=True).parameters
    del own["reading"]
    together = {**own, **options}
    keyword_only = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in together.values()]
    run.__signature__ = Signature(keyword_only)  # type: ignore[attr-defined]
    run.__annotations__ = {name: each.annotation for name, each in together.items()}
    return run


def print_graph(name: str, graph: Graph) -> None:
    """What was read and decided, in sentences."""
    from klafter.cli.facts import graph_sentence

    say(f"{name}: {graph_sentence(graph)}")
