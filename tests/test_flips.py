"""The gain of a flip is the fall of the objective: the property on which K-LAFTER and the LFRM sampler both stand."""

import numpy as np
import oracles
import pytest

from klafter.core.families import FAMILIES
from klafter.core.objective import flip_gains
from klafter.core.problem import State, add_communities, copy_state, make_priors, make_problem
from klafter.core.rows import load_rows
from klafter.core.workspace import open_workspace
from klafter.graph import Graph
from klafter.jit.decorators import kernel
from klafter.search.config import SEARCH
from klafter.search.dense.flip_bounds import FEW, mark_may_gain, new_flip_bounds
from klafter.search.dense.flip_kernels import descend, draw_thresholds, flip_row

N = 7
each_case = oracles.every_family(oracles.case_options("counts", "offset", least=1), 15)


def gains(problem, state):
    """The gain of every flip, (K, n)."""
    ws = open_workspace(problem, state)
    return np.column_stack([flip_gains(ws, i) for i in range(N)])


def falls(graph, problem, state):
    """The fall of Q of every flip, by flipping."""
    here = oracles.objective(graph, problem, state)
    answer = np.empty(state.z.shape)
    for k, i in np.ndindex(*state.z.shape):
        z = state.z.copy()
        z[k, i] ^= 1
        answer[k, i] = here - oracles.objective(graph, problem, state._replace(z=z))
    return answer


@each_case
def test_the_gain_of_a_flip_is_the_fall_of_the_objective(family, options):
    graph, problem, state = oracles.draw_case(family=family, n=N, **options)
    assert gains(problem, state) == pytest.approx(falls(graph, problem, state), rel=1e-10, abs=1e-8)


@pytest.mark.parametrize("directed", [False, True])
def test_a_flip_into_an_empty_community_pays_for_the_whole_column(directed):
    graph, problem, state = oracles.draw_case(0, "bernoulli", directed=directed)
    state = add_communities(state, np.zeros((1, N)), 0.8)
    state.w[-1, 0] = state.w[0, -1] = 0.4
    assert gains(problem, state) == pytest.approx(falls(graph, problem, state), abs=1e-8)


@pytest.mark.parametrize("directed", [False, True])
def test_gains_stay_right_when_affinities_are_at_their_bounds(directed):
    graph, problem, state = oracles.draw_case(1, "bernoulli", directed=directed, temperature=0.0, k=5)
    state.w[:] = 30.0
    state.z[:] = np.random.default_rng(0).random(state.z.shape) < 0.8
    assert gains(problem, state) == pytest.approx(falls(graph, problem, state), rel=1e-9, abs=1e-6)


@each_case
def test_a_sweep_returns_its_fall_and_leaves_no_row_that_would_flip(family, options):
    graph, problem, state = oracles.draw_case(family=family, n=N, **options)
    before = oracles.objective(graph, problem, state)
    ws, total, fall = open_workspace(problem, state), 0.0, 1.0
    while fall > 0.0:
        fall = descend(ws, np.arange(N), -1, SEARCH.dense.row_sweeps)
        total += fall
    assert before - oracles.objective(graph, problem, state) == pytest.approx(total, rel=1e-9, abs=1e-7)
    assert oracles.is_fresh(ws, state)
    assert (falls(graph, problem, state)[state.z.any(axis=1)] < 1e-7).all()


@each_case
def test_a_sweep_leaves_no_row_that_would_swap_one_community_for_another(family, options):
    graph, problem, state = oracles.draw_case(family=family, n=N, **options)
    ws, fall = open_workspace(problem, state), 1.0
    while fall > 0.0:
        fall = descend(ws, np.arange(N), -1, SEARCH.dense.row_sweeps)
    here, size = oracles.objective(graph, problem, state), state.z.sum(axis=1)
    for i, k, m in np.ndindex(N, len(size), len(size)):
        if state.z[k, i] and not state.z[m, i] and size[k] > 1 and size[m] > 0:
            z = state.z.copy()
            z[k, i], z[m, i] = 0, 1
            assert here - oracles.objective(graph, problem, state._replace(z=z)) < 1e-7


def test_a_node_changes_community_by_a_swap_where_neither_half_pays():
    """Under learned counts, among nodes of one community each, none and two are dear."""
    z = np.kron(np.eye(2), np.ones((1, 12))).astype(np.uint8)
    graph = Graph(z.T.astype(float) @ z - np.eye(24))
    problem = make_problem(graph, FAMILIES["bernoulli"].law(), make_priors(), sociality=False, counts=True)
    offset, none = np.array([-0.2]), np.zeros(24)
    wrong = z.copy()
    wrong[:, 0] = [0, 1]
    state = State(wrong, np.diag([0.25, 0.25]), offset, none, none, np.zeros(0))
    ws = open_workspace(problem, state)
    assert (flip_gains(ws, 0) < 0).all()
    assert descend(ws, np.array([0]), -1, SEARCH.dense.row_sweeps) > 0.0
    assert (state.z == z).all()


