"""Draws: x of pairs, of rows and as parts is one formula, of a linear and of an exposure draw."""

import numpy as np
import pytest
from scipy import sparse

from klafter.core.draws import ExposureDraw, LinearDraw

N, K = 9, 3
PAIRS = np.argwhere(~np.eye(N, dtype=bool))


def linear(rng, *, dense: bool) -> tuple[LinearDraw, np.ndarray, list]:
    u, w = rng.random((N, K)) * (rng.random((N, K)) < 0.6), rng.normal(size=(K, K))
    s, r, g, v = rng.normal(size=N), rng.normal(size=N), rng.normal(size=1), rng.normal(size=(N, N))
    x = -0.7 + s[:, None] + r + u @ w @ u.T + g * v
    memberships, affinities = (u, w) if dense else (sparse.csr_array(u), sparse.csr_array(w))
    return LinearDraw(memberships, affinities, -0.7, s, r, g), x, [sparse.csr_array(v)]


def exposure(rng) -> tuple[ExposureDraw, np.ndarray, list]:
    z, w = (rng.random((N, K)) < 0.5).astype(float), rng.random((K, K)) * (rng.random((K, K)) < 0.7)
    t, r = rng.gamma(2.0, size=(2, N))
    x = t[:, None] * r * (0.03 + z @ w @ z.T)
    return ExposureDraw(sparse.csr_array(z), sparse.csr_array(w), 0.03, t, r), x, []


CASES = {
    "linear": lambda rng: linear(rng, dense=False),
    "linear, dense": lambda rng: linear(rng, dense=True),
    "exposure": exposure,
}


@pytest.mark.parametrize("make", CASES.values(), ids=CASES)
@pytest.mark.parametrize("seed", range(3))
def test_pairs_rows_and_parts_are_the_formula(make, seed):
    draw, x, covariates = make(np.random.default_rng(seed))
    assert draw.fits(N)
    assert not draw.fits(N + 1)
    np.testing.assert_allclose(draw.predictor(PAIRS, covariates), x[tuple(PAIRS.T)])
    np.testing.assert_allclose(draw.predictor_rows(np.array([1, 5]), covariates), x[[1, 5]])
    for i, j in PAIRS.tolist():
        start, factors, terms = draw.parts(i, j, covariates)
        told = start * np.exp(sum(part.value for part in factors)) + sum(part.value for part in terms)
        assert told == pytest.approx(x[i, j], rel=1e-9)


def test_without_an_offset_parts_begin_at_the_usual_dyad():
    u = np.random.default_rng(0).dirichlet(np.ones(K), N)
    w = np.random.default_rng(1).random((K, K))
    for loadings in (u, 5.0 * u):  # shares, and loadings that do not add up to 1
        draw = LinearDraw(sparse.csr_array(loadings), w)
        for i, j in PAIRS[:9].tolist():
            start, factors, terms = draw.parts(i, j, usual=0.2)
            assert (start, factors) == (0.2, [])
            assert start + sum(part.value for part in terms) == pytest.approx(loadings[i] @ w @ loadings[j])
    assert draw._replace(offset=0.1).parts(0, 1, usual=0.2).start == 0.1


def test_a_node_without_memberships_has_less_than_the_usual_dyad():
    draw = LinearDraw(sparse.csr_array(np.array([[1.0], [1.0], [0.0]])), np.ones((1, 1)))
    start, _, terms = draw.parts(0, 2, usual=0.2)
    assert [part.kind for part in terms] == ["nothing"]
    assert start + terms[0].value == 0.0


def test_only_an_exposure_draw_says_which_communities_attract():
    draw, _, _ = exposure(np.random.default_rng(0))
    assert (draw.attracting() != (draw.affinities > 0)).nnz == 0
    assert linear(np.random.default_rng(0), dense=False)[0].attracting() is None
