"""Row resets: nodes that the background explains are tried in several communities at once, degree factors and all."""

import numpy as np

from klafter.search.config import SEARCH
from klafter.search.moves.proposal import CHECKED, check_claim
from klafter.search.sparse.kernels.row_reset import reset_rows
from klafter.search.sparse.moves.flip import flip_sweep
from klafter.search.sparse.state import Problem, State, without_empty
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import objective
from klafter.search.sparse.workspace import open_workspace


def resets(problem: Problem, state: State, pool: ThreadPool) -> tuple[State, int]:
    """Reset rows, in place, and flip around those that changed; returns how many nodes that concerns."""
    if not len(state.size) or not state.affinities.diagonal or not np.isfinite(problem.shrinkage):
        return state, 0
    before = objective(problem, state, pool) if CHECKED else 0.0
    around = np.zeros(problem.n, np.bool_)
    fall = reset_rows(
        open_workspace(problem, state),
        0,
        problem.n,
        np.ones(problem.n, np.bool_),
        around,
        SEARCH.sparse.reset_communities,
    )
    if CHECKED:
        check_claim("row reset", before, fall, objective(problem, state, pool))
    if fall == 0.0:
        return state, 0
    return flip_sweep(problem, without_empty(state), pool, among=np.flatnonzero(around)), int(around.sum())
