"""Proposals, and the one place where they are judged.

A move proposes: a candidate, the nodes it concerns, and the score F that it claims to reach. ``accept`` takes it where
F falls; nothing else decides. With the environment variable KLAFTER_CHECK_CLAIMS=1, as in the tests, every claim of an
accepted move is compared with the score itself.
"""

import os
from typing import NamedTuple

import numpy as np

from klafter.core.problem import Problem, State
from klafter.search.dense.score import score

CHECKED = os.environ.get("KLAFTER_CHECK_CLAIMS") == "1"
LEAST_FALL = 1e-6  # below it is rounding
TOLERANCE = 1e-6  # of a claim, relative to the score


class Proposal(NamedTuple):
    """A candidate state in the place of the present one."""

    move: str
    state: State
    nodes: np.ndarray  # whose memberships may differ
    score: float  # claimed


def is_accepted(fall: float) -> bool:
    """Whether the score falls by more than rounding."""
    return fall > LEAST_FALL


def accept(problem: Problem, state: State, value: float, proposal: Proposal) -> tuple[State, float]:
    """The candidate and its score if the proposal is accepted, else the state as it was and its value."""
    fall = value - proposal.score
    if not is_accepted(fall):
        return state, value
    if CHECKED:
        check_claim(proposal.move, value, fall, score(problem, proposal.state))
    return proposal.state, proposal.score


def check_claim(move: str, before: float, fall: float, after: float) -> None:
    """Refuse a claim that is not the change of the score, or of Q where a kernel flips memberships one by one."""
    if abs(before - fall - after) > TOLERANCE * max(1.0, abs(before), abs(after)):
        raise AssertionError(f"A {move} claimed a fall of {fall!r}; the score went from {before!r} to {after!r}.")
