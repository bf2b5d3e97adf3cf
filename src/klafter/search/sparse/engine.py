"""The sparse engine of K-LAFTER, for millions of nodes: exposure link, background, degree factors.

    x_ij = t_i r_j (e + sum_{k in z_i, l in z_j} L_kl),   P(link) = 1 - exp(-x_ij), or y_ij ~ Poisson(x_ij)
    Q    = -sum_observed log P(y_ij) + sum_k [lambda^2 + T (log S_k + log C(N, S_k))] + a sum_i (t_i - 1 - log t_i)
           + the price of each off-diagonal L_kl

The sum over non-links is bilinear in t, so column sums give it exactly and every step costs a pass over the links.
One step of the search tries births, flips, weights, merges, splits and deaths; each is taken only if Q falls. L is
diagonal until these gain no more; then off-diagonal affinities are added where Q falls. Nodes may instead share their
links among their communities: see ``moves/share.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy import sparse

from klafter.core.draws import ExposureDraw
from klafter.search.config import SEARCH
from klafter.search.sparse.affinities import matrix
from klafter.search.sparse.moves.birth import births, share_unexplained
from klafter.search.sparse.moves.death import deaths
from klafter.search.sparse.moves.flip import flip_sweep, warm_up
from klafter.search.sparse.moves.merge import merges, reassigns
from klafter.search.sparse.moves.off_diagonal import off_diagonal_search, refine
from klafter.search.sparse.moves.perturb import perturb
from klafter.search.sparse.moves.row_reset import resets
from klafter.search.sparse.moves.split import splits
from klafter.search.sparse.partitions import is_unfinished, lowest_score, partition_start
from klafter.search.sparse.state import (
    Problem,
    State,
    both_ways,
    copy_state,
    empty_state,
    laid_out,
    memberships,
    without_empty,
)
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import objective, weights

EMPTY_STEPS = 6  # of the weights without communities, which hardly change after that


def init(problem: Problem, rng: np.random.Generator, pool: ThreadPool | None = None) -> State:
    """Communities that lower Q by themselves and, while many links are unexplained, such as would do so together."""
    pool = pool or ThreadPool(1)
    return with_embedding(problem, first_births(problem, rng, pool), rng, pool)


def first_births(problem: Problem, rng: np.random.Generator, pool: ThreadPool) -> State:
    """Communities that lower Q by themselves."""
    return warm_up(problem, births(problem, empty_state(problem), rng, pool)[0], pool)


def with_embedding(problem: Problem, state: State, rng: np.random.Generator, pool: ThreadPool) -> State:
    """While many links are unexplained, communities that would lower Q together.

    One community alone rarely lowers Q while the background explains all links of the others, so these are judged at a
    share of the background. Deaths undo what was too much.
    """
    empty = empty_state(problem)
    for _ in range(SEARCH.sparse.embedding_rounds):
        if share_unexplained(problem, state, pool) < SEARCH.sparse.background_discount:
            break
        state, born = births(
            problem, state, rng, pool, background_discount=SEARCH.sparse.background_discount, from_embedding=True
        )
        state = warm_up(problem, state, pool)
        if born == 0:
            break
    state = without_empty(deaths(problem, state, pool)[0])
    if len(state.size) and objective(problem, state, pool) > objective(problem, empty, pool):
        state = step(problem, state, rng, pool)  # with degree factors fitted, communities of few links may lower Q
    return state if len(state.size) else empty


def init_large(problem: Problem, rng: np.random.Generator, pool: ThreadPool) -> tuple[State, bool]:
    """Where the only search of a large graph begins, and whether that is at a partition.

    Births from the embedding are dear: where many links are unexplained, partitions are tried before them, too.
    """
    state = first_births(problem, rng, pool)
    if share_unexplained(problem, state, pool) > SEARCH.sparse.background_discount:
        start, partitioned = lowest_start(problem, copy_state(state), rng, pool)
        if partitioned:
            return start, True
    return or_partition(problem, with_embedding(problem, state, rng, pool), rng, pool)


def or_partition(problem: Problem, state: State, rng: np.random.Generator, pool: ThreadPool) -> tuple[State, bool]:
    """The state, or the start at a partition if the score of that is lower, also than without any; and whether it is.

    Partitions are tried where births found unions of communities, or left many links unexplained.
    """
    return lowest_start(problem, state, rng, pool) if is_unfinished(problem, state, pool) else (state, False)


def lowest_start(problem: Problem, state: State, rng: np.random.Generator, pool: ThreadPool) -> tuple[State, bool]:
    """The state after flips and weights, the start at a partition, or nothing; and whether it is the partition."""
    other, state = partition_start(problem, rng, pool), weights(problem, flip_sweep(problem, state, pool), pool)
    best = min((nothing(problem, pool), state, other), key=lambda state: lowest_score(problem, state, pool))
    return (other, True) if best is other else (state, False)


def step(
    problem: Problem, state: State, rng: np.random.Generator, pool: ThreadPool | None = None, *, regrown: bool = True
) -> State:
    """One round of all moves; if it gains little and many links are unexplained, some communities regrow if asked."""
    pool, state = pool or ThreadPool(1), laid_out(problem, state)
    if not state.affinities.diagonal:
        return refine(problem, state, rng, pool)
    before = objective(problem, state, pool)
    state, made = births(problem, state, rng, pool)
    state = weights(problem, flip_sweep(problem, without_empty(state), pool), pool)
    state, more = resets(problem, state, pool)
    state, made = weights(problem, state, pool) if more else state, made + more
    state, more = community_moves(problem, state, before, pool)
    made += more
    state = weights(problem, flip_sweep(problem, state, pool), pool) if made else state
    value = objective(problem, state, pool)
    if (
        before - value > SEARCH.sparse.least_gain * abs(value)
        or not len(state.size)
        or share_unexplained(problem, state, pool) <= SEARCH.sparse.background_discount
    ):
        return state
    return perturb(problem, state, rng, pool, regrown=regrown)


def community_moves(problem: Problem, state: State, before: float, pool: ThreadPool) -> tuple[State, int]:
    """Merges, reassignments, deaths and splits; returns how many were made.

    Of many communities those that did not change are left alone, and splits come first: as long as the objective falls
    by much from where it was ``before``, merges would mostly be tried in vain.
    """
    if len(state.size) <= SEARCH.sparse.merge_all:
        return make_moves((merges, reassigns, deaths, splits), problem, state, pool)
    state, made = make_moves([splits], problem, state, pool)
    value, near = objective(problem, state, pool), partial(reassigns, local=True)
    if before - value > SEARCH.sparse.merge_from * abs(value):
        state, more = make_moves((near, deaths), problem, state, pool)
    else:
        state, more = make_moves((partial(merges, local=True), near, deaths), problem, state, pool)
        state.size_at_merge[:] = state.size
    return state, made + more


def make_moves(moves: Sequence[Callable], problem: Problem, state: State, pool: ThreadPool) -> tuple[State, int]:
    """Moves one after the other; returns how many were made."""
    made = 0
    for move in moves:
        state, more = move(problem, state, pool)
        state, made = without_empty(state), made + more
    return state, made


def nothing(problem: Problem, pool: ThreadPool) -> State:
    """No communities, with weights that fit."""
    return weights(problem, empty_state(problem), pool, rounds=EMPTY_STEPS)


def end(problem: Problem, state: State, rng: np.random.Generator, pool: ThreadPool, *, bridges: bool) -> State:
    """The end of a search: off-diagonal affinities if asked for and Q falls.

    L of a network of several kinds stays diagonal: in two modes, links one way would make L_kl and L_lk two affinities.
    """
    if not state.affinities.diagonal:
        return state
    some_kinds = len(problem.second_kind) or len(problem.kind)
    return off_diagonal_search(problem, state, rng, pool) if bridges and not some_kinds else state


def draw(problem: Problem, state: State, z: sparse.csr_array | None = None) -> ExposureDraw:
    """x_ij = t_i r_j (e + z_i' L z_j); ``z`` instead of the memberships."""
    z, inside = memberships(problem, state) if z is None else z, sparse.csr_array(matrix(state.affinities))
    return ExposureDraw(z, inside, float(state.background), *both_ways(problem, state), state.shared)
