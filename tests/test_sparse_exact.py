"""Objective, gains and weights of the sparse engine against N x N formulas."""

import numpy as np
import oracles_sparse as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from klafter.graph import Graph
from klafter.jit.decorators import kernel
from klafter.search.sparse import engine
from klafter.search.sparse import membership_posterior as sparse_posterior
from klafter.search.sparse import state as states
from klafter.search.sparse.exchange import exchange_gain
from klafter.search.sparse.kernels import flips as flip_kernels
from klafter.search.sparse.kernels import links as link_kernels
from klafter.search.sparse.kernels.exchange import apply_exchange
from klafter.search.sparse.kernels.flips import FAINT, flip_scratch
from klafter.search.sparse.membership_posterior import by_flips, membership_posterior
from klafter.search.sparse.state import as_problem, copy_state, empty_state, members, with_slots
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.workspace import open_workspace

PRICES = {"penalty": 0.7, "temperature": 0.9, "shrinkage": 2.5}
NONE = np.zeros(0, np.int64)


@kernel
def join(ws, i, k):
    link_kernels.join(ws, i, k)


@kernel
def flip(ws, i, k):
    link_kernels.flip(ws, i, k)


@kernel
def best_flip(ws, i):
    return flip_kernels.best_flip(ws, i, flip_scratch(ws))


@kernel
def bounds_and_gains(ws, i):
    scratch = flip_scratch(ws)
    number = flip_kernels.tally_flips(ws, i, scratch)
    bounds, gains = np.empty(number), np.empty(number)
    for m in range(number):
        k = scratch.touched[m]
        bounds[m], gains[m] = flip_kernels.links_bound(scratch, k), flip_kernels.links_gain(ws, i, k, scratch)
    return bounds, gains


@kernel
def link_probability(x):
    return link_kernels.link_probability(x)


def test_the_chance_of_a_link_is_exact_from_the_faintest_to_the_surest():
    for x in [0.0, 1e-300, 1e-9, 0.3, np.nextafter(1.0, 0.0), 1.0, 40.0, np.inf, *np.geomspace(1e-12, 60, 999)]:
        assert link_probability(x) == pytest.approx(-np.expm1(-x), rel=1e-15, abs=0.0)


def random_case(seed, directed, counts, n=14, k=3):
    """A random graph with hidden dyads, of odd seeds hidden both ways, and a random state on it."""
    rng = np.random.default_rng(seed)
    y = rng.poisson(0.8, (n, n)) if counts else (rng.random((n, n)) < 0.45)
    y = np.triu(y, 1) + np.triu(y, 1).T if not directed else y * ~np.eye(n, dtype=bool)
    hidden = rng.integers(0, n, (8, 2))
    hidden = np.vstack([hidden, hidden[:, ::-1]]) if seed % 2 else hidden
    graph = Graph(y.astype(float), directed=directed, hidden=hidden)
    problem = as_problem(graph, counts=counts, **PRICES)
    state = copy_state(with_slots(empty_state(problem), k))
    state.send[:] = rng.gamma(5, 0.2, n)
    state.receive[:] = rng.gamma(5, 0.2, n) if directed else state.send
    for i in range(n):
        for c in range(k):
            if rng.random() < 0.4 and state.held[i] < problem.start[i + 1] - problem.start[i]:
                join(open_workspace(problem, state), i, c)
    state.strength[:] = rng.gamma(2, 0.5, k)
    return graph, problem, state._replace(background=0.2)


def slow_objective(graph, problem, state, z=None):
    z = engine.memberships(problem, state).toarray() if z is None else z
    observed = ~graph.hidden.toarray()
    return oracle.objective(
        graph.links.toarray(), observed, z, state.strength, state.background, state.send, state.receive,
        directed=graph.directed, counts=problem.counts, **PRICES,
    )  # fmt: skip


cases = pytest.mark.parametrize(("directed", "counts"), [(False, False), (False, True), (True, False), (True, True)])


@cases
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_objective_is_the_sum_over_all_observed_dyads(directed, counts, seed):
    graph, problem, state = random_case(seed, directed, counts)
    assert engine.objective(problem, state) == pytest.approx(slow_objective(graph, problem, state), abs=1e-9)


@cases
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_no_flip_gains_more_than_its_bound(directed, counts, seed):
    _, problem, state = random_case(seed, directed, counts)
    ws = open_workspace(problem, state)
    for i in range(problem.n):
        bounds, gains = bounds_and_gains(ws, i)
        assert (gains <= bounds + 1e-9 * (1 + np.abs(bounds))).all()
        if counts:
            np.testing.assert_allclose(gains, bounds, atol=1e-9)


