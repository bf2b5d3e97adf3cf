"""Off-diagonal affinities: objective and gains against N x N formulas, and when they are taken."""

import numpy as np
import oracles_sparse as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from test_sparse_exact import PRICES, best_flip, cases, flip, random_case

from klafter.graph import Graph
from klafter.search.sparse import engine
from klafter.search.sparse.affinities import as_affinities, find, keep_pairs, matrix, off_diagonal_pairs, with_pairs
from klafter.search.sparse.exchange import carry_out, concerned, exchange_gain, members_of, propose
from klafter.search.sparse.kernels.flips import FAINT
from klafter.search.sparse.kernels.off_diagonal import best_affinity
from klafter.search.sparse.membership_posterior import membership_posterior
from klafter.search.sparse.moves import off_diagonal, off_diagonal_split
from klafter.search.sparse.state import as_problem, as_state, copy_state, memberships, with_slots, without_empty
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import off_diagonal_price
from klafter.search.sparse.workspace import open_workspace


def off_diagonal_case(seed, directed, counts, idle=True):
    """A random state with some off-diagonal affinities between the living, one of 0 among them."""
    graph, problem, state = random_case(seed, directed, counts)
    rng = np.random.default_rng(seed)
    pairs = np.array([(0, 1), (1, 2), (2, 0)] if directed else [(0, 1), (1, 2)])
    values = rng.gamma(2, 0.3, len(pairs)) * (np.arange(len(pairs)) != 1) * (state.size[pairs] > 0).all(axis=1)
    affinities = as_affinities(state.strength, pairs, values, directed=directed)
    return graph, problem, state._replace(affinities=affinities if idle else without_idle(affinities))


def without_idle(affinities):
    return keep_pairs(affinities, affinities.value > 0)


def slow_objective(graph, problem, state, z=None):
    z = memberships(problem, state).toarray() if z is None else z
    w, y = matrix(state.affinities).toarray(), graph.links.toarray()
    n_links = y.sum() if graph.directed else y.sum() / 2
    price = {name: PRICES[name] for name in ("penalty", "temperature")}
    alive = state.size > 0
    return oracle.objective(
        y, ~graph.hidden.toarray(), z, w, state.background, state.send, state.receive,
        directed=graph.directed, counts=problem.counts, **PRICES,
    ) + oracle.off_diagonal_price(w[alive][:, alive], n_links, directed=graph.directed, **price)  # fmt: skip


def promising(problem, state):
    return off_diagonal.promising(problem, state, off_diagonal.link_responsibility(problem, state, ThreadPool(1)))


def some(test):
    return cases(settings(max_examples=15, deadline=None)(given(seed=st.integers(0, 10_000))(test)))


@some
def test_objective_is_the_sum_over_all_observed_dyads(directed, counts, seed):
    graph, problem, state = off_diagonal_case(seed, directed, counts)
    assert engine.objective(problem, state) == pytest.approx(slow_objective(graph, problem, state), abs=1e-9)


@some
def test_affinities_of_0_off_the_diagonal_change_nothing(directed, counts, seed):
    _, problem, state = random_case(seed, directed, counts)
    pairs = np.array([(0, 1), (1, 2)])
    idle = state._replace(affinities=with_pairs(state.affinities, pairs, directed=directed))
    assert not idle.affinities.diagonal
    assert engine.objective(problem, idle) == pytest.approx(engine.objective(problem, state), abs=1e-9)
    after, idle_after = (engine.weights(problem, copy_state(s), ThreadPool(1)) for s in (state, idle))
    np.testing.assert_allclose(idle_after.strength, after.strength, rtol=1e-9)
    np.testing.assert_allclose(idle_after.send, after.send, rtol=1e-9)


@some
def test_best_flip_is_the_largest_fall_of_the_objective(directed, counts, seed):
    graph, problem, state = off_diagonal_case(seed, directed, counts)
    size, w = len(state.size), matrix(state.affinities).toarray()
    before = slow_objective(graph, problem, state)
    z, links = memberships(problem, state).toarray(), graph.links.toarray() > 0
    for i in range(problem.n):
        full = state.held[i] == problem.start[i + 1] - problem.start[i]
        reached = (w @ z[links[i]].T).any(axis=1) | (w.T @ z[links[:, i]].T).any(axis=1)
        near = (z[i] > 0) & (state.size > 1) | (z[i] == 0) & reached & ~full
        falls = np.zeros(size)
        for k in np.flatnonzero(near):
            trial = copy_state(state)
            flip(open_workspace(problem, trial), i, k)
            falls[k] = before - slow_objective(graph, problem, trial)
        k, gain = best_flip(open_workspace(problem, state), i)
        assert max(falls.max(), 0.0) == pytest.approx(gain if k >= 0 else 0.0, abs=1e-8)
        assert k < 0 or falls[k] == pytest.approx(gain, abs=1e-9)


