"""What nodes are called: rows for their names, numbers told from words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from klafter.graph.assemble import Edges
from klafter.graph.io.errors import misencoded, quote
from klafter.graph.io.files import check_size

MANY_NAMES = 20_000  # more are not compared letter by letter
_NOBODY = frozenset({"na", "n/a", "nan", "null", "none", "nil", "#n/a", "missing", "unknown", "-", "?"})
_ROUNDED = re.compile(r"\d[.,]\d+[eE]\+\d\d+")
_READ_TWICE = re.compile("Ã[\u0080-\u00bf]|â€|Å[\u0080-\u00bf‚¡]")
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
_WHOLE = re.compile(rb"-?(0|[1-9]\d*)(\.0+)?")  # some end in .0, as tables with gaps write whole numbers


def integers(names: Sequence[str] | Sequence[bytes]) -> np.ndarray | None:
    """Names as integers, if all of them are integers written plainly; "007" is a word.

    Examples
    --------
    >>> integers(["3", "10"]), integers(["3", "007"])
    (array([ 3, 10]), None)
    """
    if (quick := _plain_digits(names)) is not None:
        return quick
    try:
        numbers = list(map(int, names))
    except ValueError:
        return None
    form: str | bytes = b"%d" if names and isinstance(names[0], bytes) else "%d"
    if any(name != form % number or abs(number) >= 2**62 for name, number in zip(names, numbers)):
        return None
    return np.array(numbers, np.int64)


def _plain_digits(names: Sequence[str] | Sequence[bytes]) -> np.ndarray | None:
    """All names at once, if they are digits that do not begin with 0; None says nothing of other names."""
    if not names or not isinstance(names[0], bytes) or max(map(len, names)) > 18:
        return None
    words = np.array(names)
    lengths = np.char.str_len(words)
    if not np.char.isdigit(words).all() or (np.char.startswith(words, b"0") & (lengths > 1)).any():
        return None
    return words.astype(np.int64)


def plain_labels(names: list[str]) -> list[str] | np.ndarray | None:
    """Labels in their order: None when they are the rows themselves, integers if they all are, else text."""
    numbers = integers(names)
    if numbers is None:
        return list(names)
    return None if np.array_equal(numbers, np.arange(len(numbers))) else numbers


def number_nodes(
    edges: Edges, names: list[bytes] | np.ndarray, declared: int | None, encoding: str
) -> tuple[Edges, int, list[str] | np.ndarray | None, str]:
    """Edges by row, the number of nodes, their labels, and a note.

    Nodes are sorted by name, so that the order of lines changes nothing.
    """
    numbers = names if isinstance(names, np.ndarray) else integers(names)
    if numbers is None and any(name.endswith(b".0") for name in names) and all(map(_WHOLE.fullmatch, names)):
        bare, rows = np.unique([int(name.partition(b".")[0]) for name in names], return_inverse=True)
        pointed = next(name for name in names if b"." in name).decode()
        edges, n, labels, note = number_nodes(_renumber(edges, rows), bare, declared, encoding)
        return edges, n, labels, f"Names such as {pointed} were read as {pointed.partition('.')[0]}. {note}".strip()
    if numbers is None:
        by_name = sorted(range(len(names)), key=names.__getitem__)
        rank = np.empty(len(by_name), np.int64)
        rank[by_name] = np.arange(len(by_name))
        labels = _decode([names[k] for k in by_name], encoding)
        return _renumber(edges, rank), len(names), labels, _announced(declared, len(names))
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    for base in (0, 1):
        if declared is not None and base <= numbers.min(initial=high) and high < declared + base:
            n = check_size(declared, content=100 * len(edges.source))
            return _renumber(edges, numbers - base), n, np.arange(1, n + 1) if base else None, ""
    order = np.argsort(numbers)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    is_range = low == 0 and high == len(numbers) - 1
    return (
        _renumber(edges, rank),
        len(numbers),
        None if is_range else numbers[order],
        _announced(declared, len(numbers)),
    )


def _renumber(edges: Edges, rows: np.ndarray) -> Edges:
    if np.array_equal(rows, np.arange(len(rows))):
        return edges
    return Edges(rows[edges.source], rows[edges.target], edges.weight)


def _announced(declared: int | None, n: int) -> str:
    if declared is None or declared == n:
        return ""
    return f"The comments announce {declared:,} nodes, the links name {n:,}; nodes without a name are not added."


def _decode(names: list[bytes], encoding: str) -> list[str]:
    try:
        return [name.decode(encoding) for name in names]
    except UnicodeDecodeError as error:
        found = f"the name {quote(error.object)}"
        raise misencoded(found, encoding, b"\n".join(names)) from None


def odd_names(labels: list[str] | np.ndarray | None) -> list[str]:
    """What is odd about the names of nodes: some mean nobody, were rounded, or differ in case or blanks alone."""
    if not isinstance(labels, list) or len(labels) > MANY_NAMES:
        return []
    found = []
    nobody = [label for label in labels if label.casefold() in _NOBODY]
    if nobody:
        found.append(f"A node is called {quote(nobody[0])}; delete its lines if that means nobody.")
    rounded = [label for label in labels if _ROUNDED.fullmatch(label)]
    if rounded:
        said = (
            f"Names such as {quote(rounded[0])} were rounded by a spreadsheet, and different nodes may have become one"
        )
        found.append(f"{said}; write them as text.")
    twice = next((label for label in labels if _READ_TWICE.search(label)), None)
    if twice is not None:
        found.append(f"The name {quote(twice)} looks like UTF-8 read as something else; pass encoding='utf-8'.")
    several = [label for label in labels if ";" in label or "|" in label]
    if 4 * len(several) > len(labels):
        found.append(f"Names such as {quote(several[0])} hold several; write one on each line.")
    return found + _alike(labels)


def _alike(labels: list[str]) -> list[str]:
    """Names that differ only in case or blanks, which people seldom mean."""
    seen: dict[str, str] = {}
    pairs = []
    for label in labels:
        first = seen.setdefault(" ".join(_INVISIBLE.sub("", label).casefold().split()), label)
        if first != label:
            pairs.append(f"{quote(first)} and {quote(label)}")
    more = f" and {len(pairs) - 3:,} more pairs" if len(pairs) > 3 else ""
    return (
        [f"Different nodes, though they differ only in case or blanks: {', '.join(pairs[:3])}{more}."] if pairs else []
    )
