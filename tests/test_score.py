"""The score F: what it is worth on graphs so small that everything can be summed and integrated, and what it promises.

F is minus the log joint probability of links and memberships, the weights integrated out by Laplace's method with the
diagonal of the Hessian. Compared with the integral itself, over all 1,424 covers of the graphs below by at most two
communities, with one to three free weights, in nats above it (mean, largest):

    link       F           F, a community of everyone    full determinant    Q alone, below
    logit      .27, 1.09              .70, 1.81              .10, .17            1.7
    cloglog    .37, 1.48              .89, 1.94              .13, .52            2.1

It is hardly ever below: the diagonal overstates the price of weights that do the same, b and w_kk of a community of
everyone most of all; what the full determinant has left is skewness. Exposures are not here: their weights often rest
at the bound of 0, where Laplace's method does not apply, and on the dense engine F is up to six nats off.
"""

from functools import cache
from itertools import combinations_with_replacement, product
from math import factorial, prod

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klafter.core.cover_price import cover_price, membership_price
from klafter.core.families import FAMILIES
from klafter.core.problem import add_communities, empty_state, make_priors, make_problem
from klafter.core.workspace import open_workspace
from klafter.datasets import load_karate
from klafter.graph import Graph
from klafter.jit.decorators import kernel
from klafter.models import KLafter
from klafter.search.dense.score import score
from klafter.search.dense.weights import fit_weights
from klafter.search.moves import proposal

TINY = {
    "a path": ([(0, 1), (1, 2), (2, 3)], 4),
    "a triangle with a tail": ([(0, 1), (0, 2), (1, 2), (2, 3)], 4),
    "a triangle and a pair": ([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)], 5),
    "a star": ([(0, 1), (0, 2), (0, 3), (0, 4)], 5),
}
FAR = {"bernoulli": (1.1, 1.85), "cloglog": (1.5, 1.95)}  # nats above the integral; with a community of everyone
FULL = {"bernoulli": 0.17, "cloglog": 0.53}  # with the full determinant
BELOW = 0.02
LIKE = {"bernoulli": 0.11, "cloglog": 0.15}  # total variation between probabilities of covers


def tiny_problem(name, family, *, directed=False, offset=True, counts=False):
    pairs, n = TINY[name]
    y = np.zeros((n, n))
    y[tuple(np.transpose(pairs))] = 1.0
    graph = Graph(y if directed else y + y.T, directed=directed)
    priors = make_priors(0.0, 1.0, 3.2, 1.4)
    return graph, make_problem(graph, FAMILIES[family].law(), priors, offset=offset, sociality=False, counts=counts)


def at_mode(problem, z):
    state = add_communities(empty_state(problem), z, 1.0)
    for _ in range(3):
        state = fit_weights(problem, state, 500, 1e-15)
    return state


