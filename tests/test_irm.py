"""The IRM sampler against enumeration of all partitions, and Geweke's test of the whole model."""

from dataclasses import replace

import numpy as np
import oracles_sampling as oracle
import pytest

from klafter.graph import Graph
from klafter.sampling import irm
from klafter.sampling.irm import IRMEngine, State

N = 5
BINARY = IRMEngine(prior=(0.5, 0.8), concentration_prior=(1.5, 1.0))
COUNTS = replace(BINARY, family="poisson", prior=(0.7, 0.6))


def example(directed: bool, engine: IRMEngine):
    """A graph with two groups and two hidden dyads."""
    rng = np.random.default_rng(3)
    hidden = np.zeros((N, N), bool)
    hidden[0, 1] = hidden[2, 4] = True
    if not directed:
        hidden |= hidden.T
    z = np.array([0, 0, 1, 1, 1])
    y = oracle.irm_data(z, hidden, directed, engine, rng)
    return y, hidden


def visits(engine, graph, n_steps: int, seed: int = 0) -> list:
    rng = np.random.default_rng(seed)
    state, seen = engine.init(graph, rng), []
    for _ in range(n_steps):
        state = engine.step(graph, state, rng)
        seen.append(oracle.first_member(state.blocks))
    return seen


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("engine", [BINARY, COUNTS], ids=["bernoulli", "poisson"])
@pytest.mark.parametrize("moves", [{"n_moves": 0}, {"n_sweeps": 0, "n_moves": 4}], ids=["gibbs", "split-merge"])
def test_visits_every_partition_as_often_as_the_posterior_says(directed, engine, moves):
    y, hidden = example(directed, engine)
    exact = oracle.irm_posterior(y, hidden, directed, engine)
    chain = visits(replace(engine, **moves), Graph(y, directed=directed, hidden=hidden), 8000)
    assert oracle.worst(oracle.visit_scores(chain, exact)) < 4.5


def test_hidden_dyads_taken_for_non_links_are_noticed():
    y, hidden = example(False, BINARY)
    exact = oracle.irm_posterior(y, hidden, False, BINARY)
    chain = visits(BINARY, Graph(y), 8000)
    assert oracle.worst(oracle.visit_scores(chain, exact)) > 6


def observe(y, z, alpha) -> list:
    same = z[:, None] == z[None, :]
    return [
        z.max() + 1,
        np.bincount(z).max(),
        np.log(alpha),
        alpha,
        (y > 0).sum(),
        (y * same).sum(),
        y.sum() * same.sum(),
    ]


def geweke(engine, directed: bool, n_chains: int, n_steps: int = 10) -> np.ndarray:
    """z-scores of the drift of short chains that alternate the sampler and new data."""
    hidden, rng = np.zeros((N, N), bool), np.random.default_rng(1)
    hidden[0, 3] = hidden[3, 0] = True
    chains = []
    for _ in range(n_chains):
        state = State(*oracle.irm_prior(N, engine, rng))
        y = oracle.irm_data(state.blocks, hidden, directed, engine, rng)
        chain = [observe(y, *state)]
        for _ in range(n_steps):
            state = engine.step(oracle.small_graph(y, hidden, directed), state, rng)
            y = oracle.irm_data(state.blocks, hidden, directed, engine, rng)
            chain.append(observe(y, *state))
        chains.append(chain)
    return oracle.drift_scores(chains)


@pytest.mark.parametrize(
    ("engine", "directed"), [(BINARY, False), (COUNTS, True)], ids=["undirected", "directed-counts"]
)
def test_geweke(engine, directed):
    assert oracle.worst(geweke(engine, directed, 500)) < 4


def test_geweke_notices_a_wrong_concentration(monkeypatch):
    right = irm.draw_concentration
    monkeypatch.setattr(irm, "draw_concentration", lambda alpha, k, n, prior, rng: right(alpha, k + 1, n, prior, rng))
    assert oracle.worst(geweke(BINARY, False, 400)) > 6


def test_geweke_notices_a_wrong_block_prior(monkeypatch):
    right = irm.block_law
    monkeypatch.setattr(irm, "block_law", lambda family, a, b, size: right(family, a, 10 * b, size))
    assert oracle.worst(geweke(BINARY, False, 400)) > 6


@pytest.mark.parametrize("directed", [False, True])
def test_log_posterior_and_draw_follow_the_formulas(directed):
    y, hidden = example(directed, BINARY)
    graph, dyads = Graph(y, directed=directed, hidden=hidden), oracle.dyads_of(hidden, directed)
    values = []
    for z in ([0, 0, 1, 1, 1], [0, 1, 2, 0, 1]):
        alpha = 0.7
        exact = oracle.block_evidence(y, dyads, z, "bernoulli", BINARY.prior, directed) + oracle.crp(z, alpha)
        values.append(BINARY.log_posterior(graph, State(np.array(z), alpha)) - exact)
    assert values[0] == pytest.approx(values[1])
    draw = BINARY.draw(graph, State(np.array([0, 0, 1, 1, 1]), alpha))
    cell = [y[i, j] for i, j in dyads if {i, j} <= {2, 3, 4}]
    assert draw.predictor(np.array([[3, 4]])) == pytest.approx((0.5 + sum(cell)) / (1.3 + len(cell)))


def test_tables_end_where_log_gamma_begins(monkeypatch):
    y, hidden = example(False, BINARY)
    state = State(np.array([0, 0, 1, 1, 1]), 1.0)
    values = []
    for size in (irm.TABLE, 2):
        monkeypatch.setattr(irm, "TABLE", size)
        values.append(BINARY.log_posterior(Graph(y, hidden=hidden), state))
    assert values[0] == pytest.approx(values[1])


def test_communities_are_the_blocks():
    assert BINARY.communities(State(np.array([1, 0, 1]), 1.0)).tolist() == [[0, 1], [1, 0], [0, 1]]
