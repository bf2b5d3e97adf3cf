"""``klafter look``: what would be read from a file, before anything is fitted."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from klafter.cli import completion
from klafter.cli.inputs import check_readable, check_reading, no_such_file, parse_settings
from klafter.cli.reading import Reading, with_reading
from klafter.cli.screen import Column, Json, counted, print_json, say, show_table
from klafter.cli.sentences import in_shell_words


@with_reading
def look(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of links.", autocompletion=completion.files)],
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Show what would be read from a file: its first lines, what was found, and what is worth a question.

    **Examples**

    `klafter look friends.xlsx`

    `klafter look friends.csv --no-header --weight 2`

    `klafter look survey.xlsx --sheet advice --nodes auto --json`
    """
    check_readable(file)
    if not file or not Path(file).exists():
        raise no_such_file(file)
    from klafter.cli.facts import describe_graph
    from klafter.graph.io.look import look as look_at

    hidden, read = reading.hidden, reading.read or []
    options = {"directed": reading.directed, **reading.options()}
    found = look_at(file, **options, **check_reading(parse_settings(read, "--read")))
    graph = found.graph if found.is_part else reading.changed(found.graph)
    questions = [in_shell_words(text) for text in found.questions]
    said = [in_shell_words(text) for text in found.found]
    columns = [f"{use} ({name})" if name and name != use else use for name, use in found.columns]
    if as_json:
        facts = {"file": file, "kind": found.kind, "graph": describe_graph(graph), "columns": columns}
        print_json({**facts, "rows": found.rows, "questions": questions, "is_part": found.is_part})
        return
    part = "; only the beginning of this long file was read" if found.is_part else ""
    titles: list[Column] = [(title, {}) for title in columns]
    rows = [[*row, *[""] * len(titles)][: len(titles)] for row in found.rows]
    show_table(f"{file}: {found.kind}{part}. The first lines:", titles, rows)
    for text in said:
        say(text)
    if hidden is not None:
        say(f"{counted(graph.n_hidden, 'pair')} hidden." if not found.is_part else f"{hidden} was not looked at.")
    say("To check:" if questions else "No questions.", "bold")
    for text in questions:
        say(f"- {text}")
    again = [*flag("directed", reading.directed, "undirected"), *flag("bipartite", reading.bipartite, "no-bipartite")]
    again += flag("header", reading.header, "no-header")
    again += ["--binarize"] * reading.binarize
    weight = None if reading.weight == "auto" else reading.weight
    given = {"weight": weight, "sheet": reading.sheet, "nodes": reading.nodes, "hidden": hidden}
    again += [f"--{name} {quote(str(value))}" for name, value in given.items() if value is not None]
    again += [f"--read {quote(setting)}" for setting in read]
    say(" ".join([f"Next: klafter fit {quote(file)}", *again, "-o model.npz"]))


def flag(name: str, value: bool | None, opposite: str) -> list[str]:
    """A switch as it is typed; nothing if it was not given."""
    return [] if value is None else [f"--{name if value else opposite}"]