@some
def test_the_posterior_is_the_chance_of_a_membership_given_all_the_rest(directed, counts, seed):
    graph, problem, state = off_diagonal_case(seed, directed, counts)
    z, w, links = memberships(problem, state).toarray(), matrix(state.affinities).toarray(), graph.links.toarray() > 0
    posterior = membership_posterior(problem, state).toarray()
    for i, k in np.ndindex(*z.shape):
        on, off = z.copy(), z.copy()
        on[i, k], off[i, k] = 1, 0
        fall = slow_objective(graph, problem, state, off) - slow_objective(graph, problem, state, on)
        tried = z[i, k] or (w[k] @ z[links[i]].T).any() or (w[:, k] @ z[links[:, i]].T).any()
        probability = (1 / (1 + np.exp(-fall)) if off[:, k].any() else z[i, k]) if tried else 0.0  # of a dead one none
        assert posterior[i, k] == pytest.approx(probability if probability > FAINT else 0.0, abs=1e-9)


@some
def test_the_gain_of_an_affinity_is_the_fall_of_the_objective_and_its_price(directed, counts, seed):
    graph, problem, state = off_diagonal_case(seed, directed, counts)
    inside = members_of(problem, state)
    for pair, old in zip(off_diagonal_pairs(state.affinities), state.affinities.value):
        if not state.size[pair].all():
            continue
        best, gain = best_affinity(open_workspace(problem, state), inside.of(pair[0]), *pair, old, 0.1, 50)
        values = []
        for value in (0.0, best, 0.99 * best, 1.01 * best):
            trial = copy_state(state)
            trial.affinities.value[find(trial.affinities, *pair)] = value
            values.append(slow_objective(graph, problem, trial))
        price = off_diagonal_price(problem, np.count_nonzero(state.size)) if best else 0.0
        assert gain == pytest.approx(values[0] - values[1] + price, abs=1e-9)
        assert min(values[2:]) >= values[1] - 1e-5  # steps are short where the best is none


@some
def test_an_exchange_gains_what_the_objective_falls(directed, counts, seed):
    graph, problem, state = off_diagonal_case(seed, directed, counts)
    rng, local, inside = np.random.default_rng(seed), np.full(problem.n, -1), members_of(problem, state)
    before = slow_objective(graph, problem, state)
    for out, columns in (([], 1), ([0], 0), ([0], 2), ([1, 2], 1), ([0, 1, 2], 2)):
        nodes = concerned(state, inside, out) if out else rng.choice(problem.n, 7, replace=False).astype(np.int32)
        z, w = rng.random((columns, len(nodes))) < 0.6, rng.gamma(2, 0.5, columns)
        gain = exchange_gain(problem, state, nodes, np.array(out, np.int64), z, w, 3, local)
        exchange = propose("merge", problem, state, out, nodes, z, w, ThreadPool(1), rounds=0)
        trial = with_slots(copy_state(state), columns)
        trial = without_empty(carry_out(problem, trial, exchange, len(state.size) + np.arange(columns)))
        assert gain == pytest.approx(before - slow_objective(graph, problem, trial), abs=1e-9)


@some
def test_weights_never_raise_the_objective(directed, counts, seed):
    graph, problem, state = off_diagonal_case(seed, directed, counts)
    values = [slow_objective(graph, problem, state)]
    for _ in range(5):
        state = engine.weights(problem, state, ThreadPool(1), rounds=1)
        values.append(slow_objective(graph, problem, state))
        z = memberships(problem, state)
        np.testing.assert_allclose(state.send_sum, z.T @ state.send, rtol=1e-9)
        np.testing.assert_allclose(state.receive_sum, z.T @ state.receive, rtol=1e-9)
    assert (np.diff(values) <= 1e-9).all()


@pytest.mark.parametrize("directed", [False, True])
def test_where_all_pairs_are_linked_an_affinity_is_finite(directed):
    links = np.zeros((6, 6))
    links[:3, 3:] = links[3:, :3] = 1.0
    z, ones = sparse.csr_array(np.repeat(np.eye(2), 3, axis=0)), np.ones(6)
    problem = as_problem(Graph(links, directed=directed), counts=False, **PRICES)
    affinities = as_affinities([0.1, 0.1], np.array([(0, 1)]), np.array([0.5]), directed=directed)
    state = as_state(problem, z, affinities, 0.05, ones, ones)
    nodes = members_of(problem, state).of(0)
    best, gain = best_affinity(open_workspace(problem, state), nodes, 0, 1, 0.5, 0.0, 50)
    assert 5.0 < best < 1000.0
    assert gain == pytest.approx(-9 * np.log(-np.expm1(-0.05)), abs=1e-3)


