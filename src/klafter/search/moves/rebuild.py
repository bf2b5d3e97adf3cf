"""Rebuilding: related communities are deleted together, and others may grow where they were.

A flip moves one node, a move one or two communities. Where three of them share the work of two in a wrong way neither
lowers the score, though the state is far from the best. Giving some up and growing others does, and is cheap: only the
nodes that were members are seeds and flip, until the state is near enough to the old one for all nodes to take part.
"""

import numpy as np

from klafter.core.problem import Problem, State, copy_state, keep_communities
from klafter.search.config import SEARCH
from klafter.search.dense.engine import grow
from klafter.search.dense.score import score
from klafter.search.dense.weights import ROUGH, fit_weights
from klafter.search.moves.death import deaths
from klafter.search.moves.flip import flip_sweep
from klafter.search.moves.proposal import Proposal
from klafter.search.moves.row_reset import resets


def propose_rebuild(problem: Problem, state: State, value: float, rng, most: int = 2**31) -> Proposal | None:
    """The state with some related communities given up and others grown; None if it stays far above the value."""
    gone = related_communities(state, rng)
    nodes = np.flatnonzero(state.z[gone].any(axis=0))
    left = copy_state(keep_communities(state, np.delete(np.arange(len(state.z)), gone)))
    left = fit_weights(problem, left, tol=ROUGH)
    other, there = grow(problem, left, score(problem, left), rng, most, nodes, ROUGH)
    if there > value + SEARCH.dense.rebuild_near:
        return None
    other = flip_sweep(problem, copy_state(other), rng, tol=ROUGH)
    other, there = resets(problem, other, score(problem, other), rng, ROUGH)
    other, there = deaths(problem, other, there)
    return Proposal("rebuild", other, np.arange(problem.dyads.n), there)


def related_communities(state: State, rng) -> np.ndarray:
    """A random community and up to two more, the likelier the stronger they attract or repel it or each other."""
    first = int(rng.integers(len(state.z)))
    strength = np.abs(state.w[first]) + np.abs(state.w[:, first])
    strength[first] = 0.0
    beside = min(int(rng.integers(SEARCH.dense.rebuild_beside + 1)), int((strength > 0).sum()))
    if beside == 0:
        return np.array([first])
    return np.append(first, rng.choice(len(strength), beside, replace=False, p=strength / strength.sum()))
