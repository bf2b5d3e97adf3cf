"""Proposals, and the one place where they are judged.

A move proposes: a candidate, the nodes it concerns, and the objective it claims to reach. ``is_accepted`` decides from
the fall of the objective and what the move is charged beside it. With the environment variable KLAFTER_CHECK_CLAIMS=1,
as in the tests, every claim of an accepted move is compared with the objective itself.
"""

import os
from typing import NamedTuple

import numpy as np

from klafter.core.objective import objective
from klafter.core.problem import Problem, State
from klafter.search.dense.score import free_weight_evidence

CHECKED = os.environ.get("KLAFTER_CHECK_CLAIMS") == "1"
LEAST_FALL = {  # below it is rounding
    "birth": 1e-9, "merge": 1e-6, "split": 1e-6, "death": 1e-6, "rebuild": 1e-6, "reassign": 1e-6, "off_diagonal": 1e-6,
}  # fmt: skip
TOLERANCE = 1e-6  # of a claim, relative to the objective


class Proposal(NamedTuple):
    """A candidate state in the place of the present one."""

    move: str
    state: State
    nodes: np.ndarray  # whose memberships may differ
    objective: float  # claimed


def is_accepted(move: str, fall: float, charge: float = 0.0) -> bool:
    """Whether the objective falls by more than rounding, and by more than the move is charged."""
    return fall > LEAST_FALL[move] and fall > charge


def accept(problem: Problem, state: State, value: float, proposal: Proposal) -> tuple[State, float]:
    """The candidate and its objective if the proposal is accepted, else the state as it was and its value."""
    fall = value - proposal.objective
    if not is_accepted(proposal.move, fall) or not is_accepted(proposal.move, fall, charge(problem, state, proposal)):
        return state, value
    if CHECKED:
        check_claim(proposal.move, value, fall, objective(problem, proposal.state))
    return proposal.state, proposal.objective


def charge(problem: Problem, state: State, proposal: Proposal) -> float:
    """What the objective must fall by: for a split the rise of the evidence of free weights, for others nothing."""
    if proposal.move != "split":
        return 0.0
    return free_weight_evidence(problem, proposal.state) - free_weight_evidence(problem, state)


def check_claim(move: str, before: float, fall: float, after: float) -> None:
    """Refuse a claim that is not the change of the objective."""
    if abs(before - fall - after) > TOLERANCE * max(1.0, abs(before), abs(after)):
        raise AssertionError(f"A {move} claimed a fall of {fall!r}; the objective went from {before!r} to {after!r}.")
