"""Flips: nodes join, leave and change communities one at a time while Q falls, and weights follow.

A flip is judged at given weights, by a kernel and by Q, whose change is exact and cheap: must exceed a threshold,
rounding here, logit(u) in a Gibbs sampler. A sweep of flips with the weights that follow is a proposal like any other.
"""

import numpy as np

from klafter.core.objective import total
from klafter.core.problem import Problem, State, copy_state
from klafter.core.workspace import Workspace, open_workspace
from klafter.search.config import SEARCH
from klafter.search.dense.communities import drop_empty
from klafter.search.dense.flip_kernels import descend
from klafter.search.dense.score import score, score_of
from klafter.search.dense.weights import FINE, fit_parameters
from klafter.search.dense.weights_kernels import fit_column
from klafter.search.moves import proposal
from klafter.search.moves.proposal import LEAST_FALL, Proposal, accept


def flip_nodes(ws: Workspace, nodes: np.ndarray) -> float:
    """Flips of nodes in their order, each until none gains; returns the fall of Q."""
    before = total(ws) if proposal.CHECKED else 0.0
    fall = descend(ws, nodes, -1, SEARCH.dense.row_sweeps)
    if proposal.CHECKED:
        proposal.check_claim("flip", before, fall, total(ws))
    return fall


def flip_sweep(
    problem: Problem, state: State, rng, sweeps: int = SEARCH.dense.sweeps, nodes=None, tol: float = FINE
) -> State:
    """Flips (of some nodes; None is all) and weights in turn until neither moves much. Changes the state in place."""
    nodes, ws = problem.dyads.n if nodes is None else nodes, open_workspace(problem, state)
    for _ in range(sweeps):
        fall = flip_nodes(ws, rng.permutation(nodes))
        alive = drop_empty(state)
        if alive is not state:
            state, ws = alive, open_workspace(problem, alive)
        fit_parameters(ws, SEARCH.dense.iterations, tol)
        if fall < LEAST_FALL:
            break
    return state


def propose_sweep(problem: Problem, state: State, rng, sweeps: int, nodes=None, tol: float = FINE) -> Proposal:
    """The state after sweeps of flips and weights."""
    concerned = np.arange(problem.dyads.n) if nodes is None else nodes
    candidate = flip_sweep(problem, copy_state(state), rng, sweeps, nodes, tol)
    return Proposal("sweep", candidate, concerned, score(problem, candidate))


def sweep(
    problem: Problem, state: State, value: float, rng, sweeps: int = SEARCH.dense.sweeps, nodes=None, tol: float = FINE
) -> tuple[State, float]:
    """Sweeps, one after the other, as long as the score falls."""
    for _ in range(sweeps):
        before = state
        state, value = accept(problem, state, value, propose_sweep(problem, state, rng, 1, nodes, tol))
        if state is before:
            break
    return state, value


def polish(problem: Problem, state: State, columns, nodes: np.ndarray, goal: float = np.inf) -> tuple[State, float]:
    """Fit the weights of some communities and the memberships of some nodes; the state, and its score.

    A round that ends far above the goal is the last.
    """
    ws, most = open_workspace(problem, state), goal + SEARCH.dense.polish_loss
    for left in range(SEARCH.dense.polish - 1, -1, -1):
        for k in columns:
            if state.z[k].any():
                fit_column(ws, k, False)
        last = flip_nodes(ws, nodes) == 0.0 or left == 0
        value = score_of(ws) if last or most < np.inf else np.inf
        if last or value > most:
            break
    return drop_empty(state), value
