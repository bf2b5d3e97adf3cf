"""Which pairs of a graph could be linked: all of them, or those of kinds of nodes that may be linked."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

import numpy as np

from klafter.graph.kinds.names import NAMES, biadjacency, find_rule, names_of, names_of_sides
from klafter.graph.kinds.rule import Pairs, Rule, in_words


class PossiblePairs:
    """What follows from the kinds of a graph's nodes; whoever counts, draws or lists dyads asks here."""

    if TYPE_CHECKING:
        directed: bool
        kinds: np.ndarray | None
        kind_pairs: Pairs | None

        def __init__(self, links: Any, **parts: Any): ...

        @property
        def n_nodes(self) -> int: ...

        def label(self, i: SupportsIndex) -> Any: ...

    @property
    def n_pairs(self) -> int:
        """Possible dyads: all ordered or unordered pairs, or those of kinds that may be linked."""
        n = self.n_nodes
        if self.rule is not None:
            ordered, unordered = self.rule.n_pairs(self.rule.table)
            return ordered if self.directed else unordered
        return n * (n - 1) if self.directed else n * (n - 1) // 2

    @property
    def n_units(self) -> int:
        """Possible pairs of nodes, in whichever direction; see ``units``."""
        n = self.n_nodes
        return n * (n - 1) // 2 if self.rule is None else self.rule.n_pairs(self.rule.either)[1]

    @property
    def n_partners(self) -> np.ndarray:
        """To how many nodes each node could have a link."""
        return np.full(self.n_nodes, self.n_nodes - 1) if self.rule is None else self.rule.partners()

    @cached_property
    def kind_names(self) -> tuple[str, ...]:
        """The kinds of nodes, or nothing."""
        return () if self.kinds is None else names_of(self.kinds)

    @cached_property
    def rule(self) -> Rule | None:
        """Which kinds may be linked, as kernels read it; None where every pair is possible."""
        return find_rule(self.kinds, self.kind_pairs, self.directed)

    @cached_property
    def second_kind(self) -> np.ndarray | None:
        """Which nodes are of the second kind, of a two-mode network; else None."""
        return None if self.kinds is None or self.kind_pairs is not None else np.asarray(self.kinds != self.kinds[:1])

    def is_possible(self, pairs: np.ndarray) -> np.ndarray:
        """Whether each pair of rows could be a link: two nodes, of kinds that may be linked.

        Parameters
        ----------
        pairs : (m, 2) integer array of rows

        Returns
        -------
        (m,) array of bool
        """
        apart = np.asarray(pairs[:, 0] != pairs[:, 1])
        return apart if self.rule is None else apart & self.rule.allows(pairs[:, 0], pairs[:, 1])

    def check_possible(self, pairs: np.ndarray) -> np.ndarray:
        """The same pairs of rows; refused if one is a node and itself, or of kinds that cannot be linked.

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
            if self.kind_pairs is None:
                raise ValueError(
                    f"Only pairs across kinds can be linked; {self.label(i)!r} and {self.label(j)!r} are both "
                    f"{str(self.kinds[i])!r}. Ask about {' and '.join(self.kind_names)}."
                )
            raise ValueError(
                f"{self.label(i)!r}, of kind {str(self.kinds[i])!r}, can have no link to {self.label(j)!r}, of kind "
                f"{str(self.kinds[j])!r}. Ask about {in_words(self.kind_pairs, directed=self.directed)}."
            )
        return pairs

    @property
    def form(self) -> str:
        """What its links are: directed, undirected or two-mode."""
        return "two-mode" if self.second_kind is not None else "directed" if self.directed else "undirected"

    def count_nodes(self) -> str:
        """The number of nodes, of each kind if there are several, in words.

        Returns
        -------
        str
        """
        if self.kinds is None or not self.n_nodes:
            return f"{self.n_nodes:,} nodes"
        counted = [f"{int((self.kinds == name).sum()):,} {name}" for name in self.kind_names]
        return f"{' and '.join([', '.join(counted[:-1]), *counted[-1:]] if len(counted) > 1 else counted)} nodes"

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
