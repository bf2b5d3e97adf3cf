"""One parameter along its line: the quick sums are the plain ones, the minimum is one, a draw has the density."""

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from klafter.core import line_search as lines
from klafter.core.families import FAMILIES
from klafter.core.line_search import Axis, Line, Span
from klafter.jit.decorators import kernel

quick = settings(max_examples=15, deadline=None, derandomize=True)
seeds = st.integers(0, 10_000)
M = 12


@kernel
def line_slopes(law, line, span, delta):
    return lines.line_slopes(law, line, span, delta)


@kernel
def minimise_line(law, line, span, axis, max_steps):
    return lines.minimise_line(law, line, span, axis, max_steps)


@kernel
def sample_line(law, line, span, axis, width, rng):
    return lines.sample_line(law, line, span, axis, width, rng)


def draw_line(family, seed, whole=False):
    """A line of random dyads, and its objective as a plain function of delta."""
    rng = np.random.default_rng(seed)
    law = FAMILIES[family].law(1.7 if family == "gaussian" else 1.0)
    y = oracles.draw_values(family, M, rng)
    x, c = rng.normal(size=M), np.sort(rng.choice([1.0, 2.0], M))
    if not whole:
        c = rng.normal(size=M)
    if family == "exposure":
        c = np.abs(c)
        x = np.abs(x) + 0.01 + 0.9 * c  # what theta = 0.9 adds, and something else
    line = Line(x, np.exp(x), y, c)
    span = Span(M, int((c == 1).sum()), float(y @ c)) if whole else Span(M, -1, 0.0)
    lower = 0.0 if family == "exposure" else -30.0
    axis = Axis(0.9, 0.6, lower, 30.0)

    def plain(delta):
        return oracles.losses(family, y, x + c * delta, law.precision).sum() + 0.3 * (0.9 + delta) ** 2

    return law, line, span, axis, plain


@pytest.mark.parametrize("family", FAMILIES)
@given(seed=seeds)
@quick
def test_slopes_are_numerical_derivatives(family, seed):
    law, line, span, axis, plain = draw_line(family, seed)
    first, second = line_slopes(law, line, span, 0.2)
    h = 1e-4
    precision = axis.precision
    slope = (plain(0.2 + h) - plain(0.2 - h)) / (2 * h)
    curve = (plain(0.2 + h) - 2 * plain(0.2) + plain(0.2 - h)) / h**2
    assert first + precision * (axis.theta + 0.2) == pytest.approx(slope, rel=1e-5, abs=1e-5)
    assert second + precision == pytest.approx(curve, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("family", FAMILIES)
@given(seed=seeds, whole=st.booleans())
@quick
def test_the_minimum_is_stationary_or_at_a_bound_and_as_low_as_told(family, seed, whole):
    law, line, span, axis, plain = draw_line(family, seed, whole)
    delta, fall = minimise_line(law, line, span, axis, 100)
    assert fall == pytest.approx(plain(0.0) - plain(delta), rel=1e-9, abs=1e-9)
    theta, slope = axis.theta + delta, (plain(delta + 1e-6) - plain(delta - 1e-6)) / 2e-6
    assert axis.lower <= theta <= axis.upper
    at_lower = theta == axis.lower and slope > 0
    assert at_lower or abs(slope) < 1e-4


def test_separable_dyads_without_a_prior_stop_at_the_bound():
    line = Line(np.zeros(3), np.ones(3), np.ones(3), np.ones(3))
    assert (
        minimise_line(FAMILIES["bernoulli"].law(), line, Span(3, 3, 3.0), Axis(0.0, 0.0, -30.0, 30.0), 200)[0] <= 30.0
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_slices_have_the_density_of_the_line(family):
    law, line, span, axis, plain = draw_line(family, 5, whole=True)
    rng, delta, draws = np.random.default_rng(0), 0.0, []
    for _ in range(6000):
        moved = Axis(axis.theta + delta, axis.precision, axis.lower, axis.upper)
        shifted = line._replace(x=line.x + line.c * delta, e=np.exp(line.x + line.c * delta))
        delta += sample_line(law, shifted, span, moved, 1.0, rng)
        draws.append(delta)
    low, high = max(axis.lower - axis.theta, -8.0), 8.0
    best = min(plain(d) for d in np.linspace(low, high, 400))

    def moment(p):
        return integrate.quad(lambda d: d**p * np.exp(best - plain(d)), low, high, limit=400)[0]

    mean, spread = moment(1) / moment(0), np.sqrt(moment(2) / moment(0) - (moment(1) / moment(0)) ** 2)
    batches = np.array(draws).reshape(60, 100).mean(axis=1)
    assert abs(batches.mean() - mean) < 4 * batches.std(ddof=1) / np.sqrt(60)
    assert np.std(draws) == pytest.approx(spread, rel=0.08)
