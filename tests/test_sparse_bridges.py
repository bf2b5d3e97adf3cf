"""Bridges of the sparse engine: objective and gains against N x N formulas, and when they are taken."""

import numpy as np
import oracles_sparse as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from test_sparse_exact import PRICES, cases, flip, random_case

from klafter.graph import Graph
from klafter.jit.decorators import kernel
from klafter.search.sparse import bridge_flips_kernels as sparse_bridge_flips_kernels
from klafter.search.sparse import bridge_splits as sparse_bridge_splits
from klafter.search.sparse import bridges as sparse_bridges
from klafter.search.sparse import engine
from klafter.search.sparse.affinities import bridge_price, bridges, matrix, set_strength, tie, without_idle
from klafter.search.sparse.bridge_flips_kernels import make_scratch
from klafter.search.sparse.bridges_kernels import tie_worth
from klafter.search.sparse.membership_posterior import FAINT
from klafter.search.sparse.state import as_problem, as_state, copy_state, members, memberships
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.workspace import open_workspace


@kernel
def best_tie_flip(ws, ties, i, scratch):
    return sparse_bridge_flips_kernels.best_tie_flip(ws, ties, i, scratch)


def bridged_case(seed, directed, counts):
    """A random state with some bridges, one of strength 0 among them."""
    graph, problem, state = random_case(seed, directed, counts)
    rng = np.random.default_rng(seed)
    pairs = np.array([(0, 1), (1, 2), (2, 0)] if directed else [(0, 1), (1, 2)])
    values = rng.gamma(2, 0.3, len(pairs)) * (np.arange(len(pairs)) != 1)
    return graph, problem, state, tie(state.strength, pairs, values, directed=directed)


def slow_objective(graph, problem, state, ties, z=None):
    z = memberships(problem, state).toarray() if z is None else z
    w, y = matrix(ties).toarray(), graph.links.toarray()
    n_links = y.sum() if graph.directed else y.sum() / 2
    price = {name: PRICES[name] for name in ("penalty", "temperature")}
    return oracle.objective(
        y, ~graph.hidden.toarray(), z, w, state.background, state.send, state.receive,
        directed=graph.directed, counts=problem.counts, **PRICES,
    ) + oracle.bridges_price(w, n_links, directed=graph.directed, **price)  # fmt: skip


def promising(problem, state, ties):
    return sparse_bridges.promising(
        problem, state, ties, sparse_bridges.link_responsibility(problem, state, ties, ThreadPool(1))
    )


def some(test):
    return cases(settings(max_examples=15, deadline=None)(given(seed=st.integers(0, 10_000))(test)))


@some
def test_objective_is_the_sum_over_all_observed_dyads(directed, counts, seed):
    graph, problem, state, ties = bridged_case(seed, directed, counts)
    value = sparse_bridges.objective(problem, state, ties)
    assert value == pytest.approx(slow_objective(graph, problem, state, ties), abs=1e-9)


@some
def test_without_bridges_the_objective_is_that_of_the_diagonal(directed, counts, seed):
    _, problem, state = random_case(seed, directed, counts)
    value = sparse_bridges.objective(problem, state, tie(state.strength, directed=directed))
    assert value == pytest.approx(engine.objective(problem, state), abs=1e-9)


@some
def test_best_flip_is_the_largest_fall_of_the_objective(directed, counts, seed):
    graph, problem, state, ties = bridged_case(seed, directed, counts)
    size, w = len(state.size), matrix(ties).toarray()
    before = slow_objective(graph, problem, state, ties)
    z, links = memberships(problem, state).toarray(), graph.links.toarray() > 0
    for i in range(problem.n):
        full = state.held[i] == problem.start[i + 1] - problem.start[i]
        reached = (w @ z[links[i]].T).any(axis=1) | (w.T @ z[links[:, i]].T).any(axis=1)
        near = (z[i] > 0) & (state.size > 1) | (z[i] == 0) & reached & ~full
        falls = np.zeros(size)
        for k in np.flatnonzero(near):
            trial = copy_state(state)
            flip(open_workspace(problem, trial), i, k)
            falls[k] = before - slow_objective(graph, problem, trial, ties)
        k, gain = best_tie_flip(open_workspace(problem, state), ties, i, make_scratch(size))
        assert max(falls.max(), 0.0) == pytest.approx(gain if k >= 0 else 0.0, abs=1e-8)
        assert k < 0 or falls[k] == pytest.approx(gain, abs=1e-9)


@some
def test_a_leaning_is_the_chance_of_a_membership_given_all_the_rest(directed, counts, seed):
    graph, problem, state, ties = bridged_case(seed, directed, counts)
    z, w, links = memberships(problem, state).toarray(), matrix(ties).toarray(), graph.links.toarray() > 0
    posterior = sparse_bridges.membership_posterior(problem, state, ties).toarray()
    for i, k in np.ndindex(*z.shape):
        on, off = z.copy(), z.copy()
        on[i, k], off[i, k] = 1, 0
        fall = slow_objective(graph, problem, state, ties, off) - slow_objective(graph, problem, state, ties, on)
        tried = z[i, k] or (w[k] @ z[links[i]].T).any() or (w[:, k] @ z[links[:, i]].T).any()
        probability = (1 / (1 + np.exp(-fall)) if off[:, k].any() else z[i, k]) if tried else 0.0  # of a dead one none
        assert posterior[i, k] == pytest.approx(probability if probability > FAINT else 0.0, abs=1e-9)


