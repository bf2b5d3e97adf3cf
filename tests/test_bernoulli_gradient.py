"""The quick sums over odds: the same numbers as the slow way of every family, and left alone where x is clipped."""

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klafter.core.bernoulli_gradient import list_held, sum_probabilities
from klafter.core.exp_predictor import all_exp_safe
from klafter.core.objective import objective
from klafter.core.problem import add_communities
from klafter.core.workspace import list_members, open_workspace
from klafter.jit.decorators import kernel
from klafter.search.dense.weights_kernels import as_vector, new_sums, sum_derivatives


@kernel
def sums(ws, quick):
    slopes, curvatures, scratch = new_sums(ws), new_sums(ws), np.zeros((3, ws.n))
    if quick:
        loss = sum_probabilities(ws, list_held(ws), True, slopes, curvatures, scratch)
    else:
        loss = sum_derivatives(ws, True, slopes, curvatures, scratch, False)
    members = list_members(ws)
    return loss, as_vector(ws, members, slopes), as_vector(ws, members, curvatures)


@kernel
def are_there(ws):
    return all_exp_safe(ws)


@given(seed=st.integers(0, 10_000), directed=st.booleans(), sociality=st.booleans(), n=st.sampled_from([7, 300]))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_loss_slopes_and_curvatures_are_those_of_the_slow_way(seed, directed, sociality, n):
    _, problem, state = oracles.draw_case(
        seed, "bernoulli", n=n, k=3, directed=directed, sociality=sociality, covariates=0
    )
    ws = open_workspace(problem, state)
    assert are_there(ws)
    for quick, slow in zip(sums(ws, True), sums(ws, False)):
        np.testing.assert_allclose(quick, slow, rtol=1e-9, atol=1e-9)


def test_a_product_that_overflows_is_summed_term_by_term():
    _, problem, state = oracles.draw_case(0, "bernoulli", n=300, k=1, directed=False, covariates=0)
    state.z[:] = 1
    state.w[:] = 25.0
    ws = open_workspace(problem, state)
    assert are_there(ws)
    assert sums(ws, True)[0] == pytest.approx(sums(ws, False)[0], rel=1e-12)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_where_x_must_be_clipped_odds_are_not_used(sign):
    graph, problem, state = oracles.draw_case(1, "bernoulli", n=12, k=1, directed=True, covariates=0)
    state = add_communities(state, np.ones((4, 12)), 0.0)
    state.w[:] = sign * 28.0
    assert not are_there(open_workspace(problem, state))
    assert objective(problem, state) == pytest.approx(oracles.objective(graph, problem, state), rel=1e-9)
