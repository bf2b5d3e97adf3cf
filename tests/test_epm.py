"""The EPM sampler against the prior reweighted by the likelihood, and Geweke's test of the whole model."""

import numpy as np
import oracles_sampling as oracle
import pytest
from scipy import stats

from klafter.graph import Graph
from klafter.sampling import epm
from klafter.sampling import epm_kernels as kernels
from klafter.sampling.epm import EPMEngine, State

BINARY = EPMEngine(n_communities=2, shape_prior=(3.0, 2.0), rate_prior=(3.0, 2.0), hyper_prior=(3.0, 2.0))
COUNTS = EPMEngine("poisson", 2, (3.0, 2.0), (3.0, 2.0), (3.0, 2.0))
ENGINES = pytest.mark.parametrize("engine", [BINARY, COUNTS], ids=["bernoulli", "poisson"])


def example(engine):
    """Four nodes, one pair hidden."""
    n, hidden = 4, np.zeros((4, 4), bool)
    hidden[0, 3] = hidden[3, 0] = True
    y = oracle.fill([(0, 1), (1, 2), (0, 2)], [1, 1, 1] if engine is BINARY else [2, 1, 3], n, False)
    return y, hidden


def bounded(value):
    return value / (1 + value)


def observe(state) -> np.ndarray:
    """Bounded functions of all parameters, whatever the labels of communities; arrays may have a leading axis."""
    rates = oracle.epm_rates(state.loadings, state.affinities)
    parts = [np.exp(-rates[..., i, j]) for i, j in ((0, 1), (0, 3), (2, 3))]
    parts += [bounded(x) for x in (state.inflation, state.precision, state.mass, state.mass_rate)]
    parts += [
        bounded(np.exp(state.log_weights).sum(axis=-1)),
        bounded(state.shape[..., 0]),
        bounded(state.rate[..., 1]),
    ]
    return np.stack([*parts, bounded(state.affinities.sum(axis=(-1, -2)))], axis=-1)


def importance(y, hidden, engine, size: int):
    """Posterior means of ``observe`` and their errors: prior draws weighted by the likelihood."""
    prior = State(**oracle.epm_prior(len(y), engine, np.random.default_rng(5), size))
    rates, log_w = oracle.epm_rates(prior.loadings, prior.affinities), np.zeros(size)
    for i, j in oracle.dyads_of(hidden, False):
        rate = np.maximum(rates[:, i, j], 1e-300)
        log_w += (
            (np.log(-np.expm1(-rate)) if y[i, j] else -rate)
            if engine.family == "bernoulli"
            else y[i, j] * np.log(rate) - rate
        )
    weight = np.exp(log_w - log_w.max())
    weight /= weight.sum()
    values = observe(prior)
    mean = weight @ values
    return mean, np.sqrt(weight**2 @ (values - mean) ** 2)


def posterior_scores(engine, n_steps: int = 6000) -> np.ndarray:
    y, hidden = example(engine)
    mean, error = importance(y, hidden, engine, 300_000)
    graph, rng = Graph(y, hidden=hidden), np.random.default_rng(0)
    state, trace = engine.init(graph, rng), []
    for t in range(n_steps + 200):
        state = engine.step(graph, state, rng)
        if t >= 200:
            trace.append(observe(state))
    chain = np.array(trace)
    return (chain.mean(axis=0) - mean) / np.hypot(oracle.batch_error(chain), error)


@ENGINES
def test_chain_means_equal_the_reweighted_prior(engine):
    assert oracle.worst(posterior_scores(engine)) < 4


def test_forgetting_to_halve_the_diagonal_is_noticed(monkeypatch):
    right = epm.pair_exposure
    monkeypatch.setattr(epm, "pair_exposure", lambda graph, phi: right(graph, phi) * (1 + np.eye(phi.shape[1])))
    assert oracle.worst(posterior_scores(BINARY)) > 6


