"""A descent of K-LAFTER on the dense engine, from a state to an optimum, as restarts make several of."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from klafter.core.objective import data_loss
from klafter.core.problem import Problem, State, n_observed
from klafter.core.workspace import open_workspace
from klafter.search.config import SEARCH
from klafter.search.dense import engine as dense
from klafter.search.dense.score import score
from klafter.search.moves.failures import Failures
from klafter.search.progress import Progress, Step, iterate


class Recipe(NamedTuple):
    """How a restart is run."""

    n_communities: int | None
    max_communities: int
    max_iter: int
    tol: float
    n_smooth: int
    max_draws: int


class Task(NamedTuple):
    """One restart: its number, its seed, and where it begins (None: by itself)."""

    run: int
    n_runs: int
    seed: np.random.SeedSequence
    state: State | None
    counts: bool = False  # the prior: learned counts, or the buffet's


class Outcome(NamedTuple):
    """Where a descent ended, its score F, how it came there, and the draws around it."""

    state: State
    problem: Problem
    score: float
    history: list[Step]
    converged: bool
    draws: list[State]


def refit_law(problem: Problem, state: State) -> Problem:
    """The precision of a quadratic loss that minimises Q: observed dyads over the sum of squares."""
    if not problem.law.quadratic:
        return problem
    unit = problem._replace(law=problem.law._replace(precision=1.0))
    squares = 2.0 * data_loss(open_workspace(unit, state))
    dyads = n_observed(problem)
    dyads = dyads if problem.dyads.directed else dyads // 2
    if dyads == 0:
        return problem
    return problem._replace(law=problem.law._replace(precision=float(dyads / max(squares, 1e-8 * dyads))))


class Descent:
    """What the descents of a restart share: random numbers, clock, progress callback and stop event."""

    def __init__(self, recipe: Recipe, task: Task, callback, stop):
        self.recipe, self.task, self.callback, self.stop = recipe, task, callback, stop
        self.rng = np.random.default_rng(task.seed)
        self.begun = time.perf_counter()
        self.failures: Failures | None = None

    def stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()

    def report(self, stage: str, t: int, n_steps: int, value: float, state: State) -> bool:
        """Call the progress callback; whether to stop."""
        stop_now = self.callback(Progress(stage, self.task.run, self.task.n_runs, t, n_steps, value, len(state.z)))
        if stop_now and self.stop is not None:  # what follows, and the other restarts, are not to begin
            self.stop.set()
        return stop_now

    def move(self, where: tuple[Problem, State, float]) -> tuple[Problem, State, float]:
        problem, state, value = where
        most, fixed = self.recipe.max_communities, self.recipe.n_communities is not None
        state, value = dense.step(
            problem, state, value, self.rng, max_communities=most, fixed=fixed, failures=self.failures
        )
        other = refit_law(problem, state)
        return other, state, value if other is problem else score(other, state)

    def run(self, problem: Problem, state: State, goal: float = np.inf) -> Outcome:
        """Moves until the score hardly falls, or a few more steps like the last would stay above the goal.

        None if the restart was stopped before.
        """
        recipe, history, converged = self.recipe, [], False

        def note(t, state, value):
            history.append(Step(self.task.run, t, time.perf_counter() - self.begun, value, len(state.z)))

        def done(t, where):
            nonlocal converged
            _, state, value = where
            fall = history[-1].objective - value
            converged = fall < recipe.tol * max(1.0, abs(value))
            note(t + 1, state, value)
            stop_now = self.report("search", t + 1, recipe.max_iter, value, state)
            return stop_now or converged or value - SEARCH.restart.steps * fall > goal

        problem, self.failures = refit_law(problem, state), Failures()
        value = score(problem, state)
        note(0, state, value)
        n_steps = 0 if self.stopped() else recipe.max_iter
        problem, state, value = iterate(self.move, (problem, state, value), n_steps, done, self.stop)
        return Outcome(state, problem, value, history, converged, [])


def by_score(outcome: Outcome) -> float:
    return outcome.score
