"""Covers: several communities of the same nodes, as a sparse 0/1 array of nodes x communities."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np
from scipy import sparse

from klafter.models.results.cover import sizes


def as_covers(*covers, n_nodes: int | None = None) -> tuple[sparse.csr_array, ...]:
    """Covers over the same nodes, as (n, K) arrays of 0/1 without empty communities.

    A cover is an (n, K) array, dense or sparse, nonzero where a node is a member, or a list of sets of nodes.
    Sets beside an array, or with n_nodes given and integers throughout, hold rows; otherwise sets may hold any labels
    and the nodes are all those that appear.
    """
    rows = {cover.shape[0] for cover in covers if _is_array(cover)}
    if len(rows) > 1:
        raise ValueError(f"Covers need the same nodes; these arrays have {sorted(rows)} rows.")
    labels = set().union(*chain.from_iterable(cover for cover in covers if not _is_array(cover)))
    place = _places(labels, *rows) if rows else _places_or_labels(labels, n_nodes)
    size = rows.pop() if rows else max(len(place), n_nodes or 0)
    found = (sparse.csr_array(c != 0, dtype=np.int64) if _is_array(c) else _from_sets(c, place, size) for c in covers)
    return tuple(_without_empty(z) for z in found)


def _places_or_labels(labels: set, n_nodes: int | None) -> dict:
    """The row of each label: itself when the number of nodes is known and labels are numbers."""
    if n_nodes is not None and all(isinstance(label, (int, np.integer)) for label in labels):
        return _places(labels, n_nodes)
    if n_nodes is not None and len(labels) > n_nodes:
        raise ValueError(f"Communities hold {len(labels)} different nodes, more than n_nodes={n_nodes}.")
    return {label: i for i, label in enumerate(labels)}


def _places(labels: set, n: int) -> dict:
    """Labels that are rows."""
    for label in labels:
        if not isinstance(label, (int, np.integer)) or not 0 <= label < n:
            raise ValueError(f"A community holds node {label!r}; with {n} nodes, sets must hold rows 0 to {n - 1}.")
    return {label: int(label) for label in labels}


def _is_array(cover) -> bool:
    return sparse.issparse(cover) or (isinstance(cover, np.ndarray) and cover.ndim == 2)


def _from_sets(cover: Iterable, place: dict, size: int) -> sparse.csr_array:
    communities = [set(community) for community in cover]
    node = np.fromiter(map(place.__getitem__, chain.from_iterable(communities)), np.int64)
    which = np.repeat(np.arange(len(communities)), [len(community) for community in communities])
    return sparse.csr_array((np.ones(len(node), np.int64), (node, which)), shape=(size, len(communities)))


def _without_empty(z: sparse.csr_array) -> sparse.csr_array:
    z.eliminate_zeros()
    return z[:, np.flatnonzero(sizes(z))]
