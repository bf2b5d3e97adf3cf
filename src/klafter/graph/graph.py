"""Graph: what was observed of a network, and what was not."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NoReturn, SupportsIndex

import numpy as np
from scipy import sparse

from klafter.graph import checks
from klafter.graph.dyads import Dyads, as_dyads
from klafter.graph.kinds.names import check_permitted, checked_pairs, find_rule, kind_array, permitted
from klafter.graph.kinds.possible import PossiblePairs
from klafter.graph.kinds.rule import Pairs
from klafter.graph.notebook import facts_table

_PARTS = ("links", "directed", "hidden", "labels", "attributes", "covariates", "kinds", "kind_pairs", "notes")


class Graph(PossiblePairs):
    """A network whose dyads are links, hidden, or observed non-links; the last are never stored.

    Parameters
    ----------
    links : (n, n) sparse or dense array
        Link values; zero is "observed, no link". An undirected graph may give either triangle or both.
    directed : bool
        Whether (i, j) and (j, i) are different dyads.
    hidden : (n, n) sparse pattern or (m, 2) integer array, optional
        Dyads that nobody observed. Links given there are forgotten. Undirected dyads may be given once.
    labels : sequence, optional
        Names of the nodes.
    attributes : mapping of name to (n,) sequence, optional
        What is known of each node.
    covariates : mapping of name to (n, n) sparse or dense array, optional
        What is known of each dyad, zero where absent.
    kinds : (n,) sequence, optional
        The kind of each node, such as woman and event. Of two kinds only pairs across are possible: a two-mode network.
        Hidden pairs of kinds that may not be linked are forgotten, and links between them refused.
    kind_pairs : "across", "within" or list of (str, str), optional
        Which kinds may be linked, where these are other than two across: all different ones, each with itself, or
        those of a list, such as ``[("person", "paper"), ("paper", "paper")]``; of a directed graph from the first to
        the second.
    notes : sequence of str, optional
        What a reader found and decided, in sentences.

    Notes
    -----
    A graph never changes: its arrays are closed for writing, and `replace`, `hide`, `binarize` and `symmetrize`
    give new graphs. An integer array of pairs holds rows; a list of pairs holds labels, if the graph has labels.

    Examples
    --------
    >>> import numpy as np
    >>> graph = Graph(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), labels=["ann", "bob", "eve"])
    >>> graph
    Graph(3 nodes, 2 links, undirected)
    >>> graph.hide([("ann", "eve")]).n_hidden
    1
    >>> graph.index("eve")
    2
    """

    def __init__(
        self,
        links: Any,
        *,
        directed: bool = False,
        hidden: Any = None,
        labels: Iterable[Any] | None = None,
        attributes: Mapping[str, Iterable[Any]] | None = None,
        covariates: Mapping[str, object] | None = None,
        kinds: Iterable[Any] | None = None,
        kind_pairs: Any = None,
        notes: Sequence[str] = (),
    ):
        links = checks.square(links)
        n, directed = links.shape[0], bool(directed)
        hidden = checks.hidden_pattern(hidden, n, directed)
        kinds = kind_array(kinds, n)
        kind_pairs = checked_pairs(kinds, kind_pairs, directed)
        rule = find_rule(kinds, kind_pairs, directed)
        if rule is not None:
            hidden = checks.tidy(permitted(hidden, rule))
            check_permitted(links, rule, kind_pairs)
        columns = {str(k): checks.column(k, v, n) for k, v in (attributes or {}).items()}
        dyadic = {str(k): checks.covariate(k, v, n, directed) for k, v in (covariates or {}).items()}
        self.__dict__.update(
            directed=directed,
            hidden=checks.freeze(hidden),
            links=checks.freeze(checks.without(checks.clean_links(links, directed), hidden)),
            labels=None if labels is None else checks.label_array(labels, n),
            attributes=MappingProxyType(columns),
            covariates=MappingProxyType(dyadic),
            kinds=kinds,
            kind_pairs=kind_pairs,
            notes=tuple(notes),
        )

    @classmethod
    def trusted(cls, links: sparse.csr_array, hidden: sparse.csr_array, **parts: Any) -> Graph:
        """A graph of parts that are as the constructor would leave them; nothing is looked at again.

        Parameters
        ----------
        links, hidden : csr_array
            Symmetric where undirected, without a diagonal or stored zeros.
        **parts
            All others of the constructor.

        Returns
        -------
        Graph
        """
        graph = object.__new__(cls)
        graph.__dict__.update(parts, links=checks.freeze(links), hidden=checks.freeze(hidden))
        return graph

    links: sparse.csr_array
    hidden: sparse.csr_array
    directed: bool
    labels: np.ndarray | None
    attributes: Mapping[str, np.ndarray]
    covariates: Mapping[str, sparse.csr_array]
    kinds: np.ndarray | None = None
    kind_pairs: Pairs | None = None
    notes: tuple[str, ...]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"A Graph does not change; graph.replace({name}=...) gives a new one.")

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], Graph], tuple[dict[str, Any]]]:
        parts = {name: getattr(self, name) for name in _PARTS}
        return _rebuild, ({**parts, "attributes": dict(self.attributes), "covariates": dict(self.covariates)},)

    @property
    def n_nodes(self) -> int:
        """Nodes, of all kinds."""
        return int(self.links.shape[0])

    @property
    def n_links(self) -> int:
        """Links, each undirected one counted once."""
        return int(self.links.nnz) if self.directed else int(self.links.nnz) // 2

    @property
    def n_hidden(self) -> int:
        """Hidden dyads, each undirected one counted once."""
        return int(self.hidden.nnz) if self.directed else int(self.hidden.nnz) // 2

    @property
    def n_dyads(self) -> int:
        """Observed dyads, linked or not."""
        return self.n_pairs - self.n_hidden

    @cached_property
    def dyads(self) -> Dyads:
        """The arrays that kernels read."""
        return as_dyads(self.links, self.hidden, list(self.covariates.values()), self.directed, self.rule)

    @cached_property
    def _index(self) -> dict[Hashable, int]:
        return {} if self.labels is None else {label: i for i, label in enumerate(self.labels.tolist())}

    def index(self, node: Any) -> int:
        """The row of a node.

        Parameters
        ----------
        node : label, or number when the graph has no labels

        Returns
        -------
        int
        """
        node = node.item() if isinstance(node, np.generic) else node
        if self.labels is not None:
            for name in (node, str(node), _as_number(node)):
                if name in self._index:
                    return self._index[name]
            raise KeyError(f"There is no node {node!r} among {self.n_nodes} nodes.{_near(node, self._index)}")
        number = _as_number(node)
        if number is not None and 0 <= number < self.n_nodes:
            return number
        raise KeyError(f"There is no node {node!r}: this graph has no labels, so nodes are 0 to {self.n_nodes - 1}.")

    def label(self, i: SupportsIndex) -> Any:
        """The label of a row, or its number when the graph has no labels.

        Parameters
        ----------
        i : int
            The row.

        Returns
        -------
        label, or int
        """
        if self.labels is None:
            return int(i)
        label = self.labels[i]
        return label.item() if isinstance(label, np.generic) else label

    def pair_indices(self, pairs: Any) -> np.ndarray:
        """Pairs of nodes as (m, 2) rows.

        Parameters
        ----------
        pairs : (m, 2) integer array of rows, or a list or a table of pairs of labels

        Returns
        -------
        (m, 2) integer array
        """
        if isinstance(pairs, np.ndarray) and pairs.dtype.kind in "iu":
            return self._check_rows(pairs)
        if isinstance(pairs, (str, bytes)) or not hasattr(pairs, "__iter__"):
            raise ValueError(f"Pairs need two nodes each; {pairs!r} is not a list of pairs.")
        rows = []
        for pair in pairs.itertuples(index=False) if hasattr(pairs, "itertuples") else pairs:
            if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
                raise ValueError(f"Pairs need two nodes each; {pair!r} is not a pair.")
            rows.append([self.index(pair[0]), self.index(pair[1])])
        return np.array(rows, np.int64).reshape(-1, 2)

    def _check_rows(self, pairs: np.ndarray) -> np.ndarray:
        if pairs.size == 0:
            return np.zeros((0, 2), np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ValueError(f"Pairs need two nodes each, shape (m, 2); these have shape {pairs.shape}.")
        low, high = int(pairs.min()), int(pairs.max())
        if low < 0 or high >= self.n_nodes:
            raise KeyError(
                f"There is no row {low if low < 0 else high} among {self.n_nodes}. "
                "An array of integers holds rows; pass labels as a list of pairs."
            )
        return pairs.astype(np.int64)

    def hide(self, pairs: Any) -> Graph:
        """The same graph with more hidden dyads.

        Parameters
        ----------
        pairs : (m, 2) integer array of rows, list of pairs of labels, or (n, n) pattern

        Returns
        -------
        Graph
        """
        if not _is_pattern(pairs, self.n_nodes):
            pairs = self.pair_indices(pairs)
        extra = checks.hidden_pattern(pairs, self.n_nodes, self.directed)
        return self.replace(hidden=self.hidden + extra)

    def replace(self, **changes: Any) -> Graph:
        """A graph with some of its parts changed.

        Parameters
        ----------
        **changes
            Some of links, directed, hidden, labels, attributes, covariates, kinds, kind_pairs, notes.

        Returns
        -------
        Graph
        """
        parts = {name: getattr(self, name) for name in _PARTS}
        if "kinds" in changes and changes["kinds"] is None:
            parts["kind_pairs"] = None
        elif changes.get("directed") and not self.directed and self.kind_pairs is not None:
            parts["kind_pairs"] = [*self.kind_pairs, *(pair[::-1] for pair in self.kind_pairs)]
        return Graph(**{**parts, **changes})

    def binarize(self) -> Graph:
        """Every link with value 1.

        Returns
        -------
        Graph
        """
        links = self.links.copy()
        links.data[:] = 1.0
        return self.replace(links=links)

    def symmetrize(self) -> Graph:
        """The undirected graph that links two nodes when either named the other, with the larger of two values.

        A dyad is hidden when either direction was; covariates are averaged.

        Returns
        -------
        Graph
        """
        high, low = self.links.maximum(self.links.T), self.links.minimum(self.links.T)
        return self.replace(
            # a negative link without a mirror is larger only than nothing
            links=high + (low - low.multiply(high != 0)),
            directed=False,
            hidden=self.hidden + self.hidden.T,
            covariates={k: (v + v.T) / 2 for k, v in self.covariates.items()},
        )

    def __repr__(self) -> str:
        hidden = f", {self.n_hidden} hidden dyads" if self.n_hidden else ""
        nodes = re.sub(r"(?<=\d),(?=\d)", "", self.count_nodes())
        return f"Graph({nodes}, {self.n_links} links, {self.form}{hidden})"

    def _repr_html_(self) -> str:
        degree, values = np.diff(self.links.indptr), self.links.data
        alone = int((degree + (np.diff(self.links.tocsc().indptr) if self.directed else 0) == 0).sum())
        facts = {
            "nodes": f"{self.count_nodes()}{f', {alone:,} of them without a link' if alone else ''}",
            "links": f"{self.n_links:,}, {self.form}",
            "links of a node": f"{degree.mean():.1f} on average, {degree.max():,} at most" if self.n_links else "",
            "values": f"{values.min():g} to {values.max():g}" if len(values) and (values != 1).any() else "",
            "hidden dyads": f"{self.n_hidden:,}" if self.n_hidden else "",
            "attributes": ", ".join(self.attributes),
            "covariates": ", ".join(self.covariates),
            "notes": " ".join(self.notes),
        }
        return facts_table("Graph", facts)


def _rebuild(parts: dict[str, Any]) -> Graph:
    return Graph(**parts)


def _is_pattern(pairs: object, n: int) -> bool:
    if sparse.issparse(pairs):
        return True
    return isinstance(pairs, np.ndarray) and pairs.shape == (n, n) and (pairs.dtype == bool or n != 2)


def _as_number(node: object) -> int | None:
    """The integer that a label means, so that text from a command line finds numbered nodes."""
    if isinstance(node, str):
        return int(node) if node.isascii() and node.isdigit() and len(node) < 20 else None
    return int(node) if isinstance(node, int) and not isinstance(node, bool) else None


def _near(node: object, index: Iterable[Hashable]) -> str:
    from difflib import get_close_matches

    names = {str(k).lower(): str(k) for k in list(index)[:10_000]}
    close = get_close_matches(str(node).lower(), names, n=1)
    return f" Did you mean {names[close[0]]!r}?" if close else ""
