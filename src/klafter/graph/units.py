"""Observed dyads as units that can be hidden: drawn at random without listing all pairs of a large graph.

A unit is an unordered pair i < j, written as the number i * n + j.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from klafter.graph.graph import Graph

FEW_PAIRS = 20_000_000


def link_units(graph: Graph) -> NDArray[np.int64]:
    """Sorted units with at least one visible link."""
    return _units(graph.links, graph.n_nodes)


def list_links(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Rows of both ends of each link, (m, 2), undirected ones once, and their values."""
    coo = sparse.coo_array(graph.links if graph.directed else sparse.triu(graph.links, 1))
    return np.column_stack([coo.row, coo.col]).astype(np.int64), coo.data


def closed_units(graph: Graph) -> NDArray[np.int64]:
    """Sorted units in which nothing was observed: no direction of them is visible."""
    if not graph.directed:
        return _units(graph.hidden, graph.n_nodes)
    closed = _units(graph.hidden.multiply(graph.hidden.T), graph.n_nodes)
    if graph.rule is None:
        return closed
    coo = sparse.coo_array(graph.hidden)
    one_way = ~graph.rule.allows(coo.col, coo.row)
    only = sparse.coo_array((coo.data[one_way], (coo.row[one_way], coo.col[one_way])), shape=coo.shape)
    return distinct(np.concatenate([closed, _units(only, graph.n_nodes)]))


def _units(matrix: sparse.csr_array, n: int) -> NDArray[np.int64]:
    coo = sparse.coo_array(matrix)
    row, col = coo.row.astype(np.int64), coo.col.astype(np.int64)
    return distinct(np.minimum(row, col) * n + np.maximum(row, col))


def distinct(units: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers from 0, each once, sorted: numpy.unique would hash them, which takes ten times as long on millions."""
    units = np.sort(units)
    is_new: NDArray[np.bool_] = np.diff(units, prepend=-1) != 0
    return units[is_new]


def random_nonlinks(
    graph: Graph, fraction: float, most: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], float]:
    """A random `fraction` of the units without a link, at most `most` of them, and the share of it that they are."""
    taken = distinct(np.concatenate([link_units(graph), closed_units(graph)]))
    pairs = graph.n_units
    wanted = round(fraction * (pairs - len(taken)))
    count = min(wanted, most)
    share = count / wanted if wanted else 1.0
    crowded = count / max(pairs - len(taken), 1)
    if crowded > 0.9 or (crowded > 0.3 and pairs < FEW_PAIRS):
        every = all_units(graph)
        return rng.permutation(every[~among(every, taken)])[:count], share
    return _draw_outside(graph, taken, count, rng), share


def all_units(graph: Graph) -> NDArray[np.int64]:
    """Sorted units of all possible pairs."""
    n, rule = graph.n_nodes, graph.rule
    if rule is None:
        i, j = np.triu_indices(n, 1)
        return i * n + j
    nodes, found = rule.nodes(), [np.zeros(0, np.int64)]
    for a, b in rule.cells(ordered=False)[0]:
        i, j = (
            np.triu_indices(len(nodes[a]), 1) if a == b else np.indices((len(nodes[a]), len(nodes[b]))).reshape(2, -1)
        )
        ends = nodes[a][i], nodes[b][j]
        found.append(np.minimum(*ends) * n + np.maximum(*ends))
    return np.sort(np.concatenate(found))


def random_ends(graph: Graph, count: int, rng: np.random.Generator, *, ordered: bool = False) -> NDArray[np.int64]:
    """Ends of pairs, (count, 2), drawn evenly among all nodes, or those of kinds that may be linked: from the first to
    the second if ``ordered``, else in whichever direction."""
    if graph.rule is None:
        return rng.integers(0, graph.n_nodes, (count, 2), dtype=np.int64)
    nodes, (cells, share) = graph.rule.nodes(), graph.rule.cells(ordered=ordered)
    numbers = [count] if len(cells) == 1 else rng.multinomial(count, share).tolist()
    ends = [
        np.column_stack([side[rng.integers(0, len(side), number)] for side in (nodes[a], nodes[b])])
        for (a, b), number in zip(cells, numbers)
    ]
    return ends[0] if len(cells) == 1 else rng.permutation(np.concatenate(ends))


def _draw_outside(graph: Graph, taken: NDArray[np.int64], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """`count` different units, none of them `taken`; good when they are a minority."""
    n, units = graph.n_nodes, np.zeros(0, np.int64)
    while len(units) < count:
        ends = random_ends(graph, 2 * (count - len(units)) + 16, rng)
        ends = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
        units = np.concatenate([units, ends[:, 0] * n + ends[:, 1]])
        found, first = np.unique(units, return_index=True)
        units = units[np.sort(first[~among(found, taken)])]  # in the order in which they were drawn
    return units[:count]


def among(units: NDArray[np.int64], taken: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which units stand in the sorted array `taken`; quick where they are sorted too."""
    if not len(taken):
        return np.zeros(len(units), bool)
    at: NDArray[np.intp] = np.minimum(np.searchsorted(taken, units), len(taken) - 1)
    found: NDArray[np.bool_] = taken[at] == units
    return found


def keep_nodes_linked(graph: Graph, chosen: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """The chosen links that can be hidden while each node that has links keeps one that is visible."""
    n = graph.n_nodes
    left = _degrees(link_units(graph), n)
    i, j = chosen // n, chosen % n
    at_risk = left == _degrees(chosen, n)
    risky: NDArray[np.bool_] = at_risk[i] | at_risk[j]
    left -= _degrees(chosen[~risky], n)
    hide: NDArray[np.bool_] = ~risky
    for unit in rng.permutation(np.flatnonzero(risky)).tolist():
        a, b = i[unit], j[unit]
        if left[a] > 1 and left[b] > 1:
            left[a] -= 1
            left[b] -= 1
            hide[unit] = True
    return chosen[hide]


def _degrees(units: NDArray[np.int64], n: int) -> NDArray[np.intp]:
    degrees: NDArray[np.intp] = np.bincount(np.concatenate([units // n, units % n]), minlength=n)
    return degrees


def unit_pairs(graph: Graph, units: NDArray[np.int64]) -> NDArray[np.int64]:
    """The visible dyads of the units, sorted: each once, or in both orders when the graph is directed."""
    n = graph.n_nodes
    units = np.sort(units)
    pairs: NDArray[np.int64] = np.column_stack([units // n, units % n])
    if not graph.directed:
        return pairs
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    order: NDArray[np.intp] = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs = pairs[order]
    seen: NDArray[np.int64] = pairs[graph.is_possible(pairs) & ~look_up(graph.hidden, pairs).astype(bool)]
    return seen


def look_up(matrix: sparse.csr_array, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """The entries of a sparse matrix at pairs of rows and columns."""
    if not len(pairs) or not matrix.nnz:
        return np.zeros(len(pairs))
    return np.asarray(matrix[pairs[:, 0], pairs[:, 1]]).ravel().astype(float)
