"""Random pairs with given degrees, by swaps of ends: (a, b), (c, d) become (a, d), (c, b).

A swap is made when both new pairs are allowed and new, so pairs that are forbidden or there twice vanish, and pairs
that are allowed are shuffled: the chain whose draws are uniform over graphs with these degrees. Each round tries one
swap for every pair, all at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

ROUNDS = 30  # tries of a swap for each pair; clustering and correlation of degrees are the same after 300
PATIENCE = 30  # further rounds without fewer wrong pairs


class Pairs(NamedTuple):
    """Pairs of nodes, only swapped within their group."""

    first: np.ndarray
    second: np.ndarray
    group: np.ndarray

    def degrees(self, n: int, directed: bool) -> np.ndarray:
        """Pairs of each node; with direction, those in which it is second."""
        second = np.bincount(self.second, minlength=n)
        return second if directed else second + np.bincount(self.first, minlength=n)


def rewire(pairs: Pairs, allowed: Callable, rng, *, directed: bool) -> tuple[Pairs, np.ndarray]:
    """Shuffled pairs, and which of them could not be put right.

    Parameters
    ----------
    pairs : Pairs
    allowed : function of two arrays of ends
        Which pairs may be. Without direction, (a, a) must not.
    directed : bool
        Whether (a, b) and (b, a) are different pairs; ends are then swapped among the second only.
    """
    first, second, group = (part.copy() for part in pairs)
    wrong = _wrong(first, second, allowed, directed)
    fewest, done, waited = wrong.sum(), 0, 0
    while len(first) > 1 and (done < ROUNDS or (fewest and waited < PATIENCE)):
        _swap_all(first, second, _partners(group, wrong, rng), allowed, directed, rng)
        if fewest:  # swaps make no pair wrong
            wrong = _wrong(first, second, allowed, directed)
        done, waited = done + 1, 0 if wrong.sum() < fewest else waited + 1
        fewest = wrong.sum()
    return Pairs(first, second, group), wrong


def _partners(group: np.ndarray, wrong: np.ndarray, rng) -> tuple[np.ndarray, np.ndarray]:
    """Two by two, at random within groups; every other time, wrong pairs with each other first."""
    place = rng.random(len(group))
    if wrong.any() and rng.random() < 0.5:
        place[wrong] -= 1.0
    order = np.argsort(2.0 * group + place)[rng.integers(2) :]
    one, other = order[: len(order) // 2 * 2].reshape(-1, 2).T
    same = group[one] == group[other]
    return one[same], other[same]


def _swap_all(first, second, partners, allowed: Callable, directed: bool, rng) -> None:
    one, other = partners
    if not directed:  # a pair without direction is read either way
        turn = other[rng.random(len(other)) < 0.5]
        first[turn], second[turn] = second[turn], first[turn]
    fine = allowed(first[one], second[other]) & allowed(first[other], second[one])
    one, other = one[fine], other[fine]
    made = _keys(np.append(first[one], first[other]), np.append(second[other], second[one]), directed)
    new = _only_once(np.append(made, _keys(first, second, directed)))
    both = new[: len(one)] & new[len(one) : 2 * len(one)]
    one, other = one[both], other[both]
    second[one], second[other] = second[other], second[one]


def _wrong(first, second, allowed: Callable, directed: bool) -> np.ndarray:
    """Pairs that may not be, and all but one of those that are the same."""
    keys = _keys(first, second, directed)
    order = np.argsort(keys, kind="stable")
    again = np.zeros(len(keys), bool)
    again[order[1:]] = keys[order[1:]] == keys[order[:-1]]
    return again | ~allowed(first, second)


def _keys(first, second, directed: bool) -> np.ndarray:
    low, high = (first, second) if directed else (np.minimum(first, second), np.maximum(first, second))
    return low.astype(np.int64) << 32 | high


def _only_once(keys: np.ndarray) -> np.ndarray:
    order = np.argsort(keys)
    same = np.diff(keys[order]) == 0
    once = np.ones(len(keys), bool)
    once[order[1:][same]] = once[order[:-1][same]] = False
    return once
