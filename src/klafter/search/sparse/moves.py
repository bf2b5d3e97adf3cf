"""Splits, merges and deaths: trades proposed in parallel against one state, accepted in order by their exact gain.

With ``local`` only communities that changed since a split of them was last tried are looked at.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse

from klafter.search.sparse.births import NOTHING, Proposal, background_responsibility, own_space
from klafter.search.sparse.exchange import cut, exchange_gain
from klafter.search.sparse.exchange_kernels import apply_exchange
from klafter.search.sparse.splits_kernels import second_vector
from klafter.search.sparse.state import (
    Problem,
    State,
    changed_since_split,
    members,
    memberships,
    with_room,
    without_empty,
)
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.workspace import open_workspace

EDGE, CERTAIN = 1.08, 0.485  # a split needs an eigenvalue above 1.08 times a random graph's, 1/sqrt(d), or 0.485
TURNS = 60  # of power iteration
UNEXPLAINED, ATTRACTION = 0.5, 0.2  # owed share that makes a link unexplained; links between two, of those inside
PARTNERS = 4  # that share the members of a community given up
UNEVEN, LARGE = 8, 600  # times the smaller, and more members than that: too large to be changed much by the smaller
DISJOINT = 4  # turns in which no two trades share a community
OVERLAP = 0.15  # share of the smaller community that two have in common before a merge is tried


class Parts(NamedTuple):
    """The members of each community."""

    start: np.ndarray
    nodes: np.ndarray

    def of(self, k: int) -> np.ndarray:
        return self.nodes[self.start[k] : self.start[k + 1]]


def accept(problem: Problem, state: State, proposals: list, pool: ThreadPool) -> tuple[State, int, set[int]]:
    """Make the trades that gain, best first, each community once; returns the state, how many, and of which."""
    space = own_space(problem, pool)
    good = sorted((t for t in proposals if t is not None and t.gain > 0), key=lambda t: (-t.gain, t.out[0]))
    used = len(state.size)
    state = with_room(state, sum(max(len(t.w) - len(t.out), 0) for t in good))
    gone: set[int] = set()
    made = 0
    for proposal in good:
        if gone.intersection(proposal.out.tolist()):
            continue
        if exchange_gain(problem, state, proposal.nodes, proposal.out, proposal.z, proposal.w, 0, space.local) <= 0:
            continue
        extra = max(len(proposal.w) - len(proposal.out), 0)
        into = np.concatenate([proposal.out, np.arange(used, used + extra)])[: len(proposal.w)]
        apply_exchange(open_workspace(problem, state), proposal.nodes, proposal.out, into, proposal.z, proposal.w)
        state.size_at_split[into] = 0
        gone.update(proposal.out.tolist())
        used, made = used + extra, made + 1
    return state, made, gone


def in_turns(problem: Problem, state: State, groups: list, propose, pool: ThreadPool) -> tuple[State, int]:
    """Try what may be done with groups of communities, likeliest first, in turns in which no two share a community.

    What shares one with a trade that was made waits for the next step, so little is worked out in vain; the last turn
    tries all that is left.
    """
    made = 0
    for turn in range(DISJOINT + 1):
        now = groups if turn == DISJOINT else disjoint(groups)
        state, more, exchanged = accept(problem, state, pool.map(partial(propose, state), now), pool)
        tried = set(now)
        groups = [group for group in groups if group not in tried and exchanged.isdisjoint(group)]
        made += more
    return state, made


def disjoint(groups: list[tuple]) -> list[tuple]:
    """Groups, first come first served, of which no two share a member."""
    some: list[tuple] = []
    busy: set[int] = set()
    for group in groups:
        if busy.isdisjoint(group):
            some.append(group)
            busy.update(group)
    return some


def splits(problem: Problem, state: State, pool: ThreadPool) -> tuple[State, int]:
    """Cut communities in two where the second eigenvector says so."""
    parts = Parts(*members(problem, state))
    proposals = pool.map(
        lambda k: divided(problem, state, parts, k, pool),
        np.flatnonzero(changed_since_split(state) & (state.size > 5)),
    )
    state.size_at_split[:] = state.size
    return accept(problem, state, proposals, pool)[:2]


def divided(problem: Problem, state: State, parts: Parts, k: int, pool: ThreadPool) -> Proposal | None:
    """Two communities for one, if its second eigenvector stands out."""
    nodes, space = parts.of(k), own_space(problem, pool)
    vector = np.sin(1.0 + np.arange(len(nodes)) * 2.399963)  # any start that is not special
    subgraph, _, _ = cut(open_workspace(problem, state), problem, state, nodes, np.array([k]), space.local)
    value, degree = second_vector(subgraph, state.strength[k], vector, TURNS)
    if value < min(EDGE / np.sqrt(max(degree, 1e-12)), CERTAIN):
        return None
    low, high = np.quantile(vector, [1 / 3, 2 / 3])
    starts = ((vector > 0, vector <= 0), (vector > high, vector <= high), (vector > low, vector <= low))
    proposals = [
        _proposal(problem, state, [k], nodes, np.stack(start), np.full(2, 1.5 * state.strength[k]), space)
        for start in starts
    ]
    return max(proposals, key=lambda proposal: proposal.gain)


def _proposal(problem, state, out, nodes, z, w, space, rounds: int = 12) -> Proposal:
    out = np.array(out, np.int64)
    gain = exchange_gain(problem, state, nodes, out, z, w, rounds, space.local)
    empty = (z.sum(axis=1) < 2).any()
    return Proposal(-1.0 if empty else gain, out, nodes, z, w)


def merges(
    problem: Problem, state: State, pool: ThreadPool, *, local: bool = False, attract: bool = True
) -> tuple[State, int]:
    """Make one of two communities that overlap or have links to explain between them."""
    parts = Parts(*members(problem, state))
    pairs = overlapping(problem, state, local)
    if attract:
        changed = changed_since_split(state) | (not local)
        more = [(k, m) for k, m in attracted(problem, state, pool) if changed[k] or changed[m]]
        pairs = [*pairs, *sorted({*more}.difference(pairs))]
    return in_turns(problem, state, pairs, lambda state, pair: merged(problem, state, parts, pair, pool), pool)


def merged(problem: Problem, state: State, parts: Parts, pair: tuple[int, int], pool: ThreadPool) -> Proposal:
    """One community for two."""
    k, m = pair
    both = np.union1d(parts.of(k), parts.of(m))
    w = np.array([max(state.strength[k], state.strength[m])])
    return _proposal(problem, state, [k, m], both, np.ones((1, len(both)), bool), w, own_space(problem, pool))


def reassigns(problem: Problem, state: State, pool: ThreadPool, *, local: bool = False) -> tuple[State, int]:
    """Give up a community, or all of it but what is its own, to those that overlap it most.

    A union of several communities explains too little to let its parts, once found, take all their members.
    """
    parts, partners = Parts(*members(problem, state)), overlapping_partners(problem, state, local)
    groups = [(k, *others) for k, others in partners.items()]
    return in_turns(problem, state, groups, lambda state, group: reassigned(problem, state, parts, group, pool), pool)


def reassigned(problem: Problem, state: State, parts: Parts, group: tuple[int, ...], pool: ThreadPool) -> Proposal:
    """Others that share the members of the first, which is given up or keeps what none of them has."""
    k, *others = group
    every = np.unique(np.concatenate([parts.of(m) for m in (k, *others)]))
    space = own_space(problem, pool)
    z = np.stack([np.isin(every, parts.of(m)) for m in others])
    rest = np.isin(every, parts.of(k)) & ~z.any(axis=0)
    w = state.strength[[*others, k]]
    without = _proposal(problem, state, [*others, k], every, z.copy(), w[:-1].copy(), space)
    reduced = _proposal(problem, state, [*others, k], every, np.vstack([z, rest]), w, space)
    return max(without, reduced, key=lambda proposal: proposal.gain)


def overlapping_partners(problem: Problem, state: State, local: bool = False) -> dict[int, list[int]]:
    """The communities that each community overlaps most."""
    z = memberships(problem, state)
    pairs = overlapping(problem, state, local)
    near: dict[int, list[int]] = {}
    for k, m in pairs:
        near.setdefault(k, []).append(m)
        near.setdefault(m, []).append(k)
    if not pairs:
        return {}
    common = sparse.csr_array(z.T @ z)
    return {k: sorted(some, key=lambda m: (-common[k, m], m))[:PARTNERS] for k, some in near.items()}


def mostly_covered(problem: Problem, state: State, pool: ThreadPool, share: float) -> list[int]:
    """Communities with more than a share of their members in one that overlaps them much; the least missed first."""
    parts, near = Parts(*members(problem, state)), overlapping_partners(problem, state)
    inside = {k: np.isin(parts.of(k), np.concatenate([parts.of(m) for m in near[k]])).mean() for k in near}
    missed = {k: -death_proposal(problem, state, parts, k, pool).gain for k in near if inside[k] > share}
    return sorted(missed, key=lambda k: (missed[k], k))


def overlapping(problem: Problem, state: State, local: bool = False) -> list[tuple[int, int]]:
    """Pairs of communities that have much of the smaller in common, the largest share first."""
    z = memberships(problem, state)
    common = (z.T @ z).tocoo()
    sizes = state.size[common.row], state.size[common.col]
    smaller, larger = np.minimum(*sizes), np.maximum(*sizes)
    close = (
        (common.row < common.col) & (common.data > OVERLAP * smaller) & (larger <= np.maximum(UNEVEN * smaller, LARGE))
    )
    if local:
        close &= changed_since_split(state)[common.row] | changed_since_split(state)[common.col]
    likeliest = np.argsort(-common.data[close] / smaller[close], kind="stable")
    return list(zip(common.row[close][likeliest].tolist(), common.col[close][likeliest].tolist()))


def attracted(problem: Problem, state: State, pool: ThreadPool) -> list[tuple[int, int]]:
    """Pairs of communities with many unexplained links between them, as the halves of one have."""
    responsibility, _ = background_responsibility(problem, state, pool)
    keep = np.concatenate([[0], np.cumsum(responsibility > UNEXPLAINED)])[problem.start]
    shape = (problem.n, problem.n)
    links = sparse.csr_array(
        (responsibility[responsibility > UNEXPLAINED], problem.node[responsibility > UNEXPLAINED], keep), shape=shape
    )
    z = memberships(problem, state)
    between = (z.T @ (links @ z)).tocoo()
    weight = problem.pair_weight * 2 * np.sqrt(state.send_sum * state.receive_sum)
    k, m = between.row, between.col
    expected = weight[k] * weight[m] * np.minimum(state.strength[k], state.strength[m])
    close = (k < m) & (between.data > ATTRACTION * expected)
    return list(zip(k[close].tolist(), m[close].tolist()))


def deaths(problem: Problem, state: State, pool: ThreadPool, *, local: bool = False) -> tuple[State, int]:
    """Give up communities that are worth less than their price."""
    return accept(problem, state, death_proposals(problem, state, pool, local), pool)[:2]


def death_proposals(problem: Problem, state: State, pool: ThreadPool, local: bool = False) -> list[Proposal]:
    """Each community for nothing: the gain is minus its worth."""
    parts = Parts(*members(problem, state))
    some = np.flatnonzero((state.size > 0) & (changed_since_split(state) | (not local)))
    return pool.map(lambda k: death_proposal(problem, state, parts, k, pool), some)


def death_proposal(problem: Problem, state: State, parts: Parts, k: int, pool: ThreadPool) -> Proposal:
    """Nothing for a community."""
    mine, out, none = parts.of(k), np.array([k]), np.zeros(0)
    z = np.zeros((0, len(mine)), bool)
    local = own_space(problem, pool).local
    return Proposal(exchange_gain(problem, state, mine, out, z, none, 0, local), out, mine, z, none)


def without_communities(problem: Problem, state: State, some: np.ndarray) -> State:
    """The state without some communities."""
    parts, none = Parts(*members(problem, state)), np.zeros(0)
    for k in some:
        mine = parts.of(k)
        apply_exchange(
            open_workspace(problem, state), mine, np.array([k]), NOTHING, np.zeros((0, len(mine)), bool), none
        )
    return without_empty(problem, state)


def without_weakest(problem: Problem, state: State, pool: ThreadPool, share: float) -> State:
    """The state without those communities that are worth least for a member."""
    proposals = sorted(death_proposals(problem, state, pool), key=lambda proposal: -proposal.gain / len(proposal.nodes))
    return without_communities(
        problem, state, np.array([t.out[0] for t in proposals[: int(np.ceil(share * len(proposals)))]], np.int64)
    )
