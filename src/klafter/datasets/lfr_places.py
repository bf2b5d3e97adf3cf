"""Degrees, communities and memberships of an LFR graph."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from klafter.datasets.lfr_plan import Plan
from klafter.datasets.power_laws import draw_with_mean, draw_with_sum, round_at_random
from klafter.datasets.rewiring import Pairs, rewire

TRIES = 100  # draws of sizes until every node has a community large enough
SWAPS = 1000  # tries for each community whose degrees no simple graph has


class Places(NamedTuple):
    """Who is in which community: one entry for each membership, sorted by community, with its links inside."""

    node: np.ndarray
    community: np.ndarray
    degree: np.ndarray
    memberships: np.ndarray  # of each node

    def by_community(self) -> list[slice]:
        bounds = np.append(np.flatnonzero(np.diff(self.community, prepend=-1)), len(self.node))
        return [slice(*ends) for ends in pairwise(bounds)]


def draw_degrees(plan: Plan, rng) -> np.ndarray:
    """Degrees with an even sum."""
    degree = draw_with_mean(plan.n, plan.average_degree, plan.max_degree, plan.tau1, rng)
    if degree.sum() % 2:
        i = rng.integers(plan.n)
        degree[i] += 1 if degree[i] < plan.max_degree else -1
    return degree


def draw_places(plan: Plan, degree: np.ndarray, directed: bool, rng) -> Places:
    """Memberships such that the links inside, of which each community of a node has an equal part, have room."""
    inner = round_at_random((1 - plan.mu) * degree, rng)
    memberships = np.ones(plan.n, np.int64)
    memberships[rng.permutation(plan.n)[: plan.n_overlapping]] = plan.om
    node, community = _draw_memberships(plan, -(-inner // memberships), memberships, int(degree.min()), rng)
    order = np.lexsort((rng.random(len(node)), node))
    node, community = node[order], community[order]
    rank = np.arange(len(node)) - np.repeat(np.cumsum(memberships) - memberships, memberships)
    share = inner[node] // memberships[node] + (rank < inner[node] % memberships[node])
    order = np.argsort(community, kind="stable")
    places = Places(node[order], community[order], share[order], memberships)
    if not directed:
        _make_sums_even(places, degree - inner, rng)
        _make_graphical(places, rng)
    return places


def _draw_memberships(plan: Plan, need: np.ndarray, memberships: np.ndarray, least_degree: int, rng):
    """Random pairs of node and community, each community with more members than its members need links."""
    node = np.repeat(np.arange(plan.n), memberships)
    node = node[np.argsort(-need[node], kind="stable")]
    for _ in range(TRIES):
        sizes = -np.sort(-draw_with_sum(plan.n_places, *plan.sizes(least_degree), plan.tau2, rng))
        community = np.repeat(np.arange(len(sizes)), sizes)
        if len(sizes) < memberships.max() or (need[node] >= sizes[community]).any():  # the best order has no room
            continue
        pairs = Pairs(node, community, np.zeros(len(node), np.int64))
        pairs, wrong = rewire(pairs, lambda i, k, sizes=sizes: need[i] < sizes[k], rng, directed=True)
        if not wrong.any():
            return pairs.first, pairs.second
    raise ValueError(
        f"make_lfr found no communities in {TRIES} draws that hold nodes of degrees up to {plan.max_degree} and "
        f"{memberships.max()} memberships. Lower max_degree or om, or raise mu, max_community or n."
    )


def _make_sums_even(places: Places, outer: np.ndarray, rng) -> None:
    """One link more or fewer inside each community whose links have an odd number of ends; outside makes up for it."""
    for members in places.by_community():
        degree, node = places.degree[members], places.node[members]
        if degree.sum() % 2:
            more = np.flatnonzero((degree < len(degree) - 1) & (outer[node] > 0))
            fewer = np.flatnonzero(degree)
            step, choice = (1, more) if len(more) and rng.random() < 0.5 else (-1, fewer)
            i = rng.choice(choice)
            degree[i] += step
            outer[node[i]] -= step


def _make_graphical(places: Places, rng) -> None:
    """Let members change places until the degrees inside each community are those of a simple graph, if it can be."""
    members = places.by_community()
    excess = np.array([_excess(places.degree[part]) for part in members])
    taken = set(zip(places.node.tolist(), places.community.tolist())) if excess.any() else set()
    for _ in range(SWAPS * np.count_nonzero(excess)):
        crowded = np.flatnonzero(excess)
        if not len(crowded):
            break
        home = members[crowded[rng.integers(len(crowded))]]
        p, q = int(rng.integers(home.start, home.stop)), int(rng.integers(len(places.node)))
        _swap_if_better(places, members, excess, taken, p, q)


def _swap_if_better(places: Places, members: list[slice], excess: np.ndarray, taken: set, p: int, q: int) -> None:
    """Exchange the nodes of two places, if sums stay even, unless that adds to the links without room."""
    here, there = (int(places.community[place]) for place in (p, q))
    i, j = (int(places.node[place]) for place in (p, q))
    odd = (places.degree[p] - places.degree[q]) % 2
    if odd or here == there or {(i, there), (j, here)} & taken:
        return
    _exchange(places, p, q)
    now = [_excess(places.degree[members[k]]) for k in (here, there)]
    if sum(now) > excess[here] + excess[there]:
        _exchange(places, p, q)
        return
    excess[[here, there]] = now
    taken.difference_update({(i, here), (j, there)})
    taken.update({(i, there), (j, here)})


def _exchange(places: Places, p: int, q: int) -> None:
    for part in (places.node, places.degree):
        part[[p, q]] = part[[q, p]]


def _excess(degree: np.ndarray) -> int:
    """Ends of links without room, max_k sum_{i <= k} d_i - k (k - 1) - sum_{i > k} min(d_i, k) for d descending.

    None when at most zero (Erdos and Gallai), if the sum is even. Only the k with d_k >= k - 1 matter.
    """
    d = -np.sort(-degree)
    k = np.arange(1, np.count_nonzero(d >= np.arange(len(d))) + 1)
    later = np.minimum(d, k[:, None]).sum(axis=1) - np.cumsum(np.minimum(d[: len(k)], k[:, None]), axis=1).diagonal()
    return max(0, int((np.cumsum(d[: len(k)]) - k * (k - 1) - later).max(initial=0)))
