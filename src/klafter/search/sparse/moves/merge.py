"""Merges of communities that overlap, and reassignment of the members of one to others.

With ``local`` only communities that changed since merges with them were last tried are looked at.
"""

import numpy as np
from scipy import sparse

from klafter.search.config import SEARCH
from klafter.search.sparse.exchange import Exchange, Members, concerned, in_turns, members_of, propose, propose_either
from klafter.search.sparse.refusals import Refusals
from klafter.search.sparse.state import Problem, State, changed_since_merge, memberships
from klafter.search.sparse.threads import ThreadPool

TOGETHER = 500  # communities whose overlaps with all others are counted at a time


def merges(problem: Problem, state: State, pool: ThreadPool, *, local: bool = False) -> tuple[State, int]:
    """Make one of two communities that overlap."""
    inside = members_of(problem, state)
    pairs, refused = promising(problem, state, overlapping(problem, state, local), "merge", pool)

    def proposed(state: State, pair: tuple[int, int]) -> Exchange:
        return merge_proposal(problem, state, inside, pair, pool)

    return in_turns(problem, state, pairs, proposed, pool, refused)


def promising(
    problem: Problem, state: State, groups: list, move: str, pool: ThreadPool
) -> tuple[list, Refusals | None]:
    """The groups that may gain, and what is remembered of them: nothing of networks too large to be annealed, where it
    takes memory, and few are tried."""
    if len(problem.node) // 2 * SEARCH.sparse.anneal_sweeps > SEARCH.sparse.anneal_links:
        return groups, None
    refused = pool.refusals(move)
    return refused.promising(memberships(problem, state), groups), refused


def merge_proposal(
    problem: Problem, state: State, inside: Members, pair: tuple[int, int], pool: ThreadPool
) -> Exchange:
    """One community for two."""
    nodes = concerned(state, inside, pair)
    z = (inside.among(nodes, pair[0]) | inside.among(nodes, pair[1]))[None, :]
    w = np.array([state.strength[list(pair)].max()])
    return propose("merge", problem, state, pair, nodes, z, w, pool, most_loss=SEARCH.sparse.merge_loss)


def reassigns(problem: Problem, state: State, pool: ThreadPool, *, local: bool = False) -> tuple[State, int]:
    """Give up a community, or all of it but what is its own, to those that overlap it most.

    A union of several communities explains too little to let its parts, once found, take all their members.
    """
    inside, near = members_of(problem, state), overlapping_partners(problem, state, local)
    groups, refused = promising(problem, state, [(k, *others) for k, others in near.items()], "reassign", pool)

    def proposed(state: State, group: tuple) -> Exchange:
        return reassign_proposal(problem, state, inside, group, pool)

    return in_turns(problem, state, groups, proposed, pool, refused)


def reassign_proposal(problem: Problem, state: State, inside: Members, group: tuple, pool: ThreadPool) -> Exchange:
    """Others that share the members of the first, which is given up or keeps what none of them has."""
    k, *others = group
    nodes, out = concerned(state, inside, group), [*others, k]
    z = np.stack([inside.among(nodes, m) for m in others])
    rest = inside.among(nodes, k) & ~z.any(axis=0)
    w = state.strength[out]
    columns = [(z.copy(), w[:-1].copy()), (np.vstack([z, rest]), w)]
    without, reduced = propose_either("reassign", problem, state, out, nodes, columns, pool)
    if np.array_equal(reduced.z, np.vstack([z, inside.among(nodes, k)])):
        return without  # the same members: other strengths are for the steps of weights
    return max(without, reduced, key=lambda proposal: proposal.gain)


def overlapping_partners(problem: Problem, state: State, local: bool = False) -> dict[int, list[int]]:
    """The communities that each community overlaps most."""
    near: dict[int, list[tuple[int, int]]] = {}
    for k, m, common in zip(*(part.tolist() for part in overlaps(problem, state, local))):
        near.setdefault(k, []).append((-common, m))
        near.setdefault(m, []).append((-common, k))
    return {k: [m for _, m in sorted(some)[: SEARCH.sparse.partners]] for k, some in near.items()}


def overlapping(problem: Problem, state: State, local: bool = False) -> list[tuple[int, int]]:
    """Pairs of communities that have much of the smaller in common, the largest share first."""
    k, m, _ = overlaps(problem, state, local)
    return list(zip(k.tolist(), m.tolist()))


def overlaps(problem: Problem, state: State, local: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same pairs, k and m, and how many members they have in common; those of some communities at a time."""
    z = memberships(problem, state)
    of = sparse.csr_array(z.T)
    parts = [
        close_pairs(state, low, of[low : low + TOGETHER] @ z, local)
        for low in range(0, max(len(state.size), 1), TOGETHER)
    ]
    k, m, common, share = (np.concatenate(column) for column in zip(*parts))
    likeliest = np.argsort(-share, kind="stable")
    return k[likeliest], m[likeliest], common[likeliest]


def close_pairs(state: State, low: int, common: sparse.csr_array, local: bool):
    """Pairs of any community and one from ``low`` on that are close, with their common members and the share of the
    smaller that these are; from the rows of Z' Z."""
    m, k, common = np.repeat(np.arange(low, low + common.shape[0]), np.diff(common.indptr)), common.indices, common.data
    smaller, larger = np.minimum(state.size[k], state.size[m]), np.maximum(state.size[k], state.size[m])
    close = (
        (k < m)
        & (common > SEARCH.sparse.overlap * smaller)
        & (larger <= np.maximum(SEARCH.sparse.uneven * smaller, SEARCH.sparse.large))
    )
    if local:
        close &= changed_since_merge(state)[k] | changed_since_merge(state)[m]
    return k[close], m[close], common[close], common[close] / smaller[close]
