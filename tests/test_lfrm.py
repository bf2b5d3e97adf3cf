"""The LFRM sampler against the exact posterior of small graphs, and Geweke's test of the whole model."""

from itertools import combinations_with_replacement, product

import numpy as np
import oracles
import oracles_lfrm as oracle
import oracles_sampling as chains
import pytest

from klafter.core.families import FAMILIES
from klafter.core.problem import copy_state, empty_state, make_priors, make_problem
from klafter.core.workspace import open_workspace
from klafter.jit.decorators import kernel
from klafter.sampling import lfrm
from klafter.sampling.lfrm import Chain
from klafter.sampling.weights_kernels import draw_affinities
from klafter.search.dense.weights import fit_weights

SCALES = (3.2, 1.4)


def example(family, directed, sociality, counts=False):
    """Three nodes, a hidden dyad when directed, and a problem at T = 1."""
    y = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], float)
    hidden = np.zeros((3, 3), bool)
    if directed:
        y[2, 1], hidden[0, 2] = 0.0, True
    if family == "gaussian":
        y = 1.5 * y - 0.2 * (1 - np.eye(3)) * ~hidden
    graph = chains.small_graph(y, hidden, directed)
    law = FAMILIES[family].law(2.0 if family == "gaussian" else 1.0)
    priors = make_priors(1.2, 1.0, 2.0, 1.0, 0.7, offset_scale=1.5)
    return y, hidden, make_problem(graph, law, priors, offset=sociality, sociality=sociality, counts=counts)


def visits(problem, priors, n_steps: int) -> list:
    rng = np.random.default_rng(0)
    chain, seen = Chain(empty_state(problem), priors), []
    for _ in range(n_steps):
        chain = lfrm.step(problem, chain, rng)
        seen.append(oracles.left_ordered(chain.state.z))
    return seen


@pytest.mark.parametrize(
    ("family", "directed", "sociality", "counts"),
    [
        ("gaussian", False, False, False),
        ("bernoulli", False, True, False),
        ("bernoulli", True, False, False),
        ("poisson", True, True, False),
        ("exposure", False, True, False),
        ("gaussian", False, False, True),
        ("bernoulli", False, True, True),
        ("poisson", True, True, True),
    ],
)
def test_visits_every_class_of_memberships_as_often_as_the_posterior_says(family, directed, sociality, counts):
    y, hidden, problem = example(family, directed, sociality, counts)
    exact = oracle.posterior(y, hidden, problem)
    seen = visits(problem, problem.priors, 6_000)
    assert chains.worst(chains.visit_scores(seen, exact)) < 4.5


def test_a_forgotten_membership_prior_is_noticed():
    y, hidden, problem = example("bernoulli", False, False)
    exact = oracle.posterior(y, hidden, problem, size=5_000)
    seen = visits(problem, problem.priors._replace(temperature=0.0), 6_000)
    assert chains.worst(chains.visit_scores(seen, exact)) > 8


def test_a_buffet_where_counts_are_learned_is_noticed():
    y, hidden, problem = example("bernoulli", False, False, counts=True)
    exact = oracle.posterior(y, hidden, problem, size=5_000)
    seen = visits(problem._replace(counts=False), problem.priors, 6_000)
    assert chains.worst(chains.visit_scores(seen, exact)) > 8


@pytest.mark.parametrize("n", [3, 4])
def test_memberships_with_learned_counts_are_drawn_as_enumeration_says(n):
    """The rejection sampler that Geweke's test begins with."""
    possible = [c for c in product((0, 1), repeat=n) if any(c)]
    classes = [c for k in range(4) for c in combinations_with_replacement(possible, k)]
    keys = [oracles.left_ordered(np.array(c, int).reshape(len(c), n)) for c in classes]
    exact = chains.normalised({key: oracle.log_counts(c, n, 1.0) for key, c in zip(keys, classes)})
    rng = np.random.default_rng(0)
    seen = [oracles.left_ordered(z) for z in (oracle.draw_counts(n, 1.0, rng) for _ in range(30_000)) if len(z) < 4]
    assert chains.worst(chains.visit_scores(seen, exact)) < 4.5


def observe(y, chain) -> list:
    state, priors = chain.state, chain.priors
    alike = state.z.T.astype(float) @ state.z
    np.fill_diagonal(alike, 0.0)
    off = state.w[~np.eye(len(state.w), dtype=bool)]
    return [
        len(state.z),
        state.z.sum(),
        alike.sum(),
        y.sum(),
        (y * alike).sum(),
        priors.penalty,
        np.log(priors.diagonal),
        np.log(priors.offdiagonal),
        np.tanh(np.diag(state.w)).sum(),
        np.tanh(np.abs(off)).sum(),
        state.offset[0],
        state.offset[0] ** 2,
        (state.sender**2).sum(),
        state.receiver.sum() * state.sender[0],
    ]


def geweke(family, directed, n_chains: int, n=4, n_steps=8, counts: bool = False, **options) -> np.ndarray:
    """z-scores of the drift of short chains that alternate the sampler and new data."""
    rng, hidden = np.random.default_rng(1), np.zeros((n, n), bool)
    hidden[0, 3] = hidden[3, 0] = True
    law, priors = FAMILIES[family].law(), make_priors(sociality_scale=0.7, offset_scale=1.0)
    empty = chains.small_graph(np.zeros((n, n)), hidden, directed)
    runs = []
    for _ in range(n_chains):
        drawn = oracle.draw_priors(priors, lfrm.SCALE_SHAPE, SCALES, rng)
        drawn = drawn._replace(penalty=0.5) if counts else drawn
        problem = make_problem(empty, law, drawn, counts=counts)
        chain = Chain(oracle.draw_state(problem, rng), drawn)
        y = oracle.draw_data(problem, chain.state, hidden, rng)
        run = [observe(y, chain)]
        for _ in range(n_steps):
            data = problem._replace(dyads=chains.small_graph(y, hidden, directed).dyads)
            chain = lfrm.step(data, chain, rng, learn=True, **options)
            y = oracle.draw_data(problem, chain.state, hidden, rng)
            run.append(observe(y, chain))
        runs.append(run)
    with np.errstate(invalid="ignore"):
        scores = chains.drift_scores(runs)
    return scores[np.isfinite(scores)]  # the penalty of learned counts never moves


