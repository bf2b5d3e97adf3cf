"""Tables for notebooks: plain HTML that takes its colours from the page, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_CELL = "text-align:left;vertical-align:top;white-space:normal;padding:.15em .9em .15em 0;"
_TABLE = "border-collapse:collapse;margin:.3em 0;"


def facts_table(title: str, facts: dict[str, str]) -> str:
    """A name and a fact a row; empty facts are left out."""
    rows = [
        f'<tr><th scope="row" style="{_CELL}font-weight:500;opacity:.75">{escape(name)}</th>'
        f'<td style="{_CELL}">{escape(fact)}</td></tr>'
        for name, fact in facts.items()
        if fact
    ]
    return f'<table style="{_TABLE}">{_caption(title)}<tbody>{"".join(rows)}</tbody></table>'


def rows_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]], after: str = "") -> str:
    """A table with heads, and a line after it."""
    head = "".join(f'<th scope="col" style="{_CELL}">{escape(name)}</th>' for name in heads)
    lines = ["".join(f'<td style="{_CELL}">{escape(str(cell))}</td>' for cell in row) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    table = f'<table style="{_TABLE}">{_caption(title)}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return table + (f'<p style="opacity:.75;margin:.2em 0">{escape(after)}</p>' if after else "")


def _caption(title: str) -> str:
    return f'<caption style="{_CELL}font-weight:600;caption-side:top">{escape(title)}</caption>'
