"""Geweke's test of what the LFRM engine draws beside the sweep: alpha, the scales of W, the Gaussian precision."""

import numpy as np
import oracles_lfrm as oracle
import oracles_sampling as chains
import pytest

from klafter.core.problem import make_priors
from klafter.sampling import lfrm
from klafter.sampling.lfrm_engine import LFRMEngine, LFRMState

N = 4


def observe(y, state: LFRMState) -> list:
    z, w = state.state.z, state.state.w
    inside, between = lfrm.free_weights(w, directed=True)
    return [
        len(z),
        z.sum(),
        state.priors.penalty,
        np.log(state.priors.diagonal),
        np.log(state.priors.offdiagonal),
        np.log(state.precision),
        np.tanh(np.abs(inside)).sum(),
        np.tanh(np.abs(between)).sum(),
        np.log1p(np.abs(y)).sum(),
        np.tanh(state.state.offset[0]),
    ]


def draw_state(engine: LFRMEngine, graph, priors, precision: float, rng) -> LFRMState:
    """Everything from the prior; undirected, sender and receiver are the same array."""
    state = oracle.draw_state(engine._problem(graph, priors, precision), rng)
    return LFRMState(state if graph.directed else state._replace(receiver=state.sender), priors, precision)


def geweke(engine: LFRMEngine, directed: bool, n_chains: int = 400, n_steps: int = 8) -> np.ndarray:
    """z-scores of the drift of short chains that alternate the engine and new data."""
    rng, hidden, runs = np.random.default_rng(1), np.zeros((N, N), bool), []
    hidden[0, 3] = hidden[3, 0] = True
    graph = chains.small_graph(np.zeros((N, N)), hidden, directed)
    scales = (engine.weight_scale, engine.offdiagonal_scale)
    for _ in range(n_chains):
        priors = oracle.draw_priors(make_priors(0.0, 1.0, *scales), lfrm.SCALE_SHAPE, scales, rng)
        precision = rng.gamma(1.0) if engine.family == "gaussian" else 1.0
        state = draw_state(engine, graph, priors, precision, rng)
        run = []
        for t in range(n_steps + 1):
            problem = engine._problem(graph, state.priors, state.precision)
            y = oracle.draw_data(problem, state.state, hidden, rng)
            run.append(observe(y, state))
            if t < n_steps:
                state = engine.step(chains.small_graph(y, hidden, directed), state, rng)
        runs.append(run)
    with np.errstate(invalid="ignore"):
        scores = chains.drift_scores(runs)
    return scores[np.isfinite(scores)]  # the precision of other families never moves


@pytest.mark.parametrize(("family", "directed"), [("bernoulli", False), ("gaussian", True), ("gaussian", False)])
def test_geweke(family, directed):
    engine = LFRMEngine(family=family, weight_scale=1.5, offdiagonal_scale=0.7)
    assert chains.worst(geweke(engine, directed)) < 4


def test_geweke_notices_a_precision_drawn_from_twice_the_squares(monkeypatch):
    right = LFRMEngine._loss
    monkeypatch.setattr(LFRMEngine, "_loss", lambda self, graph, state: 2 * right(self, graph, state))
    assert chains.worst(geweke(LFRMEngine(family="gaussian"), True, 200)) > 6


def test_geweke_notices_scales_that_forget_their_prior(monkeypatch):
    right = lfrm.draw_precision
    monkeypatch.setattr(lfrm, "draw_precision", lambda w, first, rng: right(w, first / 4, rng))
    assert chains.worst(geweke(LFRMEngine(), False, 200)) > 6


def test_the_log_posterior_holds_what_its_conditionals_are_drawn_from():
    """log p as a function of alpha, with the rest fixed, is that of Gamma(1 + K, 1 + H_N), up to a constant."""
    engine, rng = LFRMEngine(), np.random.default_rng(0)
    graph = chains.small_graph(np.zeros((N, N)), np.zeros((N, N), bool), False)
    priors = make_priors(0.3, 1.0, 3.2, 1.4)
    state = draw_state(engine, graph, priors, 1.0, rng)
    k, h = len(state.state.z), lfrm.harmonic(N)
    gaps = [
        engine.log_posterior(graph, state._replace(priors=priors._replace(penalty=-np.log(a))))
        - (k * np.log(a) - a * (1 + h))
        for a in (0.4, 1.0, 2.5)
    ]
    assert gaps == pytest.approx([gaps[0]] * 3)
