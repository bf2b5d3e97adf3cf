"""Sweeps of flips of single memberships."""

from collections.abc import Callable
from functools import partial

import numpy as np

from klafter.search.config import SEARCH
from klafter.search.moves.proposal import CHECKED, check_claim
from klafter.search.sparse.kernels.flips import flip_sweep_rows
from klafter.search.sparse.state import Problem, State, without_empty
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import objective, weights
from klafter.search.sparse.workspace import open_workspace

NO_FLAGS = np.zeros(0, np.bool_)


def flip_sweep(
    problem: Problem,
    state: State,
    pool: ThreadPool,
    rounds: int = SEARCH.sparse.flip_rounds,
    among: np.ndarray | None = None,
) -> State:
    """Flips: score all nodes in parallel, take those that gain in turn, then score their neighbours again."""
    flags = np.full(problem.n, among is None)
    if among is not None:
        flags[among] = True
    ws = pool.opener(partial(open_workspace, problem, state))
    for _ in range(rounds):
        pool.blocks(partial(_flag_gaining, ws, flags), problem.n)
        if not flags.any():
            break
        around = np.zeros(problem.n, np.bool_)
        before = objective(problem, state, pool) if CHECKED else 0.0
        gain = flip_sweep_rows(ws(), 0, problem.n, flags, around)
        if CHECKED:
            check_claim("flip", before, gain, objective(problem, state, pool))
        flags = around
    return without_empty(state)


def _flag_gaining(ws: Callable, flags: np.ndarray, low: int, high: int) -> None:
    flip_sweep_rows(ws(), low, high, flags, NO_FLAGS)


def warm_up(problem: Problem, state: State, pool: ThreadPool) -> State:
    """Weights but for degree factors, then flips."""
    return flip_sweep(problem, weights(problem, without_empty(state), pool, factors=False, rounds=1), pool)
