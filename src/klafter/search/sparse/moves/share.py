"""Links that nodes share among their communities, where the score prefers that to more links in each.

    x_ij = t_i r_j (e + sum_k w_k z_ik z_jk)                a node of more communities has more links
    x_ij = t_i r_j (e + sum_k w_k z_ik z_jk / (m_i m_j))    it has as many, and an m-th of them in each

The score says which of the two holds: the cover that a search found is given the weights of either. Where the second
is lower, or nearly so, the search goes on with it: nodes choose their sets of communities anew, and weights follow.
"""

from __future__ import annotations

import numpy as np

from klafter.search.config import SEARCH
from klafter.search.moves.proposal import CHECKED, LEAST_FALL, check_claim
from klafter.search.sparse.kernels.rows import RowScratch, choose_rows, row_scratch
from klafter.search.sparse.score import cover_price, score
from klafter.search.sparse.state import (
    Problem,
    State,
    as_state,
    copy_state,
    memberships,
    n_alive,
    sums_by_kind,
    without_empty,
)
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import new_affinities, objective, prices, totals, weights
from klafter.search.sparse.workspace import open_workspace

FOLLOWING = 10  # steps of all weights from those of the other model


def can_share(problem: Problem, state: State) -> bool:
    """Whether sharing makes a difference, and this engine can judge it."""
    return problem.temperature > 0.0 and state.affinities.diagonal and bool((state.held > 1).any())


def with_shares(problem: Problem, state: State, pool: ThreadPool) -> State:
    """The same cover where nodes share their links, with weights that fit."""
    expected, state = totals(problem, state, pool), copy_state(without_empty(state))
    state = in_shares(problem, state)
    sums = totals(problem, state, pool)
    state = new_affinities(state, sums._replace(credit=expected.credit))
    return weights(problem, state, pool, rounds=FOLLOWING)


def without_shares(problem: Problem, state: State, pool: ThreadPool) -> State:
    """The same cover where a node of more communities has more links, with weights that fit."""
    if not state.shared:
        return state
    plain = as_state(
        problem, memberships(problem, state), state.affinities, state.background, state.send, state.receive
    )
    return weights(problem, plain, pool, rounds=FOLLOWING)


def in_shares(problem: Problem, state: State) -> State:
    """The same cover and weights where nodes share their links."""
    owner = np.repeat(np.arange(problem.n), state.held)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(state.held) - state.held, state.held)
    member = state.member[problem.start[owner] + place]
    factors = state.send, state.receive
    parts = [t / np.maximum(state.held, 1) for t in factors]
    sums = [np.bincount(member, part[owner], len(state.size)) for part in parts]
    by_kind = [sums_by_kind(problem, member, owner, part, len(state.size)) for part in parts]
    return state._replace(
        send_sum=sums[0].astype(float), receive_sum=sums[1].astype(float), shared=True,
        send_by_kind=by_kind[0], receive_by_kind=by_kind[1],
    )  # fmt: skip


def share_links(
    problem: Problem, state: State, rng, pool: ThreadPool, *, counts: bool, goal: float = np.inf
) -> tuple[State, float]:
    """The state after rounds of rows and weights, and its score; given up where it will not come below the ``goal``.

    One way begins with all nodes as they are, another with everyone in some community, as when counts are learned.
    """
    value = score(problem, state, pool, counts=counts)
    ways = [descend(problem, (state, value), rng, pool, counts, goal)]
    if counts and (state.held == 0).any():
        everyone = one_round(problem, state, rng, pool, counts, least=1)
        ways.append(descend(problem, everyone, rng, pool, counts, goal))
    return min(ways, key=lambda found: found[1])


def descend(
    problem: Problem, here: tuple[State, float], rng, pool: ThreadPool, counts: bool, goal: float
) -> tuple[State, float]:
    """Rounds as long as the score falls, and falls by enough to come below the goal in the rounds that are left."""
    for left in range(SEARCH.sparse.share_rounds - 1, -1, -1):
        there = one_round(problem, here[0], rng, pool, counts)
        fall, here = here[1] - there[1], min(here, there, key=lambda found: found[1])
        if fall <= LEAST_FALL or here[1] - left * fall > goal:
            break
    return here


def one_round(problem: Problem, state: State, rng, pool: ThreadPool, counts: bool, least: int = 0):
    """Rows of all nodes, until few change, and weights; the state, and its score."""
    state = copy_state(state)
    for _ in range(SEARCH.sparse.flip_rounds):
        before = judged_rows(problem, state, pool, counts) if CHECKED else 0.0
        fall, changed = choose_rows(
            open_workspace(problem, state), rng.permutation(problem.n), least, scratch_for(problem, state, counts)
        )
        if CHECKED:
            check_claim("shared rows", before, fall, judged_rows(problem, state, pool, counts))
        if changed == 0:
            break
    state = weights(problem, without_empty(state), pool)
    return state, score(problem, state, pool, counts=counts)


def scratch_for(problem: Problem, state: State, counts: bool) -> RowScratch:
    """Scratch space for rows, with what the price of learned counts needs to know if asked for."""
    ws, most = open_workspace(problem, state), SEARCH.sparse.reset_communities
    if not counts:
        return row_scratch(ws, most, np.zeros(0), np.zeros(2), state.shared)
    longest = int(state.held.max(initial=0)) + most + 1
    holding = np.bincount(state.held, minlength=longest + 1).astype(float)
    return row_scratch(ws, most, holding, np.array([float(state.held.sum()), float(n_alive(state))]), state.shared)


def judged_rows(problem: Problem, state: State, pool: ThreadPool, counts: bool) -> float:
    """What rows lower: the objective with the price of the prior in use."""
    return objective(problem, state, pool) - prices(problem, state.size).sum() + cover_price(problem, state, counts)


def deaths(problem: Problem, state: State, value: float, rng, pool: ThreadPool, *, counts: bool) -> tuple[State, int]:
    """Delete communities, small ones first, each if the score falls; returns how many were deleted."""
    made, tried = 0, SEARCH.sparse.share_deaths // max(len(problem.node) // 2, 1)
    for k in np.argsort(state.size, kind="stable")[:tried]:
        trial = weights(problem, without_one(problem, state, k, rng, counts), pool, rounds=1)
        there = score(problem, trial, pool, counts=counts)
        if there < value - LEAST_FALL:
            state, value, made = trial, there, made + 1
    return without_empty(state), made


def without_one(problem: Problem, state: State, k: int, rng, counts: bool) -> State:
    """The state without one community; those who were in it choose anew."""
    state = copy_state(state)
    z = memberships(problem, state).tocsc()
    nodes = z.indices[z.indptr[k] : z.indptr[k + 1]]
    for i in nodes:
        held = state.member[problem.start[i] : problem.start[i] + state.held[i]]
        held[: state.held[i] - 1] = held[held != k]
    state.held[nodes] -= 1
    state = in_shares(problem, state._replace(size=np.where(np.arange(len(state.size)) == k, 0, state.size)))
    state.strength[k] = 0.0
    choose_rows(open_workspace(problem, state), rng.permutation(nodes), 0, scratch_for(problem, state, counts))
    return state
