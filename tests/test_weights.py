"""The joint step over W, sociality, offset and coefficients: its gradient, its optimality, and never a higher Q."""

import numpy as np
import oracles
import pytest

from klafter.core.families import FAMILIES
from klafter.core.problem import BOUND, FLOOR, add_communities, empty_state, make_priors, make_problem
from klafter.core.workspace import open_workspace
from klafter.graph import Graph
from klafter.search.dense.score import score
from klafter.search.dense.weights import fit_weights, unpack, value_and_slope
from klafter.search.dense.weights_kernels import fit_column, laplace_evidence

each_case = oracles.every_family(oracles.case_options(temperatures=(0.5, 1.0), most=3), 6)


def free_gradient(graph, problem, state):
    """The oracle's gradient of Q in every free parameter, without what a bound holds back."""

    def q(theta):
        return oracles.objective(graph, problem, oracles.unpack(problem, state, theta))

    theta = oracles.pack(problem, state)
    slope = oracles.gradient(q, theta, 1e-5 if problem.lower == 0.0 else 1e-6)
    held = (theta <= problem.lower + 2 * FLOOR) & (slope > 0) | (theta >= BOUND) & (slope < 0)
    return slope[~held]


@each_case
def test_value_and_slope_are_those_of_the_objective(family, options):
    graph, problem, state = oracles.draw_case(family=family, **options)
    free, theta, at = value_and_slope(problem, state)

    def q(theta):
        return oracles.objective(graph, problem, unpack(free, state, theta))

    value, slope = at(theta)
    communities = oracles.objective(graph, problem, state) - value
    assert at(1.01 * theta)[0] + communities == pytest.approx(q(1.01 * theta), rel=1e-9)
    assert slope == pytest.approx(oracles.gradient(q, theta), rel=1e-4, abs=1e-4)


@each_case
def test_the_weight_step_reaches_the_optimality_condition(family, options):
    graph, problem, state = oracles.draw_case(family=family, **options)
    for _ in range(10):
        state = fit_weights(problem, state, 500, 1e-15)
    assert np.abs(free_gradient(graph, problem, state)).max(initial=0.0) < 2e-3


@each_case
def test_no_weight_step_raises_the_objective(family, options):
    graph, problem, state = oracles.draw_case(family=family, **options)
    values = [oracles.objective(graph, problem, state)]
    for _ in range(3):
        state = fit_weights(problem, state, 3)
        values.append(oracles.objective(graph, problem, state))
    assert (np.diff(values) < 1e-8).all()


@pytest.mark.parametrize("diagonal_only", [False, True])
@each_case
def test_fitting_a_column_returns_its_fall_and_keeps_the_view_true(family, diagonal_only, options):
    graph, problem, state = oracles.draw_case(family=family, **{**options, "k": 3})
    ws, before = open_workspace(problem, state), oracles.objective(graph, problem, state)
    fall = fit_column(ws, 1, diagonal_only)
    assert before - oracles.objective(graph, problem, state) == pytest.approx(fall, rel=1e-9, abs=1e-8)
    assert fall >= 0.0
    assert oracles.is_fresh(ws, state)


@pytest.mark.parametrize("directed", [False, True])
def test_free_weights_are_charged_by_how_well_they_are_known(directed):
    """T/2 sum log(1 + h / precision), with h the curvature of the oracle's loss along each free parameter."""
    graph, problem, state = oracles.draw_case(2, "bernoulli", directed=directed)
    theta, step = oracles.pack(problem, state), 1e-3

    def loss(theta):
        return oracles.data_loss(graph, problem.law, oracles.unpack(problem, state, theta))

    h = [(loss(theta + d) - 2 * loss(theta) + loss(theta - d)) / step**2 for d in step * np.eye(len(theta))]
    exact = 0.5 * problem.priors.temperature * np.log1p(h / oracles.precisions(problem, len(state.z)))
    # a symmetric pair that both memberships reach twice is charged as two
    parts, n_weights = oracles.evidences(graph, problem, state), len(oracles.weight_pairs(problem, len(state.z)))
    assert parts[n_weights:] == pytest.approx(exact[n_weights:], rel=1e-3)
    assert parts[:n_weights].sum() == pytest.approx(exact[:n_weights].sum(), rel=1e-3 if directed else 0.2)
    assert oracles.diagonal_evidence(graph, problem, state) == pytest.approx(exact.sum(), rel=1e-3)
    assert laplace_evidence(open_workspace(problem, state)) == pytest.approx(parts.sum(), rel=1e-9)


@each_case
def test_the_score_is_its_formula(family, options):
    graph, problem, state = oracles.draw_case(family=family, **options)
    assert score(problem, state) == pytest.approx(oracles.score(graph, problem, state), rel=1e-9, abs=1e-8)


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
    state = fit_weights(problem, state)
    assert offset or state.offset[0] == 0.0
    assert sociality or not state.sender.any()


def test_separable_links_stop_at_the_bound_without_a_prior():
    graph = Graph(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    problem = make_problem(
        graph, FAMILIES["bernoulli"].law(), make_priors(temperature=0.0), offset=False, sociality=False
    )
    state = add_communities(empty_state(problem), np.array([[1, 1, 0]]), 0.0)
    for _ in range(50):
        state = fit_weights(problem, state, tol=0.0)
    assert 15.0 < state.w[0, 0] <= BOUND
