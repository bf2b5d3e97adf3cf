"""Deaths: a community is deleted, its members are reassigned, and weights may take over what it explained."""

import numpy as np

from klafter.core.problem import Problem, State
from klafter.core.workspace import Workspace, open_workspace
from klafter.search.config import SEARCH
from klafter.search.dense.communities import folded, without
from klafter.search.dense.weights import ROUGH, fit_weights
from klafter.search.moves.failures import Failures
from klafter.search.moves.flip import polish
from klafter.search.moves.proposal import LEAST_FALL, Proposal, accept
from klafter.search.moves.row_reset import reset_nodes


def delete_and_reassign(problem: Problem, state: State, k: int) -> tuple[State, Workspace]:
    """The state without community k, after the rows of its members were reset, and its workspace.

    A few nodes of two communities often hold one of their own instead.
    """
    members, state = np.flatnonzero(state.z[k]), without(state, k)
    ws = open_workspace(problem, state)
    reset_nodes(ws, members)
    return state, ws


def propose_death(problem: Problem, state: State, value: float, k: int) -> Proposal:
    """The state without community k; where the score hardly rises, with all weights fitted again."""
    nodes = np.flatnonzero(state.z[k])
    large = len(nodes) > SEARCH.dense.death_large * problem.dyads.n
    candidate = folded(problem, state, k) if large else delete_and_reassign(problem, state, k)[0]
    candidate, there = polish(problem, candidate, (), nodes)
    near = (
        max(SEARCH.dense.death_near, SEARCH.dense.death_near_share * abs(value)) if large else SEARCH.dense.death_near
    )
    if value - LEAST_FALL < there < value + near:
        candidate, there = polish(problem, fit_weights(problem, candidate, tol=ROUGH), (), nodes)
    return Proposal("death", candidate, nodes, there)


def deaths(problem: Problem, state: State, value: float, failures: Failures | None = None) -> tuple[State, float]:
    """Each community in turn, smallest first."""
    failures = failures or Failures()
    for k in np.argsort(-state.z.sum(axis=1), kind="stable").tolist()[::-1]:
        if k >= len(state.z) or failures.has("death", state.z[k]):
            continue
        before = state
        state, value = accept(problem, state, value, propose_death(problem, state, value, k))
        if state is before:
            failures.add("death", state.z[k])
    return state, value
