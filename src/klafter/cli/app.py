"""The application: its commands, and what a bare ``klafter`` says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from klafter import __version__
from klafter.cli.demo import demo, warmup
from klafter.cli.evaluate import compare, tune
from klafter.cli.export import datasets, export, report
from klafter.cli.fitting import fit
from klafter.cli.inspect_model import communities, explain, place, predict
from klafter.cli.look import look
from klafter.cli.reproducing import reproduce
from klafter.cli.sentences import SentenceCommand, SentenceGroup
from klafter.cli.watching import watch

WELCOME = """\
klafter finds overlapping communities in a network, their number, and the links that are likely but missing.

  klafter demo                              see it at work on a novel, in a minute
  klafter look friends.xlsx                 what would be read from your file, and what to check
  klafter fit friends.tsv -o friends.npz    fit your own edge list, CSV, Excel, matrix, GraphML, Pajek, ...
  klafter communities friends.npz           who belongs together
  klafter predict friends.npz --top 20      the likeliest links nobody has seen
  klafter report friends.npz -o page.html   a page to look at

klafter --help lists all commands; klafter COMMAND --help shows its examples.
"""

app = typer.Typer(
    cls=SentenceGroup,
    invoke_without_command=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"klafter {__version__}")
        raise typer.Exit


@app.callback()
def start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Overlapping communities, their number, and missing links in networks."""
    if context.invoked_subcommand is None:
        typer.echo(WELCOME, nl=False)


COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Start": (demo, datasets, look, warmup),
    "Find": (fit, tune, watch),
    "Look": (communities, predict, explain, place, report, export),
    "Judge": (compare, reproduce),
}
for panel, commands in COMMANDS.items():
    for command in commands:
        app.command(cls=SentenceCommand, rich_help_panel=panel)(command)
