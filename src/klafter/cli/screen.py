"""What goes on the screen: tables that fit it, JSON for programs, and text from files as plain data."""

from __future__ import annotations

import json
import logging
import os
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


def plain(value: object) -> str:
    """Any value as one line of harmless text."""
    text = " ".join(str(value).split()) if not isinstance(value, str) else value
    return "".join(_harmless(character) for character in text)


def _harmless(character: str) -> str:
    if character in "\t\n\r":
        return " "
    return "" if unicodedata.category(character) in ("Cc", "Cs") or ord(character) in _BIDI else character


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


def show_table(title: str, columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> None:
    """A table on stdout. Long cells fold, nothing is cut off."""
    from rich import box
    from rich.table import Table

    say(title, "bold")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, how in columns:
        words = max((len(word) for word in name.split()), default=1)
        table.add_column(name, **{"overflow": "fold", "min_width": words, **how})
    for row in rows:
        table.add_row(*(plain(cell) for cell in row))
    console().print(table)


def print_json(document: Any) -> None:
    """One JSON document on stdout; numbers of numpy become plain ones, NaN becomes null."""
    sys.stdout.write(json.dumps(_jsonable(document), indent=2, allow_nan=False) + "\n")


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _jsonable(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(v) for v in value]
    if hasattr(value, "tolist"):
        return _jsonable(value.tolist())
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)


class Remarks(logging.Handler):
    """What the library has to say while it works, shown on a terminal only."""

    def __init__(self, quiet: bool):
        super().__init__(logging.WARNING)
        self.console = console(stderr=True)
        self.mute = quiet or not self.console.is_terminal

    def emit(self, record: logging.LogRecord) -> None:
        if not self.mute:
            self.console.print(plain(record.getMessage()), style="dim")
