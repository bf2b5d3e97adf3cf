"""Bounds by the tangent: of joining a community that grows, and of exchanging one community for another."""

import numpy as np
import oracles
import pytest

from klafter.core.problem import copy_state
from klafter.core.rows import load_rows
from klafter.core.workspace import open_workspace
from klafter.jit.decorators import kernel
from klafter.search.dense.flip_bounds import mark_may_gain, new_flip_bounds
from klafter.search.dense.flip_kernels import swap_bound
from klafter.search.dense.joining_bounds import joining_bound, new_residuals

N, K = 9, 5
SEEDS, DIRECTED, COUNTS = range(8), [False, True], [False, True]


@kernel
def bound_of_joining(ws, i, k, members, residuals):
    return joining_bound(ws, i, k, members, members.size, residuals)


@kernel
def bound_of_exchange(ws, i, k):
    load_rows(ws, i)
    flip_bounds = new_flip_bounds(ws, 0)
    mark_may_gain(ws, i, 0, np.zeros(ws.z.shape[0]), flip_bounds)
    for m in range(ws.z.shape[0]):
        flip_bounds.slopes[m] = flip_bounds.bounds[m]
    return swap_bound(ws, i, k, flip_bounds)


def case(seed, directed, counts, size=1.0):
    graph, problem, state = oracles.draw_case(
        seed, "bernoulli", directed=directed, counts=counts, covariates=0, n=N, k=K
    )
    return graph, problem, state._replace(w=size * state.w)


def joinings(graph, problem, state):
    """For every node outside the last community: by how much Q falls when it joins, and the bound of that."""
    k, here, without = K - 1, oracles.objective(graph, problem, state), copy_state(state)
    without.z[k] = 0
    ws, residuals = open_workspace(problem, state), new_residuals(open_workspace(problem, without))
    for i in np.flatnonzero(state.z[k] == 0):
        joined = copy_state(state)
        joined.z[k, i] = 1
        bound = bound_of_joining(ws, i, k, np.flatnonzero(state.z[k]), residuals)
        yield here - oracles.objective(graph, problem, joined), bound
    assert residuals.known[state.z[k] == 0].all()


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("directed", DIRECTED)
@pytest.mark.parametrize("seed", SEEDS)
def test_joining_gains_no_more_than_its_bound(seed, directed, counts):
    for gain, bound in joinings(*case(seed, directed, counts)):
        assert gain <= bound + 1e-9


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("directed", DIRECTED)
def test_the_bound_of_joining_is_the_tangent(directed, counts):
    for gain, bound in joinings(*case(3, directed, counts, size=1e-5)):
        assert gain == pytest.approx(bound, abs=1e-7)


def test_there_is_no_bound_where_x_may_be_clipped():
    _, problem, state = case(1, False, False, size=100.0)
    without = copy_state(state)
    without.z[K - 1] = 0
    ws, residuals = open_workspace(problem, state), new_residuals(open_workspace(problem, without))
    members = np.flatnonzero(state.z[K - 1])
    for i in np.flatnonzero(state.z[K - 1] == 0)[:3]:
        assert np.isinf(bound_of_joining(ws, i, K - 1, members, residuals))


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("directed", DIRECTED)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_exchange_gains_more_than_its_bound(seed, directed, counts):
    graph, problem, state = case(seed, directed, counts)
    here, tried = oracles.objective(graph, problem, state), 0
    for i in range(N):
        for k in np.flatnonzero(state.z[:, i] & (state.z.sum(axis=1) > 1)):
            bound = bound_of_exchange(open_workspace(problem, copy_state(state)), i, k)
            for m in np.flatnonzero((state.z[:, i] == 0) & (state.z.sum(axis=1) > 0)):
                other = copy_state(state)
                other.z[k, i], other.z[m, i] = 0, 1
                assert here - oracles.objective(graph, problem, other) <= bound + 1e-9
                tried += 1
    assert tried
