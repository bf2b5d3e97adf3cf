"""The MMSB sampler against enumeration of all roles, and Geweke's test of the whole model."""

import numpy as np
import oracles_sampling as oracle
import pytest

from klafter.graph import Graph
from klafter.sampling import mmsb
from klafter.sampling.mmsb import MMSBEngine, State
from klafter.sampling.mmsb_kernels import Counts

ENGINE = MMSBEngine(n_communities=2, alpha_prior=(2.0, 2.0), prior=(0.6, 0.9))


def example(directed: bool):
    """Three linked nodes and a fourth; most dyads hidden, so that all roles can be listed."""
    n = 3 if directed else 4
    hidden = np.zeros((n, n), bool)
    hidden[0, 2] = hidden[1, 2] = True
    if not directed:
        hidden |= hidden.T
    dyads = oracle.dyads_of(hidden, directed)
    return oracle.fill(dyads, [1, 0, 0, 1], n, directed), hidden


def visits(engine, graph, n_steps: int) -> list:
    rng = np.random.default_rng(0)
    state, seen = engine.init(graph, rng), []
    for _ in range(n_steps):
        state = engine.step(graph, state, rng)
        seen.append(tuple(state.roles.ravel().tolist()))
    return seen


@pytest.mark.parametrize("directed", [False, True])
def test_visits_all_roles_as_often_as_the_posterior_says(directed):
    y, hidden = example(directed)
    exact = oracle.mmsb_posterior(y, hidden, directed, ENGINE)
    chain = visits(ENGINE, Graph(y, directed=directed, hidden=hidden), 10000)
    assert oracle.worst(oracle.visit_scores(chain, exact)) < 4.5


def test_roles_drawn_with_a_wrong_alpha_are_noticed(monkeypatch):
    right = mmsb.kernels.sweep
    monkeypatch.setattr(mmsb.kernels, "sweep", lambda *args: right(*args[:-2], 3 * args[-2], args[-1]))
    y, hidden = example(False)
    exact = oracle.mmsb_posterior(y, hidden, False, ENGINE)
    assert oracle.worst(oracle.visit_scores(visits(ENGINE, Graph(y, hidden=hidden), 6000), exact)) > 6


def observe(y, counts, alpha) -> list:
    links = (y > 0).sum()
    mixed = (counts.shares.max(axis=1) / counts.shares.sum(axis=1)).mean()
    agree = counts.role_pairs[:, [0, 1], [0, 1]].sum(axis=1)
    return [alpha, np.log(alpha), links, mixed, *agree, links * mixed, (counts.shares**2).sum()]


def geweke(directed: bool, n_chains: int, n_steps: int = 10) -> np.ndarray:
    """z-scores of the drift of short chains that alternate the sampler and new data."""
    n, k, rng = 4, 2, np.random.default_rng(2)
    hidden = np.zeros((n, n), bool)
    hidden[0, 3] = hidden[3, 0] = True
    dyads, chains = oracle.dyads_of(hidden, directed), []

    def data(roles):
        y = oracle.mmsb_data(roles, dyads, n, directed, ENGINE, rng)
        return y, Counts(*oracle.role_counts(y, dyads, roles, n, k, directed))

    for _ in range(n_chains):
        roles, alpha = oracle.mmsb_prior(n, dyads, ENGINE, rng)
        y, counts = data(roles)
        chain = [observe(y, counts, alpha)]
        for _ in range(n_steps):
            state = State(roles, counts, alpha, directed)
            roles, _, alpha, _ = ENGINE.step(oracle.small_graph(y, hidden, directed), state, rng)
            y, counts = data(roles)
            chain.append(observe(y, counts, alpha))
        chains.append(chain)
    return oracle.drift_scores(chains)


@pytest.mark.parametrize("directed", [False, True])
def test_geweke(directed):
    assert oracle.worst(geweke(directed, 400)) < 4


def test_geweke_notices_a_dyad_counted_twice(monkeypatch):
    right = mmsb.log_proportions
    monkeypatch.setattr(mmsb, "log_proportions", lambda shares, alpha: right(2 * shares, alpha))
    assert oracle.worst(geweke(True, 300)) > 6


def test_counts_are_refused():
    with pytest.raises(ValueError, match=r"links of 0 or 1; this graph has 3. Use graph.binarize"):
        ENGINE.init(Graph(3 * np.eye(3, k=1)), np.random.default_rng(0))


@pytest.mark.parametrize("directed", [False, True])
def test_counts_and_log_posterior_follow_the_formulas(directed):
    rng = np.random.default_rng(0)
    n, hidden = 6, np.zeros((6, 6), bool)
    hidden[1, 2] = hidden[2, 1] = True
    dyads = oracle.dyads_of(hidden, directed)
    y = oracle.fill(dyads, rng.integers(0, 2, len(dyads)), n, directed)
    graph, engine = Graph(y, directed=directed, hidden=hidden), MMSBEngine(n_communities=3, alpha=0.4)
    state = engine.step(graph, engine.init(graph, rng), rng)
    shares, role_pairs = oracle.role_counts(y, dyads, state.roles, n, 3, directed)
    np.testing.assert_array_equal(state.counts.shares, shares)
    np.testing.assert_array_equal(state.counts.role_pairs, role_pairs)
    assert mmsb.log_proportions(shares, 0.4) == pytest.approx(float(oracle.log_dirichlet(shares, 0.4)))
    assert np.isfinite(engine.log_posterior(graph, state))
    draw = engine.draw(graph, state)
    assert draw.memberships.sum(axis=1) == pytest.approx(np.ones(n))
    assert engine.communities(state).any(axis=1).all()
