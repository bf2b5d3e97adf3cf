"""Measures of overlapping communities: how alike are two covers of the same nodes.

A cover is a list of sets of nodes, or an (n, K) array, dense or sparse, nonzero where a node is a member. Nodes that
no community holds count for ONMI, omega and coverage: give ``n_nodes`` when covers are lists of sets. Overlaps of
communities are counted once, in a sparse K x K array, so thousands of communities in millions of nodes take seconds.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy import sparse

from klafter.evaluation.agreement import omega_of, onmi_of, pair_cost
from klafter.evaluation.covers import as_covers
from klafter.models.results.cover import f1_table

OMEGA_LIMIT = 100_000_000  # pairs of nodes inside communities beyond which omega is not part of the summary


def community_measures(truth, found, n_nodes: int | None = None) -> dict[str, float]:
    """All measures of this module, for a table.

    Parameters
    ----------
    truth, found : covers
    n_nodes : int, optional
        Number of nodes, when both covers are lists of sets and some nodes are in none.

    Returns
    -------
    dict
        ``n_communities``, ``n_true``, ``coverage``, ``average_f1``, ``matched_f1``, ``onmi``, and ``omega`` unless
        communities are so large that it would take long (``omega_index`` still computes it).

    Examples
    --------
    >>> measures = community_measures([{0, 1, 2}, {2, 3, 4}], [{0, 1, 2}, {3, 4}])
    >>> round(measures["average_f1"], 3), measures["n_communities"]
    (0.9, 2)
    """
    x, y = as_covers(truth, found, n_nodes=n_nodes)
    measures = {
        "n_communities": y.shape[1],
        "n_true": x.shape[1],
        "coverage": coverage(y),
        "average_f1": _average_f1(f1_table(x, y)),
        "matched_f1": _matched_f1(f1_table(x, y)),
        "onmi": onmi_of(x, y),
    }
    if pair_cost(x) + pair_cost(y) <= OMEGA_LIMIT:
        measures["omega"] = omega_of(x, y)
    return measures


def average_f1(truth, found) -> float:
    """Average F1 (Yang and Leskovec 2013): each community with its best match, averaged both ways.

    Parameters
    ----------
    truth, found : lists of sets, or (n, K) arrays of 0/1
        Two covers of the same nodes.

    Returns
    -------
    float

    Examples
    --------
    >>> average_f1([{1, 2, 3}, {3, 4, 5}], [{1, 2, 3}])
    0.8333333333333333
    """
    return _average_f1(f1_table(*as_covers(truth, found)))


def matched_f1(truth, found) -> float:
    """Mean F1 under the best one-to-one matching; communities left over count 0.

    Parameters
    ----------
    truth, found : lists of sets, or (n, K) arrays of 0/1
        Two covers of the same nodes.

    Returns
    -------
    float

    Examples
    --------
    >>> matched_f1([{1, 2, 3}, {3, 4, 5}], [{1, 2, 3}])
    0.5
    """
    return _matched_f1(f1_table(*as_covers(truth, found)))


def onmi(truth, found, n_nodes: int | None = None) -> float:
    """Overlapping normalised mutual information, normalised by the larger entropy (McDaid, Greene, Hurley 2011).

    Parameters
    ----------
    truth, found : lists of sets, or (n, K) arrays of 0/1
        Two covers of the same nodes.
    n_nodes : int, optional
        How many nodes there are; default: those of the covers.

    Returns
    -------
    float

    Examples
    --------
    >>> onmi([{0, 1}, {2, 3}], [{2, 3}, {0, 1}])
    1.0
    """
    return onmi_of(*as_covers(truth, found, n_nodes=n_nodes))


def omega_index(truth, found, n_nodes: int | None = None) -> float:
    """Omega index (Collins and Dent 1988): do pairs of nodes share as many communities in both, beyond chance.

    Takes time with the number of pairs of nodes inside communities.

    Parameters
    ----------
    truth, found : lists of sets, or (n, K) arrays of 0/1
        Two covers of the same nodes.
    n_nodes : int, optional
        How many nodes there are; default: those of the covers.

    Returns
    -------
    float

    Examples
    --------
    >>> omega_index([{0, 1}, {2, 3}], [{2, 3}, {0, 1}])
    1.0
    """
    return omega_of(*as_covers(truth, found, n_nodes=n_nodes))


def coverage(cover, n_nodes: int | None = None) -> float:
    """Share of nodes that are in at least one community.

    Parameters
    ----------
    cover : list of sets, or (n, K) array of 0/1
    n_nodes : int, optional
        How many nodes there are; default: those of the covers.

    Returns
    -------
    float

    Examples
    --------
    >>> coverage([{0, 1}, {1, 2}], n_nodes=4)
    0.75
    """
    (z,) = as_covers(cover, n_nodes=n_nodes)
    return float((np.diff(z.indptr) > 0).mean()) if z.shape[0] else 0.0


def stability(covers) -> float:
    """Mean average F1 between all pairs of covers, such as those of several restarts: 1 when all agree.

    Parameters
    ----------
    covers : list of covers
        Each a list of sets, or an (n, K) array of 0/1.

    Returns
    -------
    float

    Examples
    --------
    >>> stability([[{1, 2}], [{1, 2}], [{1, 2, 3, 4}]])
    0.7777777777777777
    """
    if len(covers) < 2:
        raise ValueError(f"stability compares covers with each other: it needs two or more; there are {len(covers)}.")
    arrays = as_covers(*covers)
    return float(np.mean([_average_f1(f1_table(x, y)) for x, y in combinations(arrays, 2)]))


def _average_f1(f1: sparse.csr_array) -> float:
    if 0 in f1.shape:
        return float(f1.shape == (0, 0))
    return float(np.mean([f1.max(axis=axis).toarray().mean() for axis in (0, 1)]))


def _matched_f1(f1: sparse.csr_array) -> float:
    """A row may also take a place of its own of value 0, so that a full matching of rows exists."""
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    if 0 in f1.shape:
        return float(f1.shape == (0, 0))
    shifted = f1.copy()
    shifted.data += 1  # a weight of 0 would count as no edge
    choices = sparse.hstack([shifted, sparse.eye_array(f1.shape[0])], format="csr")
    row, column = min_weight_full_bipartite_matching(choices, maximize=True)
    return float((choices[row, column] - 1).sum() / max(f1.shape))