def geweke(engine, n_chains: int, n_steps: int = 8) -> np.ndarray:
    """z-scores of the drift of short chains that alternate data and the sampler."""
    n, hidden = 4, np.zeros((4, 4), bool)
    hidden[1, 2] = hidden[2, 1] = True
    rng = np.random.default_rng(4)
    prior, chains = State(**oracle.epm_prior(n, engine, rng, n_chains)), []
    for c in range(n_chains):
        state = State(*(p[c] if p.ndim > 1 else float(p[c]) for p in prior))
        chain = [observe(state)]
        for _ in range(n_steps):
            y = oracle.epm_data(state, hidden, engine, rng)
            state = engine.step(oracle.small_graph(y, hidden, False), state, rng)
            chain.append(observe(state))
        chains.append(chain)
    return oracle.drift_scores(chains)


@ENGINES
def test_geweke(engine):
    assert oracle.worst(geweke(engine, 600)) < 4


def test_geweke_notices_a_wrong_mass(monkeypatch):
    right = epm.slice_positive
    monkeypatch.setattr(epm, "slice_positive", lambda density, value, rng: right(lambda x: density(x) + x, value, rng))
    assert oracle.worst(geweke(COUNTS, 400)) > 6


@pytest.mark.parametrize("rate", [1e-12, 0.3, 4.0, 200.0])
def test_positive_poisson(rate):
    rng = np.random.default_rng(0)
    counts = np.array([kernels.positive_poisson(rate, rng) for _ in range(20_000)])
    mean = rate / -np.expm1(-rate)
    deviation = np.sqrt(max(mean * (1 + rate) - mean**2, 1e-12))
    assert counts.min() >= 1
    assert abs(counts.mean() - mean) < 4 * deviation / np.sqrt(len(counts)) + 1e-9


def test_tables_have_the_crt_mean():
    rng = np.random.default_rng(0)
    counts = np.array([kernels.tables(7, 0.8, rng) for _ in range(20_000)])
    assert counts.mean() == pytest.approx(sum(0.8 / (0.8 + t) for t in range(7)), abs=0.04)
    assert kernels.tables(0, 0.8, rng) == 0
    assert kernels.tables(3, 0.0, rng) == 1


@pytest.mark.parametrize("shape", [1e-3, 0.05, 2.0])
def test_log_gamma_draws(shape):
    rng = np.random.default_rng(0)
    draws = np.array([kernels.log_gamma_draw(shape, rng) for _ in range(4000)])
    assert np.isfinite(draws).all()
    assert stats.kstest(draws, stats.loggamma(shape).cdf).pvalue > 1e-3


@ENGINES
def test_draw_communities_and_log_posterior(engine):
    y, hidden = example(engine)
    graph, rng = Graph(y, hidden=hidden), np.random.default_rng(0)
    state = engine.step(graph, engine.init(graph, rng), rng)
    draw = engine.draw(graph, state)
    np.testing.assert_allclose(
        oracle.epm_rates(draw.memberships, draw.affinities), oracle.epm_rates(state.loadings, state.affinities)
    )
    assert engine.communities(state).shape == draw.memberships.shape
    assert np.isfinite(engine.log_posterior(graph, state))


def test_log_likelihood_follows_the_formula():
    y, hidden = example(BINARY)
    graph, rng = Graph(y, hidden=hidden), np.random.default_rng(0)
    state = BINARY.init(graph, rng)
    x = oracle.epm_rates(state.loadings, state.affinities)
    exact = sum(np.log(-np.expm1(-x[i, j])) if y[i, j] else -x[i, j] for i, j in oracle.dyads_of(hidden, False))
    assert BINARY.log_likelihood(graph, state) == pytest.approx(exact)


def test_directed_graphs_are_refused():
    with pytest.raises(ValueError, match=r"undirected graph; this one is directed. Use graph.symmetrize\(\)"):
        BINARY.init(Graph(np.eye(3, k=1), directed=True), np.random.default_rng(0))
