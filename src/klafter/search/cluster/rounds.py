"""The sparse engine over shards: rounds of proposals against a frozen state, accepted in order so that Q never rises.

The state lives here, links only in the shards. A round sends the state out and takes proposals in:

* flips: a node's best flip is made if it beats those of its neighbours, and those of the same community across hidden
  dyads, so these terms are as proposed; what it changes in the totals of communities is exact.
* births, deaths, splits and merges: proposed on a ball, the rows of all nodes concerned, which shards send each other.
  Two of them disturb one another only in links inside both (a hidden dyad counts in each community by itself);
  shards count those, and a proposal is taken while the most that they could change leaves a gain.

The answer depends on seed and shards, not on who does the work or how often.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import sparse

from klafter.graph.units import distinct
from klafter.search.cluster import shards as at
from klafter.search.cluster.shards_kernels import MOVED, WAITING, accept_flips
from klafter.search.sparse.births import Proposal
from klafter.search.sparse.exchange_kernels import apply_exchange
from klafter.search.sparse.moves import overlapping_partners
from klafter.search.sparse.perturb import BACKGROUND_DISCOUNT
from klafter.search.sparse.state import Problem, State, changed_since_split, memberships, with_room, without_empty
from klafter.search.sparse.sweeps import WARM_UP
from klafter.search.sparse.weights import Totals, as_totals, objective_from, parallel_step
from klafter.search.sparse.workspace import open_workspace

ROOM = 64  # communities of a node that rounds keep room for
SEEDS = 24  # of a shard in one round of births
GROUP = 32  # communities to a ball
FLIPS = 12  # rounds of flips
MUCH = 0.5  # share of the links that the background explains before births in hope are tried
NONE = np.zeros(0, np.int8)


class ShardExecutor(Protocol):
    """Who holds the shards: node i lives in the shard s with ``bounds[s] <= i < bounds[s + 1]``."""

    bounds: np.ndarray

    def each(self, work, shared: Any, *columns) -> list:
        """``work(shard, shared, *the shard's entry of each column)`` of every shard; no ``shared`` if it is None."""

    def on_neighbourhoods(self, work, frame: Problem, snapshot: at.Snapshot, jobs: list[tuple]) -> list:
        """``work(frame, rows, view, *args)`` of every job (nodes, *args), with the rows of its nodes."""


class LocalShardExecutor:
    """Shards in this process: the plain meaning of a fleet."""

    def __init__(self, shards: list[at.Shard], bounds: np.ndarray):
        self.shards, self.bounds = shards, bounds

    def each(self, work, shared, *columns):
        given = () if shared is None else (shared,)
        return [work(shard, *given, *args) for shard, *args in zip(self.shards, *columns)]

    def on_neighbourhoods(self, work, frame, snapshot, jobs):
        def rows(nodes):
            return [at.rows_of(*pair) for pair in zip(self.shards, by_shard(nodes, self.bounds))]

        return [work(frame, rows(nodes), snapshot, *args) for nodes, *args in jobs]


def by_shard(nodes: np.ndarray, bounds: np.ndarray) -> list[np.ndarray]:
    """Nodes in order, cut where shards begin."""
    return np.split(nodes, np.searchsorted(nodes, bounds[1:-1]))


def frame_of(problem: Problem, degree: np.ndarray) -> Problem:
    """The problem without its links, with room for the communities of each node."""
    start = np.concatenate([[0], np.cumsum(np.minimum(degree, ROOM), dtype=np.int64)])
    return problem._replace(start=start, middle=start[1:], node=np.zeros(0, np.int32), value=np.zeros(0))


def bare(frame: Problem) -> Problem:
    """Size, kind and prices alone, for those who bring rows of their own."""
    empty = np.zeros(0, np.int64)
    return frame._replace(start=empty, middle=empty, hidden_start=empty, hidden_middle=empty)


def first_state(frame: Problem, n_links: float) -> State:
    """No communities, every degree factor 1, and the background that explains all links."""
    n = frame.n
    density = n_links / max(frame.pair_weight * n * (n - 1) - len(frame.hidden_node) / 2, 1.0)
    background = density if frame.counts else -np.log1p(-min(density, 1 - 1e-9))
    none = State._fields[4:9]
    return State(
        **{name: np.zeros(0, np.int64 if name in ("size", "size_at_split") else float) for name in none},
        member=np.zeros(frame.start[-1] + 1, np.int32),
        held=np.zeros(n, np.int32),
        send=np.ones(n),
        receive=np.ones(n),
        background=float(max(background, 1e-300)),
    )


def snapshot_of(frame: Problem, state: State, stirred: np.ndarray = NONE) -> at.Snapshot:
    """What goes to the shards."""
    start = np.concatenate([[0], np.cumsum(state.held, dtype=np.int64)])
    place = np.arange(start[-1]) - np.repeat(start[:-1] - frame.start[:-1], state.held)
    return at.Snapshot(start, state.member[place], state.send, state.receive, tuple(state[4:]), stirred)


def totals(frame: Problem, state: State, executor: ShardExecutor) -> Totals:
    """Sums over all links, reduced in the order of the shards."""
    parts = executor.each(at.tally, snapshot_of(frame, state))
    sent, received = (np.concatenate([part[i] for part in parts]) for i in (2, 3))
    return as_totals(frame, state, [part[:2] for part in parts], sent, received)


def objective(frame: Problem, state: State, executor: ShardExecutor) -> float:
    """Q, exact over all dyads."""
    return objective_from(frame, state, totals(frame, state, executor))


def weights(frame: Problem, state: State, executor: ShardExecutor, rounds: int = 2, factors: bool = True) -> State:
    """Steps of w, e and t."""

    def hidden(state):
        return np.concatenate(executor.each(at.hidden_rates, snapshot_of(frame, state)), axis=1)

    for _ in range(rounds):
        sums = totals(frame, state, executor)
        state = parallel_step(frame, state, sums, factors=factors, hidden=hidden if len(frame.hidden_node) else None)
    return state


def flip_sweep(frame: Problem, state: State, executor: ShardExecutor, rounds: int = FLIPS) -> State:
    """Rounds of flips until none gains."""
    stirred = np.full(frame.n, MOVED, np.int8)
    for _ in range(rounds):
        nodes, which, gain = map(np.concatenate, zip(*executor.each(at.propose, snapshot_of(frame, state, stirred))))
        if len(nodes) == 0:
            break
        proposals = np.zeros((2, frame.n))
        proposals[:, nodes] = gain, which
        best = np.isin(nodes, np.concatenate(executor.each(at.winners, proposals)))
        order = np.flatnonzero(best)[np.argsort(-gain[best], kind="stable")]
        moved = np.zeros(frame.n, np.bool_)
        accept_flips(open_workspace(frame, state), nodes[order], which[order], gain[order], moved)
        stirred = np.zeros(frame.n, np.int8)
        stirred[nodes] = WAITING
        stirred[moved] = MOVED
        if not moved.any():
            break
    return without_empty(frame, state)


def births(
    frame: Problem, state: State, executor: ShardExecutor, entropy: list[int], background_discount: float = 1.0
) -> tuple[State, int]:
    """Rounds of births, until one brings few. With ``hope`` they need only pay at that share of the background."""
    born, turn = 0, 0
    while True:
        turns = [[*entropy, turn, s] for s in range(len(executor.bounds) - 1)]
        snapshot = snapshot_of(frame, state)
        seeds = executor.each(at.seeds, snapshot, [SEEDS] * len(turns), turns)
        jobs = [(nodes, some, background_discount) for nodes, some in zip(_around(seeds, executor), seeds) if len(some)]
        proposals = [
            proposal
            for part in executor.on_neighbourhoods(at.neighbourhood_births, bare(frame), snapshot, jobs)
            for proposal in part
        ]
        state, made = accept(frame, state, proposals, executor)
        if made:  # a ball shows a part of a community: the rest joins before it passes for another
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
    """Deaths, splits, merges and dissolutions, each community and those that overlap it on one ball."""
    z = memberships(frame, state).T.tocsr()
    partners = overlapping_partners(frame, state)
    some = np.flatnonzero(changed_since_split(state) | np.isin(np.arange(len(state.size)), list(partners)))
    jobs = []
    for group in np.split(some, range(GROUP, len(some), GROUP)) if len(some) else []:
        near = {k: partners[k] for k in group.tolist() if k in partners}
        every = sorted({*group.tolist(), *(m for ms in near.values() for m in ms)})
        jobs.append((np.unique(z[every].indices).astype(np.int64), group.tolist(), near))
    parts = executor.on_neighbourhoods(at.neighbourhood_moves, bare(frame), snapshot_of(frame, state), jobs)
    state.size_at_split[some] = state.size[some]
    return accept(frame, state, [proposal for part in parts for proposal in part], executor)


def accept(frame: Problem, state: State, proposals: list[Proposal], executor: ShardExecutor) -> tuple[State, int]:
    """Make trades, best first, that gain whatever those before them changed; each community once."""
    if not proposals:
        return state, 0
    proposals = sorted(proposals, key=lambda t: (-t.gain, t.out[:1].tolist(), int(t.nodes[0])))
    shared = _shared_links(frame, proposals, executor)
    used = len(state.size)
    state = with_room(state, sum(max(len(t.w) - len(t.out), 0) for t in proposals))
    gone: set[int] = set()
    made, disturbed = 0, np.zeros(len(proposals))
    for number, proposal in enumerate(proposals):
        room = frame.start[proposal.nodes + 1] - frame.start[proposal.nodes] - state.held[proposal.nodes]
        if (
            gone.intersection(proposal.out.tolist())
            or (room < proposal.z.sum(axis=0)).any()
            or proposal.gain <= _doubt(frame, state, proposal, disturbed[number])
        ):
            continue
        extra = max(len(proposal.w) - len(proposal.out), 0)
        into = np.concatenate([proposal.out, np.arange(used, used + extra)])[: len(proposal.w)]
        apply_exchange(
            open_workspace(frame, state), proposal.nodes.astype(np.int32), proposal.out, into, proposal.z, proposal.w
        )
        state.size_at_split[into] = 0
        disturbed += shared[[number]].toarray().ravel()
        gone.update(proposal.out.tolist())
        used, made = used + extra, made + 1
    return without_empty(frame, state), made


def _shared_links(frame: Problem, proposals: list[Proposal], executor: ShardExecutor) -> sparse.csr_array:
    """How many links lie inside the nodes of both of two trades."""
    start = np.concatenate([[0], np.cumsum([len(t.nodes) for t in proposals])])
    nodes = np.concatenate([t.nodes for t in proposals])
    shape = (len(proposals), frame.n)
    inside = sparse.csr_array(sparse.csr_array((np.ones(len(nodes), np.float32), nodes, start), shape=shape).T)
    return sparse.csr_array(sum(executor.each(at.shared_links, inside)) / 2)


def _doubt(frame: Problem, state: State, proposal: Proposal, links: float) -> float:
    """The most that ``links`` which others changed could take from the gain.

    h(a (u + W)) - h(a u) <= a W + log(1 + W/e) for u >= e, at most twice for each link.
    """
    if links == 0:
        return 0.0
    most = max(proposal.w.sum(), state.strength[proposal.out].sum())
    factor = 0.0 if frame.counts else state.send[proposal.nodes].max() * state.receive[proposal.nodes].max()
    return 2 * links * (factor * most + np.log1p(most / state.background))


def init(frame: Problem, executor: ShardExecutor, n_links: float, seed: int) -> State:
    """Births from nothing and, while the background explains much, of communities that would only pay together."""
    state, _ = births(frame, first_state(frame, n_links), executor, [seed, 0])
    state = warm_up(frame, state, executor)
    if np.concatenate(executor.each(at.node_responsibility, snapshot_of(frame, state))).sum() > 2 * MUCH * n_links:
        state, _ = births(frame, state, executor, [seed, 0, 0], BACKGROUND_DISCOUNT)
        state, _ = moves(frame, warm_up(frame, state, executor), executor)
    return min((first_state(frame, n_links), state), key=lambda state: objective(frame, state, executor))


def warm_up(frame: Problem, state: State, executor: ShardExecutor) -> State:
    """Flips and weights, degree factors left alone."""
    for _ in range(WARM_UP):
        state = flip_sweep(frame, weights(frame, state, executor, rounds=1, factors=False), executor)
    return state


def step(frame: Problem, state: State, executor: ShardExecutor, entropy: list[int]) -> State:
    """One round of all moves."""
    state, _ = births(frame, state, executor, entropy)
    state = weights(frame, flip_sweep(frame, state, executor), executor)
    state, made = moves(frame, state, executor)
    return weights(frame, flip_sweep(frame, state, executor), executor) if made else state
