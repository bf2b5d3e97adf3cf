"""Starts at partitions of high modularity: thousands of communities at once, where births find unions of them.

A group of Louvain's method at resolution r has links among more than r d / N of its pairs, d the mean degree, so that
partitions of a density c are those of r = c N / d. Flips and weights make covers of them, which the objective compares.
"""

import numpy as np
from scipy import sparse

from klafter.search.config import SEARCH
from klafter.search.modularity import louvain
from klafter.search.sparse.affinities import as_affinities
from klafter.search.sparse.exchange import members_of
from klafter.search.sparse.moves.birth import share_unexplained
from klafter.search.sparse.moves.flip import warm_up
from klafter.search.sparse.moves.split import split_proposal
from klafter.search.sparse.score import cover_price, given_cover
from klafter.search.sparse.state import Problem, State, as_state, empty_state
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import weights

DENSEST = 0.98  # of pairs linked, from which an affinity is not guessed: of all pairs it would be infinite
BACKGROUND = 0.5  # of that without communities, at first


def is_unfinished(problem: Problem, state: State, pool: ThreadPool) -> bool:
    """Whether communities are unions of others, as some that are looked at tell, or leave many links unexplained."""
    if not len(state.size) or share_unexplained(problem, state, pool) > SEARCH.sparse.background_discount:
        return True
    inside, some = members_of(problem, state), np.flatnonzero(state.size >= SEARCH.sparse.split_members)
    some = some[:: -(-len(some) // SEARCH.sparse.partition_trials) or 1]
    found = pool.map(lambda k: split_proposal(problem, state, inside, k, pool), some)
    unions = sum(proposal is not None and proposal.gain > 0 for proposal in found)
    return unions > SEARCH.sparse.partition_unions * len(some)


def partition_start(problem: Problem, rng: np.random.Generator, pool: ThreadPool) -> State:
    """The cover from the best partition, denser ones as long as the score falls."""
    links = sparse.csr_array((problem.value, problem.node, problem.start), shape=(problem.n, problem.n))
    best, lowest = empty_state(problem), np.inf
    for density in SEARCH.sparse.partition_densities:
        labels = louvain(links, density * problem.n / max(len(problem.node) / problem.n, 1.0), rng)
        state = weights(problem, warm_up(problem, cover(problem, links, labels), pool), pool)
        value = lowest_score(problem, state, pool)
        if value >= lowest:
            break
        best, lowest = state, value
    return best


def lowest_score(problem: Problem, state: State, pool: ThreadPool) -> float:
    """F with the prior on covers that has the lower one."""
    return given_cover(problem, state, pool) + min(cover_price(problem, state, counts) for counts in (False, True))


def cover(problem: Problem, links: sparse.csr_array, labels: np.ndarray) -> State:
    """Groups of two nodes and more as communities, of affinities that explain their densities."""
    sizes = np.bincount(labels)
    number, nodes = np.cumsum(sizes > 1) - 1, np.flatnonzero(sizes[labels] > 1)
    size = sizes[sizes > 1].astype(float)
    shape = (problem.n, len(size))
    z = sparse.csr_array((np.ones(len(nodes)), (nodes, number[labels[nodes]])), shape=shape)
    inside = np.asarray((z * (links @ z)).sum(axis=0)).ravel()
    nothing, ones = empty_state(problem), np.ones(problem.n)
    if problem.counts:
        strength = inside / (size * (size - 1))
    else:
        strength = -np.log1p(-np.minimum(inside / (size * (size - 1)), DENSEST))
    return as_state(problem, z, as_affinities(strength), BACKGROUND * nothing.background, ones, ones)
