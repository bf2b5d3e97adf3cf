"""Smoothing: sweeps of the posterior at temperature 1 around an optimum, which predictions average."""

from klafter.core.problem import Problem, State
from klafter.sampling import lfrm
from klafter.search.config import SEARCH
from klafter.search.descend import Recipe
from klafter.search.progress import iterate


def sweeps(problem: Problem, state: State, n_sweeps: int, rng, done, stop) -> lfrm.Chain:
    """A chain of the posterior that begins at a state.

    Predictions gain from more communities than a reader wants to see: alpha begins at e^2, whatever the penalty, and is
    drawn along with the scales of W.
    """
    problem = problem._replace(priors=problem.priors._replace(penalty=SEARCH.restart.smooth_penalty))

    def sweep(chain):
        return lfrm.step(problem, chain, rng, learn=True, share=SEARCH.restart.affinity_share)

    return iterate(sweep, lfrm.start(problem, state), n_sweeps, done, stop)


def smooth(problem: Problem, state: State, recipe: Recipe, rng, report, stop) -> list[State]:
    """Draws of the posterior at T = 1 around the optimum: a sixth of the sweeps to leave it, the rest kept, thinned."""
    draws: list[State] = []
    if recipe.n_smooth == 0 or problem.priors.temperature == 0.0:
        return draws
    burn = recipe.n_smooth // SEARCH.restart.burn_in
    every = max(1, -(-(recipe.n_smooth - burn) // recipe.max_draws))

    def done(t, chain):
        if t >= burn and (t - burn) % every == 0:
            draws.append(chain.state)
        return (
            report("smoothing", t + 1, recipe.n_smooth, lfrm.log_posterior(problem, chain), chain.state)
            if t % 8 == 7
            else False
        )

    sweeps(problem, state, recipe.n_smooth, rng, done, stop)
    return draws
