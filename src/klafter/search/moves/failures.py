"""What was proposed in vain: a proposal is made again only when what it was made of has changed.

A merge, split or death is made of the members of its communities, a birth of the links of its seed that no community
accounts for. Without this a descent would spend most of its time on proposals that failed a step before.
"""

from hashlib import blake2b
from typing import TypeAlias

import numpy as np

from klafter.graph.dyads import Dyads

Noted: TypeAlias = tuple[np.ndarray, np.ndarray]  # a 0/1 for each link, by source and by target, changed in place


class Failures:
    """The failures of one descent."""

    def __init__(self) -> None:
        self._made: set[bytes] = set()
        self._links: tuple[np.ndarray, np.ndarray] | None = None

    def of_births(self, dyads: Dyads) -> tuple[Noted, Noted]:
        """Which links births began with in vain: of those that need not link inside, and of assortative ones."""
        if self._links is None:
            out = np.zeros((2, len(dyads.links_out.node)), np.uint8)
            self._links = out, np.zeros((2, len(dyads.links_in.node)), np.uint8) if dyads.directed else out
        out, into = self._links
        return (out[0], into[0]), (out[1], into[1])

    def has(self, move: str, *columns: np.ndarray) -> bool:
        """Whether the move failed with communities of just these members."""
        return _key(move, columns) in self._made

    def add(self, move: str, *columns: np.ndarray) -> None:
        """Remember that it failed."""
        self._made.add(_key(move, columns))


def _key(move: str, columns: tuple[np.ndarray, ...]) -> bytes:
    return blake2b(b"".join([move.encode(), *(np.packbits(column).tobytes() for column in columns)])).digest()
