"""The dense search against an exhaustive one, and its promise that the score never rises."""

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klafter.core.families import FAMILIES
from klafter.core.problem import make_priors, make_problem
from klafter.datasets import make_lfrm
from klafter.graph import Graph
from klafter.sampling.smoothing import smooth
from klafter.search.dense import engine as dense
from klafter.search.descend import Descent
from klafter.search.restart import Recipe, Task, covering_state, restart
from klafter.search.starts import coin_flips, neighbourhoods

quick = settings(max_examples=5, deadline=None, derandomize=True)


def links(pairs, n, directed):
    y = np.zeros((n, n))
    for i, j in pairs:
        y[i, j] = 1.0
        if not directed:
            y[j, i] = 1.0
    return y


SMALL = {
    "two triangles and a bridge": ([(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)], 6, False),
    "a star": ([(0, 1), (0, 2), (0, 3), (0, 4)], 5, False),
    "who asks and who answers": ([(0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4)], 5, True),
}


def small_problem(name, penalty, temperature, offset=True):
    pairs, n, directed = SMALL[name]
    graph = Graph(links(pairs, n, directed), directed=directed)
    return graph, make_problem(
        graph, FAMILIES["bernoulli"].law(), make_priors(penalty, temperature, 3.0), offset=offset, sociality=False
    )


@pytest.mark.parametrize("name", SMALL)
def test_the_exhaustive_search_agrees_with_a_general_optimiser(name):
    graph, problem = small_problem(name, -2.0, 1.0)
    best, z = oracles.exhaustive_search(graph, problem, 2)
    assert oracles.polished(graph, problem, z) == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(("penalty", "temperature"), [(0.3, 0.1), (-2.0, 1.0)])
def test_search_finds_what_an_exhaustive_search_finds(name, penalty, temperature):
    """A seed stands for six restarts, as in KLafter, each with its smoothing sweeps."""
    graph, problem = small_problem(name, penalty, temperature)
    best, _ = oracles.exhaustive_search(graph, problem, 2)
    found = np.array([min(search(graph, problem, seed, r) for r in range(6)) for seed in range(6)])
    assert found.min() > best - 1e-5
    assert np.mean(found < best + 0.01) > 0.5


def search(graph, problem, seed, run):
    """F of the memberships where a restart ends, at the mode of their weights; its own, a little off it, is checked."""
    recipe = Recipe(None, max_communities=2, max_iter=10, tol=1e-6, n_smooth=120, max_draws=10)
    task = Task(run, 6, np.random.SeedSequence([seed, run]), None)
    outcome = restart(problem, recipe, task, lambda progress: False, None, smooth)
    assert outcome.score == pytest.approx(oracles.score(graph, problem, outcome.state), abs=1e-8)
    at_mode = float(oracles.least_scores(graph, problem, outcome.state.z[None])[0])
    assert at_mode - outcome.score < 0.1  # weights well beside their mode would have a lower F
    return at_mode


@pytest.mark.parametrize("family", FAMILIES)
@given(
    seed=st.integers(0, 10_000),
    directed=st.booleans(),
    temperature=st.sampled_from([0.0, 0.5, 1.0]),
    counts=st.booleans(),
)
@quick
def test_no_step_raises_the_score(family, seed, directed, temperature, counts):
    graph, problem, state = oracles.draw_case(
        seed, family, directed=directed, temperature=temperature, counts=counts, n=9
    )
    rng, values = np.random.default_rng(0), [oracles.score(graph, problem, state)]
    value = values[0]
    for _ in range(3):
        state, value = dense.step(problem, state, value, rng)
        values.append(oracles.score(graph, problem, state))
        assert value == pytest.approx(values[-1], rel=1e-9, abs=1e-8)
        assert dense.score(problem, state) == pytest.approx(values[-1], rel=1e-9, abs=1e-8)
    assert (np.diff(values) < 1e-8).all()


def test_a_fixed_number_of_communities_gains_none():
    _, problem, state = oracles.draw_case(0, "bernoulli")
    after, _ = dense.step(problem, state, dense.score(problem, state), np.random.default_rng(0), fixed=True)
    assert len(after.z) <= len(state.z)


def test_starts_are_memberships_of_the_right_shape():
    problem, rng = oracles.draw_case(0, "bernoulli").problem, np.random.default_rng(0)
    for start in (neighbourhoods, coin_flips):
        z = start(problem, 20, rng)
        assert z.shape == (20, 7)
        assert set(np.unique(z)) <= {0, 1}
    assert neighbourhoods(problem, 20, rng).any(axis=1).all()
    empty = make_problem(Graph(np.zeros((5, 5))), FAMILIES["bernoulli"].law(), make_priors())
    assert neighbourhoods(empty, 2, rng).sum() == 2


def test_a_descent_is_given_up_where_a_few_more_steps_would_stay_above_the_best():
    graph, _ = make_lfrm(60, 4, random_state=0)
    problem = make_problem(graph, FAMILIES["bernoulli"].law(), make_priors(0.5, 0.5))
    recipe, task = Recipe(None, 20, 30, 1e-6, 0, 0), Task(0, 1, np.random.SeedSequence(0), None)

    def descend(*goal):
        descent = Descent(recipe, task, lambda progress: False, None)
        return descent.run(problem, covering_state(problem, recipe, descent.rng), *goal)

    whole = descend()
    assert descend(whole.score + 1.0).score == whole.score
    given_up = descend(-1e9)
    assert [step.objective for step in given_up.history] == [step.objective for step in whole.history[:2]]
    assert whole.converged
    assert not given_up.converged
