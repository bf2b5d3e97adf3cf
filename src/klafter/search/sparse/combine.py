"""Several searches of the sparse engine, put together: where overlap is heavy each of them misses other communities."""

from __future__ import annotations

import time

import numpy as np

from klafter.search.config import SEARCH
from klafter.search.progress import Step
from klafter.search.sparse import engine as sparse
from klafter.search.sparse.fit import (
    Outcome,
    ScoredState,
    Settings,
    annealed,
    by_score,
    judged,
    n_threads,
    united,
    with_degree_prior,
)
from klafter.search.sparse.moves.anneal import with_communities_of
from klafter.search.sparse.state import Problem, laid_out
from klafter.search.sparse.threads import ThreadPool


def combined(settings: Settings, outcomes: list[Outcome], seed: np.random.SeedSequence) -> list[Outcome]:
    """The searches, the best annealed, alone and with the communities of the others, as long as the score falls.

    Not where it has affinities between communities: a step then takes as long as a search.
    """
    best = min(range(len(outcomes)), key=lambda r: outcomes[r].score)
    problem, first = outcomes[best].problem, outcomes[best]
    if not first.state.affinities.diagonal:
        return outcomes
    rng, begun = np.random.default_rng(seed), time.perf_counter()
    plain = [each for each in outcomes if each.state.affinities.diagonal]
    here, *others = sorted((ScoredState(each.state, each.score, each.counts) for each in plain), key=by_score)
    with ThreadPool(n_threads(settings, problem)) as pool:
        here = annealed_in_turn(settings, problem, here, others, rng, pool)
        here = min(here, judged(settings.prior, problem, sparse.nothing(problem, pool), pool), key=by_score)
        if here.score >= first.score:
            return outcomes
        here = united(settings, problem, here, pool)
        problem, here = with_degree_prior(settings, problem, here, pool)
    return with_better(outcomes, best, problem, here, time.perf_counter() - begun)


def annealed_in_turn(
    settings: Settings, problem: Problem, here: ScoredState, others: list[ScoredState], rng, pool: ThreadPool
) -> ScoredState:
    """A state annealed by itself and with the communities of each of the others: what lowers the score is done again,
    until nothing does."""
    added: list[ScoredState | None] = [None, *others]
    at, in_vain = 0, 0
    for _ in range(SEARCH.sparse.combine_rounds):
        other = added[at]
        state = here.state if other is None else with_communities_of(problem, here.state, other.state)
        there = annealed(settings, problem, here._replace(state=state), rng, pool)
        if here.score - there.score > settings.tol * abs(here.score):
            in_vain = 0
        else:
            at, in_vain = (at + 1) % len(added), in_vain + 1
        here = min(here, there, key=by_score)
        if in_vain == len(added):
            break
    return here


def with_better(
    outcomes: list[Outcome], best: int, problem: Problem, here: ScoredState, seconds: float
) -> list[Outcome]:
    """The searches, a better end in the place of the best, and a line more in its history."""
    first = outcomes[best]
    last = first.history[-1]
    step = Step(last.run, last.step + 1, last.seconds + seconds, here.score, len(here.state.size))
    state, history = laid_out(problem, here.state), [*first.history, step]
    better = Outcome(problem, state, history, first.converged, here.score, here.counts)
    return [better if r == best else outcome for r, outcome in enumerate(outcomes)]
