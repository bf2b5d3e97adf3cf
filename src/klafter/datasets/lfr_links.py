"""Links of an LFR graph: simple graphs inside communities with given degrees, and the rest between communities.

Inside, every node is first linked to the members that lack most links (Havel and Hakimi), which finds a simple graph if
there is one; with direction, links come from the members that send fewest so far. Outside, ends are joined at random.
Both are then shuffled by swaps that keep degrees, and that remove links within and across communities that may not be.
"""

from __future__ import annotations

import numpy as np

from klafter.datasets.lfr_places import Places
from klafter.datasets.rewiring import Pairs, rewire


def link_inside(places: Places, directed: bool, rng) -> Pairs:
    """Links inside communities, (source, target) where there is a direction; grouped by community."""
    first, second, group = [], [], []
    for k, members in enumerate(places.by_community()):
        node, degree = places.node[members], places.degree[members]
        i, j = _from_idle(degree, places.memberships[node], rng) if directed else _to_needy(degree)
        first.append(node[i])
        second.append(node[j])
        group.append(np.full(len(i), k))
    return _rewired(Pairs(_joined(first), _joined(second), _joined(group)), np.not_equal, directed, rng)


def _rewired(pairs: Pairs, allowed, directed: bool, rng) -> Pairs:
    """Shuffled links, without those that have no place."""
    pairs, wrong = rewire(pairs, allowed, rng, directed=directed)
    return Pairs(*(part[~wrong] for part in pairs))


def _to_needy(degree: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A simple graph with these degrees, or with lower ones where there is none."""
    rest, first, second = degree.copy(), [], []
    while (most := rest.max(initial=0)) > 0:
        i = int(rest.argmax())
        rest[i] = 0
        others = np.argsort(-rest, kind="stable")[:most]
        others = others[rest[others] > 0]
        rest[others] -= 1
        first.append(np.full(len(others), i))
        second.append(others)
    return _joined(first), _joined(second)


def _from_idle(degree: np.ndarray, memberships: np.ndarray, rng) -> tuple[np.ndarray, np.ndarray]:
    """To each member, links from those that send fewest so far; who is in several communities sends less in each."""
    sent, sources, targets = rng.random(len(degree)), [], []
    for i in rng.permutation(len(degree)):
        order = np.argsort(sent)
        chosen = order[order != i][: degree[i]]
        sent[chosen] += memberships[chosen]
        sources.append(chosen)
        targets.append(np.full(len(chosen), i))
    return _joined(sources), _joined(targets)


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def link_outside(degree: np.ndarray, inside: Pairs, places: Places, directed: bool, rng) -> Pairs:
    """Links between nodes that share no community, as many as wanted at each node; with direction, as many coming in.

    Links that go out then make up for differences between those that go out inside.
    """
    n = len(degree)
    ends = rng.permutation(np.repeat(np.arange(n), degree))
    if directed:
        sent = _even_out(np.bincount(inside.first, minlength=n), len(ends), rng)
        first, second = rng.permutation(np.repeat(np.arange(n), sent)), ends
    else:
        first, second = ends[: len(ends) // 2 * 2].reshape(-1, 2).T
    group = np.full(len(first), places.community.max() + 1)
    return _rewired(Pairs(first, second, group), _strangers(places), directed, rng)


def _even_out(sent: np.ndarray, total: int, rng) -> np.ndarray:
    """Whole numbers with this total that make sums with ``sent`` as equal as can be."""
    order = np.argsort(sent + rng.random(len(sent)))
    ordered = sent[order]
    filled = np.arange(1, len(sent) + 1) * ordered - np.cumsum(ordered)  # to raise all before to this one
    many = int(np.searchsorted(filled, total, side="right"))
    level, left = divmod(total + int(ordered[:many].sum()), many)
    extra = np.zeros(len(sent), np.int64)
    extra[order[:many]] = level - ordered[:many]
    extra[rng.permutation(order[:many])[:left]] += 1
    return extra


def _strangers(places: Places):
    """A function that tells which pairs of nodes are two that share no community."""
    order, count = np.argsort(places.node, kind="stable"), places.memberships
    node = places.node[order]
    rank = np.arange(len(node)) - np.repeat(np.cumsum(count) - count, count)
    own = np.full((len(count), count.max()), -1)
    own[node, rank] = places.community[order]

    def strangers(first, second):
        shared = first == second
        for a in own.T:
            for b in own.T:
                shared |= (a[first] == b[second]) & (a[first] >= 0)
        return ~shared

    return strangers
