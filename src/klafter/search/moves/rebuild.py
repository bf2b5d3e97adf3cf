"""Rebuilding: related communities are deleted together, and others may grow where they were.

A flip moves one node, a move one or two communities. Where three of them share the work of two in a wrong way neither
lowers Q, though the state is far from the best. Giving some up and growing anew does, and is cheap: only the nodes that
were members are seeds and flip, until the state is near enough to the old one for all nodes to take part.
"""

from collections.abc import Callable

import numpy as np

from klafter.core.problem import Problem, State, copy_state, keep_communities
from klafter.search.dense.engine import grow
from klafter.search.dense.score import score
from klafter.search.dense.weights import ROUGH, fit_weights
from klafter.search.moves.death import prune
from klafter.search.moves.flip import flip_sweep
from klafter.search.moves.proposal import is_accepted
from klafter.search.moves.row_reset import reset_sweep

BESIDE = 2  # communities given up beside the first, at most
NEAR = 150.0  # rise from which a try is given up before all nodes take part


def rebuild(problem: Problem, state: State, judged: Callable, rng, most: int = 2**31) -> State:
    """One try: the new state if Q, with a price for the weights of the communities that are judged, fell; else the old.

    Without that price there would be more and more communities of a few nodes, which keep others from growing.
    """
    if not len(state.z):
        return state
    here = score(problem, state, judged(state))
    gone = related_communities(state, rng)
    nodes = np.flatnonzero(state.z[gone].any(axis=0))
    left = copy_state(keep_communities(state, np.delete(np.arange(len(state.z)), gone)))
    other = grow(problem, fit_weights(problem, left, tol=ROUGH), rng, most, nodes, ROUGH)
    if score(problem, other, judged(other), here + NEAR) > here + NEAR:
        return state
    other = reset_sweep(problem, flip_sweep(problem, other, rng, tol=ROUGH), rng, ROUGH)
    other = prune(problem, other, judged)
    return other if is_accepted("rebuild", here - score(problem, other, judged(other))) else state


def related_communities(state: State, rng) -> np.ndarray:
    """A random community and up to two more, the likelier the stronger they attract or repel it or each other."""
    first = int(rng.integers(len(state.z)))
    strength = np.abs(state.w[first]) + np.abs(state.w[:, first])
    strength[first] = 0.0
    beside = min(int(rng.integers(BESIDE + 1)), int((strength > 0).sum()))
    if beside == 0:
        return np.array([first])
    return np.append(first, rng.choice(len(strength), beside, replace=False, p=strength / strength.sum()))
