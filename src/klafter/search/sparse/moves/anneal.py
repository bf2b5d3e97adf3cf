"""Annealing, and communities that several searches found, put together.

From an optimum no single flip lowers the score, though a better optimum may be near: a node that lacks a community has
a degree factor that explains its links there, and the weights of the communities agree with that. Sweeps of random
flips, each with probability proportional to exp(gain / temperature), and weights in between leave it; as the
temperature falls they end in another one. Where overlap is heavy each search misses other communities. So those of
another search are added first, and annealing and the moves after it keep the ones that explain something.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from klafter.search.config import SEARCH
from klafter.search.sparse.affinities import with_more
from klafter.search.sparse.kernels.annealed_flips import annealed_rows
from klafter.search.sparse.moves.learn_counts import count_price
from klafter.search.sparse.state import (
    NO_COUNT_PRICE,
    Problem,
    State,
    as_state,
    laid_out,
    memberships,
    without_empty,
)
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import weights
from klafter.search.sparse.workspace import open_workspace

COLDEST = 0.1  # the last temperature, in units of T
NODE_FLIPS = 2  # flips of a node before the next has its turn: one to leave a community, one to join another


def anneal(problem: Problem, state: State, rng: np.random.Generator, pool: ThreadPool, *, counts: bool) -> State:
    """The state after sweeps of flips at falling temperatures, at learned counts if asked for."""
    state = laid_out(problem, state)
    for heat in np.geomspace(SEARCH.sparse.anneal_heat, COLDEST, n_sweeps(problem)):
        if not len(state.size):
            break
        prices = count_price(problem, state) if counts else NO_COUNT_PRICE
        ws = open_workspace(problem, state._replace(count_price=prices))
        annealed_rows(ws, rng.permutation(problem.n), NODE_FLIPS, heat * problem.temperature, rng)
        state = weights(problem, without_empty(state), pool, rounds=1)
    return state


def n_sweeps(problem: Problem) -> int:
    """Sweeps of an annealing: fewer where there are many links."""
    work = SEARCH.sparse.anneal_each // max(len(problem.node) // 2, 1)
    return min(SEARCH.sparse.anneal_sweeps, max(SEARCH.sparse.anneal_fewest, work))


def with_communities_of(problem: Problem, state: State, other: State) -> State:
    """The state with those communities of another that have less than half of their members in common with any."""
    z, theirs = memberships(problem, state), memberships(problem, other)
    common = sparse.coo_array(z.T @ theirs)
    either = state.size[common.row] + other.size[common.col] - common.data
    known = np.unique(common.col[common.data >= either / 2])
    new = np.setdiff1d(np.flatnonzero(other.size > 0), known)
    affinities = with_more(state.affinities, len(new))
    affinities.strength[len(state.size) :] = other.strength[new]
    both = sparse.csr_array(sparse.hstack([z, sparse.csc_array(theirs)[:, new]]))
    return without_empty(as_state(problem, both, affinities, state.background, state.send, state.receive))
