"""One restart of K-LAFTER on the dense engine: a start, a descent to an optimum, and smoothing sweeps around it."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from klafter.core.families import GAUSSIAN
from klafter.core.objective import data_loss, objective
from klafter.core.problem import Problem, State, copy_state
from klafter.core.rows import make_cache
from klafter.models.base import Progress, Step, iterate
from klafter.sampling import lfrm
from klafter.search import dense
from klafter.search.starts import neighbourhoods

SMOOTH_PENALTY = -2.0


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
    """The optimum of a restart, and the draws around it."""

    state: State
    problem: Problem
    objective: float
    history: list[Step]
    draws: list[State]
    converged: bool


def refit_law(problem: Problem, state: State) -> Problem:
    """The precision of a Gaussian family that minimises Q: observed dyads over the sum of squares."""
    if problem.law.code != GAUSSIAN:
        return problem
    unit = problem._replace(law=problem.law._replace(precision=1.0))
    squares = 2.0 * data_loss(unit, state, make_cache(state, problem.dyads.directed))
    n, hidden = problem.dyads.n, len(problem.dyads.hidden_out.node)
    dyads = n * (n - 1) - hidden
    dyads = dyads if problem.dyads.directed else dyads // 2
    if dyads == 0:
        return problem
    return problem._replace(law=problem.law._replace(precision=float(dyads / max(squares, 1e-8 * dyads))))


def restart(problem: Problem, recipe: Recipe, task: Task, callback, stop) -> Outcome:
    """Descend from a start, then smooth."""
    rng = np.random.default_rng(task.seed)
    begun = time.perf_counter()
    history: list[Step] = []

    def report(stage, t, n_steps, value, state):
        return callback(Progress(stage, task.run, task.n_runs, t, n_steps, value, len(state.z)))

    def move(pair):
        problem, state = pair
        fixed = recipe.n_communities is not None
        state = dense.step(problem, state, rng, max_communities=recipe.max_communities, fixed=fixed)
        return refit_law(problem, state), state

    converged = False

    def done(t, pair):
        nonlocal converged
        value = objective(*pair)
        fall = history[-1].objective - value
        history.append(Step(task.run, t + 1, time.perf_counter() - begun, value, len(pair[1].z)))
        converged = fall < recipe.tol * max(1.0, abs(value)) and history[-1].n_communities == history[-2].n_communities
        return report("search", t + 1, recipe.max_iter, value, pair[1]) or converged

    state = first_state(problem, recipe, task, rng)
    problem = refit_law(problem, state)
    history.append(Step(task.run, 0, time.perf_counter() - begun, objective(problem, state), len(state.z)))
    problem, state = iterate(move, (problem, state), recipe.max_iter, done, stop)
    draws = smooth(problem, recipe, state, rng, report, stop)
    return Outcome(state, problem, objective(problem, state), history, draws, converged)


def first_state(problem: Problem, recipe: Recipe, task: Task, rng) -> State:
    """A state given (warm start), or communities around random nodes, or none."""
    if task.state is not None:
        return copy_state(task.state)
    size = recipe.n_communities
    if size is None:
        size = min(recipe.max_communities, int(np.sqrt(problem.dyads.n)) if task.run % 2 else 0)
    return dense.init(problem, rng, neighbourhoods(problem, size, rng))


def smooth(problem: Problem, recipe: Recipe, state: State, rng, report, stop) -> list[State]:
    """Draws of the posterior at T = 1 around the optimum: a third of the sweeps to leave it, the rest kept, thinned."""
    draws: list[State] = []
    if recipe.n_smooth == 0 or problem.priors.temperature == 0.0:
        return draws
    # predictions gain from more communities than a reader wants to see: alpha = e^2, whatever the penalty
    problem = problem._replace(priors=problem.priors._replace(penalty=SMOOTH_PENALTY))
    burn = recipe.n_smooth // 3
    every = max(1, -(-(recipe.n_smooth - burn) // recipe.max_draws))

    def sweep(chain):
        return lfrm.step(problem, chain, rng)

    def done(t, chain):
        if t >= burn and (t - burn) % every == 0:
            draws.append(chain.state)
        return (
            report("smoothing", t + 1, recipe.n_smooth, lfrm.log_posterior(problem, chain), chain.state)
            if t % 8 == 7
            else False
        )

    iterate(sweep, lfrm.start(problem, state), recipe.n_smooth, done, stop)
    return draws