@cases
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_best_flip_is_the_largest_fall_of_the_objective(directed, counts, seed):
    graph, problem, state = random_case(seed, directed, counts)
    size = len(state.size)
    before = slow_objective(graph, problem, state)
    z = engine.memberships(problem, state).toarray() > 0
    linked = graph.links.toarray() + graph.links.toarray().T > 0
    for i in range(problem.n):
        full = state.held[i] == problem.start[i + 1] - problem.start[i]
        near = z[i] | (z[linked[i]].any(axis=0) & ~full)
        falls = np.zeros(size)
        for k in np.flatnonzero(near):
            trial = copy_state(state)
            flip(open_workspace(problem, trial), i, k)
            falls[k] = before - slow_objective(graph, problem, trial)
        k, gain = best_flip(open_workspace(problem, state), i)
        assert max(falls.max(), 0.0) == pytest.approx(gain if k >= 0 else 0.0, abs=1e-8)
        assert k < 0 or falls[k] == pytest.approx(gain, abs=1e-9)


@cases
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_posterior_by_flips_is_the_chance_of_a_membership_given_all_the_rest(directed, counts, seed):
    graph, problem, state = random_case(seed, directed, counts)
    z = engine.memberships(problem, state).toarray()
    linked = graph.links.toarray() + graph.links.toarray().T > 0
    posterior = by_flips(problem, state, counts=False).toarray()
    for i, k in np.ndindex(*z.shape):
        on, off = z.copy(), z.copy()
        on[i, k], off[i, k] = 1, 0
        fall = slow_objective(graph, problem, state, off) - slow_objective(graph, problem, state, on)
        probability = 1 / (1 + np.exp(-fall)) if z[i, k] or z[linked[i], k].any() else 0.0
        assert posterior[i, k] == pytest.approx(probability if probability > FAINT else 0.0, abs=1e-9)


def test_the_posterior_does_not_depend_on_how_many_nodes_are_done_at_once(monkeypatch):
    _, problem, state = random_case(0, directed=False, counts=False)
    whole = membership_posterior(problem, state).toarray()
    monkeypatch.setattr(sparse_posterior, "AT_ONCE", 5)
    assert (membership_posterior(problem, state).toarray() == whole).all()


@cases
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), rounds=st.integers(0, 5))
def test_an_exchange_gains_what_the_objective_falls(directed, counts, seed, rounds):
    graph, problem, state = random_case(seed, directed, counts)
    rng = np.random.default_rng(seed)
    start, everyone = members(problem, state)
    local = np.full(problem.n, -1)
    for out, columns in (([], 1), ([0], 0), ([0], 2), ([1, 2], 1), ([0, 1, 2], 2)):
        parts = [everyone[start[k] : start[k + 1]] for k in out] or [rng.choice(problem.n, 7, replace=False)]
        nodes = np.unique(np.concatenate(parts)).astype(np.int32)
        z, w = rng.random((columns, len(nodes))) < 0.6, rng.gamma(2, 0.5, columns)
        out = np.array(out, np.int64)
        gain = exchange_gain(problem, state, nodes, out, z, w, rounds, local)
        trial = with_slots(copy_state(state), columns)
        apply_exchange(open_workspace(problem, trial), nodes, out, len(state.size) + np.arange(columns), z, w)
        fall = slow_objective(graph, problem, state) - slow_objective(graph, problem, trial)
        assert gain == pytest.approx(fall, abs=1e-9)
        assert (local == -1).all()


@cases
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_weight_steps_never_raise_the_objective(directed, counts, seed):
    graph, problem, state = random_case(seed, directed, counts)
    values = [slow_objective(graph, problem, state)]
    for _ in range(6):
        state = engine.weights(problem, state, ThreadPool(1), factors=True, rounds=1)
        values.append(slow_objective(graph, problem, state))
        z = engine.memberships(problem, state)
        np.testing.assert_allclose(state.send_sum, z.T @ state.send, rtol=1e-9)
        np.testing.assert_allclose(state.receive_sum, z.T @ state.receive, rtol=1e-9)
    assert (np.diff(values) <= 1e-9).all()


@cases
def test_draw_gives_every_exposure(directed, counts):
    _, problem, state = random_case(3, directed, counts)
    z = engine.memberships(problem, state).toarray()
    x = oracle.exposures(z, state.strength, state.background, state.send, state.receive)
    pairs = np.argwhere(~np.eye(problem.n, dtype=bool))
    np.testing.assert_allclose(engine.draw(problem, state).predictor(pairs), x[pairs[:, 0], pairs[:, 1]])


def test_directed_rows_list_sources_then_targets():
    graph = Graph(sparse.csr_array(np.array([[0, 1, 0], [0, 0, 1], [1, 1, 0]])), directed=True)
    problem = as_problem(graph)
    assert problem.node.tolist() == [1, 2, 2, 0, 2, 0, 1, 1]
    assert problem.middle.tolist() == [1, 3, 7]


@cases
def test_a_packed_state_is_laid_out_as_it_was(directed, counts, monkeypatch):
    _, problem, state = random_case(0, directed, counts)
    monkeypatch.setattr(states, "NODES_AT_ONCE", 3)
    kept = states.packed(problem, state)
    back = states.laid_out(problem, kept)
    assert len(kept.member) == state.held.sum()
    for i, (first, held) in enumerate(zip(problem.start, state.held)):
        assert back.member[first : first + held].tolist() == state.member[first : first + held].tolist(), i
