"""Passes over all nodes or links that every move is followed by: flips, weights, and the objective."""

from functools import partial

import numpy as np

from klafter.search.sparse.births import background_responsibility
from klafter.search.sparse.kernels import flip_sweep_rows
from klafter.search.sparse.state import Problem, State, without_empty
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import fit_totals, objective_from, weight_step
from klafter.search.sparse.workspace import open_workspace

NONE = np.zeros(0, np.bool_)
WARM_UP = 3  # rounds of weights and flips before degree factors are free


def objective(problem: Problem, state: State, pool: ThreadPool | None = None) -> float:
    """Q, exact over all observed dyads."""
    return objective_from(problem, state, fit_totals(problem, state, pool or ThreadPool(1)))


def share_unexplained(problem: Problem, state: State, pool: ThreadPool) -> float:
    """The share of links that the background explains."""
    _, residual = background_responsibility(problem, state, pool)
    return float(residual.sum() / max(problem.value.sum(), 1.0))


def flip_sweep(
    problem: Problem, state: State, pool: ThreadPool, rounds: int = 4, among: np.ndarray | None = None
) -> State:
    """Flips: score all nodes in parallel, settle those that gain one after the other, then look around them."""
    flags = np.full(problem.n, among is None)
    if among is not None:
        flags[among] = True
    for _ in range(rounds):
        pool.blocks(partial(_flag_gaining, problem, state, flags), problem.n)
        if not flags.any():
            break
        around = np.zeros(problem.n, np.bool_)
        flip_sweep_rows(open_workspace(problem, state), 0, problem.n, flags, around)
        flags = around
    return without_empty(problem, state)


def _flag_gaining(problem: Problem, state: State, flags: np.ndarray, low: int, high: int) -> None:
    flip_sweep_rows(open_workspace(problem, state), low, high, flags, NONE)


def weights(problem: Problem, state: State, pool: ThreadPool, *, factors: bool = True, rounds: int = 2) -> State:
    """A few steps of w, e and t."""
    for _ in range(rounds):
        state = weight_step(problem, state, pool, factors=factors)
    return state


def warm_up(problem: Problem, state: State, pool: ThreadPool) -> State:
    """Flips and weights, degree factors left alone."""
    state = without_empty(problem, state)
    for _ in range(WARM_UP):
        state = flip_sweep(problem, weights(problem, state, pool, factors=False, rounds=1), pool)
    return state
