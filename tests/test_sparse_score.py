"""The score of the sparse engine against its formula over all dyads, and prices of covers against the dense one's."""

import numpy as np
import oracles
import pytest
from scipy import integrate, sparse
from scipy.special import gammaln

from klafter.graph import Graph
from klafter.search.sparse.affinities import as_affinities
from klafter.search.sparse.fit import judged
from klafter.search.sparse.moves.learn_counts import learn_counts
from klafter.search.sparse.score import counts_price, cover_price, score
from klafter.search.sparse.state import as_problem, as_state, copy_state, memberships
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import weights


def draw(seed, n=16, k=3, directed=False, **options):
    rng = np.random.default_rng(seed)
    links = np.triu(rng.random((n, n)) < 0.4, 1).astype(float)
    links = links + (np.tril(rng.random((n, n)) < 0.4, -1) if directed else links.T)
    problem = as_problem(Graph(links, directed=directed), **options)
    z = sparse.csr_array(rng.random((n, k)) < 0.4).astype(float)
    send = rng.uniform(0.5, 2.0, n)
    receive = rng.uniform(0.5, 2.0, n) if directed else send
    state = as_state(problem, z, as_affinities(rng.uniform(0.2, 1.0, k)), 0.1, send, receive)
    return links, problem, state, z.toarray()


def slow_score(links, state, z, a, directed, counts, shares=None):
    """Every dyad, every term: loss, priors and evidence of log w, log e and log t with the diagonal of the Hessian.

    ``shares`` are memberships as x has them, z itself unless links are shared.
    """
    n, w, v = len(z), state.strength, z if shares is None else shares
    u = state.background + (v * w) @ v.T
    x = state.send[:, None] * state.receive * u
    seen = ~np.eye(n, dtype=bool) if directed else np.triu(np.ones((n, n), bool), 1)
    total = np.where(links > 0, -np.log(-np.expm1(-x)), x)[seen].sum()
    expected = np.where(links > 0, x / -np.expm1(-x), 0.0)
    credit = [(expected * np.outer(v[:, k], v[:, k]) * w[k] / u)[seen].sum() for k in range(len(w))]
    credit.append((expected * state.background / u)[seen].sum())
    for rate, count in zip([*w, state.background], credit):
        total += rate - np.log(rate) + 0.5 * np.log((count + rate) / (2 * np.pi))
    for t, axis in ((state.send, 1), (state.receive, 0))[: 2 if directed else 1]:
        total += (a * (t - 1 - np.log(t)) + gammaln(a) - a * np.log(a) + a).sum()
        total += 0.5 * np.log((a + expected.sum(axis=axis)) / (2 * np.pi)).sum()
    return total + oracles.cover_price(z.T.astype(np.uint8), counts)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_score_is_its_formula(seed, directed, counts):
    links, problem, state, z = draw(seed, directed=directed, shrinkage=4.0)
    assert score(problem, state, counts=counts) == pytest.approx(
        slow_score(links, state, z, 4.0, directed, counts), rel=1e-9
    )


def test_the_evidence_of_a_rate_is_near_its_integral():
    """One community in a small graph: the probability of the links, w and e integrated."""
    rng, z = np.random.default_rng(0), sparse.csr_array((np.arange(30) < 15).astype(float)[:, None])
    links = np.triu(rng.random((30, 30)) < np.where((z @ z.T).toarray() > 0, 0.25, 0.04), 1).astype(float)
    problem = as_problem(Graph(links + links.T), shrinkage=np.inf)
    state = as_state(problem, z, as_affinities(np.array([0.5])), 0.2, np.ones(30), np.ones(30))
    state = weights(problem, state, ThreadPool(1), rounds=200)
    held = memberships(problem, state).toarray()[:, 0]  # a node without links holds none
    inside, seen = np.outer(held, held), np.triu(np.ones((30, 30), bool), 1)

    def joint(w, e):
        x = (e + w * inside)[seen]
        loss = np.where(links[seen] > 0, -np.log(-np.expm1(-x)), x).sum()
        return np.exp(given - loss - w - e)  # Gamma(1, 1) of both

    given = score(problem, state) - cover_price(problem, state, counts=False)
    integral, _ = integrate.dblquad(joint, 1e-9, 0.5, 1e-9, 1.0)
    assert np.log(integral) == pytest.approx(0.0, abs=0.3)  # the diagonal of H


def test_prices_of_covers_are_those_of_the_dense_engine():
    _, problem, state, z = draw(5)
    members = z.T.astype(np.uint8)
    assert counts_price(problem, state) == pytest.approx(oracles.cover_price(members, counts=True))
    assert cover_price(problem, state, counts=False) == pytest.approx(oracles.cover_price(members, counts=False))


@pytest.mark.parametrize("directed", [False, True])
def test_learning_counts_never_raises_the_score_and_leaves_the_state_as_it_was(directed):
    _, problem, state, _ = draw(3, n=40, directed=directed)
    with ThreadPool(1) as pool:
        state = weights(problem, state, pool)
        before = copy_state(state)
        found, value = learn_counts(problem, state, pool)
        assert value <= score(problem, state, pool, counts=True) + 1e-9
        assert value == pytest.approx(score(problem, found, pool, counts=True))
        assert judged("auto", problem, found, pool).score <= value + 1e-9
    np.testing.assert_array_equal(state.held, before.held)
    np.testing.assert_array_equal(state.send, before.send)
    assert not found.count_price.any()
