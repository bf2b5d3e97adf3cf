"""Ties: the affinities L of the sparse engine when communities are also linked to each other.

    x_ij = t_i r_j (e + sum_{k in z_i, l in z_j} L_kl),   L = diag(w) + bridges

A bridge is an entry L_kl > 0 off the diagonal: undirected, one number for (k, l) and (l, k); directed, from members of
k as sources to members of l as targets. Only entries that exist are stored, by rows and by columns.
"""

# ruff: noqa: E741 - k and l are communities, as in the papers

from typing import NamedTuple

import numpy as np
from scipy import sparse

from klafter.search.sparse.state import Problem, State


class Ties(NamedTuple):
    """L by rows (from k) and by columns (into l); the diagonal is always there, the strength w_k of community k."""

    start: np.ndarray  # (K + 1,) int64
    other: np.ndarray  # int64, l of each entry, rising in a row
    strength: np.ndarray
    into_start: np.ndarray  # (K + 1,) int64
    into_other: np.ndarray  # int64, k of each entry, rising in a column
    into_strength: np.ndarray
    place: np.ndarray  # where the entries by columns stand by rows


def tie(strength: np.ndarray, pairs: np.ndarray | None = None, values=0.0, *, directed: bool = False) -> Ties:
    """Ties of a diagonal and of off-diagonal pairs, (m, 2), each unordered one once when undirected."""
    k, own = len(strength), np.arange(len(strength))
    pairs = np.zeros((0, 2), np.int64) if pairs is None else pairs
    values = np.broadcast_to(values, len(pairs))
    back = 0 if directed else len(pairs)
    row = np.concatenate([own, pairs[:, 0], pairs[:back, 1]]).astype(np.int64)
    column = np.concatenate([own, pairs[:, 1], pairs[:back, 0]]).astype(np.int64)
    value = np.concatenate([strength, values, values[:back]]).astype(float)
    order = np.lexsort((column, row))
    row, column, value = row[order], column[order], value[order]
    place = np.lexsort((row, column))
    return Ties(_starts(row, k), column, value, _starts(column, k), row[place], value[place], place)


def _starts(sorted_rows: np.ndarray, k: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(sorted_rows, minlength=k))]).astype(np.int64)


def rows_of(ties: Ties) -> np.ndarray:
    """k of each entry by rows."""
    return np.repeat(np.arange(len(ties.start) - 1), np.diff(ties.start))


def bridges(ties: Ties, *, directed: bool) -> tuple[np.ndarray, np.ndarray]:
    """The pairs off the diagonal, (m, 2), and their strengths; each unordered pair once when undirected."""
    row = rows_of(ties)
    some = row != ties.other if directed else row < ties.other
    return np.column_stack([row[some], ties.other[some]]), ties.strength[some]


def n_bridges(problem: Problem, ties: Ties) -> int:
    """Bridges that have a strength."""
    return int(problem.pair_weight * np.count_nonzero((ties.strength > 0) & (rows_of(ties) != ties.other)))


def diagonal(ties: Ties) -> np.ndarray:
    """w."""
    return ties.strength[rows_of(ties) == ties.other]


def with_pairs(problem: Problem, ties: Ties, pairs: np.ndarray) -> Ties:
    """The same ties with room for more bridges, of strength 0."""
    directed = problem.pair_weight == 1.0
    old, values = bridges(ties, directed=directed)
    every, first = np.unique(np.concatenate([old, pairs]), axis=0, return_index=True)
    values = np.concatenate([values, np.zeros(len(pairs))])[first]
    return tie(diagonal(ties), every, values, directed=directed)


def without_idle(problem: Problem, ties: Ties) -> Ties:
    """The same ties without bridges of strength 0."""
    pairs, values = bridges(ties, directed=problem.pair_weight == 1.0)
    return tie(diagonal(ties), pairs[values > 0], values[values > 0], directed=problem.pair_weight == 1.0)


def set_strength(problem: Problem, ties: Ties, k: int, l: int, value: float) -> None:
    """L_kl, and L_lk when undirected, in place."""
    for a, b in ((k, l), (l, k)) if problem.pair_weight < 1.0 else ((k, l),):
        ties.strength[_find(ties.start, ties.other, a, b)] = value
        ties.into_strength[_find(ties.into_start, ties.into_other, b, a)] = value


def _find(start, other, k: int, l: int) -> int:
    return int(start[k] + np.searchsorted(other[start[k] : start[k + 1]], l))


def renumbered(problem: Problem, state: State, ties: Ties) -> Ties:
    """Ties of the communities that are not empty, in the numbers they have without the others."""
    alive = state.size > 0
    if alive.all():
        return ties
    number = np.cumsum(alive) - 1
    pairs, values = bridges(ties, directed=problem.pair_weight == 1.0)
    both = alive[pairs].all(axis=1)
    return tie(diagonal(ties)[alive], number[pairs[both]], values[both], directed=problem.pair_weight == 1.0)


def matrix(ties: Ties) -> sparse.csr_array:
    """L, (K, K)."""
    k = len(ties.start) - 1
    return sparse.csr_array((ties.strength.copy(), ties.other.copy(), ties.start.copy()), shape=(k, k))


def bridge_price(problem: Problem, k: int) -> float:
    """lambda^2 + T (log M + log(links) / 2) of one bridge among k communities.

    M, the pairs of communities there are, is what it takes to say which pair; half a log of the observed counts is what
    one more rate takes (Schwarz).
    """
    pairs = problem.pair_weight * k * (k - 1)
    links = float(problem.value.sum()) / 2
    return problem.penalty + problem.temperature * (np.log(max(pairs, 1.0)) + 0.5 * np.log(max(links, 1.0)))
