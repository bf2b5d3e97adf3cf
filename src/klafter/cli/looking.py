"""``klafter look``: what would be read from a file, before anything is fitted."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from klafter.cli import completion
from klafter.cli.inputs import check_reading, no_such_file, parse_settings
from klafter.cli.reading import Directed, Header, Hidden, Nodes, Read, Sheet, Weight, hide_pairs, reader_options
from klafter.cli.screen import Column, Json, counted, print_json, say, show_table
from klafter.cli.sentences import Mistake, in_shell_words


def look(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of links.", autocompletion=completion.files)],
    directed: Directed = None,
    weight: Weight = "auto",
    header: Header = None,
    sheet: Sheet = None,
    nodes: Nodes = None,
    hidden: Hidden = None,
    read: Read = None,
    as_json: Json = False,
) -> None:
    """Show what would be read from a file: its first lines, what was found, and what is worth a question.

    **Examples**

    `klafter look friends.xlsx`

    `klafter look friends.csv --no-header --weight 2`

    `klafter look survey.xlsx --sheet advice --nodes auto --json`
    """
    if not Path(file).exists():
        raise no_such_file(file)
    if Path(file).is_dir():
        raise Mistake(f"{file} is a folder; name a file of links.")
    from klafter.cli.facts import describe_graph
    from klafter.graph.io.look import look as look_at

    options = {"directed": directed, **reader_options(weight, header, sheet, nodes)}
    found = look_at(file, **options, **check_reading(parse_settings(read or [], "--read")))
    graph = found.graph if hidden is None or found.is_part else hide_pairs(found.graph, hidden)
    questions = [in_shell_words(text) for text in found.questions]
    said = [in_shell_words(text) for text in found.found]
    columns = [f"{use} ({name})" if name and name != use else use for name, use in found.columns]
    if as_json:
        facts = {"file": file, "kind": found.kind, "graph": describe_graph(graph), "columns": columns}
        print_json({**facts, "rows": found.rows, "questions": questions, "is_part": found.is_part})
        return
    part = "; only the beginning of this long file was read" if found.is_part else ""
    titles: list[Column] = [(title, {}) for title in columns]
    show_table(
        f"{file}: {found.kind}{part}. The first lines:", titles, [_filled(row, len(titles)) for row in found.rows]
    )
    for text in said:
        say(text)
    if hidden is not None:
        say(f"{counted(graph.n_hidden, 'pair')} hidden." if not found.is_part else f"{hidden} was not looked at.")
    say("To check:" if questions else "No questions.", "bold")
    for text in questions:
        say(f"- {text}")
    again = [*flag("directed", directed, "undirected"), *flag("header", header, "no-header")]
    given = {"weight": None if weight == "auto" else weight, "sheet": sheet, "nodes": nodes, "hidden": hidden}
    again += [f"--{name} {quote(str(value))}" for name, value in given.items() if value is not None]
    again += [f"--read {quote(setting)}" for setting in read or []]
    say(" ".join([f"Next: klafter fit {quote(file)}", *again, "-o model.npz"]))


def flag(name: str, value: bool | None, opposite: str) -> list[str]:
    """A switch as it is typed; nothing if it was not given."""
    return [] if value is None else [f"--{name if value else opposite}"]


def _filled(row: list[str], width: int) -> list[str]:
    return [*row[:width], *[""] * (width - len(row))]
