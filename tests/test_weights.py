"""Sweeps over W, sociality, offset and coefficients reach the optimality condition, and never raise the objective."""

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klafter.core.families import FAMILIES, Law
from klafter.core.problem import BOUND, FLOOR, add_communities, empty_state, make_priors, make_problem
from klafter.core.rows import make_cache
from klafter.graph import Graph
from klafter.search.weights_kernels import fit_column, sweep_weights

quick = settings(max_examples=6, deadline=None, derandomize=True)
cases = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10_000),
        "directed": st.booleans(),
        "temperature": st.sampled_from([0.5, 1.0]),
        "sociality": st.booleans(),
        "covariates": st.integers(0, 2),
        "k": st.integers(0, 3),
    }
)


def free_gradient(graph, problem, state):
    """The oracle's gradient of Q in every free parameter, without what a bound holds back."""

    def q(theta):
        return oracles.objective(graph, problem, oracles.unpack(problem, state, theta))

    theta = oracles.pack(problem, state)
    slope = oracles.gradient(q, theta, 1e-5 if problem.lower == 0.0 else 1e-6)
    held = (theta <= problem.lower + 2 * FLOOR) & (slope > 0) | (theta >= BOUND) & (slope < 0)
    return slope[~held]


@pytest.mark.parametrize("family", FAMILIES)
@given(options=cases)
@quick
def test_repeated_sweeps_reach_the_optimality_condition(family, options):
    graph, problem, state = oracles.draw_case(family=family, **options)
    cache, rng = make_cache(state, problem.dyads.directed), np.random.default_rng(0)
    for _ in range(800):
        sweep_weights(problem, state, cache, False, rng)
    assert np.abs(free_gradient(graph, problem, state)).max(initial=0.0) < 2e-3


@pytest.mark.parametrize("family", FAMILIES)
@given(options=cases)
@quick
def test_no_sweep_raises_the_objective_and_the_cache_stays_true(family, options):
    graph, problem, state = oracles.draw_case(family=family, **options)
    cache, rng = make_cache(state, problem.dyads.directed), np.random.default_rng(0)
    values = [oracles.objective(graph, problem, state)]
    for _ in range(5):
        sweep_weights(problem, state, cache, False, rng)
        values.append(oracles.objective(graph, problem, state))
    assert (np.diff(values) < 1e-8).all()
    fresh = make_cache(state, problem.dyads.directed)
    assert all(np.allclose(a, b, rtol=1e-8) for a, b in zip(cache, fresh))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("diagonal_only", [False, True])
@given(options=cases)
@quick
def test_fitting_a_column_returns_its_fall(family, diagonal_only, options):
    graph, problem, state = oracles.draw_case(family=family, **{**options, "k": 3})
    cache, before = make_cache(state, problem.dyads.directed), oracles.objective(graph, problem, state)
    fall = fit_column(problem, state, cache, 1, diagonal_only, np.random.default_rng(0))
    assert before - oracles.objective(graph, problem, state) == pytest.approx(fall, rel=1e-9, abs=1e-8)
    assert fall >= 0.0


@pytest.mark.parametrize(
    ("offset", "sociality"),
    [
        (False, False),
        (True, False),
        (False, True),
    ],
)
def test_what_is_switched_off_stays_0(offset, sociality):
    _, problem, state = oracles.draw_case(0, "bernoulli", offset=offset, sociality=sociality)
    sweep_weights(problem, state, make_cache(state, False), False, np.random.default_rng(0))
    assert offset or state.offset[0] == 0.0
    assert sociality or not state.sender.any()


def test_separable_links_stop_at_the_bound_without_a_prior():
    graph = Graph(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    problem = make_problem(graph, Law(0), make_priors(temperature=0.0), offset=False, sociality=False)
    state = add_communities(empty_state(problem), np.array([[1, 1, 0]]), 0.0)
    cache, rng = make_cache(state, False), np.random.default_rng(0)
    for _ in range(50):
        sweep_weights(problem, state, cache, False, rng)
    assert 15.0 < state.w[0, 0] <= BOUND
