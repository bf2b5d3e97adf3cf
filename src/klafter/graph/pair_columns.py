"""What attributes of nodes say of pairs: one column of dyads for each, computed when asked for, never stored.

    category    v_ij = 1(a_i = a_j) - mean
    number      v_ij = (mean - |a_i - a_j|) / sd        higher where two nodes are nearer

Means and the standard deviation are over the pairs whose values are known. Where a value is unknown the pair has the
mean, 0; if there are such pairs, a further column tells them from the others: 1(a_i or a_j unknown) - mean. This is the
method of missing indicators: what is unknown says nothing of likeness, and may itself go with links.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from klafter.graph.graph import Graph

CATEGORY, NUMBER = "category", "number"
SAME, SIMILAR, UNKNOWN = "same", "similar", "unknown"


@dataclass(frozen=True, eq=False)
class PairColumn:
    """One column: ``column[i, j]`` of pairs of rows, ``column[rows]`` of all dyads of some nodes, (len(rows), n)."""

    attribute: str
    kind: str  # same, similar or unknown
    values: np.ndarray  # (n,) codes of categories, or numbers; NaN where unknown
    categories: tuple[Any, ...]  # by code
    mean: float
    scale: float

    @property
    def name(self) -> str:
        return f"{self.kind} {self.attribute}"

    def __getitem__(self, where: Any) -> np.ndarray:
        if isinstance(where, tuple):
            return self.between(self.values[where[0]], self.values[where[1]])
        return self.between(self.values[where, None], self.values)

    def between(self, a: Any, b: Any) -> np.ndarray:
        """The column for pairs of values."""
        known = ~(np.isnan(a) | np.isnan(b))
        if self.kind == UNKNOWN:
            return np.where(known, 0.0, 1.0) - self.mean
        raw = 1.0 * (a == b) if self.kind == SAME else -np.abs(a - b)
        return np.where(known, (raw - self.mean) / self.scale, 0.0)

    def matrix(self) -> np.ndarray:
        """All dyads, (n, n), 0 on the diagonal."""
        full = self[np.arange(len(self.values))]
        np.fill_diagonal(full, 0.0)
        return full

    def value_of(self, value: Any) -> float:
        """An attribute of another node as ``values`` has it; -1 for a category that no node has."""
        if _is_unknown(value):
            return np.nan
        if self.categories:
            names = [str(category) for category in self.categories]
            return float(names.index(str(value))) if str(value) in names else -1.0
        if not _is_number(value):
            raise ValueError(f"Attribute {self.attribute!r} is a number here; {value!r} is none.")
        return float(value)

    def describe(self, i: int, j: int) -> str:
        """What the column says of a pair, in words."""
        a, b = self.values[i], self.values[j]
        if np.isnan(a) or np.isnan(b):
            return f"{self.attribute} unknown"
        if self.kind == UNKNOWN:
            return f"{self.attribute} known"
        if self.kind == SIMILAR:
            return f"how near they are in {self.attribute}"
        return f"{'same' if a == b else 'different'} {self.attribute}"


def pair_columns(graph: Graph, attributes: Iterable[str] | Mapping[str, str | None] | None) -> dict[str, PairColumn]:
    """The columns of some attributes of a graph, by name; a mapping says which is a category and which a number."""
    found = {}
    for attribute, kind in asked_kinds(attributes).items():
        columns = _columns(attribute, _column_of(graph, attribute), kind)
        _check_possible(graph, columns[0])
        found.update({column.name: column for column in columns})
    return found


def _check_possible(graph: Graph, column: PairColumn) -> None:
    """Refuse an attribute that is the same for all pairs that may be linked, such as one of one of two kinds alone."""
    if graph.rule is None:
        return
    nodes, low, high = graph.rule.nodes(), np.inf, -np.inf
    for a, b in graph.rule.cells(ordered=False)[0]:
        block = column[nodes[a]][:, nodes[b]]
        found = block if a != b else block[~np.eye(len(block), dtype=bool)]
        low, high = found.min(initial=low), found.max(initial=high)
    if not high > low:
        which = "pairs across kinds" if graph.kind_pairs is None else "pairs of kinds that may be linked"
        raise ValueError(
            f"Attribute {column.attribute!r} tells no possible pair from another: only {which} are, and it "
            "is the same, or unknown, for all of them. Leave it out."
        )


def asked_kinds(attributes: Any) -> dict[str, str | None]:
    """Names of attributes and what they are said to be, None where their values are to tell."""
    if attributes is None:
        return {}
    if isinstance(attributes, str) or not isinstance(attributes, (Mapping, Iterable)):
        raise ValueError(f"attributes needs a list of names, such as ['office', 'age']; it is {attributes!r}.")
    if not isinstance(attributes, Mapping):
        names = list(attributes)
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"attributes names {twice[0]!r} twice; name it once.")
        return dict.fromkeys(names)
    for name, kind in attributes.items():
        if kind not in (CATEGORY, NUMBER, None):
            raise ValueError(f"Attribute {name!r} is a 'category' or a 'number'; {kind!r} is neither.")
    return dict(attributes)


def _column_of(graph: Graph, name: str) -> list[Any]:
    if name in graph.attributes:
        values: list[Any] = graph.attributes[name].tolist()
        return values
    if not graph.attributes:
        raise ValueError(
            f"This graph has no attributes, so there is no {name!r}. Give them with Graph(attributes=...), as columns "
            "of a table of nodes, or leave attributes out."
        )
    close = get_close_matches(str(name), list(graph.attributes), n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"This graph has no attribute {name!r}; it has {', '.join(graph.attributes)}.{hint}")


def _columns(attribute: str, raw: list[Any], kind: str | None) -> list[PairColumn]:
    """The column of an attribute, and that of its unknown values if there are any."""
    known = [value for value in raw if not _is_unknown(value)]
    odd = next((value for value in known if not isinstance(value, (str, int, float))), None)
    if odd is not None:
        raise ValueError(f"Attribute {attribute!r} needs text or numbers; it has {odd!r}. Leave it out.")
    numeric = all(map(_is_number, known))
    if kind == NUMBER and not numeric:
        odd = next(value for value in known if not _is_number(value))
        raise ValueError(f"Attribute {attribute!r} is not a number: it has {odd!r}. Use it as a category.")
    _check_varied(attribute, known, numeric and kind != CATEGORY)
    if numeric and kind != CATEGORY:
        values = np.array([np.nan if _is_unknown(value) else float(value) for value in raw])
        first = PairColumn(attribute, SIMILAR, values, (), *_spread(values[~np.isnan(values)]))
    else:
        categories = tuple(sorted(set(known), key=lambda value: (str(type(value)), value)))
        code = {value: float(t) for t, value in enumerate(categories)}
        values = np.array([np.nan if _is_unknown(value) else code[value] for value in raw])
        first = PairColumn(attribute, SAME, values, categories, _share_alike(values[~np.isnan(values)]), 1.0)
    if len(known) == len(raw):
        return [first]
    unknown = 1.0 - len(known) * (len(known) - 1) / (len(raw) * (len(raw) - 1))
    return [first, PairColumn(attribute, UNKNOWN, values, first.categories, unknown, 1.0)]


def _check_varied(attribute: str, known: list[Any], number: bool) -> None:
    """Refuse what tells no pair from another."""
    if len(set(known)) < 2:
        what = f"every node has {known[0]!r}" if known else "no node's value is known"
        raise ValueError(f"Attribute {attribute!r} tells no pair from another: {what}. Leave it out.")
    if not number and len(set(known)) == len(known):
        cure = " Use it as a number, or leave it out." if all(map(_is_number, known)) else " Leave it out."
        raise ValueError(f"Attribute {attribute!r} has another value for every node, so no two are the same.{cure}")
    if number and len(known) == 2:
        raise ValueError(f"Attribute {attribute!r} is known of two nodes only, one pair. Leave it out.")


def _share_alike(codes: np.ndarray) -> float:
    """The share of pairs in the same category."""
    sizes, n = np.unique(codes, return_counts=True)[1], len(codes)
    return float((sizes * (sizes - 1)).sum() / (n * (n - 1)))


def _spread(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of -|a_i - a_j| over pairs: sums over sorted values, no pair is formed."""
    n = len(values)
    ordered = np.sort(values) - values.mean()
    mean = 2.0 * float((2 * np.arange(n) - n + 1) @ ordered) / (n * (n - 1))
    square = 2.0 * float((ordered**2).sum()) / (n - 1)
    return -mean, float(np.sqrt(max(square - mean**2, 0.0))) or 1.0


def _is_unknown(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and not np.isfinite(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
