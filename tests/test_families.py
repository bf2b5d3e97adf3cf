"""Losses, their derivatives and responses agree with one another and with scipy's distributions."""

import dataclasses

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from klafter.core.families import FAMILIES, Family, check_values, curvature, loss, slope
from klafter.core.objective import flip_gains, objective, total
from klafter.core.problem import copy_state
from klafter.core.responses import RESPONSES
from klafter.core.workspace import open_workspace
from klafter.datasets import load_karate
from klafter.models import LFRM, KLafter
from klafter.search.dense.weights import fit_weights
from klafter.search.dense.weights_kernels import derivatives

quick = settings(max_examples=30, deadline=None, derandomize=True)
x_values = st.floats(-20, 20)


def case(name, count, x):
    """A law, a link value it allows, and an x it allows."""
    y = {"poisson": float(count), "gaussian": count - 1.5}.get(name, float(count % 2))
    return FAMILIES[name].law(2.5 if name == "gaussian" else 1.0), y, abs(x) + 0.01 if name == "exposure" else x


def test_models_take_a_family_that_was_added(monkeypatch):
    added = dataclasses.replace(FAMILIES["cloglog"], name="rare")
    monkeypatch.setitem(FAMILIES, "rare", added)
    graph, options = load_karate(), {"n_init": 1, "n_smooth": 0, "random_state": 0}
    model, same = KLafter(family="rare", **options).fit(graph), KLafter(link="cloglog", **options).fit(graph)
    assert model.objective_ == same.objective_
    assert model.link_ == "cloglog"
    assert LFRM(family="rare", n_chains=1, n_burn=2, n_draws=3, random_state=0).fit(graph).n_communities_ >= 0
    for other in ("cloglog", "exposure"):
        with pytest.raises(ValueError, match="'gaussian', 'rare'; it is"):
            KLafter(family=other).fit(graph)
    with pytest.raises(ValueError, match="takes 0/1 or count links"):
        KLafter(family="rare", link="exposure").fit(graph)


