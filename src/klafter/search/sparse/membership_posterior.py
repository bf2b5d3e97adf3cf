"""P(z_ik = 1) given all the rest, for the communities near a node.

At an optimum a node with two links may be in no community, though one is likelier than another. Where no chain is run
around the optimum, predictions take these probabilities for memberships. Nodes that the background explains, and all
nodes where links are shared, have sets of communities drawn as a whole with the degree factors that are best for each:
as long as such a node is in none its factor is large, and no flip of it alone seems likely. Others have single flips.
"""

import numpy as np
from scipy import sparse

from klafter.search.config import SEARCH
from klafter.search.sparse.kernels.flips import posterior_rows
from klafter.search.sparse.kernels.row_posterior import set_posterior
from klafter.search.sparse.moves.learn_counts import count_price
from klafter.search.sparse.moves.share import scratch_for
from klafter.search.sparse.state import Problem, State, memberships
from klafter.search.sparse.workspace import open_workspace

AT_ONCE = 4_000_000  # probabilities in memory at once
OF_FACTORS = ("send_sum", "receive_sum", "send_by_kind", "receive_by_kind")
ROWS = 100_000  # nodes of which the links are looked at together


def membership_posterior(problem: Problem, state: State, *, counts: bool = False) -> sparse.csr_array:
    """(n, K) probabilities of memberships, some nodes at a time, by either prior; at T = 0 the memberships."""
    if problem.temperature == 0.0 or not len(state.size):
        return memberships(problem, state)
    flips = by_flips(problem, state, counts) if not state.shared else None
    if not state.affinities.diagonal:
        return flips
    sets = by_sets(problem, state, counts)
    if flips is None:
        return sets
    others = sparse.diags_array((np.diff(sets.indptr) == 0).astype(float), format="csr")
    return sparse.csr_array(others @ flips + sets)


def by_flips(problem: Problem, state: State, counts: bool) -> sparse.csr_array:
    """From the gain of each flip."""
    ws = open_workspace(problem, state._replace(count_price=count_price(problem, state)) if counts else state)
    return in_blocks(problem, state, most_flips(problem, state), lambda *part: posterior_rows(ws, *part))


def most_flips(problem: Problem, state: State) -> np.ndarray:
    """The most communities that a flip of each node may be tried for."""
    partners = 1 + np.diff(state.affinities.start) + np.diff(state.affinities.into_start)
    near, sums = memberships(problem, state) @ partners, np.empty(problem.n)
    for low in range(0, problem.n, ROWS):
        start = problem.start[low : low + ROWS + 1]
        total = np.concatenate([[0.0], np.cumsum(near[problem.node[start[0] : start[-1]]])])
        sums[low : low + ROWS] = np.diff(total[start - start[0]])
    return np.minimum(state.held + sums, len(state.size))


def by_sets(problem: Problem, state: State, counts: bool) -> sparse.csr_array:
    """From the sets of communities of each node that is drawn so; the rows of others are empty."""
    sums = {name: getattr(state, name).copy() for name in ("size", *OF_FACTORS)}
    state = state._replace(**sums)  # from which each node is taken out, and put back
    ws, scratch = open_workspace(problem, state), scratch_for(problem, state, counts)
    most = np.minimum(state.held + SEARCH.sparse.reset_communities, len(state.size))
    return in_blocks(problem, state, most, lambda low, high, *part: set_posterior(ws, low, high, scratch, *part))


def in_blocks(problem: Problem, state: State, most: np.ndarray, fill) -> sparse.csr_array:
    """The matrix that ``fill(low, high, which, proba, ends)`` makes of nodes with so many entries at most."""
    end, blocks, low = np.concatenate([[0], np.cumsum(most).astype(np.int64)]), [], 0
    while low < problem.n:
        high = max(low + 1, int(np.searchsorted(end, end[low] + AT_ONCE, side="right")) - 1)
        which, proba = np.empty(end[high] - end[low], np.int32), np.empty(end[high] - end[low])
        ends = np.empty(high - low, np.int64)
        total = fill(low, high, which, proba, ends)
        parts = proba[:total].copy(), which[:total].copy(), np.concatenate([[0], ends])
        blocks.append(sparse.csr_array(parts, shape=(high - low, len(state.size))))
        low = high
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))
