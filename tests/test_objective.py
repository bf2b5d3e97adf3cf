"""Q equals its formula, the paper's Q, and the paper's limit."""

import numpy as np
import oracles
import pytest
from scipy import stats
from scipy.special import expit, gammaln

from klafter.core.families import FAMILIES
from klafter.core.objective import objective
from klafter.core.problem import (
    State,
    add_communities,
    copy_state,
    empty_state,
    keep_communities,
    make_priors,
    make_problem,
)
from klafter.graph import Graph

each_case = oracles.every_family(oracles.case_options("counts", "offset"), 15)


@each_case
def test_q_is_the_formula(family, options):
    graph, problem, state = oracles.draw_case(family=family, **options)
    assert objective(problem, state) == pytest.approx(oracles.objective(graph, problem, state), rel=1e-10, abs=1e-8)


def test_communities_without_members_cost_nothing():
    _, problem, state = oracles.draw_case(0, "bernoulli")
    wider = add_communities(state, np.zeros((2, 7)), 1.0)
    assert objective(problem, wider) == pytest.approx(objective(problem, state))


@pytest.mark.parametrize("weight", [-30.0, 10.0, 30.0])
def test_predictors_far_from_0_are_counted_in_full(weight):
    graph, problem, state = oracles.draw_case(1, "bernoulli", k=5)
    state.z[:], state.w[:] = 1, weight
    assert objective(problem, state) == pytest.approx(oracles.objective(graph, problem, state), rel=1e-10)


def paper_case(seed, directed=False, n=6, k=2):
    """A problem with everything off but the loss and the price of communities."""
    rng = np.random.default_rng(seed)
    y = np.triu(rng.random((n, n)) < 0.4, 1).astype(float)
    y = (rng.random((n, n)) < 0.4) * (1.0 - np.eye(n)) if directed else y + y.T
    graph = Graph(y, directed=directed)
    problem = make_problem(
        graph, FAMILIES["bernoulli"].law(), make_priors(0.5, temperature=0.0), offset=False, sociality=False
    )
    state = oracles.draw_state(problem, k, 0, rng)
    return graph, problem, state


def paper_objective(y, z, w, lambda_squared) -> float:
    """sum over ordered pairs i != j of log(1 + e^x) - y x, plus lambda^2 K, in loops."""
    total = lambda_squared * z.shape[1]
    for i in range(len(y)):
        for j in range(len(y)):
            if i != j:
                x = z[i] @ w @ z[j]
                total += np.log(1 + np.exp(x)) - y[i, j] * x
    return total


@pytest.mark.parametrize("directed", [False, True])
def test_at_temperature_0_with_everything_off_q_is_the_papers(directed):
    graph, problem, state = paper_case(3, directed)
    share = 1.0 if directed else 0.5  # the paper sums ordered pairs: its Q and its lambda^2 are twice ours
    paper = paper_objective(graph.links.toarray(), state.z.T.astype(float), state.w, 0.5 / share)
    assert objective(problem, state) == pytest.approx(share * paper, abs=1e-10)


def minus_log_posterior(y, z, w, beta, lambda_squared) -> float:
    """Of the paper's model. Its scaled Bernoulli has natural parameter beta x and log partition beta log(1 + e^x):

    that is the mean of beta coins of probability p, so y of 0 or 1 stands for none or all of them. The buffet has
    alpha = exp(-beta lambda^2), and W a standard normal prior.
    """
    n, k = z.shape
    coins = stats.binom.logpmf(beta * y, beta, expit(z @ w @ z.T))[~np.eye(n, dtype=bool)].sum()
    s, log_alpha = z.sum(axis=0), -beta * lambda_squared
    buffet = k * log_alpha - np.exp(log_alpha) * np.sum(1 / np.arange(1, n + 1))
    buffet += (gammaln(n - s + 1) + gammaln(s) - gammaln(n + 1)).sum()
    return -(coins + buffet + stats.norm.logpdf(w).sum())


def test_the_papers_limit():
    graph, problem, state = paper_case(5, directed=True)
    y, z = graph.links.toarray(), state.z.T.astype(float)
    q = objective(problem, state)
    gaps = [abs(minus_log_posterior(y, z, state.w, beta, 0.5) / beta - q) for beta in (10**2, 10**4, 10**6)]
    assert gaps[0] == pytest.approx(100 * gaps[1], rel=1e-3)  # what is left shrinks like 1 / beta
    assert gaps[2] < 1e-4


def test_copies_share_nothing_and_undirected_ones_keep_one_sociality():
    state = oracles.draw_case(0, "bernoulli").state
    copy = copy_state(state)
    assert copy.receiver is copy.sender
    copy.sender[0] += 1
    copy.z[0, 0] ^= 1
    assert not np.shares_memory(copy.w, state.w)
    assert copy.sender[0] != state.sender[0]
    assert copy.z[0, 0] != state.z[0, 0]


def test_communities_are_kept_and_added_with_their_affinities():
    _, _, state = oracles.draw_case(0, "bernoulli", directed=True)
    kept = keep_communities(state, np.array([2, 0]))
    assert (kept.z == state.z[[2, 0]]).all()
    assert kept.w[0, 1] == state.w[2, 0]
    added = add_communities(kept, np.ones((1, 7)), 0.3)
    assert added.w[2].tolist() == [0.0, 0.0, 0.3]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_empty_state_is_finite(family):
    problem = oracles.draw_case(0, family).problem
    state = empty_state(problem)
    assert isinstance(state, State)
    assert np.isfinite(objective(problem, state))
