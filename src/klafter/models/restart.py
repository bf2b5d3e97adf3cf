"""One restart of K-LAFTER on the dense engine: a start, a descent to an optimum, and smoothing sweeps around it."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from klafter.core.families import BERNOULLI, GAUSSIAN
from klafter.core.objective import data_loss, objective
from klafter.core.problem import Problem, State, copy_state
from klafter.core.view import look
from klafter.models.base import Progress, Step, iterate
from klafter.sampling import lfrm
from klafter.search import dense
from klafter.search.moves import largest, without_handfuls, without_majorities, worth
from klafter.search.starts import above_the_mean, neighbourhoods

SMOOTH_PENALTY = -2.0
BINARY_STEPS = 3  # on which values are only large or small, before they count


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


class Optimum(NamedTuple):
    """Where a descent ended."""

    problem: Problem
    state: State
    objective: float
    worth: float
    converged: bool


class Outcome(NamedTuple):
    """The optimum of a restart, and the draws around it.

    ``worth``, which adds to the objective a price for handfuls of nodes, compares restarts.
    """

    state: State
    problem: Problem
    objective: float
    worth: float
    history: list[Step]
    draws: list[State]
    converged: bool


def refit_law(problem: Problem, state: State) -> Problem:
    """The precision of a Gaussian family that minimises Q: observed dyads over the sum of squares."""
    if problem.law.code != GAUSSIAN:
        return problem
    unit = problem._replace(law=problem.law._replace(precision=1.0))
    squares = 2.0 * data_loss(look(unit, state))
    n, hidden = problem.dyads.n, len(problem.dyads.hidden_out.node)
    dyads = n * (n - 1) - hidden
    dyads = dyads if problem.dyads.directed else dyads // 2
    if dyads == 0:
        return problem
    return problem._replace(law=problem.law._replace(precision=float(dyads / max(squares, 1e-8 * dyads))))


def restart(problem: Problem, recipe: Recipe, task: Task, callback, stop) -> Outcome:
    """Descend from a start, smooth around the optimum, and descend once more from where the smoothing ended."""
    rng = np.random.default_rng(task.seed)
    begun = time.perf_counter()
    history: list[Step] = []

    def report(stage, t, n_steps, value, state):
        return callback(Progress(stage, task.run, task.n_runs, t, n_steps, value, len(state.z)))

    def note(t, value, state):
        history.append(Step(task.run, t, time.perf_counter() - begun, value, len(state.z)))

    def move(pair):
        problem, state = pair
        fixed = recipe.n_communities is not None
        state = dense.step(problem, state, rng, max_communities=recipe.max_communities, fixed=fixed)
        return refit_law(problem, state), state

    def descend(problem, state, noted):
        problem = refit_law(problem, state)
        values, converged = [objective(problem, state)], False
        if noted:
            note(0, values[0], state)

        def done(t, pair):
            nonlocal converged
            values.append(objective(*pair))
            converged = values[-2] - values[-1] < recipe.tol * max(1.0, abs(values[-1]))
            if noted:
                note(t + 1, values[-1], pair[1])
            return report("search", t + 1, recipe.max_iter, values[-1], pair[1]) or converged

        problem, state = iterate(move, (problem, state), recipe.max_iter, done, stop)
        return Optimum(problem, state, objective(problem, state), worth(problem, state), converged)

    best = descend(problem, first_state(problem, recipe, task, rng), True)
    draws = smooth(best.problem, recipe, best.state, rng, report, stop)
    if draws and recipe.n_communities is None and not (stop is not None and stop.is_set()):
        again = descend(best.problem, lean(best.problem, recipe, draws[-1]), False)
        if again.objective < best.objective and again.worth < best.worth:
            best = again
            note(history[-1].step + 1, best.objective, best.state)
    return Outcome(best.state, best.problem, best.objective, best.worth, history, draws, best.converged)


def lean(problem: Problem, recipe: Recipe, draw: State) -> State:
    """A draw as a second start of the search: without communities of nearly everyone, and of hardly anyone."""
    state = without_handfuls(problem, without_majorities(problem, copy_state(draw)))
    return largest(state, recipe.max_communities)


def first_state(problem: Problem, recipe: Recipe, task: Task, rng) -> State:
    """A state given (warm start), or communities around random nodes, or none.

    Where links have values, large ones would draw the first communities to where two overlap; so the search begins
    with the communities of the links above the mean.
    """
    if task.state is not None:
        return copy_state(task.state)
    size = recipe.n_communities
    if size is None:
        size = min(recipe.max_communities, int(np.sqrt(problem.dyads.n)) if task.run % 2 else 0)
    if problem.law.code == BERNOULLI:
        return dense.init(problem, rng, neighbourhoods(problem, size, rng))
    binary = above_the_mean(problem)
    state = dense.init(binary, rng, neighbourhoods(binary, size, rng))
    for _ in range(BINARY_STEPS):
        fixed = recipe.n_communities is not None
        state = dense.step(binary, state, rng, max_communities=recipe.max_communities, fixed=fixed)
    return dense.init(problem, rng, state.z)


def smooth(problem: Problem, recipe: Recipe, state: State, rng, report, stop) -> list[State]:
    """Draws of the posterior at T = 1 around the optimum: a third of the sweeps to leave it, the rest kept, thinned."""
    draws: list[State] = []
    if recipe.n_smooth == 0 or problem.priors.temperature == 0.0:
        return draws
    # predictions gain from more communities than a reader wants to see: alpha begins at e^2, whatever the penalty,
    # and is drawn along with the scales of W
    problem = problem._replace(priors=problem.priors._replace(penalty=SMOOTH_PENALTY))
    burn = recipe.n_smooth // 3
    every = max(1, -(-(recipe.n_smooth - burn) // recipe.max_draws))

    def sweep(chain):
        return lfrm.step(problem, chain, rng, learn=True)

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
