"""The likeliest dyads of a model, without ever forming all pairs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from scipy import sparse

from klafter.graph import Graph
from klafter.graph.units import look_up

EXHAUSTIVE = 3_000  # nodes up to which every dyad is looked at, some rows at a time
CHUNK = 200_000  # dyads scored at once
MAX_CANDIDATES, LOOKED_AT = 120_000_000, 4_000_000  # of a large graph: candidate dyads, and those scored
SHORTLIST = 50_000
NEVER = -1.0  # below all probabilities


def best_pairs(own: Callable, rows: Callable, finish: Callable, graph: Graph, near: tuple, n: int, hidden_only: bool):
    """The n dyads without a known link that rank highest, and their probabilities.

    The model without the structural expert, ``own`` of pairs and ``rows`` of all dyads of some nodes, chooses who is
    looked at: every dyad of a graph of a few hundred nodes, the best SHORTLIST of a larger one. ``finish`` makes the
    probabilities of those. ``near`` are the memberships, and which communities draw which (None: each itself).
    """
    most = max(SHORTLIST, 10 * n)
    if hidden_only or graph.n_nodes > EXHAUSTIVE:
        blocks = ((pairs, own(pairs)) for pairs in _candidates(graph, near, hidden_only))
        pairs, scores = _shortlist(blocks, most)
    else:
        pairs, scores = _exhaust(rows, graph, most)
    return _best(pairs, finish(scores, pairs), n)


def _shortlist(blocks: Iterable, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The best of all blocks of pairs and their scores."""
    pairs, scores = np.zeros((0, 2), np.int64), np.zeros(0)
    for more, found in blocks:
        pairs, scores = _keep(np.vstack([pairs, more]), np.concatenate([scores, found]), most)
    return pairs, scores


