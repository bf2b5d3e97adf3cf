"""Chain diagnostics: right where the answer is known, and a sentence where there is none."""

import sys

import numpy as np
import pytest

from klafter.sampling.diagnostics import effective_sample_size, r_hat


def test_a_correlated_chain_is_worth_fewer_draws():
    pytest.importorskip("arviz")
    rng, chains = np.random.default_rng(0), np.zeros((4, 4000))
    for t in range(1, 4000):
        chains[:, t] = 0.8 * chains[:, t - 1] + rng.normal(size=4)
    assert effective_sample_size(chains) == pytest.approx(16_000 / 9, rel=0.2)  # (1 - 0.8) / (1 + 0.8)
    assert r_hat(chains) < 1.02
    assert r_hat(chains + 5 * np.arange(4)[:, None]) > 1.5


def test_refusals_say_what_to_do(monkeypatch):
    with pytest.raises(ValueError, match="n_chains=2"):
        r_hat(np.zeros((1, 10)))
    with pytest.raises(ValueError, match="at least 4 draws"):
        effective_sample_size([1.0, 2.0])
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"klafter\[mcmc\]"):
        effective_sample_size(np.zeros((2, 10)))
