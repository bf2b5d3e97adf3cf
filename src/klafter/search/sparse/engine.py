"""The sparse engine of K-LAFTER, for millions of nodes: exposure link, background, degree factors.

    x_ij = t_i r_j (e + sum over shared communities of w_k),   P(link) = 1 - exp(-x_ij), or y_ij ~ Poisson(x_ij)
    Q    = -sum_observed log P(y_ij) + sum_k [lambda^2 + T (log S_k + log C(N, S_k))] + a sum_i (t_i - 1 - log t_i)

The sum over non-links is bilinear in t, so column sums give it exactly and every step costs a pass over the links.
One step of the search tries births, flips, weights, merges, splits and deaths; each is taken only if Q falls.
Affinities are diagonal until it ends; then bridges between communities are added where they pay (``sparse_bridges``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse

from klafter.core.draws import ExposureDraw
from klafter.graph import Graph
from klafter.search.sparse import bridges as sparse_bridges
from klafter.search.sparse.affinities import Ties, matrix
from klafter.search.sparse.births import births
from klafter.search.sparse.moves import deaths, merges, reassigns, splits
from klafter.search.sparse.perturb import BACKGROUND_DISCOUNT, ENOUGH, drop_one, perturb
from klafter.search.sparse.state import Problem, State, as_problem, copy_state, empty_state, memberships, without_empty
from klafter.search.sparse.sweeps import flip_sweep, objective, share_unexplained, warm_up, weights
from klafter.search.sparse.threads import ThreadPool

EMBEDDING_ROUNDS = 3  # rounds of births that hope for each other
ALONE = 6  # steps of weights when there are no communities
MANY = 300  # communities beyond which only those that changed are merged again


class Step(NamedTuple):
    """One line of the history."""

    objective: float
    n_communities: int
    seconds: float


class Fit(NamedTuple):
    """What a search ended with."""

    problem: Problem
    state: State
    history: list[Step]
    converged: bool
    ties: Ties | None  # affinities between communities, if any pays


def init(problem: Problem, rng: np.random.Generator, pool: ThreadPool | None = None) -> State:
    """Communities that pay by themselves and, while many links are unexplained, such as would pay together.

    One community alone rarely pays while the background explains all links of the others, so the second kind is born
    in the hope that the background will keep only a share of its links. Deaths undo what was too much.
    """
    pool = pool or ThreadPool(1)
    nothing = empty_state(problem)
    state, _ = births(problem, copy_state(nothing), rng, pool)
    state = warm_up(problem, state, pool)
    for _ in range(EMBEDDING_ROUNDS):
        if share_unexplained(problem, state, pool) < BACKGROUND_DISCOUNT:
            break
        state, born = births(problem, state, rng, pool, background_discount=BACKGROUND_DISCOUNT, from_embedding=True)
        state = warm_up(problem, state, pool)
        if born == 0:
            break
    state, _ = deaths(problem, state, pool)
    state = without_empty(problem, state)
    if len(state.size) and objective(problem, state, pool) > objective(problem, nothing, pool):
        state = step(problem, state, rng, pool)  # communities of few links pay when degree factors know of them
    return lower(problem, nothing, state, pool)


def lower(problem: Problem, one: State, other: State, pool: ThreadPool) -> State:
    """The state with the lower objective."""
    return min((one, other), key=lambda state: objective(problem, state, pool))


def step(problem: Problem, state: State, rng: np.random.Generator, pool: ThreadPool | None = None) -> State:
    """One round of all moves; if it gains little and many links are unexplained, the weakest communities start anew."""
    pool = pool or ThreadPool(1)
    before = objective(problem, state, pool)
    state, made = births(problem, copy_state(state), rng, pool)
    state = weights(problem, flip_sweep(problem, without_empty(problem, state), pool), pool)
    local = len(state.size) > MANY
    for move in (partial(merges, local=local), partial(reassigns, local=local), deaths, splits):
        state, more = move(problem, state, pool)
        state, made = without_empty(problem, state), made + more
    if made == 0:
        state, made = drop_one(problem, state, pool)
    state = weights(problem, flip_sweep(problem, state, pool), pool) if made else state
    value = objective(problem, state, pool)
    if (
        before - value > ENOUGH * abs(value)
        or not len(state.size)
        or share_unexplained(problem, state, pool) <= BACKGROUND_DISCOUNT
    ):
        return state
    return perturb(problem, state, rng, pool)


def or_nothing(problem: Problem, state: State, pool: ThreadPool) -> State:
    """The state, or no communities at all if that is better."""
    return lower(problem, state, weights(problem, empty_state(problem), pool, rounds=ALONE), pool)


def fit_sparse(
    graph: Graph,
    *,
    penalty: float = 0.0,
    temperature: float = 1.0,
    shrinkage: float = 5.0,
    counts: bool = False,
    max_iter: int = 30,
    tol: float = 1e-4,
    random_state=None,
    bridges: bool = True,
    n_threads: int | None = None,
    callback: Callable[[State, Step], None] | None = None,
) -> Fit:
    """Search until a step gains less than ``tol`` of the objective's size."""
    problem = as_problem(graph, penalty=penalty, temperature=temperature, shrinkage=shrinkage, counts=counts)
    rng = np.random.default_rng(random_state)
    history: list[Step] = []
    with ThreadPool(n_threads) as pool:
        state = init(problem, rng, pool)
        value, converged = objective(problem, state, pool), False
        while len(history) < max_iter and not converged:
            began = time.perf_counter()
            state = step(problem, state, rng, pool)
            last, value = value, objective(problem, state, pool)
            history.append(Step(value, len(state.size), time.perf_counter() - began))
            if callback is not None:
                callback(state, history[-1])
            converged = last - value <= tol * abs(value)
        began = time.perf_counter()
        state, ties = end(problem, state, pool, bridges=bridges)
        if ties is not None:
            value = sparse_bridges.objective(problem, state, ties, pool)
            history.append(Step(value, len(state.size), time.perf_counter() - began))
    return Fit(problem, state, history, converged, ties)


def end(problem: Problem, state: State, pool: ThreadPool, *, bridges: bool) -> tuple[State, Ties | None]:
    """The end of a search: bridges, if they are asked for and pay."""
    state = or_nothing(problem, state, pool)
    found = sparse_bridges.bridge(problem, state, pool) if bridges else None
    return found or (state, None)


def value_of(problem: Problem, state: State, ties: Ties | None, pool: ThreadPool) -> float:
    """Q, with bridges or without."""
    return objective(problem, state, pool) if ties is None else sparse_bridges.objective(problem, state, ties, pool)


def draw(problem: Problem, state: State, z: sparse.csr_array | None = None, ties: Ties | None = None) -> ExposureDraw:
    """x_ij = t_i r_j (e + z_i' L z_j), L = diag(w) without bridges; ``z`` instead of the memberships."""
    z = memberships(problem, state) if z is None else z
    inside = sparse.diags_array(state.strength) if ties is None else matrix(ties)
    return ExposureDraw(z, sparse.csr_array(inside), float(state.background), state.send.copy(), state.receive.copy())
