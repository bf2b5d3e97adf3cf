"""P(z_ik = 1) given all the rest, for the communities near a node, from the gain of a flip.

At an optimum a node with two links may be in no community, though one is likelier than another. Where no chain is run
around the optimum, predictions take these probabilities for memberships.
"""

import numpy as np
from scipy import sparse

from klafter.search.config import SEARCH
from klafter.search.sparse.kernels.flips import posterior_rows
from klafter.search.sparse.kernels.shared_rows import shared_posterior
from klafter.search.sparse.moves.share import scratch_for
from klafter.search.sparse.state import Problem, State, memberships
from klafter.search.sparse.workspace import open_workspace

AT_ONCE = 4_000_000  # probabilities in memory at once
ROWS = 100_000  # nodes of which the links are looked at together


def membership_posterior(problem: Problem, state: State) -> sparse.csr_array:
    """(n, K) probabilities of memberships, some nodes at a time; at T = 0 the memberships."""
    if problem.temperature == 0.0 or not len(state.size):
        return memberships(problem, state)
    end, blocks, low = np.concatenate([[0], np.cumsum(most_communities(problem, state)).astype(np.int64)]), [], 0
    ws, scratch = open_workspace(problem, state), scratch_for(problem, state, counts=False) if state.shared else None
    while low < problem.n:
        high = max(low + 1, int(np.searchsorted(end, end[low] + AT_ONCE, side="right")) - 1)
        which, proba = np.empty(end[high] - end[low], np.int32), np.empty(end[high] - end[low])
        ends = np.empty(high - low, np.int64)
        if scratch is None:
            total = posterior_rows(ws, low, high, which, proba, ends)
        else:
            total = shared_posterior(ws, low, high, scratch, which, proba, ends)
        parts = proba[:total].copy(), which[:total].copy(), np.concatenate([[0], ends])
        blocks.append(sparse.csr_array(parts, shape=(high - low, len(state.size))))
        low = high
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def most_communities(problem: Problem, state: State) -> np.ndarray:
    """The most communities that a flip of each node may be tried for."""
    if state.shared:
        return np.minimum(state.held + SEARCH.sparse.reset_communities, len(state.size))
    partners = 1 + np.diff(state.affinities.start) + np.diff(state.affinities.into_start)
    near, sums = memberships(problem, state) @ partners, np.empty(problem.n)
    for low in range(0, problem.n, ROWS):
        start = problem.start[low : low + ROWS + 1]
        total = np.concatenate([[0.0], np.cumsum(near[problem.node[start[0] : start[-1]]])])
        sums[low : low + ROWS] = np.diff(total[start - start[0]])
    return np.minimum(state.held + sums, len(state.size))
