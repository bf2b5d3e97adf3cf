"""Splits: a community becomes two, parted by the second eigenvector of the links among its members."""

import numpy as np

from klafter.core.problem import Problem, State, add_communities, copy_state
from klafter.search.config import SEARCH
from klafter.search.moves.failures import Failures
from klafter.search.moves.flip import polish
from klafter.search.moves.proposal import Proposal, accept


def halves(problem: Problem, state: State, k: int) -> np.ndarray:
    """The side of community k that the second eigenvector of its inner links marks, as 0/1 of n."""
    members = np.flatnonzero(state.z[k])
    links = problem.dyads.links_out
    position = np.full(problem.dyads.n, -1)
    position[members] = np.arange(len(members))
    entries = np.concatenate([links.node[links.start[i] : links.start[i + 1]] for i in members.tolist()])
    rows = np.repeat(np.arange(len(members)), links.start[members + 1] - links.start[members])
    columns = position[entries]
    inner = np.zeros((len(members), len(members)))
    inner[rows[columns >= 0], columns[columns >= 0]] = 1.0
    inner = np.maximum(inner, inner.T) + 0.1 / len(members)
    scale = 1 / np.sqrt(inner.sum(axis=1))
    vector = np.linalg.eigh(scale[:, None] * inner * scale)[1][:, -2] * scale
    side = np.zeros(problem.dyads.n, np.uint8)
    side[members[vector > np.median(vector) if (vector > 0).all() or (vector < 0).all() else vector > 0]] = 1
    return side


def split_in_two(state: State, k: int, second: np.ndarray) -> State:
    """Community k gives up some members (0/1 of n) to a new community with the same weights."""
    state = add_communities(copy_state(state), second[None], state.w[k, k])
    state.z[k] &= 1 - second
    state.w[-1, :-1], state.w[:-1, -1] = state.w[k, :-1], state.w[:-1, k]
    return state


def propose_split(problem: Problem, state: State, k: int, goal: float = np.inf) -> Proposal | None:
    """Two communities in the place of k, weights and members fitted; None if it does not fall apart."""
    second = halves(problem, state, k)
    if not 0 < second.sum() < state.z[k].sum():
        return None
    nodes = np.flatnonzero(state.z[k])
    candidate, value = polish(problem, split_in_two(state, k, second), (k, len(state.z)), nodes, goal)
    return Proposal("split", candidate, nodes, value)


def splits(
    problem: Problem, state: State, value: float, most: int = 2**31, failures: Failures | None = None
) -> tuple[State, float]:
    """Each community in turn, as long as there are fewer than ``most``."""
    failures = failures or Failures()
    for k in range(len(state.z)):
        if not k < len(state.z) < most or state.z[k].sum() < SEARCH.dense.split_members:
            continue
        if failures.has("split", state.z[k]):
            continue
        before, proposal = state, propose_split(problem, state, k, value)
        if proposal is not None:
            state, value = accept(problem, state, value, proposal)
        if state is before:
            failures.add("split", state.z[k])
    return state, value
