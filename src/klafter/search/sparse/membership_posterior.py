"""How much a node leans to communities near it: P(z_ik = 1) given all the rest, from the gain of a flip.

An optimum leaves a node with two links outside, though it leans to one community rather than to another. Where no chain
is run around the optimum, predictions take these chances for memberships.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy import sparse

from klafter.jit.decorators import kernel
from klafter.search.sparse.kernels import flip_rest, mark_row, tally_flips
from klafter.search.sparse.state import Problem, State, memberships
from klafter.search.sparse.workspace import open_workspace

FAINT = 1e-3  # a chance below this is left out
AT_ONCE = 4_000_000  # chances for which there is room
CLIP = 50.0


@kernel
def posterior_rows(ws, low, high, which, chance, ends):
    """The chances of the nodes low..high to hold their communities and their neighbours', one node after the other."""
    size = len(ws.size)
    mine, seen = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    gain, back, touched = np.zeros(size), np.zeros(size), np.zeros(size, np.int64)
    total = 0
    for i in range(low, high):
        for m in range(tally_flips(ws, i, mine, seen, gain, back, touched)):
            k = touched[m]
            seen[k] = False
            value = gain[k] + flip_rest(ws, i, k, mine[k], back[k])
            p = 1.0 / (1.0 + math.exp(min(max(value if mine[k] else -value, -CLIP), CLIP)))
            if p > FAINT:
                which[total], chance[total] = k, p
                total += 1
        mark_row(ws, i, mine)
        ends[i - low] = total
    return total


def membership_posterior(problem: Problem, state: State) -> sparse.csr_array:
    """(n, K) chances of memberships; at T = 0, where nothing is chance, the memberships."""
    links = sparse.csr_array((np.ones(len(problem.node)), problem.node, problem.start), shape=(problem.n, problem.n))
    ws, room = open_workspace(problem, state), state.held + links @ state.held
    return posterior_in_blocks(problem, state, room, lambda *rows: posterior_rows(ws, *rows))


def posterior_in_blocks(
    problem: Problem, state: State, room: np.ndarray, posterior_of: Callable[..., int]
) -> sparse.csr_array:
    """What ``lean(low, high, which, chance, ends)`` finds, some nodes at a time; ``room`` is the most of each node."""
    if problem.temperature == 0.0 or not len(state.size):
        return memberships(problem, state)
    room, blocks, low = np.concatenate([[0], np.cumsum(room).astype(np.int64)]), [], 0
    while low < problem.n:
        high = max(low + 1, int(np.searchsorted(room, room[low] + AT_ONCE, side="right")) - 1)
        which, chance = np.empty(room[high] - room[low], np.int32), np.empty(room[high] - room[low])
        ends = np.empty(high - low, np.int64)
        total = posterior_of(low, high, which, chance, ends)
        parts = chance[:total].copy(), which[:total].copy(), np.concatenate([[0], ends])
        blocks.append(sparse.csr_array(parts, shape=(high - low, len(state.size))))
        low = high
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))
