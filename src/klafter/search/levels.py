"""Levels: a cover and the coarser ones that merging its communities leads to, each with its score.

Greedy: of all pairs the one whose merge raises the score least, its members and weights fitted, again and again until
one community is left. The level that is shown first is the one before the sharpest jump: the next merge raises the
score by the highest multiple of what any merge before it did, a rise below log N, about what one membership costs,
counting as that. Where all rises are alike no level stands out, and it is the finest. No level is shown whose score is
above that of no communities at all.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from klafter.core.problem import Problem, State, empty_state
from klafter.search.config import SEARCH
from klafter.search.dense.score import score
from klafter.search.dense.weights import ROUGH, fit_weights
from klafter.search.moves.merge import propose_merge
from klafter.search.moves.proposal import Proposal


class Level(NamedTuple):
    """A cover, its score, and which communities (columns) of the level before became one, in the place of the first."""

    state: State
    score: float
    merged: tuple[int, ...]  # none at the first


def levels(problem: Problem, state: State, value: float) -> list[Level]:
    """From the cover given to one community."""
    path, rises = [Level(state, value, ())], dict.fromkeys(near_pairs(state), -np.inf)
    while len(path[-1].state.z) > 1:
        here = path[-1]
        pair, proposal = cheapest_merge(problem, here, rises)
        path.append(Level(proposal.state, proposal.score, pair))
        known = renumbered(rises, pair) if len(proposal.state.z) == len(here.state.z) - 1 else {}  # else others died
        rises = {other: known.get(other, -np.inf) for other in near_pairs(proposal.state)}
    return path


def cheapest_merge(problem: Problem, here: Level, rises: dict):
    """The pair whose merge raises the score least; rises of earlier levels are estimates, computed again on top.

    Of many communities the first estimate of a pair is its merge before all weights are fitted.
    """
    proposals: dict = {}
    many = len(here.state.z) > SEARCH.levels.all_pairs
    while True:
        pair = min(rises, key=lambda pair: (rises[pair], pair))
        if pair in proposals:
            return pair, proposals[pair]
        proposal = propose_merge(problem, here.state, *pair)
        if many and rises[pair] == -np.inf:
            rises[pair] = proposal.score - here.score
            continue
        proposals[pair] = refitted(problem, proposal)
        rises[pair] = proposals[pair].score - here.score


def refitted(problem: Problem, proposal: Proposal) -> Proposal:
    """The proposal with all weights fitted, not those of the merged community alone."""
    state = fit_weights(problem, proposal.state, tol=ROUGH)
    return proposal._replace(state=state, score=score(problem, state))


def renumbered(rises: dict, pair: tuple[int, int]) -> dict:
    """The estimates of pairs that a merge left alone, by the columns after it."""
    gone = pair[1]
    return {(k - (k > gone), m - (m > gone)): rise for (k, m), rise in rises.items() if not {k, m} & set(pair)}


def near_pairs(state: State) -> list[tuple[int, int]]:
    """Pairs of communities that may merge: all of few, else each with those that it shares members or links with."""
    k = len(state.z)
    if k <= SEARCH.levels.all_pairs:
        return [(a, b) for a in range(k) for b in range(a + 1, k)]
    z = state.z.astype(float)
    size = z.sum(axis=1)
    nearness = (z @ z.T) / np.minimum.outer(size, size) * np.abs(np.diag(state.w)) + (state.w + state.w.T) / 2
    np.fill_diagonal(nearness, -np.inf)
    best = np.argsort(-nearness, axis=1, kind="stable")[:, : SEARCH.levels.nearest]
    return sorted({(min(a, b), max(a, b)) for a in range(k) for b in best[a].tolist()})


def shown_level(problem: Problem, path: list[Level]) -> int:
    """Which level is shown first."""
    nothing = score(problem, fit_weights(problem, empty_state(problem)))
    membership = problem.priors.temperature * np.log(max(problem.dyads.n, 2))
    return sharpest_jump([level.score for level in path], float(membership), nothing)


def sharpest_jump(scores: list[float], least: float, most: float) -> int:
    """The level whose merge raises the score by the highest multiple of any rise before it, or of the ``least``.

    Of levels after the first, those with a score of at most ``most``.
    """
    largest, sharpest, shown = least, 0.0, 0
    for t, (here, there) in enumerate(pairwise(scores)):
        if t > 0 and here > most:
            break
        if there - here > sharpest * largest:
            sharpest, shown = (there - here) / largest, t
        largest = max(largest, there - here)
    return shown
