"""What goes on the screen: tables that fit it, JSON for programs, and text from files as plain data."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, for programs.")]
Column = tuple[str, dict[str, Any]]  # its name, and what rich should know of it
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks.")]

# C0, C1 and the marks that reverse text would let a label rewrite the screen
_BIDI = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}
PIPE_WIDTH = 100
WORD = 11  # letters of a word that is not broken in a narrow table


def plain(value: object) -> str:
    """Any value as one line of harmless text."""
    text = " ".join(str(value).split()) if not isinstance(value, str) else re.sub(r"[\t\n\r]", " ", value)
    return "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cs") and ord(c) not in _BIDI)


def console(stderr: bool = False) -> Console:
    """A console on which square brackets, colons and numbers in names stay what they are."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    found = Plain(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=False)
    if not found.is_terminal and "COLUMNS" not in os.environ:
        found.width = PIPE_WIDTH
    return found


def say(text: str = "", style: str | None = None) -> None:
    """A paragraph on stdout, wrapped to the terminal."""
    console().print(plain(text), style=style)


def quoted(name: object) -> str:
    """A name in a list, in quotes where a comma, a star or a blank at its end would be taken for the list's."""
    text = str(name)
    doubtful = not text or text != text.strip() or any(mark in text for mark in ',;*"()')
    return json.dumps(text, ensure_ascii=False) if doubtful else text


def counted(number: int, noun: str) -> str:
    """A number and what it counts: 1 node, 2 nodes, 3 communities."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"


def show_table(title: str, columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> None:
    """A table on stdout. Long cells fold, between words where the screen allows; nothing is cut off."""
    from rich import box
    from rich.table import Table

    say(title, "bold")
    screen, cells = console(), [[plain(cell) for cell in row] for row in rows]
    texts = [[name, *(row[k] for row in cells)] for k, (name, _) in enumerate(columns)]
    fixed = [bool(how.get("no_wrap")) for _, how in columns]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for (name, how), width in zip(columns, column_widths(texts, fixed, screen.width - 2 * len(columns))):
        table.add_column(name, **{"overflow": "fold", "width": width, **how})
    for row in cells:
        table.add_row(*row)
    screen.print(table)


def column_widths(texts: Sequence[Sequence[str]], fixed: Sequence[bool], room: int) -> list[int]:
    """How wide columns are in a table of some width: those that may fold give way, first between words."""
    from rich.cells import cell_len

    whole = [max(map(cell_len, column)) for column in texts]
    for word in (WORD, WORD // 2, 1):
        least = [
            size if still else min(size, max(cell_len(w) for text in column for w in [*text.split(), ""]), word)
            for column, size, still in zip(texts, whole, fixed)
        ]
        if sum(least) <= room:
            break
    left = room - sum(least)
    order = sorted(range(len(whole)), key=lambda k: whole[k] - least[k])
    for turn, k in enumerate(order):
        more = max(0, min(whole[k] - least[k], left // (len(order) - turn)))
        least[k], left = least[k] + more, left - more
    return [max(1, size) for size in least]


def print_json(document: Any) -> None:
    """One JSON document on stdout; numbers of numpy become plain ones, NaN becomes null."""
    from klafter.graph.writing import jsonable

    sys.stdout.write(json.dumps(jsonable(document), indent=2, allow_nan=False, default=str) + "\n")


class Remarks(logging.Handler):
    """What the library has to say while it works.

    What is over when the command has ended, or is told then, is shown on a terminal only; errors even to those who
    asked for quiet.
    """

    def __init__(self, quiet: bool):
        super().__init__(logging.ERROR if quiet else logging.WARNING)
        self.console = console(stderr=True)
        self.mute = quiet or not self.console.is_terminal

    def emit(self, record: logging.LogRecord) -> None:
        if not (self.mute and getattr(record, "passing", False)):
            self.console.print(plain(record.getMessage()), style="dim")
