"""Row resets: a node leaves all its communities, loses its sociality, and joins again where Q falls most."""

from klafter.core.objective import total
from klafter.core.problem import Problem, State, copy_state
from klafter.core.workspace import Workspace, open_workspace
from klafter.search.config import SEARCH
from klafter.search.dense.row_reset import reset_rows
from klafter.search.dense.score import score
from klafter.search.dense.weights import FINE, fit_parameters
from klafter.search.moves import proposal
from klafter.search.moves.flip import flip_sweep
from klafter.search.moves.proposal import LEAST_FALL, Proposal, accept


def reset_nodes(ws: Workspace, nodes) -> float:
    """Resets of nodes in their order, each kept only if Q fell; returns the fall of Q."""
    before = total(ws) if proposal.CHECKED else 0.0
    fall = reset_rows(ws, nodes, SEARCH.dense.reset_starts)
    if proposal.CHECKED:
        proposal.check_claim("row reset", before, fall, total(ws))
    return fall


def propose_resets(problem: Problem, state: State, rng, tol: float = FINE) -> Proposal | None:
    """The state after all rows were reset, with flips and weights; None where no row gains."""
    nodes, candidate = rng.permutation(problem.dyads.n), copy_state(state)
    ws = open_workspace(problem, candidate)
    if reset_nodes(ws, nodes) < LEAST_FALL:
        return None
    fit_parameters(ws, SEARCH.dense.iterations, tol)
    candidate = flip_sweep(problem, candidate, rng, tol=tol)
    return Proposal("row resets", candidate, nodes, score(problem, candidate))


def resets(problem: Problem, state: State, value: float, rng, tol: float = FINE) -> tuple[State, float]:
    """Rounds of resets as long as the score falls."""
    for _ in range(SEARCH.dense.reset_rounds):
        proposed, before = propose_resets(problem, state, rng, tol), state
        if proposed is not None:
            state, value = accept(problem, state, value, proposed)
        if state is before:
            break
    return state, value
