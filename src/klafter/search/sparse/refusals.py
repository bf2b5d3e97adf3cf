"""What exchanges lost when they were last tried: those far from a gain are left alone until their communities changed.

Hardly any merge or reassignment of a step gains, and from one step to the next hardly any becomes one that does. One
that lost g nats is not tried again while

    g > c (d + 1),   d the memberships by which its communities differ from what they were, c nats for each

Communities have no names that last, so each is recognised by its members: it is the one of the last time with which it
has most in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from klafter.search.config import SEARCH

Group = tuple[int, ...]


class Refusals:
    """The losses of groups of communities, and the memberships at which these numbers of communities hold."""

    def __init__(self, members: sparse.csr_array | None = None, losses: dict[Group, float] | None = None) -> None:
        self._members, self._losses = members, losses or {}

    def promising(self, z: sparse.csr_array, groups: Sequence[Group]) -> list[Group]:
        """The groups of communities ``z`` that may gain; from now on these numbers hold."""
        was, moved = self._recognised(z)
        known, self._losses, self._members = self._losses, {}, z
        some = []
        for group in groups:
            loss = known.get(tuple([was[k] for k in group]), 0.0) if known else 0.0
            if loss > 0.0:
                loss -= SEARCH.sparse.refusal_nats * (1 + sum([moved[k] for k in group]))
            if loss > 0.0:
                self._losses[group] = loss
            else:
                some.append(group)
        return some

    def note(self, group: Group, gain: float) -> None:
        """What the exchange of a group gains now."""
        self._losses[group] = -gain

    def _recognised(self, z: sparse.csr_array) -> tuple[list[int], list[int]]:
        """Which community each one was, and by how many memberships it differs from that."""
        n = z.shape[1]
        if self._members is None or not self._losses:
            return [-1] * n, [0] * n
        before, size = (
            np.bincount(self._members.indices, minlength=self._members.shape[1]),
            np.bincount(z.indices, minlength=n),
        )
        common = sparse.coo_array(z.T @ self._members)
        order = np.lexsort((-common.col, common.data, common.row))  # the last of each row has most in common
        rows = common.row[order]
        last = order[np.append(rows[1:] != rows[:-1], True)] if len(rows) else order
        was, moved = np.full(n, -1), size.copy()
        was[common.row[last]] = common.col[last]
        moved[common.row[last]] += (before[common.col[last]] - 2 * common.data[last]).astype(int)
        return was.tolist(), moved.tolist()

    def packed(self) -> list[Any]:
        """The same as arrays."""
        width = max(map(len, self._losses), default=1)
        groups = np.array([(*group, *[-1] * (width - len(group))) for group in self._losses], np.int64)
        members = [] if self._members is None else [self._members]
        return [members, groups.reshape(-1, width), np.array(list(self._losses.values()))]


def unpacked(packed: Sequence[Any]) -> Refusals:
    """What ``Refusals.packed`` gave."""
    members, groups, losses = packed
    names = [tuple([k for k in group if k >= 0]) for group in groups.tolist()]
    return Refusals(members[0] if members else None, dict(zip(names, losses.tolist(), strict=True)))
