"""Planted overlapping communities of any size, drawn link by link.

    m_ij ~ Poisson(t_i t_j (e + sum over shared communities of l_k)),  y_ij = 1(m_ij > 0)

A community with weight T_k = sum_i t_i z_ik makes Poisson(l_k T_k^2 / 2) exposures whose two ends are drawn
independently in proportion to t; those that hit the same node twice fall away. This is the model exactly, at a cost
of the number of links.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from klafter.core.draws import ExposureDraw
from klafter.datasets.drawing import draw_memberships
from klafter.datasets.truth import Truth
from klafter.graph import Graph
from klafter.models.checks import check_memory

BYTES = 100.0  # of a node without links
AT_ONCE = 4_000_000  # exposures


def make_overlapping(
    n: int = 10_000,
    *,
    mean_degree: float = 20.0,
    community_size: int = 200,
    memberships: tuple[int, int] = (1, 3),
    noise: float = 0.05,
    degree_exponent: float | None = None,
    random_state=None,
) -> tuple[Graph, Truth]:
    """A graph with planted overlapping communities, up to millions of nodes.

    Parameters
    ----------
    n : int
        Nodes.
    mean_degree : float
        Expected exposures of a node; hardly more than its links when communities are large.
    community_size : int
        Nodes for each community: there are n / community_size of them. Overlap makes them larger,
        by the mean number of memberships.
    memberships : pair of int
        Least and most communities of a node, uniform between them.
    noise : float
        Share of links that come from the background.
    degree_exponent : float, optional
        Degree factors t follow a power law with this exponent (above 2); all 1 by default.
    random_state : int, Generator or None

    Returns
    -------
    graph : Graph
    truth : Truth
        ``parameters`` has the affinities l on a diagonal, the background e and the degree factors t.

    Examples
    --------
    >>> graph, truth = make_overlapping(n=2000, random_state=0)
    >>> truth.n_communities
    10
    """
    _check(n, mean_degree, community_size, noise, degree_exponent)
    needed = n * (BYTES + 16.0 * mean_degree)
    check_memory(needed, f"make_overlapping of {n:,} nodes", "Ask for fewer nodes, or a lower mean_degree.")
    rng = np.random.default_rng(random_state)
    k = max(1, round(n / community_size))
    z = draw_memberships(n, k, (min(memberships[0], k), min(memberships[1], k)), rng)
    inner = (1 - noise) * mean_degree * n / max(z.sum(), 1.0)  # expected links of a member inside one community
    t = _degree_factors(n, degree_exponent, z.sum() / k / (2 * inner + 1), rng)
    loadings = sparse.hstack([z * t[:, None], sparse.csr_array(t[:, None])], format="csr")
    weight = np.asarray(loadings.sum(axis=0)).ravel()
    share = np.append(weight[:-1] * ((1 - noise) / max(weight[:-1].sum(), 1e-300)), noise)
    rates = share * mean_degree * n / np.maximum(weight, 1e-300) ** 2
    links = _draw_links(loadings, rates * weight**2 / 2, rng)
    affinities = sparse.dia_array((rates[None, :-1], [0]), shape=(k, k)).tocsr()
    parameters = ExposureDraw(z, affinities, float(rates[-1]), t, t)
    return Graph(links), Truth(z, parameters, "exposure")


def _check(n: int, mean_degree: float, community_size: int, noise: float, degree_exponent: float | None) -> None:
    if n < 1 or community_size < 1:
        raise ValueError(f"make_overlapping needs n and community_size of at least 1; these are {n}, {community_size}.")
    if not 0 <= mean_degree < np.inf:
        raise ValueError(f"make_overlapping needs a mean_degree of at least 0; this is {mean_degree}.")
    if not 0 <= noise <= 1:
        raise ValueError(f"make_overlapping needs noise between 0 and 1; this is {noise}.")
    if degree_exponent is not None and degree_exponent <= 2:
        raise ValueError(
            f"make_overlapping needs degree_exponent above 2, so that degrees have a mean; this is {degree_exponent}."
        )


def _degree_factors(n: int, exponent: float | None, most: float, rng) -> np.ndarray:
    """Pareto with mean 1, cut where a node would be linked to half of its community."""
    if exponent is None:
        return np.ones(n)
    t = (1 - rng.random(n)) ** (-1 / (exponent - 1))
    t = np.minimum(t / t.mean(), max(most, 1.0))
    return t / t.mean()


def _draw_links(loadings: sparse.csr_array, expected: np.ndarray, rng) -> sparse.csr_array:
    """The upper triangle of links, from Poisson(expected) exposures in each community."""
    n, columns = loadings.shape[0], sparse.csc_array(loadings)
    exposures = rng.poisson(expected)
    first = _draw_ends(columns, exposures, rng)
    key = _pair_keys(first, _draw_ends(columns, exposures, rng), n)
    del first
    key.sort()
    key = _different(key, n)
    start = np.searchsorted(key, np.arange(n + 1) * n)
    column = np.empty(len(key), np.int32 if n < 2**31 else np.int64)
    for some in _pieces(len(key)):
        column[some] = key[some] % n
    del key
    return sparse.csr_array((np.ones(len(column)), column, start), shape=(n, n))


def _draw_ends(columns: sparse.csc_array, exposures: np.ndarray, rng) -> np.ndarray:
    """One member of its community for each exposure, in proportion to t; some exposures at a time."""
    total, stop = np.concatenate([[0.0], np.cumsum(columns.data)]), np.cumsum(exposures)
    low, high = total[columns.indptr[:-1]], total[columns.indptr[1:]]
    ends = np.empty(exposures.sum(), columns.indices.dtype)
    for some in _pieces(len(ends)):
        k = np.searchsorted(stop, np.arange(some.start, some.stop), side="right")
        at = low[k] + rng.random(len(k)) * (high - low)[k]
        place = np.searchsorted(total, at, side="right") - 1
        ends[some] = columns.indices[np.minimum(place, columns.indptr[k + 1] - 1)]
    return ends


def _pair_keys(first: np.ndarray, second: np.ndarray, n: int) -> np.ndarray:
    """i n + j of each pair, i the smaller of its ends."""
    key = np.empty(len(first), np.int64)
    for some in _pieces(len(key)):
        low, high = np.minimum(first[some], second[some]), np.maximum(first[some], second[some])
        key[some] = low.astype(np.int64) * n + high
    return key


def _different(key: np.ndarray, n: int) -> np.ndarray:
    """Sorted pairs, each once, none of a node and itself; in the place of the others."""
    kept, last = 0, -1
    for some in _pieces(len(key)):
        part = key[some]
        part, last = part[(np.diff(part, prepend=last) != 0) & (part // n != part % n)], part[-1]
        key[kept : kept + len(part)] = part
        kept += len(part)
    return key[:kept]


def _pieces(length: int) -> list[slice]:
    """Slices that cover a long array, so that what is worked out from each takes little memory."""
    return [slice(low, min(low + AT_ONCE, length)) for low in range(0, length, AT_ONCE)]
