"""A descent of K-LAFTER on the dense engine, from a state to an optimum, as restarts make several of."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from klafter.core.objective import data_loss, objective
from klafter.core.problem import Problem, State
from klafter.core.workspace import open_workspace
from klafter.search.dense import engine as dense
from klafter.search.dense.score import everyone, is_handful, score
from klafter.search.progress import Progress, Step, iterate

DOZENS = 50  # nodes below which every community is small


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


class Outcome(NamedTuple):
    """Where a descent ended, how it came there, and the draws around it.

    ``score``, the objective and the Laplace evidence of free weights, compares descents.
    """

    state: State
    problem: Problem
    objective: float
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
    n, hidden = problem.dyads.n, len(problem.dyads.hidden_out.node)
    dyads = n * (n - 1) - hidden
    dyads = dyads if problem.dyads.directed else dyads // 2
    if dyads == 0:
        return problem
    return problem._replace(law=problem.law._replace(precision=float(dyads / max(squares, 1e-8 * dyads))))


class Descent:
    """What the descents of a restart share: its random numbers, its clock, and who is told and may stop it."""

    def __init__(self, recipe: Recipe, task: Task, callback, stop):
        self.recipe, self.task, self.callback, self.stop = recipe, task, callback, stop
        self.rng = np.random.default_rng(task.seed)
        self.begun = time.perf_counter()

    def stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()

    def report(self, stage: str, t: int, n_steps: int, value: float, state: State) -> bool:
        """Tell how far it is; whether to stop."""
        told = self.callback(Progress(stage, self.task.run, self.task.n_runs, t, n_steps, value, len(state.z)))
        if told and self.stop is not None:  # what follows, and the other restarts, are not to begin
            self.stop.set()
        return told

    def move(self, pair: tuple[Problem, State]) -> tuple[Problem, State]:
        problem, state = pair
        most, fixed = self.recipe.max_communities, self.recipe.n_communities is not None
        state = dense.step(problem, state, self.rng, max_communities=most, fixed=fixed)
        return refit_law(problem, state), state

    def run(self, problem: Problem, state: State) -> Outcome:
        """Moves until Q hardly falls; none if the restart was stopped before."""
        recipe, history, converged = self.recipe, [], False

        def note(t, problem, state):
            value = objective(problem, state)
            history.append(Step(self.task.run, t, time.perf_counter() - self.begun, value, len(state.z)))
            return value

        def done(t, pair):
            nonlocal converged
            before, value = history[-1].objective, note(t + 1, *pair)
            converged = before - value < recipe.tol * max(1.0, abs(value))
            return self.report("search", t + 1, recipe.max_iter, value, pair[1]) or converged

        problem = refit_law(problem, state)
        note(0, problem, state)
        n_steps = 0 if self.stopped() else recipe.max_iter
        problem, state = iterate(self.move, (problem, state), n_steps, done, self.stop)
        lowest = score(problem, state, paying(problem)(state))
        return Outcome(state, problem, history[-1].objective, lowest, history, converged, [])


def paying(problem: Problem) -> Callable:
    """Marks the communities that must pay for their weights: all, or handfuls where every community is small."""
    return everyone if problem.dyads.n >= DOZENS else is_handful


def by_score(outcome: Outcome) -> float:
    return outcome.score
