"""From lists of ends to a graph: repeated links, self-links and direction are decided here, and told in notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from klafter.graph import checks
from klafter.graph.graph import Graph

_RECIPROCAL = 10  # a directed list has at least one pair in this many in both orders


class Edges(NamedTuple):
    """Links by the rows of their ends; `weight` is None where every link counts 1."""

    source: np.ndarray  # int64
    target: np.ndarray
    weight: np.ndarray | None


def assemble(
    edges: Edges,
    n: int,
    *,
    directed: bool | None = None,
    labels: Iterable[Any] | None = None,
    attributes: Mapping[str, Iterable[Any]] | None = None,
    notes: Iterable[str] = (),
) -> Graph:
    """The graph of a list of links. Repeated links are summed if they have weights, otherwise counted once.

    Without word on direction, a list is undirected if every pair stands in both orders with the same value, or fewer
    than one in ten does: a few friendships written twice make nobody's friendship one-sided. A mixture means directed.

    Examples
    --------
    >>> graph = assemble(Edges(np.array([0, 1, 1]), np.array([1, 2, 2]), None), 3)
    >>> graph, graph.notes[-1]
    (Graph(3 nodes, 2 links, undirected), '1 repeated link dropped.')
    """
    apart = edges.source != edges.target
    links = _collect(edges, apart, n)
    repeated = int(apart.sum()) - links.nnz
    zeros = int((links.data == 0).sum())
    links.eliminate_zeros()
    either = sparse.csr_array(links + links.T.tocsr()) if not directed and links.dtype == bool else None
    mirrored = 0 if directed else _mirrored(links) if either is None else 2 * links.nnz - either.nnz
    symmetric = 0 < mirrored == links.nnz and (either is not None or checks.is_symmetric(links))
    pairs = links.nnz - mirrored // 2
    reason = "as stated" if directed is not None else _reason(mirrored // 2, pairs, symmetric)
    if directed is None:
        directed = not symmetric and _RECIPROCAL * (mirrored // 2) >= pairs > 0
    if not directed and not symmetric:
        links = _folded(links) if either is None else either
        repeated += mirrored // 2
    doubled = not directed and (symmetric or either is not None)
    count = links.nnz // 2 if doubled else links.nnz
    found = [
        f"{n:,} {plural('node', n)} and {count:,} {plural('link', count)}, "
        f"{'directed' if directed else 'undirected'} ({reason}).",
        _weights_note(edges.weight, links),
        _repeats_note(repeated, edges.weight is not None),
        f"{len(apart) - apart.sum():,} {plural('self-link', len(apart) - apart.sum())} dropped." * (not apart.all()),
        f"{zeros:,} {plural('link', zeros)} of value 0 read as no link." * bool(zeros),
    ]
    notes = (*notes, *filter(None, found))
    if not np.isfinite(links.data).all():
        return Graph(links, directed=directed, labels=labels, attributes=attributes, notes=notes)  # says what is wrong
    if not directed and not doubled:
        links = sparse.csr_array(links + links.T.tocsr())
    return _trusted(links, directed=bool(directed), labels=labels, attributes=attributes or {}, notes=notes)


def _trusted(
    links: sparse.csr_array,
    *,
    directed: bool,
    labels: Iterable[Any] | None,
    attributes: Mapping[str, Iterable[Any]],
    notes: tuple[str, ...],
) -> Graph:
    """The graph of links that are known to be right: finite, and in both orders where they have no direction."""
    n = links.shape[0]
    links.sort_indices()
    if links.dtype == bool:
        links = sparse.csr_array((np.ones(links.nnz), links.indices, links.indptr), shape=links.shape)
    return Graph.trusted(
        links,
        sparse.csr_array((n, n), dtype=bool),
        directed=directed,
        labels=None if labels is None else checks.label_array(labels, n),
        attributes=MappingProxyType({str(k): checks.column(k, v, n) for k, v in attributes.items()}),
        covariates=MappingProxyType({}),
        notes=notes,
    )


def _collect(edges: Edges, keep: np.ndarray, n: int) -> sparse.csr_array:
    ends = (edges.source, edges.target) if keep.all() else (edges.source[keep], edges.target[keep])
    weight = np.ones(len(ends[0]), bool) if edges.weight is None else edges.weight[keep]
    links = sparse.coo_array((weight, ends), shape=(n, n)).tocsr()
    links.sum_duplicates()
    return links


def _mirrored(links: sparse.csr_array) -> int:
    """How many entries have a mirror."""
    ones = sparse.csr_array((np.ones(links.nnz, bool), links.indices, links.indptr), shape=links.shape)
    return int(ones.multiply(ones.T.tocsr()).nnz)


def _folded(links: sparse.csr_array) -> sparse.csr_array:
    """Both orders of each pair as one entry above the diagonal."""
    upper, lower = sparse.triu(links, 1, format="csr"), sparse.tril(links, -1, format="csr")
    return sparse.csr_array(upper + lower.T.tocsr())


def _reason(both: int, pairs: int, symmetric: bool) -> str:
    """Why a list is directed or not: `both` of its pairs stand in both orders."""
    if not both:
        return "no pair stands in both orders; pass directed=True if order matters"
    if symmetric:
        return "every pair stands in both orders"
    count = f"{both:,} of {pairs:,} pairs {'stands' if both == 1 else 'stand'} in both orders"
    if _RECIPROCAL * both < pairs:
        return f"only {count}, fewer than one in {_RECIPROCAL}; pass directed=True if order matters"
    return f"{count}, others in one; pass directed=False if order does not matter"


def _weights_note(weight: np.ndarray | None, links: sparse.csr_array) -> str:
    if weight is None or not links.nnz:
        return ""
    low, high = links.data.min(), links.data.max()
    return f"Links have weights from {low:g} to {high:g}." if low < high else f"Every link has weight {low:g}."


def _repeats_note(repeated: int, weighted: bool) -> str:
    what = "added to the weight of the first" if weighted else "dropped"
    return f"{repeated:,} repeated {plural('link', repeated)} {what}." if repeated > 0 else ""


def plural(noun: str, count: int) -> str:
    """A noun for a number of things."""
    return noun if count == 1 else noun + "s"