@cache
def trapezoids(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Standard normal weights: a grid of them, and what each of its points counts."""
    u = np.linspace(-8.0, 8.0, {1: 641, 2: 301, 3: 65}[d])
    density = np.exp(-0.5 * u**2) / np.sqrt(2 * np.pi) * (u[1] - u[0])
    at = np.indices((len(u),) * d).reshape(d, -1).T
    return u[at], density[at].prod(axis=1)


def integrated(graph, problem, state) -> float:
    """Minus the log of the joint probability of links and memberships: the trapezoid rule over all free weights."""
    scale = 1.0 / np.sqrt(oracles.precisions(problem, len(state.w)))
    reach, y = oracles.reaches(graph, problem, state), graph.links.toarray()[oracles.counted(graph)]
    (*reach, y), many = np.unique(np.vstack([reach, y]), axis=1, return_counts=True)  # many dyads have the same loss
    points, prior = trapezoids(len(scale))
    loss = oracles.losses(oracles.name_of(problem.law), y, points @ (scale[:, None] * np.array(reach))) @ many
    return float(-np.log(prior @ np.exp(-loss)) + oracles.cover_price(state.z, problem.counts))


def some_covers(n, size, rng):
    """All covers by at most one community, some by two."""
    covers = oracles.column_sets(n, size)
    return covers if size < 2 else covers[rng.permutation(len(covers))[:10]]


@pytest.mark.parametrize("family", FAR)
@pytest.mark.parametrize(("name", "counts"), [*((name, False) for name in TINY), ("a triangle with a tail", True)])
def test_the_score_is_near_the_integral_over_the_weights(name, family, counts):
    rng, n, above = np.random.default_rng(0), TINY[name][1], []
    for directed, offset, size in [(0, 1, 0), (1, 1, 0), (0, 1, 1), (1, 1, 1), (0, 0, 1), (0, 0, 2)]:
        options = {"directed": bool(directed), "offset": bool(offset), "counts": counts}
        graph, problem = tiny_problem(name, family, **options)
        for z in some_covers(n, size, rng):
            state = at_mode(problem, z)
            exact, q = integrated(graph, problem, state), oracles.objective(graph, problem, state)
            above.append(score(problem, state) - exact)
            assert -BELOW < above[-1] < FAR[family][int(z.all(axis=1).any())]
            assert -BELOW < q + oracles.full_evidence(graph, problem, state) - exact < FULL[family]
    assert np.mean(above) < 0.4


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("family", LIKE)
@pytest.mark.parametrize("name", ["a path", "a triangle with a tail"])
def test_the_score_ranks_all_covers_as_the_integral_does(name, family, counts):
    """Of four nodes, by at most one community: the best one, and what exp(-F) makes of all."""
    graph, problem = tiny_problem(name, family, counts=counts)
    states = [at_mode(problem, z) for size in (0, 1) for z in oracles.column_sets(4, size)]
    scores = np.array([score(problem, state) for state in states])
    exact = np.array([integrated(graph, problem, state) for state in states])
    p, q = (np.exp(-a) / np.exp(-a).sum() for a in (scores, exact))
    assert exact[scores.argmin()] == pytest.approx(exact.min())
    assert 0.5 * np.abs(p - q).sum() < LIKE[family]


# The price of covers


@kernel
def price(ws):
    return cover_price(ws)


@kernel
def price_of_membership(ws, i, k):
    return membership_price(ws, i, k)


def price_of(z, counts, *, penalty=0.0, temperature=1.0) -> float:
    return price(workspace_of(z, counts, penalty, temperature))


def workspace_of(z, counts, penalty=0.0, temperature=1.0):
    z = np.atleast_2d(np.array(z, np.uint8))
    graph = Graph(np.zeros((z.shape[1], z.shape[1])))
    problem = make_problem(graph, FAMILIES["bernoulli"].law(), make_priors(penalty, temperature), counts=counts)
    return open_workspace(problem, add_communities(empty_state(problem), z, 0.0))


PAIR, OVERLAP, HALVES = [[1, 1, 0, 0]], [[1, 1, 0, 0], [0, 1, 1, 0]], [[1, 1, 0, 0], [0, 0, 1, 1]]
BY_HAND = [
    (np.zeros((0, 4)), 1, 1),
    (PAIR, 2 * 6, 5 * 6),  # S C(N, S); C(N + K, K) and which two of four
    ([[1, 1, 1, 1]], 4 * 1, 5 * 1),
    (OVERLAP, 12 * 12, 15 * 12 * 3 * 6 // 2 // 2),  # C(6, 2), 4!/(1! 2! 1!), C(3, 1), 4!/(2! 2!), by 2! for m, by K!
    (HALVES, 12 * 12, 15 * 1 * 3 * 6 // 2),
    ([*PAIR, [0, 0, 0, 0]], 12, 30),  # a community without members costs nothing
]


@pytest.mark.parametrize(("z", "buffet", "learned"), BY_HAND, ids=lambda value: str(np.shape(value)))
def test_the_price_of_a_cover_is_what_one_works_out_by_hand(z, buffet, learned):
    for counts, chances in ((False, buffet), (True, learned)):
        assert price_of(z, counts) == pytest.approx(np.log(chances), abs=1e-12)
        alive = np.array(z).any(axis=1).sum()
        warm = price_of(z, counts, penalty=0.7, temperature=0.5)
        assert warm == pytest.approx(0.7 * alive + 0.5 * np.log(chances), abs=1e-12)
        assert price_of(z, counts, penalty=0.7, temperature=0.0) == pytest.approx(0.7 * alive)


def covers_of(n, size):
    """All covers by so many communities without names, those with the same members among them."""
    columns = [column for column in product((0, 1), repeat=n) if any(column)]
    return combinations_with_replacement(columns, size)


def twins(z) -> int:
    """prod K_h!: communities with the same members have fewer orders than K!, which neither price knows."""
    return prod(factorial(z.count(column)) for column in set(z))


@pytest.mark.parametrize(
    ("n", "size"), [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3), (3, 4), (4, 1), (4, 2), (4, 3)]
)
def test_probabilities_of_covers_by_learned_counts_sum_to_at_most_1(n, size):
    total = sum(np.exp(-price_of(z, True)) / twins(z) for z in covers_of(n, size))
    assert total <= 1.0 + 1e-12
    if size == 1:
        assert total == pytest.approx(n / (n + 1))  # the rest is for nobody in it


@pytest.mark.parametrize(("n", "size"), [(2, 2), (3, 1), (3, 3), (4, 2)])
def test_probabilities_of_covers_by_the_buffet_sum_to_those_of_its_poisson_number(n, size):
    """H^K / K! with H = 1 + 1/2 + ... + 1/N: the buffet's, but for its factor exp(-H)."""
    total = sum(np.exp(-price_of(z, False)) / twins(z) for z in covers_of(n, size))
    assert total == pytest.approx(sum(1 / s for s in range(1, n + 1)) ** size / factorial(size))


@given(
    seed=st.integers(0, 10_000), counts=st.booleans(), temperature=st.sampled_from([0.0, 0.5, 1.0]), k=st.integers(1, 4)
)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_the_price_of_a_flip_is_the_difference_of_two_covers(seed, counts, temperature, k):
    rng = np.random.default_rng(seed)
    z = (rng.random((k, 5)) < rng.choice([0.15, 0.5])).astype(np.uint8)
    options = {"penalty": 0.7, "temperature": temperature}
    ws = workspace_of(z, counts, **options)
    for i, m in product(range(5), range(k)):
        with_, without = z.copy(), z.copy()
        with_[m, i], without[m, i] = 1, 0
        rise = price_of(with_, counts, **options) - price_of(without, counts, **options)
        assert price_of_membership(ws, i, m) == pytest.approx(rise, abs=1e-9)


# What a fit promises


@pytest.mark.parametrize("options", [{}, {"prior": "counts"}, {"prior": "buffet"}, {"sociality": False}], ids=str)
def test_the_score_of_a_default_fit_never_rises_and_is_that_of_what_is_published(options):
    """Every claim of an accepted move was compared with F on the way: see ``conftest``."""
    assert proposal.CHECKED
    graph = load_karate()
    model = KLafter(random_state=0, **options).fit(graph)
    for run in range(len(model.restarts_)):
        values = [line.objective for line in model.history_ if line.run == run]
        assert (np.diff(values) < 1e-7).all()
    assert model.objective_ == min(line.objective for line in model.history_)
    problem = model._problem(graph)[0]._replace(counts=model.prior_ == "counts")
    finest = model._warm_state(graph, graph, model.finest_, 1.0)
    assert model.objective_ == pytest.approx(score(problem, finest), rel=1e-9)
    assert model.objective_ == pytest.approx(oracles.score(graph, problem, finest), rel=1e-9)
    levels = model.levels_
    shown = model._warm_state(graph, graph, model.point_, 1.0)
    assert levels["score"][0] == model.objective_
    assert levels["score"][levels["shown"]] == pytest.approx(score(problem, shown), rel=1e-9)


def test_a_claim_that_is_not_the_change_of_the_score_is_refused():
    _, problem = tiny_problem("a star", "bernoulli")
    state = at_mode(problem, np.array([[0, 1, 1, 1, 1]]))
    value = score(problem, state)
    true = proposal.Proposal("lie", state, np.arange(5), value)
    assert proposal.accept(problem, state, value + 1.0, true) == (state, value)
    assert proposal.accept(problem, state, value, true) == (state, value)  # no fall
    with pytest.raises(AssertionError, match="A lie claimed a fall of"):
        proposal.accept(problem, state, value, true._replace(score=value - 0.1))


def test_at_temperature_0_the_score_is_the_papers_objective():
    graph, problem, state = oracles.draw_case(1, "bernoulli", temperature=0.0)
    assert score(problem, state) == pytest.approx(oracles.objective(graph, problem, state), rel=1e-12)
