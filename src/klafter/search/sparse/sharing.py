"""Searches whose nodes share their links among their communities, where the score is lower so.

Every search of a fit is taken further with shared links (``moves/share.py``); if the best then has a lower score than
any has without, it is given the communities that the others found, one search after the other, and communities without
which the score is lower are deleted.
"""

from __future__ import annotations

import time

import numpy as np

from klafter.search.config import SEARCH
from klafter.search.sparse.combine import with_better
from klafter.search.sparse.fit import (
    Outcome,
    ScoredState,
    Settings,
    by_score,
    n_annealings,
    n_threads,
    with_degree_prior,
)
from klafter.search.sparse.moves.anneal import with_communities_of
from klafter.search.sparse.moves.share import can_share, deaths, in_shares, share_links, with_shares
from klafter.search.sparse.score import score
from klafter.search.sparse.state import Problem, State
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import weights


def share_if_better(settings: Settings, outcomes: list[Outcome], seed: np.random.SeedSequence) -> list[Outcome]:
    """The searches, the best of them with shared links if its score is lower so."""
    best = min(range(len(outcomes)), key=lambda r: outcomes[r].score)
    first, rng, begun = outcomes[best], np.random.default_rng(seed), time.perf_counter()
    if not SEARCH.sparse.share_rounds or not n_annealings(first.problem) or not can_share(first.problem, first.state):
        return outcomes
    with ThreadPool(n_threads(settings, first.problem)) as pool:
        if not is_close(first, pool):
            return outcomes
        found = [with_shared_links(o, first.score, rng, pool) for o in outcomes if can_share(o.problem, o.state)]
        if min(found, key=by_score).score >= first.score:
            return outcomes
        here = combine_shared(first.problem, sorted(found, key=by_score), rng, pool)
        problem, here = with_degree_prior(settings, first.problem, here, pool)
    return with_better(outcomes, best, problem, here, time.perf_counter() - begun)


def is_close(outcome: Outcome, pool: ThreadPool) -> bool:
    """Whether the score of the same cover with shared links is lower, or hardly higher."""
    state = with_shares(outcome.problem, outcome.state, pool)
    value = score(outcome.problem, state, pool, counts=outcome.counts)
    return value < outcome.score + SEARCH.sparse.share_close * abs(outcome.score)


def with_shared_links(outcome: Outcome, goal: float, rng, pool: ThreadPool) -> ScoredState:
    """Where one search leads with shared links, as far as that may be below the goal."""
    start = with_shares(outcome.problem, outcome.state, pool)
    found = share_links(outcome.problem, start, rng, pool, counts=outcome.counts, goal=goal)
    return ScoredState(*found, outcome.counts)


def combine_shared(problem: Problem, found: list[ScoredState], rng, pool: ThreadPool) -> ScoredState:
    """The best, with the communities of each of the others as far as these lower the score."""
    here = pruned(problem, found[0], rng, pool)
    for other in found[1:]:
        both = joined(problem, here.state, other.state, pool)
        there = ScoredState(*share_links(problem, both, rng, pool, counts=here.counts), here.counts)
        here = min(here, pruned(problem, there, rng, pool), key=by_score)
    return here


def joined(problem: Problem, state: State, other: State, pool: ThreadPool) -> State:
    """The state with the communities that another has beside its own."""
    return weights(problem, in_shares(problem, with_communities_of(problem, state, other)), pool)


def pruned(problem: Problem, found: ScoredState, rng, pool: ThreadPool) -> ScoredState:
    """The same without communities whose removal lowers the score, and the sets that nodes then choose."""
    state, made = deaths(problem, found.state, found.score, rng, pool, counts=found.counts)
    if not made:
        return found
    return ScoredState(*share_links(problem, state, rng, pool, counts=found.counts), found.counts)
