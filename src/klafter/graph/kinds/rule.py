"""Which kinds of nodes may be linked: a small table over kinds, never a list of pairs of nodes.

The two-mode network is the table of two kinds in which only the pair of both may be linked; see ``names``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

ACROSS, WITHIN = "across", "within"
MOST_KINDS = 100  # a column with more values is no kind, and tables are q x q
Pairs = tuple[tuple[str, str], ...]


class Rule(NamedTuple):
    """Kinds of nodes, and which of them may be linked."""

    names: tuple[str, ...]
    kind: np.ndarray  # (n,) int8: number of the kind of each node
    table: np.ndarray  # (q, q) of bool, by kind of the source and of the target; symmetric when undirected
    directed: bool

    @property
    def sizes(self) -> np.ndarray:
        """(q,) nodes of each kind."""
        return np.bincount(self.kind, minlength=len(self.names))

    @property
    def either(self) -> np.ndarray:
        """(q, q) whether kinds may be linked in one direction or the other."""
        return np.asarray(self.table | self.table.T)

    def allows(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Whether kinds permit each link from i to j; of a node and itself too."""
        return np.asarray(self.table[self.kind[i], self.kind[j]])

    def n_pairs(self, table: np.ndarray) -> tuple[int, int]:
        """Ordered and unordered pairs of two nodes that a symmetric or other table allows."""
        sizes, each = self.sizes, table.astype(np.int64)
        ordered = int(sizes @ each @ sizes - np.diag(each) @ sizes)
        return ordered, ordered // 2

    def partners(self) -> np.ndarray:
        """(n,) to how many nodes each may have a link."""
        found = self.table.astype(np.int64) @ self.sizes - np.diag(self.table)
        return np.asarray(found[self.kind])

    def cells(self, *, ordered: bool) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of kinds (m, 2) that may be linked, each once, and the share of drawn ends that each needs so that all
        pairs of nodes are as likely; ``ordered`` tells (i, j) from (j, i)."""
        found = np.argwhere(self.table if ordered else np.triu(self.either))
        weight = np.prod(self.sizes[found].astype(float), axis=1)
        if not ordered:
            weight[found[:, 0] == found[:, 1]] /= 2  # (i, j) and (j, i) are one
        return found, weight / max(weight.sum(), 1.0)

    def nodes(self) -> list[np.ndarray]:
        """The nodes of each kind."""
        return [np.flatnonzero(self.kind == k) for k in range(len(self.names))]


def find_table(names: Sequence[str], pairs: Pairs | None, directed: bool) -> np.ndarray:
    """Which kinds may be linked, as a table; None: two kinds, across."""
    table = np.zeros((len(names), len(names)), bool)
    if pairs is None:
        return ~np.eye(len(names), dtype=bool)
    number = {name: k for k, name in enumerate(names)}
    for a, b in pairs:
        table[number[a], number[b]] = True
    return table if directed else table | table.T


def normal_pairs(given: Any, names: Sequence[str], directed: bool) -> Pairs:
    """Pairs of kinds as they were given, each once and in the order of the kinds, undirected ones one way."""
    if isinstance(given, str) and given not in (ACROSS, WITHIN):
        given = parse_pairs(given, names)
    if isinstance(given, str):
        table = np.eye(len(names), dtype=bool)
        table = table if given == WITHIN else ~table
    else:
        _check_pairs(given := _listed(given), names)
        table = find_table(names, tuple((a, b) for a, b in given), directed)
    if not table.any():
        raise ValueError("kind_pairs allows no link at all. Name the pairs of kinds that may be linked.")
    found = np.argwhere(table if directed else np.triu(table))
    return tuple((names[a], names[b]) for a, b in found)


def _listed(given: Any) -> list[tuple[str, str]]:
    try:
        pairs = [tuple(map(str, pair)) for pair in given if not isinstance(pair, str)]
        if len(pairs) == len(given) and all(len(pair) == 2 for pair in pairs):
            return [(a, b) for a, b in pairs]
    except TypeError:
        pass
    raise ValueError(
        "kind_pairs is 'across', 'within', or a list of pairs of kinds, such as [('person', 'paper')]; "
        f"it is {given!r}."
    )


def _check_pairs(pairs: Iterable[tuple[str, str]], names: Sequence[str]) -> None:
    for pair in pairs:
        for name in pair:
            if name not in names:
                raise ValueError(
                    f"kind_pairs names {name!r}, and no node is of that kind. Kinds are {', '.join(names)}."
                )


def parse_pairs(text: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of kinds as a command line or a file has them, ``person-paper,paper-paper`` or JSON."""
    if text.lstrip().startswith("["):
        try:
            return _listed(json.loads(text))
        except json.JSONDecodeError:
            pass
    return [_parted(word.strip(), names) for word in text.split(",") if word.strip()]


def _parted(word: str, names: Sequence[str]) -> tuple[str, str]:
    """Two kinds with a hyphen between them; names may have hyphens too."""
    parts = word.split("-")
    cuts = [("-".join(parts[:k]).strip(), "-".join(parts[k:]).strip()) for k in range(1, len(parts))]
    known = [cut for cut in cuts if cut[0] in names and cut[1] in names]
    if known:
        return known[0]
    raise ValueError(
        f"kind_pairs is 'across', 'within', or pairs such as '{names[0]}-{names[-1]}' with commas between them; "
        f"{word!r} is none. Kinds are {', '.join(names)}."
    )


def as_text(pairs: Pairs) -> str:
    """Pairs of kinds as a file has them."""
    return json.dumps(pairs, ensure_ascii=False)


def in_words(pairs: Pairs, *, directed: bool) -> str:
    """``person - paper, paper - paper``; with arrows where links have a direction."""
    return ", ".join(f"{a} {'->' if directed else '-'} {b}" for a, b in pairs)
