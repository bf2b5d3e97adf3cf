"""Row resets: a node leaves all its communities, loses its sociality, and joins again where Q falls most."""

from klafter.core.objective import total
from klafter.core.problem import Problem, State, copy_state
from klafter.core.workspace import Workspace, open_workspace
from klafter.search.dense.row_reset import reset_rows
from klafter.search.dense.weights import FINE, ITERATIONS, fit_parameters
from klafter.search.moves import proposal
from klafter.search.moves.flip import flip_sweep

ROUNDS = 6  # of resets of all nodes
WORTH_A_ROUND = 0.1  # fall of Q by resets from which weights follow


def reset_nodes(ws: Workspace, nodes) -> float:
    """Resets of nodes in their order, each kept only if Q fell; returns the fall of Q."""
    before = total(ws) if proposal.CHECKED else 0.0
    fall = reset_rows(ws, nodes)
    if proposal.CHECKED:
        proposal.check_claim("row reset", before, fall, total(ws))
    return fall


def reset_sweep(problem: Problem, state: State, rng, tol: float = FINE) -> State:
    """All rows are reset, with flips and weights after each round, until none gains."""
    for _ in range(ROUNDS):
        state = copy_state(state)
        ws = open_workspace(problem, state)
        if reset_nodes(ws, rng.permutation(problem.dyads.n)) < WORTH_A_ROUND:
            break
        fit_parameters(ws, ITERATIONS, tol)
        state = flip_sweep(problem, state, rng, tol=tol)
    return state
