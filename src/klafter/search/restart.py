"""One restart of K-LAFTER on the dense engine: a start, a descent to an optimum, and smoothing sweeps around it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from klafter.core.problem import Priors, Problem, State, copy_state
from klafter.search.config import SEARCH
from klafter.search.dense import engine as dense
from klafter.search.dense.communities import largest, without_majorities
from klafter.search.dense.score import score
from klafter.search.dense.weights import fit_weights
from klafter.search.descend import Descent, Outcome, Recipe, Task, by_score
from klafter.search.moves.death import deaths
from klafter.search.moves.proposal import accept
from klafter.search.moves.rebuild import propose_rebuild
from klafter.search.moves.row_reset import resets
from klafter.search.progress import iterate
from klafter.search.starts import above_the_mean, is_of_many, neighbourhoods, partition


def restart(problem: Problem, recipe: Recipe, task: Task, callback, stop, smooth: Callable | None = None) -> Outcome:
    """Descend from some starts, and again from a richer state; smooth around that; of few nodes descend from its end.

    Not from sweeps without sociality: communities that stand in for it would start the search badly. Sweeps are of the
    buffet's posterior, whichever prior the descents have.
    """
    descent = Descent(recipe, task, callback, stop)
    rng, run = descent.rng, descent.run
    best = run(problem, first_state(problem, recipe, task, rng))
    if recipe.n_communities is not None and task.state is None and not descent.stopped():
        best = min(
            best, run(problem, limited_state(problem, recipe, recipe.n_communities, task, callback, stop)), key=by_score
        )
    for _ in range(n_partitions(problem, recipe, task)):
        if descent.stopped():
            break
        best = min(best, run(problem, covering_state(problem, recipe, rng), best.score), key=by_score)
    rich, few = best.state, not is_of_many(problem)
    fewest = problem.dyads.n <= SEARCH.effort.dozens
    if (few or smooth) and recipe.n_communities is None and problem.priors.temperature > 0.0 and not descent.stopped():
        rich = enrich(best.problem._replace(counts=False), rich, recipe, rng, stop)
        if few:
            best = min(best, run(best.problem, prune(best.problem, recipe, rich), best.score), key=by_score)
    chains = chain_starts(best.problem, rich)
    if fewest:  # small networks can afford a descent for every chain
        chains = [chains[task.run % len(chains)]]
    draws = [smooth(*start, recipe, rng, descent.report, stop) for start in chains] if smooth else []
    social = draws and draws[0] and chains[0][0].has_sociality == problem.has_sociality
    if social and fewest and recipe.n_communities is None and not descent.stopped():
        best = min(best, run(best.problem, prune(best.problem, recipe, draws[0][-1]), best.score), key=by_score)
    return best._replace(draws=[state for some in draws for state in some])


def chain_starts(problem: Problem, state: State) -> list[tuple[Problem, State]]:
    """Where sweeps begin: at the state, with sociality and without.

    Where communities explain the degrees sociality only adds noise; the average of both predicts better.
    """
    problem = problem._replace(counts=False)
    return [(problem, state)] + [without_sociality(problem, state)] * int(problem.has_sociality)


def quick_draws(
    problem: Problem, recipe: Recipe, task: Task, callback, stop, smooth: Callable
) -> tuple[Problem, list[State]]:
    """The draws of a restart that only predicts: one descent, and sweeps from a richer state.

    Those with sociality and those without begin at the same state.
    """
    descent = Descent(recipe, task, callback, stop)
    best = descent.run(problem, first_state(problem, recipe, task, descent.rng))
    rich = best.state
    if recipe.n_communities is None and not descent.stopped():
        rich = enrich(best.problem._replace(counts=False), rich, recipe, descent.rng, stop)
    chains = chain_starts(best.problem, rich)
    draws = [smooth(*start, recipe, descent.rng, descent.report, stop) for start in chains]
    return best.problem, [state for some in draws for state in some]


def rebuilt(recipe: Recipe, callback, pair: tuple[Task, Outcome], stop) -> Outcome:
    """The outcome of a restart, or the better one that rebuilding some of its communities led to; the draws stay."""
    task, outcome = pair
    problem, descent = outcome.problem, Descent(recipe, task, callback, stop)
    n_tries = int(SEARCH.restart.rebuilds * min(1.0, (SEARCH.restart.rebuild_nodes / problem.dyads.n) ** 2))
    in_vain, lowest = 0, outcome.score

    def step(where):
        state, value = where
        if not len(state.z):
            return where
        proposal = propose_rebuild(problem, state, value, descent.rng, recipe.max_communities)
        return where if proposal is None else accept(problem, state, value, proposal)

    def done(t, where):
        nonlocal in_vain, lowest
        in_vain, lowest = (in_vain + 1 if where[1] == lowest else 0), where[1]
        stop_now = descent.report("rebuilding", t + 1, n_tries, where[1], where[0])
        return stop_now or in_vain == SEARCH.restart.rebuild_patience

    first = resets(problem, outcome.state, outcome.score, descent.rng)
    state, _ = iterate(step, first, n_tries, done, stop)
    last = descent.run(problem, copy_state(state), outcome.score)
    return min(outcome, last, key=by_score)._replace(draws=outcome.draws)


def n_partitions(problem: Problem, recipe: Recipe, task: Task) -> int:
    """Descents from covers of everyone, more on small networks, where they cost little and often end high.

    Every second restart is there for predictions, and makes none. Of many nodes the first restart has one beside the
    state it is given: from a cover of the sparse engine descents end high.
    """
    if not may_cover(problem, recipe):
        return 0
    if task.state is not None:
        return int(is_of_many(problem))
    if task.run % 2:
        return 0
    settings, fewest = SEARCH.restart, 0 if is_of_many(problem) else SEARCH.restart.fewest_partitions
    return max(fewest, min(settings.most_partitions, settings.partition_nodes // problem.dyads.n))


def may_cover(problem: Problem, recipe: Recipe) -> bool:
    """Whether partitions are of use: a price.

    Where nothing has one, communities would go on being born from there until they explain every link.
    """
    free = problem.priors.temperature == 0.0 and problem.priors.penalty <= 0.0
    return not free and recipe.n_communities is None


def enrich(problem: Problem, state: State, recipe: Recipe, rng, stop) -> State:
    """The state with what is born at a lower temperature and a lower price of communities.

    Communities that do not lower the score one by one may do so together: a descent from there often ends lower. And
    the posterior has more communities than its mode: a chain needs fewer sweeps to lose some than to find others.
    """

    cool = cooler(problem)

    def move(state):
        return dense.grow(cool, state, score(cool, state), rng, recipe.max_communities)[0]

    return iterate(move, state, 1, lambda t, state: True, stop)


def cooler(problem: Problem) -> Problem:
    """The same problem at a lower temperature and a lower price of communities."""
    scaled = [getattr(problem.priors, name) * SEARCH.restart.cooling for name in Priors._fields[1:]]
    return problem._replace(priors=Priors(SEARCH.restart.smooth_penalty, *scaled))


def prune(problem: Problem, recipe: Recipe, draw: State) -> State:
    """A draw as another start of the search: without communities of nearly everyone, and those whose
    removal lowers the score.

    Its weights are a sample, or those of another temperature: F is Laplace's where they are at their mode, and lower
    beside it, so that the search would keep them.
    """
    state = fit_weights(problem, without_majorities(problem, copy_state(draw)))
    return largest(deaths(problem, state, score(problem, state))[0], recipe.max_communities)


def covering_state(problem: Problem, recipe: Recipe, rng) -> State:
    """A start at which everyone who has links is in a community."""
    z = partition(problem, rng)
    return dense.init(problem, rng, z[np.argsort(-z.sum(axis=1), kind="stable")[: recipe.max_communities]])


def limited_state(problem: Problem, recipe: Recipe, size: int, task: Task, callback, stop) -> State:
    """Another start with a fixed number of communities, which no birth, merge or split may change.

    Where a search leads that may have fewer, but not more; what is missing begins around random nodes.
    """
    limited = restart(problem, recipe._replace(n_communities=None, max_communities=size), task, callback, stop)
    rng, z = np.random.default_rng(task.seed), limited.state.z
    return dense.init(problem, rng, np.vstack([z, neighbourhoods(problem, size - len(z), rng)]))


def first_state(problem: Problem, recipe: Recipe, task: Task, rng) -> State:
    """A first start: a state given, or communities around random nodes, or none, in turn; of many nodes a partition.

    Where links have values, large ones would draw the first communities to where two overlap; so the search begins
    with the communities of the links above the mean.
    """
    if task.state is not None:
        return copy_state(task.state)
    if is_of_many(problem) and may_cover(problem, recipe):
        return covering_state(problem, recipe, rng)
    size = recipe.n_communities
    if size is None:
        size = min(recipe.max_communities, int(np.sqrt(problem.dyads.n)) if task.run % 2 else 0)
    if problem.law.logistic:
        return dense.init(problem, rng, neighbourhoods(problem, size, rng))
    binary = above_the_mean(problem)
    state = dense.init(binary, rng, neighbourhoods(binary, size, rng))
    value, fixed = score(binary, state), recipe.n_communities is not None
    for _ in range(SEARCH.restart.binary_steps):
        state, value = dense.step(binary, state, value, rng, max_communities=recipe.max_communities, fixed=fixed)
    return dense.init(problem, rng, state.z)


def without_sociality(problem: Problem, state: State) -> tuple[Problem, State]:
    """The same without sociality."""
    sender = np.zeros_like(state.sender)
    receiver = sender if state.receiver is state.sender else sender.copy()
    return problem._replace(has_sociality=False), copy_state(state)._replace(sender=sender, receiver=receiver)
