"""Levels of the sparse engine: coarser covers that merging communities leads to, by sums over links and memberships.

Of all pairs the one whose union raises the score least is merged, again and again until one community is left. What a
union costs is worked out on the subgraph of its members, its affinity fitted and all other weights as they are:

    rise of F = rise of Q + T [e(w, c) - e(w_k, c_k) - e(w_l, c_l)],   e(w, c) = w - log w + log((c + w) / 2 pi) / 2

with the price of the cover by the prior in use. Candidates are communities with links between their members, each with
those that it has most of for their sizes. Rises of earlier levels are estimates, computed again when they are lowest.
Of many communities, or many links, only the last levels are kept. Before them all weights follow when a twentieth of
the communities is gone; at each of them all weights are fitted, and of the last twelve the score itself decides between
the first three pairs.
"""

# ruff: noqa: E741 - k and l are communities, as in the papers

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from klafter.search.config import SEARCH
from klafter.search.sparse.affinities import Affinities, as_affinities, is_directed, off_diagonal_pairs
from klafter.search.sparse.exchange import Exchange, carry_out, off_diagonal_gain, own_local
from klafter.search.sparse.kernels.exchange import subgraph_loss, subgraph_weights
from klafter.search.sparse.kernels.subgraph import cut_subgraph
from klafter.search.sparse.score import LOG_2_PI, score
from klafter.search.sparse.state import Problem, State, copy_state, members, memberships, permitted, without_empty
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import prices, weights
from klafter.search.sparse.workspace import open_workspace

FITTING = 8  # steps of the affinity of a union, and of all weights at a level that is kept
CLOSE = 3  # pairs of the lowest estimates whose scores are worked out, where few communities are left
STALE = 0.95  # share of the communities that is left when all weights are fitted again


class Cover(NamedTuple):
    """One level: memberships, its score, and which columns of the level before became one."""

    memberships: sparse.csr_array
    score: float
    merged: tuple[int, ...]


class Union(NamedTuple):
    """Two communities as one: members, affinity, and the rise of the score."""

    nodes: np.ndarray
    strength: float
    rise: float


def levels(problem: Problem, state: State, value: float, pool: ThreadPool, *, counts: bool) -> list[Cover]:
    """From the cover given to one community; of many, the finest and as many of the last as memory allows."""
    state = without_empty(copy_state(state))
    path, merging = [Cover(memberships(problem, state), value, ())], Merging(problem, state, pool, counts)
    most = n_kept(problem, state)
    while merging.left > 1:
        if merging.left > most + 1:
            merging.merge_by_estimate()
            continue
        next_one = path[-1].memberships.shape[1] == merging.left
        pair, value = merging.merge_by_score()
        path.append(Cover(memberships(problem, without_empty(merging.state)), value, pair if next_one else ()))
    return path


