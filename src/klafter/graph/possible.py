"""Which pairs of a graph could be linked: all of them, or those across two kinds of nodes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

import numpy as np

from klafter.graph.kinds import NAMES, biadjacency, names_of, names_of_sides


class PossiblePairs:
    """What follows from the kinds of a graph's nodes; whoever counts, draws or lists dyads asks here."""

    if TYPE_CHECKING:
        directed: bool
        kinds: np.ndarray | None

        def __init__(self, links: Any, **parts: Any): ...

        @property
        def n_nodes(self) -> int: ...

        def label(self, i: SupportsIndex) -> Any: ...

    @property
    def n_pairs(self) -> int:
        """Possible dyads: all ordered or unordered pairs, or those across kinds."""
        n = self.n_nodes
        if self.second_kind is not None:
            n_second = int(self.second_kind.sum())
            return n_second * (n - n_second)
        return n * (n - 1) if self.directed else n * (n - 1) // 2

    @property
    def n_partners(self) -> np.ndarray:
        """With how many nodes each node could be linked."""
        if self.second_kind is None:
            return np.full(self.n_nodes, self.n_nodes - 1)
        return np.asarray(np.where(self.second_kind, (~self.second_kind).sum(), self.second_kind.sum()))

    @cached_property
    def kind_names(self) -> tuple[str, ...]:
        """The two kinds of nodes, or nothing."""
        return () if self.kinds is None else names_of(self.kinds)

    @cached_property
    def second_kind(self) -> np.ndarray | None:
        """Which nodes are of the second kind; None where there is one kind."""
        return None if self.kinds is None else np.asarray(self.kinds != self.kinds[:1])

    def is_possible(self, pairs: np.ndarray) -> np.ndarray:
        """Whether each pair of rows could be a link: two nodes, of two kinds in a two-mode graph.

        Parameters
        ----------
        pairs : (m, 2) integer array of rows

        Returns
        -------
        (m,) array of bool
        """
        side = np.arange(self.n_nodes) if self.second_kind is None else self.second_kind
        return np.asarray(side[pairs[:, 0]] != side[pairs[:, 1]])

    def check_possible(self, pairs: np.ndarray) -> np.ndarray:
        """The same pairs of rows; refused if one is a node and itself, or of a two-mode graph lies within a kind.

        Parameters
        ----------
        pairs : (m, 2) integer array of rows

        Returns
        -------
        (m, 2) integer array
        """
        possible = self.is_possible(pairs)
        if not possible.all():
            i, j = pairs[int(np.argmin(possible))]
            if self.kinds is None or i == j:
                raise ValueError(f"A node has no link with itself; {self.label(i)!r} is there twice. Name two nodes.")
            raise ValueError(
                f"Only pairs across kinds can be linked; {self.label(i)!r} and {self.label(j)!r} are both "
                f"{str(self.kinds[i])!r}. Ask about {' and '.join(self.kind_names)}."
            )
        return pairs

    @property
    def form(self) -> str:
        """What its links are: directed, undirected or two-mode."""
        return "two-mode" if self.kinds is not None else "directed" if self.directed else "undirected"

    def count_nodes(self) -> str:
        """The number of nodes, of each kind if there are two, in words.

        Returns
        -------
        str
        """
        if self.second_kind is None or not self.n_nodes:
            return f"{self.n_nodes:,} nodes"
        n_second, (first, second) = int(self.second_kind.sum()), self.kind_names
        return f"{self.n_nodes - n_second:,} {first} and {n_second:,} {second} nodes"

    @classmethod
    def from_biadjacency(
        cls, matrix: Any, *, rows: Iterable[Any] | None = None, columns: Iterable[Any] | None = None,
        kinds: tuple[str, str] = NAMES, **parts: Any,
    ) -> Self:  # fmt: skip
        """The two-mode graph of a matrix whose rows and columns are two kinds of nodes.

        Parameters
        ----------
        matrix : (n_1, n_2) sparse or dense array, or pandas table
            Link values; zero is "observed, no link".
        rows, columns : sequences, optional
            Names of the nodes; all of them differ. Default: those of a table.
        kinds : pair of str
            What rows and columns are.
        **parts
            Others of the constructor; nodes are numbered rows first.

        Returns
        -------
        Graph

        Examples
        --------
        >>> from klafter import Graph
        >>> Graph.from_biadjacency(np.array([[1, 0, 1], [0, 1, 1]]), kinds=("woman", "event"))
        Graph(2 woman and 3 event nodes, 4 links, two-mode)
        """
        if rows is None and columns is None:
            rows, columns = names_of_sides(matrix)
        links, second = biadjacency(matrix)
        labels = None if rows is None or columns is None else [*rows, *columns]
        return cls(links, labels=labels, kinds=np.where(second, kinds[1], kinds[0]), **parts)
