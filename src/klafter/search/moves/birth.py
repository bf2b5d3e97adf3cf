"""Births: a community grows from a seed into an empty column, and stays if it pays for its weights."""

import numpy as np

from klafter.core.objective import total
from klafter.core.problem import Problem, State, add_communities
from klafter.core.workspace import Workspace, open_workspace
from klafter.search.dense.birth_kernels import clear_column, propose_birth
from klafter.search.dense.communities import drop_empty
from klafter.search.moves import proposal


def births(ws: Workspace, seeds: np.ndarray, slots: np.ndarray) -> tuple[float, int]:
    """Propose a community at each seed while columns are empty; returns the fall of Q and how many were accepted.

    Every third seed lends its partners to a community that need not link inside.
    """
    fall, born = 0.0, 0
    for t, seed in enumerate(seeds.tolist()):
        if born == len(slots):
            break
        before = total(ws) if proposal.CHECKED else 0.0
        gain, evidence = propose_birth(ws, seed, slots[born], t % 3 != 2)
        if not proposal.is_accepted("birth", gain, evidence):
            clear_column(ws, slots[born])
            continue
        if proposal.CHECKED:
            proposal.check_claim("birth", before, gain, total(ws))
        fall, born = fall + gain, born + 1
    return fall, born


def give_birth(problem: Problem, state: State, rng, max_communities: int, seeds=None) -> State:
    """One round of births from seeds (None: all nodes), in random order."""
    n, k = problem.dyads.n, len(state.z)
    slots = min(1 + k // 4, max_communities - k)
    if slots <= 0:
        return state
    state = add_communities(state, np.zeros((slots, n)), 0.0)
    births(open_workspace(problem, state), rng.permutation(n if seeds is None else seeds), np.arange(k, k + slots))
    return drop_empty(state)