def _exhaust(rows: Callable, graph: Graph, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The best of all dyads, the nodes in turn; most fall behind those already found at a glance."""
    n, pairs, scores = graph.n_nodes, np.zeros((0, 2), np.int64), np.zeros(0)
    height = max(1, CHUNK // max(n, 1))
    for start in range(0, n, height):
        i = np.arange(start, min(start + height, n))
        p = rows(i)
        p[graph.links[i].nonzero()] = NEVER
        p[np.arange(n) == i[:, None] if graph.directed else np.arange(n) <= i[:, None]] = NEVER
        if graph.rule is not None:
            p[~graph.rule.allows(i[:, None], np.arange(n))] = NEVER
        k, j = np.nonzero(p > (scores.min() if len(scores) >= most else NEVER))
        pairs, scores = _keep(np.vstack([pairs, np.column_stack([k + start, j])]), np.append(scores, p[k, j]), most)
    return pairs, scores


def _keep(pairs: np.ndarray, scores: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The n highest scores as they stand; of equal ones the first."""
    if n >= len(scores):
        return pairs, scores
    least = np.partition(scores, -n)[-n]
    good = scores > least
    good[np.flatnonzero(scores == least)[: n - good.sum()]] = True
    return pairs[good], scores[good]


def _best(pairs: np.ndarray, scores: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The n highest scores, best first; of equal ones the first pairs."""
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -scores))[:n]
    return pairs[order], scores[order]


def near_of(model) -> tuple:
    """Memberships, and which communities draw which (None: each itself)."""
    return model.memberships_, model.point_.attracting()


def _candidates(graph: Graph, near: tuple, hidden_only: bool) -> Iterator[np.ndarray]:
    """Blocks of dyads to score."""
    for block in _patterns(graph.hidden) if hidden_only else _near(graph, *near):
        if not graph.directed:
            block = block[block[:, 0] < block[:, 1]]
        block = block[look_up(graph.links, block) == 0]
        block = block[graph.is_possible(block)]
        if len(block):
            yield block


def _patterns(pattern) -> Iterator[np.ndarray]:
    coo = sparse.coo_array(pattern)
    for start in range(0, coo.nnz, CHUNK):
        yield np.column_stack([coo.row[start : start + CHUNK], coo.col[start : start + CHUNK]]).astype(np.int64)


def _near(graph: Graph, memberships, affinities) -> Iterator[np.ndarray]:
    """Candidate dyads of a large graph: hidden, two links apart (three where kinds ask for it), or in communities that
    attract.

    Of very many, the most promising of every part of the graph: well linked nodes, with common neighbours of few links,
    in small communities. Beyond MAX_CANDIDATES hubs that link everyone to everyone say nothing, and communities send
    their best linked members.
    """
    yield from _patterns(graph.hidden)
    links = sparse.csr_array(graph.links != 0, dtype=np.float32)
    links = sparse.csr_array(links.maximum(links.T))
    degree = np.diff(links.indptr)
    steps = _three_steps if _are_three_apart(graph) else _two_steps
    there, back, n_ways = steps(links, degree, MAX_CANDIDATES // 2)
    u = _best_members(memberships, degree, MAX_CANDIDATES // 2)
    size = u.sum(axis=0)
    height = max(1, int(CHUNK * graph.n_nodes / max(n_ways + (size**2).sum(), CHUNK)))
    most = max(1, LOOKED_AT * height // graph.n_nodes)
    scale = sparse.diags_array(degree.astype(np.float32))
    drawn = u * (degree.mean() / np.maximum(size, 1))
    drawn = drawn if affinities is None else drawn @ affinities
    left = sparse.hstack([there, drawn], format="csr")
    left, right = sparse.csr_array(scale @ left), sparse.csr_array(sparse.hstack([back, u]).T @ scale)
    for start in range(0, graph.n_nodes, height):
        block = sparse.coo_array(left[start : start + height] @ right)
        new = np.ones(block.nnz, bool) if graph.directed else block.row + start < block.col
        pairs = np.column_stack([block.row[new] + start, block.col[new]]).astype(np.int64)
        yield _keep(pairs, block.data[new], most)[0]


def _are_three_apart(graph: Graph) -> bool:
    """Whether no two nodes that may be linked can have a common neighbour, as in two modes."""
    if graph.rule is None:
        return False
    table = graph.rule.either
    return not (table @ table & table).any()


def _two_steps(links: sparse.csr_array, degree: np.ndarray, budget: int) -> tuple:
    """Factors of the paths of two links, each counted by how few lie between, and the number of paths."""
    a = _without_hubs(links, degree, budget)
    through = a.sum(axis=0)
    return a / np.maximum(through, 1), a, (through**2).sum()


def _three_steps(links: sparse.csr_array, degree: np.ndarray, budget: int) -> tuple:
    """The same of paths of three links, which lead across kinds; middle links of fewest paths first."""
    coo = sparse.coo_array(links)
    ways = degree[coo.row].astype(float) * degree[coo.col]
    order = np.argsort(ways, kind="stable")
    some = order[np.cumsum(ways[order]) <= budget]
    weight = (1 / np.sqrt(ways[some])).astype(np.float32)
    middle = sparse.csr_array((weight, (coo.row[some], coo.col[some])), shape=links.shape)
    return links @ middle, links, ways[some].sum()


def _without_hubs(links: sparse.csr_array, degree: np.ndarray, budget: int) -> sparse.csr_array:
    """Columns of the nodes that lie between others, fewest links first, until their pairs exceed the budget."""
    order = np.argsort(degree, kind="stable")
    among = order[np.cumsum(degree[order].astype(np.int64) ** 2) <= budget]
    return sparse.csr_array(links[:, np.sort(among)])


def _best_members(memberships, degree: np.ndarray, budget: int) -> sparse.csr_array:
    """Communities cut to so many of their best linked members that pairs of these keep within the budget."""
    u = sparse.csc_array(memberships, dtype=np.float32)
    size = np.diff(u.indptr).astype(np.int64)
    sizes = range(1, int(size.max(initial=1)) + 1)
    most = max(1, bisect_right(sizes, budget, key=lambda c: int((np.minimum(size, c) ** 2).sum())))
    column = np.repeat(np.arange(len(size)), size)
    order = np.lexsort((-degree[u.indices], column))
    order = order[np.arange(len(order)) - u.indptr[column] < most]
    return sparse.csr_array((u.data[order], (u.indices[order], column[order])), shape=u.shape)
