"""Simulation-based calibration: the rank of the truth among draws of the posterior is uniform, for every sampler."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))
sbc = pytest.importorskip("sbc", reason="benchmarks/ is not beside tests/")


@pytest.mark.slow
@pytest.mark.parametrize("name", sbc.SAMPLERS)
def test_ranks_are_uniform(name):
    found = sbc.calibrate(sbc.SAMPLERS[name], 100 if name == "EPM" else 200, seed=1)  # whose chains are thinned more
    assert min(line["p"] for line in found.values()) > 1e-4, found


@pytest.mark.slow
def test_a_sampler_with_another_prior_is_noticed():
    sampler, other = sbc.SAMPLERS["IRM"], sbc.irm.IRMEngine(prior=(0.5, 0.8), concentration_prior=(6.0, 1.0))

    def step(y, state, rng):
        return other.step(sbc.oracle.small_graph(y, sbc.HIDDEN, False), state, rng)

    assert sbc.calibrate(sampler._replace(step=step), 200, seed=1)["concentration"]["p"] < 1e-8


def test_the_rank_of_the_truth_among_draws_of_its_like_is_uniform():
    alike = sbc.Sampler(
        prior=lambda rng: rng.integers(3),  # ties are frequent
        data=lambda truth, rng: np.zeros((0, 0)),
        step=lambda y, state, rng: rng.integers(3),
        observe=lambda state, y: {"state": int(state)},
        thin=1,
    )
    assert sbc.calibrate(alike, 2_000)["state"]["p"] > 1e-3
    larger = alike._replace(step=lambda y, state, rng: rng.integers(4))
    assert sbc.calibrate(larger, 2_000)["state"]["p"] < 1e-8


def test_no_saved_rank_is_off():
    saved = json.loads(sbc.RESULTS.read_text(encoding="utf-8"))["samplers"]
    p = [line["p"] for found in saved.values() for line in found.values()]
    assert set(saved) == set(sbc.SAMPLERS)
    assert all(sum(line["ranks"]) >= 1_000 for found in saved.values() for line in found.values())
    assert min(p) > 0.05 / len(p)
