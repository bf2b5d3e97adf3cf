"""Affinities of the sparse engine: L = diag(w) and, where they lower Q, entries off the diagonal.

    x_ij = t_i r_j (e + sum_{k in z_i, l in z_j} L_kl)

Undirected, (k, l) and (l, k) are one number; directed, L_kl goes from members of k as sources to members of l as
targets. Only entries that exist are stored, by rows and by columns, and the diagonal by itself.
"""

# ruff: noqa: E741 - k and l are communities, as in the papers

from typing import NamedTuple

import numpy as np
from scipy import sparse

NO_PAIRS = np.zeros((0, 2), np.int64)


class Affinities(NamedTuple):
    """The diagonal, and the off-diagonal affinities by rows (from k) and by columns (into l)."""

    strength: np.ndarray  # (K,) w_k
    value: np.ndarray  # (m,) off-diagonal affinities, each once, in the order of their pairs
    start: np.ndarray  # (K + 1,) int64
    other: np.ndarray  # int64, l of each entry, rising in a row
    place: np.ndarray  # int64, where its number stands in ``value``
    into_start: np.ndarray  # (K + 1,) int64
    into_other: np.ndarray  # int64, k of each entry, rising in a column
    into_place: np.ndarray

    @property
    def diagonal(self) -> bool:
        """Whether there is nothing off the diagonal."""
        return len(self.value) == 0


def as_affinities(strength, pairs: np.ndarray = NO_PAIRS, values=0.0, *, directed: bool = False) -> Affinities:
    """Affinities of a diagonal and of off-diagonal pairs, (m, 2), each unordered one once when undirected."""
    strength = np.array(strength, float)
    if len(pairs) == 0:
        none, start = np.zeros(0, np.int64), np.zeros(len(strength) + 1, np.int64)
        return Affinities(strength, np.zeros(0), start, none, none, start, none, none)
    pairs = np.asarray(pairs, np.int64) if directed else np.sort(np.asarray(pairs, np.int64), axis=1)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs, values = pairs[order], np.broadcast_to(values, len(pairs))[order].astype(float)
    number = np.arange(len(pairs))
    if not directed:
        pairs, number = np.concatenate([pairs, pairs[:, ::-1]]), np.tile(number, 2)
    rows, columns = (_compressed(pairs, number, side, len(strength)) for side in (0, 1))
    return Affinities(strength, values, *rows, *columns)


def _compressed(pairs: np.ndarray, number: np.ndarray, side: int, k: int):
    """Entries by rows (side 0) or columns (side 1): where each begins, the other end, and the number of the value."""
    order = np.lexsort((pairs[:, 1 - side], pairs[:, side]))
    start = np.concatenate([[0], np.cumsum(np.bincount(pairs[:, side], minlength=k))]).astype(np.int64)
    return start, pairs[order, 1 - side].copy(), number[order]


def is_directed(affinities: Affinities) -> bool:
    """Whether (k, l) and (l, k) are two numbers."""
    return len(affinities.other) == len(affinities.value)


def off_diagonal_pairs(affinities: Affinities) -> np.ndarray:
    """The pairs (k, l) of ``value``, (m, 2); k < l when undirected."""
    if affinities.diagonal:
        return NO_PAIRS
    row = np.repeat(np.arange(len(affinities.strength)), np.diff(affinities.start))
    some = np.full(len(row), True) if is_directed(affinities) else row < affinities.other
    return np.column_stack([row[some], affinities.other[some]])


def n_off_diagonal(affinities: Affinities) -> int:
    """Off-diagonal affinities above 0."""
    return int(np.count_nonzero(affinities.value > 0))


def touching(affinities: Affinities, some: np.ndarray) -> np.ndarray:
    """Where the off-diagonal affinities to or from some communities stand in ``value``, in order."""
    a = affinities
    rows = [a.place[a.start[k] : a.start[k + 1]] for k in some]
    columns = [a.into_place[a.into_start[k] : a.into_start[k + 1]] for k in some] if is_directed(a) else []
    return np.unique(np.concatenate([*rows, *columns])) if len(some) else np.zeros(0, np.int64)


def partners(affinities: Affinities, some: np.ndarray) -> np.ndarray:
    """Communities with an off-diagonal affinity to or from some communities, these among them."""
    a = affinities
    rows = [a.other[a.start[k] : a.start[k + 1]] for k in some]
    columns = [a.into_other[a.into_start[k] : a.into_start[k + 1]] for k in some] if is_directed(a) else []
    return np.unique(np.concatenate([np.asarray(some, np.int64), *rows, *columns]))


def with_pairs(affinities: Affinities, pairs: np.ndarray, *, directed: bool) -> Affinities:
    """The same affinities and more off-diagonal ones, of 0."""
    every, first = np.unique(np.concatenate([off_diagonal_pairs(affinities), pairs]), axis=0, return_index=True)
    values = np.concatenate([affinities.value, np.zeros(len(pairs))])[first]
    return as_affinities(affinities.strength, every, values, directed=directed)


def keep_pairs(affinities: Affinities, keep: np.ndarray) -> Affinities:
    """The same affinities with some of the off-diagonal ones."""
    if keep.all():
        return affinities
    pairs, values = off_diagonal_pairs(affinities)[keep], affinities.value[keep]
    return as_affinities(affinities.strength, pairs, values, directed=is_directed(affinities))


def without_pairs_of(affinities: Affinities, some: np.ndarray) -> Affinities:
    """The same affinities without off-diagonal ones of some communities."""
    keep = np.full(len(affinities.value), True)
    keep[touching(affinities, some)] = False
    return keep_pairs(affinities, keep)


def find(affinities: Affinities, k: int, l: int) -> int:
    """Where L_kl stands in ``value``."""
    low, high = affinities.start[k : k + 2]
    return int(affinities.place[low + np.searchsorted(affinities.other[low:high], l)])


def alive_only(affinities: Affinities, alive: np.ndarray) -> Affinities:
    """Affinities of some communities, in the numbers they have without the others."""
    pairs = off_diagonal_pairs(affinities)
    both, number = alive[pairs].all(axis=1), np.cumsum(alive) - 1
    return as_affinities(
        affinities.strength[alive], number[pairs[both]], affinities.value[both], directed=is_directed(affinities)
    )


def with_more(affinities: Affinities, extra: int) -> Affinities:
    """The same affinities and ``extra`` communities of strength 0 at the end."""
    start, into_start = (
        np.concatenate([rows, np.full(extra, rows[-1])]) for rows in (affinities.start, affinities.into_start)
    )
    strength = np.concatenate([affinities.strength, np.zeros(extra)])
    return affinities._replace(strength=strength, start=start, into_start=into_start)


def copy_affinities(affinities: Affinities) -> Affinities:
    """Affinities whose values may be changed in place."""
    return affinities._replace(strength=affinities.strength.copy(), value=affinities.value.copy())


def matrix(affinities: Affinities) -> sparse.csr_array:
    """L, (K, K)."""
    k = len(affinities.strength)
    off = affinities.value[affinities.place], affinities.other, affinities.start
    return sparse.csr_array(sparse.diags_array(affinities.strength) + sparse.csr_array(off, shape=(k, k)))
