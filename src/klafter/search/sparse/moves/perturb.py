"""What is tried when no other move gains: equal degree factors, and communities that regrow.

Each is a trial that takes the search through states which are worse, and counts only if it ends better.
"""

import numpy as np

from klafter.search.config import SEARCH
from klafter.search.sparse.moves.birth import births
from klafter.search.sparse.moves.death import deaths, without_communities
from klafter.search.sparse.moves.flip import flip_sweep, warm_up
from klafter.search.sparse.moves.merge import merges, reassigns
from klafter.search.sparse.state import Problem, State, as_state, memberships, without_empty
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import objective, weights


def perturb(
    problem: Problem, state: State, rng: np.random.Generator, pool: ThreadPool, *, regrown: bool = True
) -> State:
    """Equal degree factors, then the largest and the small communities regrown, if asked, where that is better."""
    value = objective(problem, state, pool)
    trial = equalise_factors(problem, state, pool)
    best = trial if objective(problem, trial, pool) < value else state
    if not regrown or len(state.size) > SEARCH.sparse.regrow_limit:
        return best
    return regrow(problem, best, rng, pool)


def equalise_factors(problem: Problem, state: State, pool: ThreadPool) -> State:
    """Flips with all degree factors 1, then with free ones.

    A node that lacks a community gets a factor that explains some of its links there, and then has no need to join.
    """
    state = reset_factors(problem, state)
    for turn in range(SEARCH.sparse.even_rounds + SEARCH.sparse.free_rounds):
        state = flip_sweep(problem, weights(problem, state, pool, factors=turn >= SEARCH.sparse.even_rounds), pool)
    return state


def reset_factors(problem: Problem, state: State) -> State:
    """The same communities with all degree factors 1; each may be split again."""
    ones = np.ones(problem.n)
    state = as_state(problem, memberships(problem, state), state.affinities, state.background, ones, ones)
    state.size_at_split[:], state.size_at_merge[:] = 0, 0
    return state


def regrow(problem: Problem, state: State, rng: np.random.Generator, pool: ThreadPool) -> State:
    """Give up the largest communities, few at a time, for births from the embedding: they may be unions of several.

    After them all small ones together: they may be pieces of one.
    """
    value, refused = objective(problem, state, pool), 0
    while refused <= SEARCH.sparse.regrow_patience and len(state.size):
        number = -(-len(state.size) // SEARCH.sparse.regrow_share)
        some = np.argsort(-state.size, kind="stable")[refused * number : (refused + 1) * number]
        if refused == SEARCH.sparse.regrow_patience:
            some = np.flatnonzero(state.size < SEARCH.sparse.regrow_small * np.median(state.size))
        if len(some) == 0:
            refused += 1
            continue
        trial = without_communities(problem, reset_factors(problem, state), some)
        trial = births_from_embedding(problem, weights(problem, trial, pool, factors=False), rng, pool)
        trial = equalise_factors(problem, trial, pool)
        new = objective(problem, trial, pool)
        if value - new > SEARCH.sparse.least_gain * abs(value):
            state, value = trial, new
        else:
            refused += 1
    return state


def births_from_embedding(problem: Problem, state: State, rng: np.random.Generator, pool: ThreadPool) -> State:
    """Births from the embedding at a share of the background, and what undoes those that were too many."""
    state, _ = births(
        problem, state, rng, pool, background_discount=SEARCH.sparse.background_discount, from_embedding=True
    )
    state = warm_up(problem, state, pool)
    for move in (merges, reassigns, deaths):
        state = without_empty(move(problem, state, pool)[0])
    return state
