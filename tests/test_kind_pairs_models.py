"""A graph with a rule gives what the graph of one kind gives in which every pair that cannot be linked is hidden."""

import numpy as np
import pytest
from kind_graphs import RULES, as_one_kind, possible, ruled
from sklearn.base import clone

import klafter as kl
from klafter.core.families import FAMILIES
from klafter.core.problem import make_priors, make_problem
from klafter.sampling.epm import pair_exposure
from klafter.search.dense import engine as dense
from klafter.search.dense.score import score
from klafter.search.starts import coin_flips

SHORT = {"n_draws": 20, "n_burn": 10, "n_chains": 1, "random_state": 0, "structure": 0}
MODELS = {
    "dense": kl.KLafter(n_init=2, n_smooth=20, link="logit", structure=0, random_state=0),
    "values": kl.KLafter(family="gaussian", n_init=1, n_smooth=5, structure=0, random_state=0),
    "LFRM": kl.LFRM(**SHORT),
    "IRM": kl.IRM(**SHORT),
    "MMSB": kl.MMSB(n_communities=3, **SHORT),
    "EPM": kl.EPM(n_communities=6, **SHORT),
    "with the expert": kl.KLafter(n_init=1, n_smooth=40, link="logit", random_state=0),
}


@pytest.mark.parametrize("rule", RULES)
def test_the_dense_score_and_its_gains_are_those_of_sums_over_possible_pairs(rule):
    graph = ruled(rule)
    one, other = (make_problem(g, FAMILIES["bernoulli"].law(), make_priors()) for g in (graph, as_one_kind(graph)))
    state = dense.init(one, np.random.default_rng(0), coin_flips(one, 3, np.random.default_rng(1)))
    assert score(one, state) == score(other, state)
    seen = possible(graph) & ~graph.hidden.toarray().astype(bool)
    assert np.array_equal(one.seen_out, seen)
    assert np.array_equal(one.seen_in, seen.T)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("rule", RULES)
def test_fits_are_those_of_hidden_pairs(rule, name):
    graph = ruled(rule)
    if name == "EPM" and graph.directed:
        pytest.skip("EPM takes undirected networks")
    one, other = (clone(MODELS[name]).fit(g) for g in (graph, as_one_kind(graph)))
    pairs = np.argwhere(possible(graph))
    assert np.allclose(one.predict_proba(pairs), other.predict_proba(pairs), rtol=1e-6)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-9)
    assert (one.predict_proba(np.argwhere(~possible(graph))) == 0).all()


@pytest.mark.parametrize("rule", [rule for rule in RULES if not RULES[rule].get("directed")])
def test_exposures_are_those_of_enumeration(rule):
    graph, phi = ruled(rule), np.random.default_rng(0).gamma(1.0, 1.0, (27, 4))
    seen = possible(graph) & ~graph.hidden.toarray().astype(bool)
    theta = phi.T @ seen @ phi
    np.fill_diagonal(theta, theta.diagonal() / 2)
    assert np.allclose(pair_exposure(graph, phi), theta)
