"""The score F of a state, by which everything is judged: minus the log joint probability of links and memberships.

    F = Q + T/2 sum log(1 + curvature / precision)

over all free parameters theta = (W, b, s, r, g): Laplace's method for the integral over them, with the diagonal of the
Hessian. At T = 0 it is Q, the objective of the paper.
"""

import numpy as np

from klafter.core.objective import total
from klafter.core.problem import Problem, State
from klafter.core.workspace import Workspace, open_workspace
from klafter.search.dense.weights_kernels import laplace_evidence


def score(problem: Problem, state: State, most: float = np.inf) -> float:
    """F of a state; Q alone where that is above ``most`` already."""
    return score_of(open_workspace(problem, state), most)


def score_of(ws: Workspace, most: float = np.inf) -> float:
    value = total(ws)
    return value + laplace_evidence(ws) if value < most else value
