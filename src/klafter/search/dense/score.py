"""What states are compared by beyond Q: the Laplace evidence of the weights that they leave free.

    score = Q + T/2 sum log(1 + curvature / precision)

over the weights that touch some communities: all of them, or the small ones of a network of a few dozen nodes.
"""

import numpy as np

from klafter.core.objective import total
from klafter.core.problem import Problem, State
from klafter.core.workspace import Workspace, open_workspace
from klafter.search.dense.weights_kernels import laplace_evidence

FEW, SHARE, TENTH = 3, 1 / 20, 1 / 10  # members, or share of all nodes, of a small community; above a tenth none is


def is_handful(state: State) -> np.ndarray:
    """Which communities have so few members that they may be one node's oddity."""
    n = state.z.shape[1]
    return state.z.sum(axis=1) <= max(min(FEW, TENTH * n), SHARE * n)


def everyone(state: State) -> np.ndarray:
    """All communities, as marks."""
    return np.ones(len(state.z), bool)


def score(problem: Problem, state: State, among: np.ndarray, most: float = np.inf) -> float:
    """Q, and the evidence of the free weights of the communities that are marked; Q alone if that is above ``most``."""
    return score_of(open_workspace(problem, state), among, most)


def score_of(ws: Workspace, among: np.ndarray, most: float = np.inf) -> float:
    value = total(ws)
    return value + laplace_evidence(ws, among) if value < most else value


def free_weight_evidence(problem: Problem, state: State) -> float:
    """The Laplace evidence of all free weights."""
    return laplace_evidence(open_workspace(problem, state), everyone(state))
