"""Flips on the subgraph of an exchange against the losses that they are to lower."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sparse_exact import cases, random_case

from klafter.search.sparse.exchange import exchange_gain, propose_either
from klafter.search.sparse.kernels.exchange import subgraph_flips, subgraph_loss
from klafter.search.sparse.kernels.subgraph import cut_subgraph
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.workspace import open_workspace

OUT = np.array([0, 2])


def cut(problem, state):
    """The subgraph of all nodes without two communities, and two random columns for them whatever their slots."""
    nodes, rng = np.arange(problem.n, dtype=np.int32), np.random.default_rng(problem.n + len(problem.node))
    subgraph, old = cut_subgraph(open_workspace(problem, state), nodes, OUT, np.full(problem.n, -1))
    free = np.diff(problem.start) - state.held + old.sum(axis=0)
    return nodes, subgraph, rng.random((2, problem.n)) < 0.6, free


def flip_slowly(loss, z, free):
    """The same flips, each judged by the loss of everything."""
    flips = 0
    for column in z:
        for v in range(len(column)):
            if column.sum() - column[v] < 2 or (not column[v] and free[v] <= 0):
                continue
            before = loss()
            column[v] ^= True
            fall = before - loss()
            if fall <= 1e-9:
                column[v] ^= True
                continue
            free[v] -= 1 if column[v] else -1
            flips += 1
    return flips


@cases
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), background=st.sampled_from([1e-160, 0.01, 0.2]))
def test_flips_of_a_subgraph_are_those_that_lower_its_loss(directed, counts, seed, background):
    _, problem, state = random_case(seed, directed, counts)
    state = state._replace(background=background)
    nodes, subgraph, z, free = cut(problem, state)
    ws, w, slow = open_workspace(problem, state), np.array([0.8, 1.7]), z.copy()

    def loss():
        return subgraph_loss(ws, nodes, subgraph, False, slow, w)

    assert flip_slowly(loss, slow, free) == subgraph_flips(ws, nodes, subgraph, z, w)
    np.testing.assert_array_equal(z, slow)


@cases
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_two_exchanges_of_one_subgraph_gain_what_each_gains_alone(directed, counts, seed):
    _, problem, state = random_case(seed, directed, counts)
    rng, nodes = np.random.default_rng(seed), np.arange(problem.n, dtype=np.int32)
    columns = [(rng.random((q, problem.n)) < 0.6, rng.gamma(2, 0.5, q)) for q in (1, 2)]
    alone = [(z.copy(), w.copy()) for z, w in columns]
    for found, (z, w) in zip(propose_either("reassign", problem, state, OUT, nodes, columns, ThreadPool(1)), alone):
        gain = exchange_gain(problem, state, nodes, OUT, z, w, 12, np.full(problem.n, -1))
        assert found.gain == pytest.approx(gain if (z.sum(axis=1) >= 2).all() else -1.0, abs=1e-9)
        np.testing.assert_array_equal(found.z, z)