@some
def test_affinities_and_flips_never_raise_the_objective(directed, counts, seed):
    graph, problem, state = off_diagonal_case(seed, directed, counts, idle=False)
    values = [slow_objective(graph, problem, state)]
    for _ in range(3):
        state = off_diagonal.best_affinities(problem, state, *promising(problem, state), ThreadPool(1))
        values.append(slow_objective(graph, problem, state))
        state = engine.flip_sweep(problem, state, ThreadPool(1))
        values.append(slow_objective(graph, problem, state))
    assert (np.diff(values) <= 1e-9).all()


@some
def test_pairs_that_gain_are_those_of_products_of_dense_matrices(directed, counts, seed):
    _, problem, state = off_diagonal_case(seed, directed, counts, idle=False)
    state = state._replace(background=0.02)
    rho = off_diagonal.link_responsibility(problem, state, ThreadPool(1))
    z, hidden = memberships(problem, state).toarray(), off_diagonal_split.hidden_pattern(problem).toarray()
    count = z.T @ rho.toarray() @ z
    pairs = np.outer(state.send_sum, state.receive_sum)
    pairs -= (z.T * state.send) @ (np.eye(problem.n) + hidden) @ (z.T * state.receive).T
    price = off_diagonal_price(problem, len(state.size))
    expected = {}
    for k, m in np.ndindex(count.shape):
        mean = 0.02 * pairs[k, m]
        if (k < m or (directed and k != m)) and count[k, m] > mean > 0:
            gain = count[k, m] * np.log(count[k, m] / mean) - count[k, m] + mean
            if gain > price:
                expected[k, m] = pytest.approx((gain, count[k, m], pairs[k, m]))
    found, gains = off_diagonal.gaining(problem, state, rho)
    assert dict(zip(map(tuple, found.tolist()), map(tuple, gains.tolist()))) == expected


@some
def test_an_affinity_that_promises_to_pay_pays(directed, counts, seed):
    graph, problem, state = off_diagonal_case(seed, directed, counts, idle=False)
    state = state._replace(background=0.02)
    pairs, values = off_diagonal_pairs(state.affinities), state.affinities.value
    for pair, guess in zip(*promising(problem, state)):
        more = as_affinities(state.strength, np.vstack([pairs, pair]), np.append(values, guess), directed=directed)
        after = slow_objective(graph, problem, state._replace(affinities=more))
        assert slow_objective(graph, problem, state) - after >= -1e-6


@some
def test_a_split_gains_at_least_its_bound(directed, counts, seed):
    graph, problem, state = off_diagonal_case(seed, directed, counts, idle=False)
    responsibility = off_diagonal.link_responsibility(problem, state, ThreadPool(1))
    hidden, inside = off_diagonal_split.hidden_pattern(problem), members_of(problem, state)
    for k in range(len(state.size)):
        mine, w = inside.of(k), state.strength[k]
        see = off_diagonal_split.inside(problem, state, responsibility, hidden, w, mine)
        parts = off_diagonal_split.two_parts(see, w, problem.pair_weight)
        if parts.gain == 0.0:
            continue
        cost = off_diagonal_split.split_price(problem, state, k, parts)
        after = off_diagonal_split.divided(problem, copy_state(state), k, mine[parts.second], parts.strength)
        fall = slow_objective(graph, problem, state) - slow_objective(graph, problem, after)
        assert fall >= parts.gain - cost - 1e-4
        np.testing.assert_allclose(after.send_sum, memberships(problem, after).T @ after.send)


@cases
def test_draw_gives_every_exposure(directed, counts):
    _, problem, state = off_diagonal_case(3, directed, counts)
    z = memberships(problem, state).toarray()
    x = oracle.exposures(z, matrix(state.affinities).toarray(), state.background, state.send, state.receive)
    pairs = np.argwhere(~np.eye(problem.n, dtype=bool))
    np.testing.assert_allclose(engine.draw(problem, state).predictor(pairs), x[pairs[:, 0], pairs[:, 1]])


def test_at_temperature_0_an_affinity_costs_the_penalty():
    _, problem, _ = random_case(0, directed=False, counts=False)
    assert off_diagonal_price(problem._replace(temperature=0.0), 5) == problem.penalty
    assert off_diagonal_price(problem, 6) > off_diagonal_price(problem, 5) > problem.penalty
