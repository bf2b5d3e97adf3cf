"""Levels of a fitted model: its cover, and the coarser ones that merging communities leads to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from klafter.core.draws import Matrix

Packed = dict[str, Any]


class Level(NamedTuple):
    """One cover on the way from the finest to a single community."""

    n_communities: int
    score: float
    merged: tuple[int, ...]  # columns of the level before that became one; none at the finest
    memberships: sparse.csr_array  # (n, n_communities)
    shown: bool  # whether ``memberships_`` is this level


def pack(covers: Sequence[Matrix], scores: Sequence[float], merged: Sequence[tuple[int, ...]], shown: int) -> Packed:
    """Levels as arrays: memberships of all side by side, how many communities each has, scores, what merged."""
    return {
        "memberships": sparse.csr_array(sparse.hstack([sparse.csr_array(cover, dtype=np.int8) for cover in covers])),
        "n_communities": np.array([cover.shape[1] for cover in covers]),
        "score": np.array(scores),
        "merged": np.array([pair or (-1, -1) for pair in merged]),
        "shown": shown,
    }


def unpack(arrays: Packed) -> list[Level]:
    """The levels that a fit keeps side by side, finest first."""
    ends = np.cumsum(arrays["n_communities"])
    covers = sparse.csc_array(arrays["memberships"])
    return [
        Level(
            int(size),
            float(arrays["score"][t]),
            tuple(int(k) for k in arrays["merged"][t] if k >= 0),
            sparse.csr_array(covers[:, ends[t] - size : ends[t]]),
            t == arrays["shown"],
        )
        for t, size in enumerate(arrays["n_communities"])
    ]


def find_level(levels: list[Level], n_communities: int) -> int:
    """Which of the levels has so many communities."""
    for t, level in enumerate(levels):
        if level.n_communities == n_communities:
            return t
    known = ", ".join(str(level.n_communities) for level in levels)
    raise ValueError(f"There is no level of {n_communities!r} communities; this model has levels of {known}.")


def at_level(levels: list[Level], n_communities: int) -> sparse.csr_array:
    """The memberships of the level with so many communities."""
    return levels[find_level(levels, n_communities)].memberships
