"""Splits of a community in two, along the second eigenvector of its links."""

import numpy as np

from klafter.search.config import SEARCH
from klafter.search.sparse.exchange import (
    Exchange,
    Members,
    accept_exact,
    concerned,
    members_of,
    own_local,
    propose,
)
from klafter.search.sparse.kernels.split_vector import second_vector
from klafter.search.sparse.kernels.subgraph import cut_subgraph
from klafter.search.sparse.state import Problem, State, changed_since_split
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.workspace import open_workspace

POWER_TURNS = 60  # of power iteration: the vector need not be exact, only its signs


def may_split(state: State) -> np.ndarray:
    """Communities that changed since a split of them was last tried, and are large enough."""
    return np.flatnonzero(changed_since_split(state) & (state.size >= SEARCH.sparse.split_members))


def splits(problem: Problem, state: State, pool: ThreadPool) -> tuple[State, int]:
    """Cut communities in two where the second eigenvector stands out."""
    inside = members_of(problem, state)
    proposals = pool.map(lambda k: split_proposal(problem, state, inside, k, pool), may_split(state))
    state.size_at_split[:] = state.size
    return accept_exact(problem, state, proposals, pool)[:2]


def split_proposal(problem: Problem, state: State, inside: Members, k: int, pool: ThreadPool) -> Exchange | None:
    """Two communities for one, if its second eigenvector stands out."""
    mine, nodes = inside.of(k), concerned(state, inside, [k])
    vector = np.sin(1.0 + np.arange(len(mine)) * 2.399963)  # any start that is not special
    local = own_local(problem, pool)
    subgraph, _ = cut_subgraph(open_workspace(problem, state), mine, np.array([k]), local)
    value, degree = second_vector(subgraph, state.strength[k], vector, POWER_TURNS)
    if value < min(SEARCH.sparse.split_edge / np.sqrt(max(degree, 1e-12)), SEARCH.sparse.split_certain):
        return None
    low, high = np.quantile(vector, [1 / 3, 2 / 3])
    place, proposals = np.searchsorted(nodes, mine), []
    for above in (vector > 0, vector > high, vector > low):
        z = np.zeros((2, len(nodes)), bool)
        z[:, place] = above, ~above
        w = np.full(2, 1.5 * state.strength[k])
        proposals.append(propose("split", problem, state, [k], nodes, z, w, pool))
    return max(proposals, key=lambda proposal: proposal.gain)
