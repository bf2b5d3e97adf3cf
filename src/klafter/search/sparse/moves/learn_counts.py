"""Learned counts: how many communities nodes hold is learned, and memberships follow.

Beside the buffet's price, log((N - s)/s) for joining s others, holding m communities has the price nu(m):

    nu(m + 1) - nu(m) = T log[ n_m (E + 1) E / ((n_{m+1} + 1) (m + 1) (E - K + 1) N) ]

with n_m, E and K as they are: the change of the price of learned counts by a flip, up to terms of s/N. It is worked out
again after each round of flips, resets and weights, and the exact price judges the round.
"""

import numpy as np

from klafter.search.config import SEARCH
from klafter.search.moves.proposal import LEAST_FALL, TOLERANCE
from klafter.search.sparse.moves.flip import flip_sweep
from klafter.search.sparse.moves.row_reset import resets
from klafter.search.sparse.score import score
from klafter.search.sparse.state import NO_COUNT_PRICE, Problem, State, laid_out, packed, without_empty
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import weights


def count_price(problem: Problem, state: State, *, everyone: bool = False) -> np.ndarray:
    """nu(0), nu(1), ...: up to one more than anybody holds, and the same beyond; as if ``everyone`` held some."""
    most = int(state.held.max(initial=0))
    holding = np.bincount(state.held, minlength=most + 3).astype(float)
    holding[0] = 0.0 if everyone else holding[0]
    m, e, k = np.arange(most + 2), float(state.held.sum()), float(np.count_nonzero(state.size))
    odds = np.maximum(holding[:-1], 1.0) / ((holding[1:] + 1.0) * (m + 1.0))
    odds *= (e + 1.0) * e / (max(e - k + 1.0, 1.0) * problem.n)
    return problem.temperature * np.concatenate([[0.0], np.cumsum(np.log(odds))])


def learn_counts(problem: Problem, state: State, pool: ThreadPool) -> tuple[State, float]:
    """The state after rounds of flips, resets and weights at learned counts, and its score with their price.

    One way begins with the counts as they are, another as if every node were in some: where some are, that is common,
    and few leave it one by one. The way whose first round leads lower is followed.
    """
    if not len(state.size):
        return as_it_is(problem, state, pool)
    before = as_it_is(problem, state, pool)[1]
    first, value = one_round(problem, state, count_price(problem, state), pool)
    first = packed(problem, first)  # it waits
    other = one_round(problem, state, count_price(problem, state, everyone=True), pool)
    there = other if other[1] < value else (laid_out(problem, first), value)
    return descend(problem, there, pool) if there[1] < before - LEAST_FALL else as_it_is(problem, state, pool)


def as_it_is(problem: Problem, state: State, pool: ThreadPool) -> tuple[State, float]:
    """A copy of the state, and its score."""
    state = laid_out(problem, state)
    return state, score(problem, state, pool, counts=True)


def descend(problem: Problem, here: tuple[State, float], pool: ThreadPool) -> tuple[State, float]:
    """Rounds as long as the score falls by more than claims may be wrong by."""
    for _ in range(SEARCH.sparse.count_rounds - 1):
        there = one_round(problem, here[0], count_price(problem, here[0]), pool)
        fall, here = here[1] - there[1], min(here, there, key=lambda found: found[1])
        if fall <= max(LEAST_FALL, TOLERANCE * abs(here[1])):
            break
    return here


def one_round(problem: Problem, state: State, prices: np.ndarray, pool: ThreadPool) -> tuple[State, float]:
    """Flips, resets and weights at given prices of holding 0, 1, 2, ... communities; the state, and its score."""
    state, _ = resets(problem, flip_sweep(problem, laid_out(problem, state)._replace(count_price=prices), pool), pool)
    state = weights(problem, without_empty(state), pool)._replace(count_price=NO_COUNT_PRICE)
    return state, score(problem, state, pool, counts=True)
