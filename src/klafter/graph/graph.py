"""Graph: what was observed of a network, and what was not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from scipy import sparse

from klafter.graph.dyads import Dyads, as_dyads


class Graph:
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

    Examples
    --------
    >>> import numpy as np
    >>> graph = Graph(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), labels=["ann", "bob", "eve"])
    >>> graph
    Graph(3 nodes, 2 links, undirected)
    >>> graph.hide([(0, 2)]).n_hidden
    1
    """

    def __init__(
        self,
        links,
        *,
        directed: bool = False,
        hidden=None,
        labels: Sequence | None = None,
        attributes: Mapping[str, Sequence] | None = None,
        covariates: Mapping[str, object] | None = None,
    ):
        links = _square(links)
        n = links.shape[0]
        self.directed = bool(directed)
        self.hidden = _hidden_pattern(hidden, n, self.directed)
        self.links = _without(_clean_links(links, self.directed), self.hidden)
        self.labels = None if labels is None else _check_labels(labels, n)
        self.attributes = {str(k): _check_column(k, v, n) for k, v in (attributes or {}).items()}
        self.covariates = {str(k): _check_covariate(k, v, n, self.directed) for k, v in (covariates or {}).items()}

    @property
    def n_nodes(self) -> int:
        return self.links.shape[0]

    @property
    def n_links(self) -> int:
        """Links, each undirected one counted once."""
        return self.links.nnz if self.directed else self.links.nnz // 2

    @property
    def n_hidden(self) -> int:
        return self.hidden.nnz if self.directed else self.hidden.nnz // 2

    @property
    def n_dyads(self) -> int:
        """Observed dyads, linked or not."""
        pairs = self.n_nodes * (self.n_nodes - 1)
        return (pairs if self.directed else pairs // 2) - self.n_hidden

    @cached_property
    def dyads(self) -> Dyads:
        """The arrays that kernels read."""
        return as_dyads(self.links, self.hidden, list(self.covariates.values()), self.directed)

    @cached_property
    def _index(self) -> dict:
        return {} if self.labels is None else {label: i for i, label in enumerate(self.labels.tolist())}

    def index(self, node) -> int:
        """The row of a node, given by label, or by number when the graph has no labels."""
        if self.labels is not None:
            if node in self._index:
                return self._index[node]
            if str(node) in self._index:
                return self._index[str(node)]
            raise KeyError(f"There is no node {node!r} in this graph of {self.n_nodes} nodes.{_near(node, self._index)}")
        if isinstance(node, (int, np.integer)) and 0 <= node < self.n_nodes:
            return int(node)
        raise KeyError(f"There is no node {node!r}: this graph has no labels, so nodes are 0 to {self.n_nodes - 1}.")

    def label(self, i: int):
        """The label of row i, or its number when the graph has no labels."""
        return int(i) if self.labels is None else self.labels[i].item() if hasattr(self.labels[i], "item") else self.labels[i]

    def pair_indices(self, pairs) -> np.ndarray:
        """Pairs of labels (or numbers, without labels) as an (m, 2) array of rows."""
        if self.labels is None:
            array = np.asarray(pairs)
            if array.size and (array.ndim != 2 or array.shape[1] != 2):
                raise ValueError(f"Pairs need two nodes each, shape (m, 2); these have shape {array.shape}.")
            if array.size and array.dtype.kind in "iu" and array.min() >= 0 and array.max() < self.n_nodes:
                return array.astype(np.int64)
        rows = []
        for pair in pairs:
            if isinstance(pair, str) or len(pair) != 2:
                raise ValueError(f"Pairs need two nodes each; {pair!r} is not a pair.")
            rows.append([self.index(_plain(pair[0])), self.index(_plain(pair[1]))])
        return np.array(rows, np.int64).reshape(-1, 2)

    def hide(self, pairs) -> Graph:
        """The same graph with more hidden dyads: an (m, 2) array of rows, or a sparse pattern."""
        extra = _hidden_pattern(pairs, self.n_nodes, self.directed)
        return self.replace(hidden=((self.hidden + extra) != 0))

    def replace(self, **changes) -> Graph:
        """A graph with some of links, directed, hidden, labels, attributes, covariates changed."""
        parts = {name: getattr(self, name) for name in ("links", "directed", "hidden", "labels", "attributes", "covariates")}
        return Graph(**{**parts, **changes})

    def binarize(self) -> Graph:
        """Every link with value 1."""
        links = self.links.copy()
        links.data[:] = 1.0
        return self.replace(links=links)

    def symmetrize(self) -> Graph:
        """The undirected graph that links two nodes when either named the other; hidden when either dyad was."""
        return self.replace(
            links=self.links.maximum(self.links.T),
            directed=False,
            hidden=(self.hidden + self.hidden.T) != 0,
            covariates={k: (v + v.T) / 2 for k, v in self.covariates.items()},
        )

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        hidden = f", {self.n_hidden} hidden dyads" if self.n_hidden else ""
        return f"Graph({self.n_nodes} nodes, {self.n_links} links, {kind}{hidden})"


def _plain(node):
    return node.item() if isinstance(node, np.generic) else node


def _near(node, index) -> str:
    from difflib import get_close_matches

    close = get_close_matches(str(node), [str(k) for k in list(index)[:10_000]], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _square(matrix) -> sparse.csr_array:
    if not sparse.issparse(matrix):
        matrix = np.asarray(matrix, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"A graph needs a square array of links; this one has shape {matrix.shape}.")
    return sparse.csr_array(matrix, dtype=float)


def _clean_links(links: sparse.csr_array, directed: bool) -> sparse.csr_array:
    """No diagonal, no stored zeros; both directions when undirected."""
    if not np.isfinite(links.data).all():
        raise ValueError("Links need finite values; this graph has NaN or infinity. Pass unobserved dyads as hidden=.")
    links = _off_diagonal(links)
    if not directed:
        links = _symmetric(links)
    links.sum_duplicates()
    links.eliminate_zeros()
    links.sort_indices()
    return links


def _symmetric(links: sparse.csr_array) -> sparse.csr_array:
    """Either triangle, or both when they agree."""
    upper, lower = sparse.triu(links, 1, format="csr"), sparse.tril(links, -1, format="csr").T.tocsr()
    both = upper.multiply(lower != 0).tocsr() - lower.multiply(upper != 0).tocsr()
    if both.nnz and np.abs(both.data).max() > 0:
        i, j = (both != 0).nonzero()
        raise ValueError(
            f"An undirected graph needs the same value both ways; ({i[0]}, {j[0]}) and ({j[0]}, {i[0]}) differ. "
            "Use directed=True, or make the links symmetric."
        )
    one = sparse.csr_array(upper + lower - lower.multiply(upper != 0))
    return sparse.csr_array(one + one.T)


def _off_diagonal(matrix) -> sparse.csr_array:
    coo = sparse.coo_array(matrix)
    keep = coo.row != coo.col
    return sparse.csr_array((coo.data[keep], (coo.row[keep], coo.col[keep])), shape=coo.shape)


def _hidden_pattern(hidden, n: int, directed: bool) -> sparse.csr_array:
    """Hidden dyads as a boolean pattern without diagonal, symmetric when undirected."""
    if hidden is None:
        return sparse.csr_array((n, n), dtype=bool)
    if not sparse.issparse(hidden):
        pairs = np.asarray(hidden)
        if pairs.ndim == 2 and pairs.shape == (n, n) and (pairs.dtype == bool or n != 2):
            hidden = sparse.csr_array(pairs != 0)
        else:
            hidden = _pairs_pattern(pairs, n)
    pattern = _off_diagonal(hidden).astype(bool)
    if not directed:
        pattern = sparse.csr_array((pattern + pattern.T) != 0)
    pattern.sum_duplicates()
    pattern.eliminate_zeros()
    pattern.sort_indices()
    return pattern


def _pairs_pattern(pairs: np.ndarray, n: int) -> sparse.csr_array:
    if pairs.size == 0:
        return sparse.csr_array((n, n), dtype=bool)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"hidden needs pairs of shape (m, 2) or an {n} x {n} pattern; this has shape {pairs.shape}.")
    pairs = pairs.astype(np.int64)
    if pairs.min() < 0 or pairs.max() >= n:
        raise ValueError(f"hidden names node {pairs.max() if pairs.max() >= n else pairs.min()}; nodes are 0 to {n - 1}.")
    return sparse.csr_array((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), shape=(n, n))


def _without(links: sparse.csr_array, hidden: sparse.csr_array) -> sparse.csr_array:
    """The links that are not hidden: a hidden dyad's value is unknown."""
    if not hidden.nnz or not links.nnz:
        return links
    links = sparse.csr_array(links - links.multiply(hidden))
    links.eliminate_zeros()
    links.sort_indices()
    return links


def _check_labels(labels, n: int) -> np.ndarray:
    array = np.asarray(labels)
    if array.shape != (n,):
        raise ValueError(f"labels needs one name for each of {n} nodes; this has shape {array.shape}.")
    if len(set(array.tolist())) != n:
        seen: set = set()
        twice = next(x for x in array.tolist() if x in seen or seen.add(x))
        raise ValueError(f"Node labels must differ; {twice!r} stands twice. Make the names unique.")
    return array


def _check_column(name, values, n: int) -> np.ndarray:
    array = np.asarray(values)
    if array.shape != (n,):
        raise ValueError(f"Attribute {name!r} needs one value for each of {n} nodes; this has shape {array.shape}.")
    return array


def _check_covariate(name, matrix, n: int, directed: bool) -> sparse.csr_array:
    csr = _square(matrix)
    if csr.shape[0] != n:
        raise ValueError(f"Covariate {name!r} needs shape ({n}, {n}); this has shape {csr.shape}.")
    if not np.isfinite(csr.data).all():
        raise ValueError(f"Covariate {name!r} has NaN or infinity; covariates need finite values.")
    csr = _off_diagonal(csr)
    if not directed and csr.nnz and abs(csr - csr.T).max() > 0:
        raise ValueError(f"Covariate {name!r} differs between (i, j) and (j, i), but the graph is undirected.")
    csr.eliminate_zeros()
    csr.sort_indices()
    return csr
