"""Chain diagnostics: right where the answer is known, as ArviZ says, and a sentence where there is none."""

import warnings

import numpy as np
import pytest

from klafter.sampling.diagnostics import complaint, effective_sample_size, r_hat, summarise


def autoregressive(rho: float, n_draws: int = 4000, n_chains: int = 4) -> np.ndarray:
    rng, chains = np.random.default_rng(0), np.zeros((n_chains, n_draws))
    for t in range(1, n_draws):
        chains[:, t] = rho * chains[:, t - 1] + rng.normal(size=n_chains)
    return chains


def test_a_correlated_chain_is_worth_fewer_draws():
    chains = autoregressive(0.8)
    assert effective_sample_size(chains) == pytest.approx(16_000 / 9, rel=0.2)  # (1 - 0.8) / (1 + 0.8)
    assert r_hat(chains) < 1.02
    assert r_hat(chains + 5 * np.arange(4)[:, None]) > 1.5


@pytest.mark.parametrize("rho", [-0.4, 0.0, 0.5, 0.95])
@pytest.mark.parametrize("n_draws", [51, 400])
def test_as_arviz_says(rho, n_draws):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arviz = pytest.importorskip("arviz")
    for trace in (
        autoregressive(rho, n_draws),
        np.round(autoregressive(rho, n_draws)),
        autoregressive(rho, n_draws, 2),
    ):
        assert r_hat(trace) == pytest.approx(float(arviz.rhat(trace)), abs=1e-10)
        assert effective_sample_size(trace) == pytest.approx(float(arviz.ess(trace)), rel=0.1)


def test_chains_that_never_move():
    assert np.isnan(effective_sample_size(np.ones((2, 10))))
    assert np.isnan(r_hat(np.ones((2, 10))))
    assert r_hat(np.arange(3.0)[:, None] * np.ones(10)) == np.inf


def test_refusals_say_what_to_do():
    with pytest.raises(ValueError, match="n_chains=2"):
        r_hat(np.zeros((1, 10)))
    with pytest.raises(ValueError, match="at least 4 draws"):
        effective_sample_size([1.0, 2.0])


def test_only_poor_chains_are_complained_of():
    good, bad = autoregressive(0.3, 500), autoregressive(0.99, 100)
    assert complaint(summarise({"log_posterior": good, "n_communities": np.ones((4, 500))}), 4) is None
    words = complaint(summarise({"log_posterior": good, "n_communities": bad}), 4)
    assert "R-hat of n_communities is" in words
    assert "log_posterior" not in words
    assert "40 wanted" in words
    assert complaint(summarise({"log_posterior": [[1.0, 2.0]]}), 1) is None  # too few to tell
    assert "The chain has not run long enough" in complaint(summarise({"log_posterior": [np.arange(50.0)]}), 1)