@pytest.mark.parametrize("counts", [False, True], ids=["buffet", "counts"])
@pytest.mark.parametrize(("family", "directed"), [("bernoulli", False), ("bernoulli", True), ("gaussian", True)])
def test_geweke(family, directed, counts):
    assert chains.worst(geweke(family, directed, 500, counts=counts)) < 4


def test_geweke_where_a_sweep_draws_a_share_of_the_affinities():
    assert chains.worst(geweke("bernoulli", True, 500, share=0.25)) < 4


@kernel
def draw_w(ws, share, rng):
    draw_affinities(ws, share, rng)


def test_affinities_inside_are_drawn_whatever_the_share():
    _, problem, state = oracles.draw_case(0, "bernoulli", directed=True)
    there = copy_state(state)
    draw_w(open_workspace(problem, there), 0.0, np.random.default_rng(0))
    assert ((there.w == state.w) == ~np.eye(len(state.w), dtype=bool)).all()
    draw_w(open_workspace(problem, there), 1.0, np.random.default_rng(0))
    assert (there.w != state.w).all()


def test_geweke_notices_sweeps_of_the_buffet_where_counts_are_learned(monkeypatch):
    def mixed(problem, chain, rng, *, learn):
        chain = right(problem._replace(counts=False), chain, rng, learn=learn)
        return chain._replace(priors=chain.priors._replace(penalty=problem.priors.penalty))

    right = lfrm.step
    monkeypatch.setattr(lfrm, "step", mixed)
    assert chains.worst(geweke("bernoulli", False, 200, counts=True)) > 6


def test_geweke_notices_alpha_drawn_with_one_community_too_many(monkeypatch):
    right = lfrm.draw_priors

    def wrong(problem, state, rng, *first):
        wider = state._replace(z=np.vstack([state.z, np.ones((1, problem.dyads.n), np.uint8)]))
        return right(problem, state, rng, *first)._replace(penalty=right(problem, _padded(wider), rng).penalty)

    monkeypatch.setattr(lfrm, "draw_priors", wrong)
    assert chains.worst(geweke("bernoulli", False, 400)) > 6


def test_geweke_notices_weights_that_are_minimised_instead_of_drawn(monkeypatch):
    def minimise(problem, chain, rng, *, learn):
        chain = right(problem, chain, rng, learn=learn)
        return chain._replace(state=fit_weights(problem._replace(priors=chain.priors), chain.state))

    right = lfrm.step
    monkeypatch.setattr(lfrm, "step", minimise)
    assert chains.worst(geweke("bernoulli", False, 200)) > 6


def _padded(state):
    """W with as many rows as there are communities."""
    w = np.zeros((len(state.z), len(state.z)))
    w[:-1, :-1] = state.w
    return state._replace(w=w)


@pytest.mark.parametrize("directed", [False, True])
def test_prices_are_drawn_from_their_conditionals(directed):
    """alpha | K ~ Gamma(1 + K, 1 + H_N) and 1 / sw^2 | W ~ Gamma(a + m / 2, a scale^2 + |w|^2 / 2)."""
    _, problem, state = oracles.draw_case(0, "bernoulli", directed=directed)
    rng, n_draws = np.random.default_rng(0), 4000
    draws = [lfrm.draw_priors(problem, state, rng) for _ in range(n_draws)]
    off = state.w[~np.eye(3, dtype=bool)] if directed else state.w[np.triu_indices(3, 1)]
    harmonic = sum(1 / i for i in range(1, 8))
    laws = {
        "alpha": (4.0, 1.0 + harmonic, np.exp([-p.penalty for p in draws])),
        "diagonal": (3 + 1.5, 3 * 3.2**2 + (np.diag(state.w) ** 2).sum() / 2, [p.diagonal for p in draws]),
        "off": (3 + off.size / 2, 3 * 1.4**2 + (off**2).sum() / 2, [p.offdiagonal for p in draws]),
    }
    for shape, rate, values in laws.values():
        error = np.sqrt(shape) / rate / np.sqrt(n_draws)
        assert abs(np.mean(values) - shape / rate) < 4.5 * error
        assert np.std(values) == pytest.approx(np.sqrt(shape) / rate, rel=0.08)


def test_a_posterior_needs_a_temperature_and_rescales_it_to_one():
    problem = oracles.draw_case(0, "bernoulli", temperature=0.5).problem
    assert lfrm.at_temperature_one(problem).priors == pytest.approx(make_priors(0.7, 1.0, 2.0, 1.2, 0.9, 1.5, 4.0))
    with pytest.raises(ValueError, match="needs temperature > 0"):
        lfrm.at_temperature_one(oracles.draw_case(0, "bernoulli", temperature=0.0).problem)


def test_log_posterior_is_minus_the_objective_and_a_step_leaves_its_chain_alone():
    graph, problem, state = oracles.draw_case(0, "bernoulli", directed=True)
    chain = lfrm.start(problem, state)
    assert lfrm.log_posterior(problem, chain) == pytest.approx(-oracles.objective(graph, problem, state))
    lfrm.step(problem, chain, np.random.default_rng(0))
    assert (chain.state.w == state.w).all()