@pytest.mark.parametrize("name", FAMILIES)
@given(count=st.integers(0, 5), x=x_values)
@quick
def test_loss_is_the_formula(name, count, x):
    law, y, x = case(name, count, x)
    assert loss(law, y, x) == pytest.approx(float(oracles.losses(name, y, x, law.precision)), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("name", FAMILIES)
@given(count=st.integers(0, 5), x=x_values)
@quick
def test_slope_and_curvature_are_numerical_derivatives(name, count, x):
    law, y, x = case(name, count, x)
    h = 1e-4 * min(1.0, x) if name == "exposure" else 1e-4
    first = (loss(law, y, x + h) - loss(law, y, x - h)) / (2 * h)
    second = (slope(law, y, x + h) - slope(law, y, x - h)) / (2 * h)
    assert slope(law, y, x) == pytest.approx(first, rel=1e-5, abs=1e-6)
    assert curvature(law, y, x) == pytest.approx(second, rel=1e-5, abs=1e-6)


DENSITIES = {
    "bernoulli": lambda y, x, tau: stats.bernoulli.logpmf(y, 1 / (1 + np.exp(-x))),
    "poisson": lambda y, x, tau: stats.poisson.logpmf(y, np.exp(x)),
    "gaussian": lambda y, x, tau: stats.norm.logpdf(y, x, 1 / np.sqrt(tau)),
    "cloglog": lambda y, x, tau: np.log(-np.expm1(-np.exp(x))) if y else -np.exp(x),
    "exposure": lambda y, x, tau: stats.bernoulli.logpmf(y, -np.expm1(-x)),
}


@pytest.mark.parametrize("name", FAMILIES)
@given(count=st.integers(0, 5), x=st.floats(-3, 3), other=st.floats(-3, 3))
@quick
def test_loss_is_minus_the_log_likelihood_up_to_a_term_in_y(name, count, x, other):
    law, y, x = case(name, count, x)
    other = case(name, count, other)[2]
    density = RESPONSES[FAMILIES[name].response].log_density
    exact = DENSITIES[name](y, x, law.precision)
    assert float(density(y, x, law.precision)) == pytest.approx(exact, abs=1e-9)
    fall = DENSITIES[name](y, other, law.precision) - exact
    assert loss(law, y, x) - loss(law, y, other) == pytest.approx(fall, abs=1e-8)


@pytest.mark.parametrize("name", RESPONSES)
def test_draws_have_the_mean_and_the_probability_of_their_response(name):
    response, rng = RESPONSES[name], np.random.default_rng(0)
    x = np.full(200_000, 0.4)
    y = response.draw(x, rng, 2.0)
    assert y.mean() == pytest.approx(response.mean(x)[0], abs=0.01)
    linked = y > 0.5 if name == "identity" else y > 0
    assert linked.mean() == pytest.approx(response.probability(x, 2.0)[0], abs=0.01)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
def test_what_a_family_declares_is_true_of_its_loss(family):
    law = family.law(2.5 if family.quadratic else 1.0)
    forms = {
        "logistic": lambda x: np.logaddexp(0.0, x),
        "exponential": np.exp,
        "quadratic": lambda x: 0.5 * law.precision * x**2 - 0.5 * np.log(law.precision),
        "linear": lambda x: x,
    }
    for x in (0.1, 1.7) if family.nonnegative else (-2.0, 0.1, 1.7):
        for name, form in forms.items():
            if getattr(family, name):
                assert loss(law, 0.0, x) == pytest.approx(form(x), rel=1e-12)
        extra = 0.5 * law.precision if family.quadratic else 0.0
        if family.linear_links:
            assert loss(law, 1.0, x) - loss(law, 0.0, x) == pytest.approx(extra - law.precision * x, rel=1e-9)
        assert np.isfinite([f(law, y, x) for f in (loss, slope, curvature) for y in (0.0, 1.0)]).all()
    assert family.linear_links or not family.logistic


def test_a_code_without_a_loss_is_refused():
    with pytest.raises(ValueError, match="code 99, which loss, slope and curvature do not all know"):
        Family("strange", 99, "logit", "0 or 1", lambda y: True)


def test_a_precision_that_a_family_does_not_have_is_refused():
    with pytest.raises(ValueError, match="'poisson' has no precision"):
        FAMILIES["poisson"].law(2.0)


PLAIN = dict.fromkeys(("logistic", "exponential", "quadratic", "linear", "linear_links", "splits"), False)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_that_declares_nothing_is_right_and_slow(name, directed):
    for seed in range(3):
        case = oracles.draw_case(seed, name, directed=directed)
        plain = case.problem._replace(law=case.problem.law._replace(**PLAIN))
        views = [open_workspace(problem, copy_state(case.state)) for problem in (case.problem, plain)]
        for asked in (total, lambda ws: np.array([flip_gains(ws, i) for i in range(7)])):
            declared, undeclared = map(asked, views)
            np.testing.assert_allclose(undeclared, declared, rtol=1e-9, atol=1e-9)
        for declared, undeclared in zip(*(derivatives(ws, True) for ws in views)):
            np.testing.assert_allclose(undeclared, declared, rtol=1e-9, atol=1e-9)
        values = [objective(p, fit_weights(p, case.state, 200, 1e-12)) for p in (case.problem, plain)]
        assert values[1] == pytest.approx(values[0], rel=1e-6)


def test_no_loss_overflows():
    for family in FAMILIES.values():
        if family.nonnegative:
            continue
        assert np.isfinite([loss(family.law(), y, x) for y in (0.0, 1.0) for x in (-1e3, 1e3)]).all()
    assert np.isfinite(loss(FAMILIES["exposure"].law(), 1.0, 0.0))


def test_an_impossible_exposure_costs_infinity():
    assert loss(FAMILIES["exposure"].law(), 0.0, -0.1) == np.inf


@pytest.mark.parametrize(("name", "bad"), [("bernoulli", 7.0), ("poisson", 2.5), ("exposure", 2.0)])
def test_link_values_that_a_family_cannot_have_are_refused_in_a_sentence(name, bad):
    with pytest.raises(
        ValueError, match=rf'KLafter\(family="{name}"\) needs links of .*values from 0 to {bad:g}, such as .*\. Use'
    ):
        check_values(FAMILIES[name], np.array([1.0, bad]), "KLafter")
    check_values(FAMILIES["gaussian"], np.array([1.0, bad]), "KLafter")