def n_kept(problem: Problem, state: State) -> int:
    """How many levels memory and time allow."""
    work = len(problem.node) // 2 + int(state.held.sum())
    return max(SEARCH.levels.all_pairs, SEARCH.levels.kept // max(work, 1))


class Merging:
    """Communities on their way to one: a union has the number of its first part."""

    def __init__(self, problem: Problem, state: State, pool: ThreadPool, counts: bool) -> None:
        self.problem, self.state, self.pool, self.counts = problem, state, pool, counts
        start, nodes = members(problem, state)
        self.inside = {k: nodes[start[k] : start[k + 1]] for k in range(len(state.size))}
        self.links = links_between(problem, state)
        self.version = dict.fromkeys(self.inside, 0)  # of each community, the merge that made it
        self.time, self.fitted = 0, len(self.inside)
        self.heap: list[tuple[float, int, int, int, int]] = []  # rise, when it was worked out, k, l, the later version
        self.tried: dict[int, set[int]] = {k: set() for k in self.inside}  # the candidates of each
        for k in self.inside:
            self.pair_up(k)

    @property
    def left(self) -> int:
        """How many communities there are."""
        return len(self.inside)

    def pair_up(self, k: int) -> None:
        """Pairs of k and the communities with most links between for their sizes; with all where there are few."""
        near = self.links[k]
        if self.left <= SEARCH.levels.all_pairs:
            best = [l for l in self.inside if l != k]
        else:
            best = heapq.nlargest(SEARCH.levels.nearest, near, key=lambda l: (near[l] / len(self.inside[l]), -l))
        for l in best:
            self.add(min(k, l), max(k, l))

    def add(self, k: int, l: int) -> None:
        """A pair whose rise is not known yet."""
        if l not in self.tried[k]:
            self.tried[k].add(l)
            self.tried[l].add(k)
            self.push(-np.inf, k, l)

    def push(self, rise: float, k: int, l: int) -> None:
        heapq.heappush(self.heap, (rise, self.time, k, l, max(self.version[k], self.version[l])))

    def cheapest(self) -> tuple[int, int, Union]:
        """Take the pair whose union raises the score least, by an estimate of this moment, off the heap."""
        while True:
            rise, time, k, l, version = heapq.heappop(self.heap)
            if k not in self.inside or l not in self.inside or version != max(self.version[k], self.version[l]):
                continue
            union = propose_union(self.problem, self.state, (k, l), self.inside, self.counts, self.pool)
            if rise > -np.inf and time == self.time:
                return k, l, union
            self.push(union.rise, k, l)

    def first_few(self, number: int) -> list[tuple[int, int, Union]]:
        """The pairs that raise the score least, or the two smallest where no pair has links between."""
        found: list[tuple[int, int, Union]] = []
        while len(found) < number:
            try:
                found.append(self.cheapest())
            except IndexError:
                break
        if not found:
            self.add(*sorted(sorted(self.inside, key=lambda k: (len(self.inside[k]), k))[:2]))
            found = [self.cheapest()]
        return found

    def merge_by_estimate(self) -> None:
        """Merge the first pair; all weights follow now and then."""
        ((k, l, union),) = self.first_few(1)
        self.carry_out(k, l, union, merged(self.problem, self.state, k, l, union))
        if self.left < STALE * self.fitted:
            self.state, self.fitted = weights(self.problem, self.state, self.pool, rounds=1), self.left

    def merge_by_score(self) -> tuple[tuple[int, int], float]:
        """Merge the first pair, or of few the one with the lowest score, all weights fitted; its columns, the score."""
        first, tries = self.first_few(CLOSE if self.left <= SEARCH.levels.all_pairs else 1), []
        for k, l, union in first:
            state = merged(self.problem, copy_state(self.state), k, l, union)
            tries.append(weights(self.problem, state, self.pool, rounds=FITTING))
        scores = [score(self.problem, state, self.pool, counts=self.counts) for state in tries]
        best = int(np.argmin(scores))
        for t, (k, l, union) in enumerate(first):
            if t != best:
                self.push(union.rise, k, l)
        k, l, union = first[best]
        columns = sorted(self.inside)
        self.carry_out(k, l, union, tries[best])
        return (columns.index(k), columns.index(l)), scores[best]

    def carry_out(self, k: int, l: int, union: Union, state: State) -> None:
        """l becomes part of k."""
        self.state = state
        self.inside[k] = union.nodes
        del self.inside[l]
        gone = self.links.pop(l)
        for m, number in gone.items():
            self.links[m].pop(l, None)
            if m != k:
                self.links[k][m] = self.links[m][k] = self.links[k].get(m, 0.0) + number
        self.time += 1
        self.version[k] = self.time
        again = (self.tried[k] | self.tried.pop(l)) - {k, l}
        self.tried[k] = set()
        for m in sorted(again):
            self.tried[m] -= {k, l}
            self.add(min(k, m), max(k, m))
        self.pair_up(k)
        if self.left == SEARCH.levels.all_pairs:
            for m in self.inside:
                self.pair_up(m)


def links_between(problem: Problem, state: State) -> dict[int, dict[int, float]]:
    """How many links there are between members of every two communities; members of both count too."""
    z = memberships(problem, state)
    links = sparse.csr_array((np.ones(len(problem.node)), problem.node, problem.start), shape=(problem.n, problem.n))
    table = sparse.coo_array(z.T @ (links @ z))
    found: dict[int, dict[int, float]] = {k: {} for k in range(z.shape[1])}
    for k, l, number in zip(table.row.tolist(), table.col.tolist(), table.data.tolist()):
        if k != l:
            found[k][l] = number
    return found


def propose_union(
    problem: Problem, state: State, pair: tuple[int, int], inside: dict[int, np.ndarray], counts: bool, pool: ThreadPool
) -> Union:
    """Two communities as one of the affinity that fits, and what that does to the score, other weights unchanged."""
    out, ws = np.array(pair, np.int64), open_workspace(problem, state)
    nodes = np.union1d(inside[pair[0]], inside[pair[1]]).astype(np.int32)
    subgraph, old = cut_subgraph(ws, nodes, out, own_local(problem, pool))
    z, w = np.ones((1, len(nodes)), bool), np.array([state.strength[out].max()])
    gain = subgraph_loss(ws, nodes, subgraph, True, old, state.strength[out])
    for _ in range(FITTING):
        subgraph_weights(ws, nodes, subgraph, z, w)
    gain -= subgraph_loss(ws, nodes, subgraph, False, z, w)
    if not state.affinities.diagonal:
        gain += off_diagonal_gain(ws, problem, state, nodes, out, z)
    sizes = np.append(state.size[out], len(nodes))
    rise = -gain
    if counts:
        both = nodes[old.all(axis=0)]
        rise += counts_rise(problem, state, sizes, both) - prices(problem, sizes) @ np.array([-1.0, -1.0, 1.0])
    costs = [cost_of(problem, state, inside[k], state.strength[k]) for k in pair]
    rise += problem.temperature * (cost_of(problem, state, nodes, w[0]) - sum(costs))
    return Union(nodes, float(w[0]), float(rise))


def cost_of(problem: Problem, state: State, nodes: np.ndarray, w: float) -> float:
    """e(w, c) of an affinity among some nodes, where it explains c = w P."""
    if w <= 0:
        return 0.0
    t, r = state.send[nodes], state.receive[nodes]
    pairs = permitted(problem, t, r, nodes) if len(problem.kind) else t.sum() * r.sum() - t @ r
    explained = w * problem.pair_weight * pairs
    return float(w - np.log(w) + 0.5 * np.log(explained + w) - 0.5 * LOG_2_PI)


def counts_rise(problem: Problem, state: State, sizes: np.ndarray, both: np.ndarray) -> float:
    """The rise of the price of learned counts by a merge of communities of two sizes, some nodes being in both."""
    n, k, e = problem.n, int(np.count_nonzero(state.size)), float(state.held.sum())
    held, before = state.held[both], np.bincount(state.held, minlength=2).astype(float)
    after = before - np.bincount(held, minlength=len(before)) + np.bincount(held - 1, minlength=len(before))

    def price(k: float, e: float) -> float:
        ways = gammaln(n + k + 1) - 2 * gammaln(k + 1) + gammaln(e) - gammaln(k) - gammaln(e - k + 1)
        return float(ways + gammaln(e + 1))

    total = price(k - 1, e - len(both)) - price(k, e) + gammaln(before + 1).sum() - gammaln(after + 1).sum()
    total += gammaln(sizes + 1) @ np.array([1.0, 1.0, -1.0]) + np.log(held).sum()
    return float(-problem.penalty + problem.temperature * total)


def merged(problem: Problem, state: State, k: int, l: int, union: Union) -> State:
    """The state after a merge; l is left without members, and k has the off-diagonal affinities of both."""
    affinities = state.affinities if state.affinities.diagonal else _renamed(state.affinities, k, l)
    z, w = np.ones((1, len(union.nodes)), bool), np.array([union.strength])
    exchange = Exchange("merge", 0.0, np.array([k, l]), union.nodes, z, w)
    state = carry_out(problem, state, exchange, np.array([k]))
    state.strength[l] = 0.0
    if not affinities.diagonal:
        state = state._replace(affinities=affinities._replace(strength=state.strength))
    return state


def _renamed(affinities: Affinities, k: int, l: int) -> Affinities:
    """Off-diagonal affinities of l as those of k, the mean of both where k has one too; none inside."""
    directed = is_directed(affinities)
    pairs = np.where(off_diagonal_pairs(affinities) == l, k, off_diagonal_pairs(affinities))
    pairs, values = pairs[pairs[:, 0] != pairs[:, 1]], affinities.value[pairs[:, 0] != pairs[:, 1]]
    pairs = pairs if directed else np.sort(pairs, axis=1)
    every, place = np.unique(pairs, axis=0, return_inverse=True)
    values = np.bincount(place.ravel(), values) / np.maximum(np.bincount(place.ravel()), 1)
    return as_affinities(affinities.strength, every, values, directed=directed)
