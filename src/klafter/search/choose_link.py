"""Which link describes a network of 0/1 links better, asked where either engine has an answer in seconds or minutes.

Both scores are minus the log of how probable the links and the memberships are together, so the lower one decides. The
sparse engine, which is quick, goes first; the dense one descends from the cover that was found there until its score
is lower, or falls too slowly to become so, and from one start of its own only while that has not decided. One sparse
search is less than what that engine can do: where all restarts of the dense one end close to it, the other sparse
searches are made too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klafter.core.problem import Problem, State
from klafter.graph import Graph
from klafter.search.config import SEARCH
from klafter.search.dense import engine as dense
from klafter.search.dense.score import score
from klafter.search.descend import Descent, Recipe, Task
from klafter.search.moves.failures import Failures
from klafter.search.moves.flip import sweep
from klafter.search.restart import restart
from klafter.search.sparse import fit as sparse_fit
from klafter.search.sparse.state import memberships

CHOICE = (1_000_000,)  # spawn key: seeds that no restart has


class DenseSetup(NamedTuple):
    """What a restart of the dense engine needs."""

    problem: Problem
    recipe: Recipe


class Choice(NamedTuple):
    """What the sparse engine found and, if the score of the dense one is lower, where that was when it became so."""

    found: sparse_fit.Outcome
    start: State | None


def choose(graph: Graph, settings: sparse_fit.Settings, setup: DenseSetup, seeds, callback, stop) -> Choice:
    """What the sparse engine finds, alone if its score is lower than that of the dense one, or Ctrl-C came."""
    first, second, _ = seeds_of_choice(seeds)
    found = sparse_fit.search(settings, graph, callback, sparse_fit.Task(0, 1, first, None), stop)
    if stop.is_set():
        return Choice(found, None)
    least, state = logit_score(found, setup, second, callback, stop)
    return Choice(found, None if stop.is_set() or found.score < least else state)


def is_close(found: sparse_fit.Outcome, least: float) -> bool:
    """Whether more sparse searches might end below the score of all dense restarts."""
    return found.score < (1 + SEARCH.link.close) * least


def seeds_of_choice(seeds: np.random.SeedSequence) -> list[np.random.SeedSequence]:
    """For the first search of either engine, and for the other sparse searches."""
    return np.random.SeedSequence(seeds.entropy, spawn_key=CHOICE).spawn(3)


def logit_score(found: sparse_fit.Outcome, setup: DenseSetup, seed, callback, stop) -> tuple[float, State]:
    """The score of the dense engine from the cover of the sparse one and, where that is close, from its own start."""
    problem = setup.problem._replace(counts=found.counts)
    z = np.ascontiguousarray(memberships(found.problem, found.state).toarray().T.astype(np.uint8))
    task = Task(0, 1, seed, None)
    least, state = descend_below(found.score, problem, z, Descent(setup.recipe, task, callback, stop))
    if stop.is_set() or not found.score < least < (1 + SEARCH.link.close) * found.score:
        return least, state
    own = restart(problem, setup.recipe, task, callback, stop)
    return (own.score, own.state) if own.score < least else (least, state)


def descend_below(goal: float, problem: Problem, z: np.ndarray, descent: Descent) -> tuple[float, State]:
    """A descent from z, which ends below the goal, or where a few more steps like the last stay above: score, state.

    Where the first flips and weights end far above, or gain little and stay above, it ends with them.
    """
    state = dense.init(problem, descent.rng, z)
    first = score(problem, state)
    state, value = sweep(problem, state, first, descent.rng)
    descent.failures = Failures()
    here, fall, link = (problem, state, value), np.inf, SEARCH.link
    hopeless = value - link.sweeps * (first - value) > goal and value > (1 + link.close) * goal
    if hopeless or value > (1 + link.far) * goal:
        return value, state
    for t in range(descent.recipe.max_iter):
        if descent.stopped() or value < goal or value - SEARCH.link.steps * fall > goal:
            break
        here = descent.move(here)
        fall, value = value - here[2], here[2]
        descent.report("search", t + 1, descent.recipe.max_iter, value, here[1])
    return value, here[1]
