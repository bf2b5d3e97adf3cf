"""The sparse engine over shards: rounds of proposals against a frozen state, accepted in order so that Q never rises.

The state lives here, links only in the shards. A round sends the state out and takes proposals in:

* flips: a node's best flip is made if it beats those of its neighbours, and those of the same community across hidden
  dyads, so these terms are as proposed; what it changes in the totals of communities is exact.
* births, deaths, splits and merges: proposed on a neighbourhood, the rows of all nodes concerned, which shards send
  each other. Two of them disturb one another only in links inside both (a hidden dyad counts in each community by
  itself); shards count those, and a proposal is taken while the most that they could change leaves a gain.

The answer depends on seed and shards, not on who does the work or how often.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from klafter.graph.units import distinct
from klafter.search.cluster import shards as at
from klafter.search.cluster.executor import ShardExecutor, bare, by_shard, snapshot_of
from klafter.search.cluster.shards_kernels import MOVED, WAITING, accept_flips
from klafter.search.cluster.weights import objective, weights
from klafter.search.config import SEARCH
from klafter.search.sparse.exchange import Exchange, accept, carry_out, in_order
from klafter.search.sparse.moves.merge import overlapping_partners
from klafter.search.sparse.state import Problem, State, changed_since_split, empty_state, memberships, without_empty
from klafter.search.sparse.workspace import open_workspace


def flip_sweep(
    frame: Problem, state: State, executor: ShardExecutor, rounds: int = SEARCH.cluster.flip_rounds
) -> State:
    """Rounds of flips until none gains."""
    activity = np.full(frame.n, MOVED, np.int8)
    for _ in range(rounds):
        nodes, which, gain = map(np.concatenate, zip(*executor.each(at.propose, snapshot_of(frame, state, activity))))
        if len(nodes) == 0:
            break
        proposals = np.zeros((2, frame.n))
        proposals[:, nodes] = gain, which
        best = np.isin(nodes, np.concatenate(executor.each(at.winners, proposals)))
        order = np.flatnonzero(best)[np.argsort(-gain[best], kind="stable")]
        moved = np.zeros(frame.n, np.bool_)
        accept_flips(open_workspace(frame, state), nodes[order], which[order], gain[order], moved)
        activity = np.zeros(frame.n, np.int8)
        activity[nodes] = WAITING
        activity[moved] = MOVED
        if not moved.any():
            break
    return without_empty(state)


def births(
    frame: Problem, state: State, executor: ShardExecutor, entropy: list[int], background_discount: float = 1.0
) -> tuple[State, int]:
    """Rounds of births, until one brings few. They are judged at a share of the background."""
    born, turn = 0, 0
    while True:
        turns = [[*entropy, turn, s] for s in range(len(executor.bounds) - 1)]
        snapshot = snapshot_of(frame, state)
        seeds = executor.each(at.seeds, snapshot, [SEARCH.cluster.seeds] * len(turns), turns)
        jobs = [(nodes, some, background_discount) for nodes, some in zip(_around(seeds, executor), seeds) if len(some)]
        proposals = [
            proposal
            for part in executor.on_neighbourhoods(at.neighbourhood_births, bare(frame), snapshot, jobs)
            for proposal in part
        ]
        state, made = accept_bounded(frame, state, proposals, executor)
        if made:  # a neighbourhood shows a part of a community: the rest joins before it passes for another
            state = flip_sweep(frame, state, executor, 4)
        born, turn = born + made, turn + 1
        if made * 20 < sum(map(len, seeds)) or made == 0:
            return state, born


def _around(seeds: list[np.ndarray], executor: ShardExecutor) -> list[np.ndarray]:
    """Two steps around each group of seeds."""
    groups = [distinct(some) for some in seeds]
    for _ in range(2):
        cut = zip(*(by_shard(nodes, executor.bounds) for nodes in groups))
        found = executor.each(at.neighbours, None, [list(parts) for parts in cut])
        groups = [distinct(np.concatenate([nodes, *more])) for nodes, *more in zip(groups, *found)]
    return groups


def moves(frame: Problem, state: State, executor: ShardExecutor) -> tuple[State, int]:
    """Deaths, splits, merges and reassignments, each community and those that overlap it on one neighbourhood."""
    z = memberships(frame, state).T.tocsr()
    partners = overlapping_partners(frame, state)
    some = np.flatnonzero(changed_since_split(state) | np.isin(np.arange(len(state.size)), list(partners)))
    jobs = []
    for group in np.split(some, range(SEARCH.cluster.group, len(some), SEARCH.cluster.group)) if len(some) else []:
        near = {k: partners[k] for k in group.tolist() if k in partners}
        every = sorted({*group.tolist(), *(m for ms in near.values() for m in ms)})
        jobs.append((np.unique(z[every].indices).astype(np.int64), group.tolist(), near))
    parts = executor.on_neighbourhoods(at.neighbourhood_moves, bare(frame), snapshot_of(frame, state), jobs)
    state.size_at_split[some] = state.size[some]
    return accept_bounded(frame, state, [proposal for part in parts for proposal in part], executor)


def accept_bounded(
    frame: Problem, state: State, proposals: list[Exchange], executor: ShardExecutor
) -> tuple[State, int]:
    """Carry out exchanges, best first, that gain whatever those before them changed; each community once."""
    good = in_order(proposals)
    if not good:
        return state, 0
    shared = _shared_links(frame, good, executor)

    def gain_now(state, number, made):
        _, gain, _, nodes, z, _ = good[number]
        free_slots = frame.start[nodes + 1] - frame.start[nodes] - state.held[nodes]
        if (free_slots < z.sum(axis=0)).any():
            return -np.inf
        return gain - _doubt(frame, state, good[number], shared[[number]][:, made].sum())

    def carry(state, exchange, gain, into):
        return carry_out(frame, state, exchange._replace(nodes=exchange.nodes.astype(np.int32)), into)

    state, made, _ = accept(state, good, gain_now, carry)
    return without_empty(state), made


def _shared_links(frame: Problem, proposals: list[Exchange], executor: ShardExecutor) -> sparse.csr_array:
    """How many links lie inside the nodes of both of two exchanges."""
    start = np.concatenate([[0], np.cumsum([len(t.nodes) for t in proposals])])
    nodes = np.concatenate([t.nodes for t in proposals])
    shape = (len(proposals), frame.n)
    inside = sparse.csr_array(sparse.csr_array((np.ones(len(nodes), np.float32), nodes, start), shape=shape).T)
    return sparse.csr_array(sum(executor.each(at.shared_links, inside)) / 2)


def _doubt(frame: Problem, state: State, proposal: Exchange, links: float) -> float:
    """The most that ``links`` which others changed could take from the gain.

    h(a (u + W)) - h(a u) <= a W + log(1 + W/e) for u >= e, at most twice for each link.
    """
    if links == 0:
        return 0.0
    most = max(proposal.w.sum(), state.strength[proposal.out].sum())
    factor = 0.0 if frame.counts else state.send[proposal.nodes].max() * state.receive[proposal.nodes].max()
    return 2 * links * (factor * most + np.log1p(most / state.background))


def init(frame: Problem, executor: ShardExecutor, n_links: float, seed: int) -> State:
    """Births from nothing and, while the background explains much, of communities that gain only together."""
    state, _ = births(frame, empty_state(frame, n_links), executor, [seed, 0])
    state = warm_up(frame, state, executor)
    if (
        np.concatenate(executor.each(at.node_responsibility, snapshot_of(frame, state))).sum()
        > 2 * SEARCH.cluster.background * n_links
    ):
        state, _ = births(frame, state, executor, [seed, 0, 0], SEARCH.sparse.background_discount)
        state, _ = moves(frame, warm_up(frame, state, executor), executor)
    return min((empty_state(frame, n_links), state), key=lambda state: objective(frame, state, executor))


def warm_up(frame: Problem, state: State, executor: ShardExecutor) -> State:
    """Weights but for degree factors, then flips."""
    return flip_sweep(frame, weights(frame, state, executor, rounds=1, factors=False), executor)


def step(frame: Problem, state: State, executor: ShardExecutor, entropy: list[int]) -> State:
    """One round of all moves."""
    state, _ = births(frame, state, executor, entropy)
    state = weights(frame, flip_sweep(frame, state, executor), executor)
    state, made = moves(frame, state, executor)
    return weights(frame, flip_sweep(frame, state, executor), executor) if made else state
