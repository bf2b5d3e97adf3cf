"""The sparse engine over shards: rounds of proposals against a frozen state, accepted so that Q never rises.

The state lives here, links only in the shards, which keep a copy of what they see of the state and are sent what
changed. In a round each shard works on its own and sends proposals:

* flips: sweeps over its own nodes, as if all others stayed. All are made at once; the next round begins with the exact
  change of the terms of links, and if Q rose those of the shard that gains most by itself are made alone.
* births, deaths, splits and merges: proposed on a neighbourhood, the rows of all nodes concerned, which shards send
  each other, and accepted as ``acceptance`` says.

The answer depends on seed and shards, not on who does the work or how often.
"""

from __future__ import annotations

import numpy as np

from klafter.graph.units import distinct
from klafter.search.cluster import neighbourhoods
from klafter.search.cluster import shards as at
from klafter.search.cluster.acceptance import accept_bounded
from klafter.search.cluster.acceptance_kernels import replace_rows
from klafter.search.cluster.endings import sparse_births
from klafter.search.cluster.executor import ShardExecutor, by_shard
from klafter.search.cluster.versions import snapshot_of
from klafter.search.cluster.weights import objective, weights
from klafter.search.config import SEARCH
from klafter.search.sparse.moves.merge import overlapping_partners
from klafter.search.sparse.state import (
    Problem,
    State,
    changed_since_split,
    copy_state,
    empty_state,
    memberships,
    n_alive,
    without_empty,
)
from klafter.search.sparse.weights import prices
from klafter.search.sparse.workspace import open_workspace

JOBS = 2  # neighbourhoods of moves for each shard


def flip_sweep(
    frame: Problem,
    state: State,
    executor: ShardExecutor,
    rounds: int = SEARCH.cluster.flip_rounds,
    everywhere: bool = True,
) -> State:
    """Rounds of flips until none gains; first of all nodes, or of those around what changed since the last round."""
    number, before, moved_before = len(executor.bounds) - 1, None, np.zeros(frame.n, np.bool_)
    for turn in range(rounds + 1):
        look = turn < rounds
        if not look and before is None:
            break
        found = executor.each(at.sweep, snapshot_of(frame, state), [everywhere] * number, [look] * number)
        if before is not None and before[2] + sum(flips.rise for flips in found) < 0.0:
            best = max(before[1], key=lambda flips: flips.gain)
            state, _ = with_flips(frame, before[0], [best])
            before, everywhere = None, True
            continue
        moved = [flips for flips in found if len(flips.nodes)]
        if not moved:
            break
        last, all_moved = state, moved
        if turn:
            moved = [damped(flips, moved_before, turn) for flips in moved]
        state, fall = with_flips(frame, state, moved)
        moved_before[:] = False
        moved_before[np.concatenate([flips.nodes for flips in all_moved])] = True
        before, everywhere = (last, all_moved, fall) if len(moved) > 1 else None, False
    return without_empty(state)


def damped(flips: at.Flips, moved_before: np.ndarray, turn: int) -> at.Flips:
    """The flips without those of half the nodes that changed in the last round too: two neighbours in different shards
    would otherwise swap communities for ever."""
    kept = ~moved_before[flips.nodes] | (_coin(flips.nodes, turn) > 0)
    held = flips.held[kept]
    return flips._replace(nodes=flips.nodes[kept], held=held, member=flips.member[np.repeat(kept, flips.held)])


