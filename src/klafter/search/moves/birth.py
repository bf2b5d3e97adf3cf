"""Births: a community grows from a seed into an empty column, and stays if the score falls."""

import numpy as np

from klafter.core.problem import Problem, State, add_communities
from klafter.core.workspace import Workspace, open_workspace
from klafter.search.config import SEARCH
from klafter.search.dense.birth_kernels import clear_column, next_birth
from klafter.search.dense.communities import drop_empty
from klafter.search.dense.joining_bounds import new_residuals
from klafter.search.dense.score import score_of
from klafter.search.dense.weights_kernels import laplace_evidence
from klafter.search.moves import proposal
from klafter.search.moves.failures import Failures, Noted


def births(
    ws: Workspace, value: float, seeds: np.ndarray, slots: np.ndarray, failed: tuple[Noted, Noted]
) -> tuple[float, int]:
    """Propose a community at each seed while columns are empty; returns the score and how many were accepted.

    Every third seed (``bipartite_every``) lends its partners to a community that need not link inside. A seed at which
    one of its kind failed is passed over until another of its links is underpredicted.
    """
    born, t, settings = 0, 0, SEARCH.dense
    evidence, residuals = laplace_evidence(ws), new_residuals(ws)
    while born < len(slots):
        every, sweeps = settings.bipartite_every, settings.birth_sweeps
        t, gain, _, _ = next_birth(ws, seeds, t, slots[born], every, sweeps, failed, residuals)
        if t == len(seeds):
            break
        t += 1
        there = laplace_evidence(ws)
        fall = gain + evidence - there
        if not proposal.is_accepted(fall):
            clear_column(ws, slots[born])
            continue
        if proposal.CHECKED:
            proposal.check_claim("birth", value, fall, score_of(ws))
        value, evidence, residuals, born = value - fall, there, new_residuals(ws), born + 1
    return value, born


def give_birth(
    problem: Problem, state: State, value: float, rng, max_communities: int, seeds=None, failures=None
) -> tuple[State, float]:
    """One round of births from seeds (None: all nodes), in random order."""
    failures = failures or Failures()
    n, k = problem.dyads.n, len(state.z)
    slots = min(1 + int(SEARCH.dense.birth_share * k), max_communities - k)
    if slots <= 0:
        return state, value
    wider = add_communities(state, np.zeros((slots, n)), 0.0)
    order = rng.permutation(n if seeds is None else seeds)
    value, born = births(
        open_workspace(problem, wider), value, order, np.arange(k, k + slots), failures.of_births(problem.dyads)
    )
    return (drop_empty(wider), value) if born else (state, value)