@each_case
def test_a_column_sweep_returns_its_fall_and_never_empties_the_community(family, options):
    graph, problem, state = oracles.draw_case(family=family, n=N, **options)
    before = oracles.objective(graph, problem, state)
    ws = open_workspace(problem, state)
    fall = descend(ws, np.arange(N), 0, 1)
    assert before - oracles.objective(graph, problem, state) == pytest.approx(fall, rel=1e-9, abs=1e-7)
    assert state.z[0].any()
    assert oracles.is_fresh(ws, state)


@kernel
def draw_memberships(ws, i, rng):
    load_rows(ws, i)
    thresholds = np.empty(ws.z.shape[0])
    draw_thresholds(ws, i, thresholds, rng)
    flip_row(ws, i, thresholds, new_flip_bounds(ws, 0))


@kernel
def may_gain(ws, i, thresholds):
    load_rows(ws, i)
    flip_bounds = new_flip_bounds(ws, 0)
    mark_may_gain(ws, i, 0, thresholds, flip_bounds)
    return flip_bounds.left


@each_case
def test_no_flip_that_gains_more_than_its_threshold_is_screened_out(family, options):
    _, problem, state = oracles.draw_case(family=family, n=N, **{**options, "k": 5})
    ws, gain = open_workspace(problem, state), gains(problem, state)
    for i in range(N):
        assert np.isfinite(may_gain(ws, i, gain[:, i] - 1e-6)).all()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
def test_the_bound_of_a_flip_is_its_gain_by_the_tangent(family, directed):
    _, problem, state = oracles.draw_case(2, family, directed=directed, k=3)
    small = state._replace(w=1e-5 * state.w)  # of small steps the tangent is the whole
    ws, gain = open_workspace(problem, small), gains(problem, small)
    for i in range(N):
        assert np.isinf(may_gain(ws, i, gain[:, i] + 1e-6)).all()


many = pytest.mark.parametrize("counts", [False, True])


@many
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("family", ["bernoulli", "poisson", "gaussian"])
def test_a_draw_with_bounds_takes_each_flip_that_gains_more_than_its_threshold(family, directed, counts):
    _, problem, state = oracles.draw_case(4, family, directed=directed, counts=counts, k=11)
    slow, moved = copy_state(state), 0
    for i in range(N):
        draw_memberships(open_workspace(problem, state), i, np.random.default_rng(i))
        rng, shared = np.random.default_rng(i), slow.z.sum(axis=1) - slow.z[:, i] > 0
        draws = [np.log(u / (1 - u)) if held else np.inf for held in shared for u in [rng.random() if held else 0.5]]
        for k, threshold in enumerate(draws):
            if flip_gains(open_workspace(problem, slow), i)[k] > threshold:
                slow.z[k, i] ^= 1
                moved += 1
    assert (state.z == slow.z).all()
    assert moved


@many
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("family", ["bernoulli", "poisson", "gaussian"])
def test_a_descent_with_bounds_leaves_no_row_that_would_flip_or_swap(family, directed, counts):
    graph, problem, state = oracles.draw_case(5, family, directed=directed, counts=counts, k=FEW + 1)
    before, ws, total, fall = oracles.objective(graph, problem, state), open_workspace(problem, state), 0.0, 1.0
    while fall > 0.0:
        fall = descend(ws, np.arange(N), -1, SEARCH.dense.row_sweeps)
        total += fall
    here, size = oracles.objective(graph, problem, state), state.z.sum(axis=1)
    assert before - here == pytest.approx(total, rel=1e-9, abs=1e-7)
    assert (falls(graph, problem, state)[size > 0] < 1e-7).all()
    for i, k, m in np.ndindex(N, len(size), len(size)):
        if state.z[k, i] and not state.z[m, i] and size[k] > 1 and size[m] > 0:
            z = state.z.copy()
            z[k, i], z[m, i] = 0, 1
            assert here - oracles.objective(graph, problem, state._replace(z=z)) < 1e-7


def test_gibbs_takes_a_flip_with_probability_sigmoid_of_its_gain():
    graph, problem, state = oracles.draw_case(3, "bernoulli", k=1)
    state.z[0] = [1, 1, 0, 0, 1, 0, 0]
    gain = falls(graph, problem, state)[0, 2]
    start, rng, hits, n_draws = state.z.copy(), np.random.default_rng(0), 0, 4000
    for _ in range(n_draws):
        state.z[:] = start
        draw_memberships(open_workspace(problem, state), 2, rng)
        hits += int(state.z[0, 2])
    p = 1 / (1 + np.exp(-gain))
    assert abs(hits / n_draws - p) < 4 * np.sqrt(p * (1 - p) / n_draws)