def _coin(nodes: np.ndarray, turn: int) -> np.ndarray:
    """0 or 1 for each node, another in each turn."""
    mixed = (nodes.astype(np.uint64) * np.uint64(2) + np.uint64(2 * turn + 1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(40)) & np.uint64(1)


def with_flips(frame: Problem, state: State, flips: list[at.Flips]) -> tuple[State, float]:
    """The state with the flips of some shards, and the fall of all of Q but the terms of links and hidden dyads."""
    old, state, own = state, copy_state(state), np.zeros(len(state.size))
    nodes, held, flat = (np.concatenate(some) for some in zip(*(part[2:] for part in flips)))
    replace_rows(open_workspace(frame, state), nodes, held, flat, own)
    pairs = frame.pair_weight * (old.send_sum * old.receive_sum - state.send_sum * state.receive_sum + own)
    fall = pairs @ state.strength + (prices(frame, old.size) - prices(frame, state.size)).sum()
    return state, float(fall)


def births(
    frame: Problem, state: State, executor: ShardExecutor, entropy: list[int], background_discount: float = 1.0
) -> tuple[State, int]:
    """Rounds of births, until one brings few. They are judged at a share of the background.

    Each round tries as many seeds as there are communities, so that few rounds are needed.
    """
    born, turn, number = 0, 0, len(executor.bounds) - 1
    while True:
        turns = [[*entropy, turn, s] for s in range(number)]
        each = max(SEARCH.cluster.seeds, -(-max(n_alive(state), frame.n // SEARCH.cluster.seed_nodes) // number))
        found = executor.each(at.seeds, snapshot_of(frame, state), [each] * number, turns)
        groups = _around(frame, state, [near for _, near in found], executor)
        jobs = [(nodes, some, background_discount) for nodes, (some, _) in zip(groups, found) if len(some)]
        parts = executor.on_neighbourhoods(neighbourhoods.neighbourhood_births, frame, snapshot_of(frame, state), jobs)
        state, made = accept_bounded(frame, state, [proposal for part in parts for proposal in part], executor)
        if made:  # a neighbourhood shows a part of a community: the rest joins before it is taken for another
            state = flip_sweep(frame, state, executor, SEARCH.cluster.birth_flips, everywhere=False)
        born, turn = born + made, turn + 1
        if made * 20 < sum(len(some) for some, _ in found) or made == 0:
            return state, born


def _around(frame: Problem, state: State, groups: list[np.ndarray], executor: ShardExecutor) -> list[np.ndarray]:
    """Groups of nodes and what unexplained links join to them."""
    cut = zip(*(by_shard(nodes, executor.bounds) for nodes in groups))
    found = executor.each(at.neighbours, snapshot_of(frame, state), [list(parts) for parts in cut])
    return [distinct(np.concatenate(more)) for more in zip(*found)]


def moves(frame: Problem, state: State, executor: ShardExecutor) -> tuple[State, int]:
    """Deaths, splits, merges and reassignments, each community and those that overlap it on one neighbourhood."""
    z = memberships(frame, state).T.tocsr()
    partners = overlapping_partners(frame, state)
    some = np.flatnonzero(changed_since_split(state) | np.isin(np.arange(len(state.size)), list(partners)))
    size = max(SEARCH.cluster.group, -(-len(some) // (JOBS * (len(executor.bounds) - 1))))
    jobs = []
    for group in np.split(some, range(size, len(some), size)) if len(some) else []:
        near = {k: partners[k] for k in group.tolist() if k in partners}
        every = sorted({*group.tolist(), *(m for ms in near.values() for m in ms)})
        jobs.append((np.unique(z[every].indices).astype(np.int64), group.tolist(), near))
    parts = executor.on_neighbourhoods(neighbourhoods.neighbourhood_moves, frame, snapshot_of(frame, state), jobs)
    state.size_at_split[some] = state.size[some]
    return accept_bounded(frame, state, [proposal for part in parts for proposal in part], executor)


def init(frame: Problem, executor: ShardExecutor, n_links: float, seed: int) -> State:
    """Births from nothing and, while the background explains much, of communities that gain only together."""
    nothing = empty_state(frame, n_links)
    value = objective(frame, nothing, executor)
    state, _ = births(frame, copy_state(nothing), executor, [seed, 0])
    state = warm_up(frame, state, executor)
    left = sum(executor.each(at.unexplained, snapshot_of(frame, state)))
    if left > 2 * SEARCH.cluster.background * n_links:
        state, _ = births(frame, state, executor, [seed, 0, 0], SEARCH.sparse.background_discount)
        state, _ = moves(frame, warm_up(frame, state, executor), executor)
        state = sparse_births(frame, state, executor, n_links, [seed, 0, 1])
    return state if objective(frame, state, executor) <= value else nothing


def warm_up(frame: Problem, state: State, executor: ShardExecutor) -> State:
    """Weights but for degree factors, then flips."""
    return flip_sweep(frame, weights(frame, state, executor, rounds=1, factors=False), executor)


def step(frame: Problem, state: State, executor: ShardExecutor, entropy: list[int]) -> State:
    """One round of all moves."""
    state, _ = births(frame, state, executor, entropy)
    state = weights(frame, flip_sweep(frame, state, executor), executor)
    state, made = moves(frame, state, executor)
    return weights(frame, flip_sweep(frame, state, executor), executor) if made else state