@some
def test_the_worth_of_a_bridge_is_the_fall_of_the_objective_and_its_price(directed, counts, seed):
    graph, problem, state, ties = bridged_case(seed, directed, counts)
    start, nodes = members(problem, state)
    for pair, old in zip(*bridges(ties, directed=directed)):
        if not state.size[pair].all():
            continue
        mine = nodes[start[pair[0]] : start[pair[0] + 1]]
        best, worth = tie_worth(open_workspace(problem, state), ties, mine, *pair, old, 0.1, 50)
        values = []
        for strength in (0.0, best, 0.99 * best, 1.01 * best):
            trial = tie(state.strength, *bridges(ties, directed=directed), directed=directed)
            set_strength(problem, trial, *pair, strength)
            values.append(slow_objective(graph, problem, state, trial))
        price = bridge_price(problem, len(state.size)) if best else 0.0
        assert worth == pytest.approx(values[0] - values[1] + price, abs=1e-9)
        assert min(values[2:]) >= values[1] - 1e-5  # steps are short where the best is none


@some
def test_weights_never_raise_the_objective(directed, counts, seed):
    graph, problem, state, ties = bridged_case(seed, directed, counts)
    values = [slow_objective(graph, problem, state, ties)]
    for _ in range(5):
        state, ties = sparse_bridges.weights(problem, state, ties, ThreadPool(1), rounds=1)
        values.append(slow_objective(graph, problem, state, ties))
        z = memberships(problem, state)
        np.testing.assert_allclose(state.send_sum, z.T @ state.send, rtol=1e-9)
        np.testing.assert_allclose(state.receive_sum, z.T @ state.receive, rtol=1e-9)
        np.testing.assert_array_equal(ties.into_strength, ties.strength[ties.place])
    assert (np.diff(values) <= 1e-9).all()


@pytest.mark.parametrize("directed", [False, True])
def test_where_all_pairs_are_linked_the_strength_of_a_bridge_is_finite(directed):
    links = np.zeros((6, 6))
    links[:3, 3:] = links[3:, :3] = 1.0
    z, ones = sparse.csr_array(np.repeat(np.eye(2), 3, axis=0)), np.ones(6)
    problem = as_problem(Graph(links, directed=directed), counts=False, **PRICES)
    state = as_state(problem, z, np.array([0.1, 0.1]), 0.05, ones, ones)
    ties = tie(state.strength, np.array([(0, 1)]), np.array([0.5]), directed=directed)
    start, nodes = members(problem, state)
    best, worth = tie_worth(open_workspace(problem, state), ties, nodes[start[0] : start[1]], 0, 1, 0.5, 0.0, 50)
    assert 5.0 < best < 1000.0
    assert worth == pytest.approx(-9 * np.log(-np.expm1(-0.05)), abs=1e-3)


@some
def test_bridges_and_flips_never_raise_the_objective(directed, counts, seed):
    graph, problem, state, ties = bridged_case(seed, directed, counts)
    ties = without_idle(problem, ties)
    values = [slow_objective(graph, problem, state, ties)]
    for _ in range(3):
        ties = sparse_bridges.taken(problem, state, ties, *promising(problem, state, ties))
        values.append(slow_objective(graph, problem, state, ties))
        state, ties = sparse_bridges.flip_sweep(problem, state, ties, ThreadPool(1))
        values.append(slow_objective(graph, problem, state, ties))
    assert (np.diff(values) <= 1e-9).all()


@some
def test_a_bridge_that_promises_to_pay_pays(directed, counts, seed):
    graph, problem, state, ties = bridged_case(seed, directed, counts)
    ties = without_idle(problem, ties)
    state = state._replace(background=0.02)
    for pair, guess in zip(*promising(problem, state, ties)):
        pairs, values = bridges(ties, directed=directed)
        more = tie(state.strength, np.vstack([pairs, pair]), np.append(values, guess), directed=directed)
        fall = slow_objective(graph, problem, state, ties) - slow_objective(graph, problem, state, more)
        assert fall >= -1e-6


@some
def test_a_split_gains_at_least_its_bound(directed, counts, seed):
    graph, problem, state, ties = bridged_case(seed, directed, counts)
    ties = without_idle(problem, ties)
    responsibility = sparse_bridges.link_responsibility(problem, state, ties, ThreadPool(1))
    hidden = sparse_bridge_splits.hidden_pattern(problem)
    start, nodes = members(problem, state)
    for k in range(len(state.size)):
        mine, w = nodes[start[k] : start[k + 1]], state.strength[k]
        see = sparse_bridge_splits.inside(problem, state, responsibility, hidden, w, mine)
        parts = sparse_bridge_splits.two_parts(see, w, problem.pair_weight)
        if parts.gain == 0.0:
            continue
        cost = sparse_bridge_splits.split_price(problem, state, ties, k, parts)
        after = sparse_bridge_splits.divided(problem, copy_state(state), ties, k, mine[parts.second], parts.strength)
        fall = slow_objective(graph, problem, state, ties) - slow_objective(graph, problem, *after)
        assert fall >= parts.gain - cost - 1e-4
        np.testing.assert_allclose(after[0].send_sum, memberships(problem, after[0]).T @ after[0].send)


@cases
def test_draw_gives_every_exposure(directed, counts):
    _, problem, state, ties = bridged_case(3, directed, counts)
    z = memberships(problem, state).toarray()
    x = oracle.exposures(z, matrix(ties).toarray(), state.background, state.send, state.receive)
    pairs = np.argwhere(~np.eye(problem.n, dtype=bool))
    draw = engine.draw(problem, state, ties=ties)
    np.testing.assert_allclose(draw.predictor(pairs), x[pairs[:, 0], pairs[:, 1]])


def test_at_temperature_0_a_bridge_costs_the_penalty():
    _, problem, _ = random_case(0, directed=False, counts=False)
    assert bridge_price(problem._replace(temperature=0.0), 5) == problem.penalty
    assert bridge_price(problem, 6) > bridge_price(problem, 5) > problem.penalty
