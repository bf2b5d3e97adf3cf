"""``klafter export``, ``report`` and ``datasets``: files for other programs, pages for people, networks to try."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from klafter.cli.fitting import report_function, write_report
from klafter.cli.inputs import check_output, load_model
from klafter.cli.inspect_model import NUMBER, Model
from klafter.cli.screen import Column, Json, Quiet, print_json, say, show_table


def export(
    model: Model,
    output: Annotated[Path, typer.Argument(metavar="FILE", help=".graphml, .gexf, .json, .csv or .tsv.")],
    raw: Annotated[bool, typer.Option("--raw", help="Leave text that looks like a formula as it is.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the network with its communities for Gephi, Cytoscape, R, a spreadsheet, ...

    GEXF has the colours, places and sizes of the report as well.

    **Examples**

    `klafter export friends.npz friends.gexf`

    `klafter export friends.npz memberships.csv`
    """
    check_output(output, str(model))
    fitted = load_model(model)
    from klafter.graph import write_graph
    from klafter.report.network import node_looks

    looks = node_looks(fitted) if output.suffix.lower() == ".gexf" else None
    write_graph(fitted.graph_, output, fitted.memberships_, fitted.community_names_, looks, raw=raw)
    if as_json:
        print_json({"file": str(output), "nodes": fitted.graph_.n_nodes, "communities": fitted.n_communities_})
    elif not quiet:
        say(f"Wrote {fitted.graph_.n_nodes:,} nodes and {fitted.n_communities_} communities to {output}.")


def report(
    model: Model,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the page goes.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="What the page is called.")] = None,
    level: Annotated[int | None, typer.Option(min=1, help="How many communities to show, coarser or finer.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write one page that tells the story of the network; it opens without a connection.

    **Examples**

    `klafter report friends.npz -o friends.html`

    `klafter report lawyers.npz --title "Who works with whom" --json`
    """
    check_output(output, str(model))
    report_function(output)
    write_report(load_model(model, level), output, title)
    if as_json:
        print_json({"file": str(output), "bytes": output.stat().st_size})
    elif not quiet:
        say(f"Wrote {output}; open it in a browser.")


def datasets(as_json: Json = False) -> None:
    """List the networks that ``klafter fit`` knows by name.

    **Examples**

    `klafter datasets`

    `klafter fit les_miserables -o novel.npz`
    """
    from klafter.datasets import list_datasets

    found = list_datasets()
    fields = ("name", "title", "n_nodes", "n_links", "directed", "values", "licence", "citation", "downloaded")
    if as_json:
        print_json([{field: getattr(info, field) for field in fields} for info in found])
        return
    columns: list[Column] = [("name", {"no_wrap": True}), ("nodes", NUMBER), ("links", NUMBER), ("kind", {})]
    rows = []
    for info in found:
        direction = "directed" if info.directed else "undirected"
        kind = f"{direction}, {info.values}{', download' if info.downloaded else ''}"
        rows.append((info.name, info.n_nodes, info.n_links, kind, info.title))
    show_table("Data sets", [*columns, ("what", {})], rows)
