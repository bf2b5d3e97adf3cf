"""Rules inside moves that no outcome shows reliably: each is stated, and compared with the rule written out slowly."""

import numpy as np
import oracles
import pytest
from scipy import integrate
from scipy.optimize import minimize
from scipy.special import gammaln

from klafter.core.families import FAMILIES
from klafter.core.problem import copy_state, empty_state, make_priors, make_problem
from klafter.core.workspace import open_workspace
from klafter.graph import Graph
from klafter.jit.decorators import kernel
from klafter.sampling.irm import draw_concentration
from klafter.search.config import SEARCH
from klafter.search.dense import birth_kernels
from klafter.search.dense.flip_kernels import TINY_GAIN
from klafter.search.dense.row_reset import reset_rows
from klafter.search.moves import merge
from klafter.search.moves.merge import merges, similar_pairs
from klafter.search.moves.proposal import Proposal

N = 8


@kernel
def seed_community(ws, k, seed):
    birth_kernels.seed_community(ws, k, seed, True)


@kernel
def around(ws, k):
    return birth_kernels.around(ws, k)


def arcs(directed=True, n=N):
    """Random links, and a workspace with one empty community and nothing that explains a link."""
    y = (np.random.default_rng(2).random((n, n)) < 0.2) * (1.0 - np.eye(n))
    graph = Graph(y if directed else np.maximum(y, y.T), directed=directed)
    problem = make_problem(graph, FAMILIES["bernoulli"].law(), make_priors())
    state = empty_state(problem)
    state = state._replace(z=np.zeros((1, n), np.uint8), w=np.zeros((1, 1)))
    return graph.links.toarray() > 0, problem, state


@pytest.mark.parametrize("directed", [False, True])
def test_a_birth_begins_with_those_the_seed_links_to_and_those_that_link_to_it(directed):
    linked, problem, empty = arcs(directed)
    assert directed == (linked != linked.T).any()
    for seed in range(N):
        state = copy_state(empty)
        seed_community(open_workspace(problem, state), 0, seed)
        partners = linked[seed] | linked[:, seed]
        partners[seed] = partners.any()
        assert (state.z[0] == partners).all()


def test_links_of_social_nodes_are_not_taken_for_explained_whichever_way_they_go():
    linked, problem, empty = arcs()
    sender, receiver = np.random.default_rng(0).normal(0.0, 3.0, (2, N))
    for seed in range(N):
        state = copy_state(empty)._replace(sender=sender, receiver=receiver)
        seed_community(open_workspace(problem._replace(has_sociality=True), state), 0, seed)
        partners = linked[seed] | linked[:, seed]
        partners[seed] = partners.any()
        assert (state.z[0] == partners).all()


@pytest.mark.parametrize("directed", [False, True])
def test_around_a_community_are_its_members_and_their_neighbours_both_ways(directed):
    linked, problem, empty = arcs(directed)
    for i in range(N):
        state = copy_state(empty)
        state.z[0, [i, (i + 3) % N]] = 1
        held = state.z[0] > 0
        near = held | linked[held].any(axis=0) | linked[:, held].any(axis=1)
        assert around(open_workspace(problem, state), 0).tolist() == np.flatnonzero(near).tolist()


class Row:
    """A node that chooses its communities anew, by the objective of whole states."""

    def __init__(self, graph, problem, state, i):
        self.graph, self.problem, self.state, self.i = graph, problem, state, i
        others = np.delete(state.z, i, axis=1).any(axis=1)
        self.free = np.flatnonzero(others)

    def value(self, held, sociality=(0.0, 0.0)) -> float:
        state, i = copy_state(self.state), self.i
        state.z[:, i] = held
        if self.problem.has_sociality:
            state.sender[i] = sociality[0]
            state.receiver[i] = sociality[1] if self.graph.directed else sociality[0]
        return oracles.objective(self.graph, self.problem, state)

    def gains(self, held) -> dict[int, float]:
        here = self.value(held)
        flip = np.eye(len(held), dtype=np.uint8)
        return {k: gain for k in self.free if (gain := here - self.value(held ^ flip[k])) > TINY_GAIN}

    def joined(self, first):
        """From nothing, the first community, then the flip that gains most, again and again."""
        held = np.zeros(len(self.state.z), np.uint8)
        while first is not None:
            held[first] ^= 1
            gains = self.gains(held)
            first = max(gains, key=gains.get, default=None)
        return held

    def fitted(self, held) -> float:
        """The objective when the node's sociality is at its best."""
        if not self.problem.has_sociality:
            return self.value(held)
        n_free = 2 if self.graph.directed else 1
        return minimize(lambda s: self.value(held, (s[0], s[-1])), np.zeros(n_free), method="BFGS").fun

    def choice(self):
        """The memberships of the lowest objective: those held now, or those of one of the starts."""
        now = self.state.z[:, self.i]
        gains = self.gains(np.zeros(len(now), np.uint8))
        firsts = sorted(gains, key=gains.get, reverse=True)[: SEARCH.dense.reset_starts] or [None]
        found = [held for held in map(self.joined, firsts) if (held != now).any()]
        here = oracles.objective(self.graph, self.problem, self.state)
        values = [here, *map(self.fitted, found)]
        return [now, *found][int(np.argmin(values))]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("sociality", [False, True])
def test_a_row_reset_takes_the_best_of_starts_that_know_nothing_of_each_other(directed, sociality):
    moved = 0
    for seed in range(60):
        graph, problem, state = oracles.draw_case(
            seed,
            "bernoulli",
            n=N,
            k=4,
            directed=directed,
            sociality=sociality,
            covariates=0,
            temperature=0.2,
            hidden=0.0,
        )
        state.w[:] *= 3.0
        i = seed % N
        if any(state.z[k, i] and state.z[k].sum() == 1 for k in range(4)):
            continue  # a community would die
        wanted, after = Row(graph, problem, state, i).choice(), copy_state(state)
        reset_rows(open_workspace(problem, after), np.array([i]), SEARCH.dense.reset_starts)
        assert after.z[:, i].tolist() == wanted.tolist()
        moved += (wanted != state.z[:, i]).any()
    assert moved > 20


def log_posterior(alpha, n_blocks, n, prior):
    """log p(alpha | K) up to a constant: the gamma prior times alpha^K Gamma(alpha) / Gamma(alpha + n)."""
    shape, rate = prior
    return (shape + n_blocks - 1) * np.log(alpha) - rate * alpha + gammaln(alpha) - gammaln(alpha + n)


def exact_draws(n_blocks, n, prior, size, rng):
    """Draws from p(alpha | K) by inverting its distribution function on a fine grid."""
    grid = np.geomspace(1e-6, 200.0, 200_000)
    density = np.exp(log_posterior(grid, n_blocks, n, prior))
    below = integrate.cumulative_trapezoid(density, grid, initial=0.0)
    return np.interp(rng.random(size), below / below[-1], grid)


@pytest.mark.parametrize(("n_blocks", "n"), [(1, 3), (1, 40), (3, 5), (4, 60)])
def test_a_step_of_the_concentration_leaves_its_posterior_as_it_was(n_blocks, n):
    rng, prior = np.random.default_rng(0), (0.6, 0.8)
    before = exact_draws(n_blocks, n, prior, 40_000, rng)
    after = np.array([draw_concentration(alpha, n_blocks, n, prior, rng) for alpha in before])
    for measure in (np.log, np.sqrt, np.asarray):
        change = measure(after) - measure(before)
        assert abs(change.mean()) < 4 * change.std() / np.sqrt(len(change))


class Dice:
    """Random numbers that are given, and the shape that a gamma was asked for."""

    def __init__(self, eta, u):
        self.eta, self.u = eta, u

    def beta(self, a, b):
        return self.eta

    def random(self):
        return self.u

    def gamma(self, shape):
        return shape


@pytest.mark.parametrize(("n_blocks", "n", "eta"), [(1, 3, 0.5), (4, 10, 0.9), (7, 2, 0.1)])
def test_the_odds_of_one_more_in_the_shape_are_those_of_escobar_and_west(n_blocks, n, eta):
    a, b = 1.5, 0.8
    rate = b - np.log(eta)
    odds = (a + n_blocks - 1) / (n * rate)
    chance = odds / (1 + odds)
    shapes = [draw_concentration(1.0, n_blocks, n, (a, b), Dice(eta, u)) * rate for u in (chance - 1e-9, chance + 1e-9)]
    assert shapes == pytest.approx([a + n_blocks, a + n_blocks - 1])


def overlapping():
    """Six communities; members and weights that make some pairs alike in one way, some in the other, some in none."""
    state = empty_state(arcs(n=40)[1])
    z, w = np.zeros((6, 40), np.uint8), np.diag([4.0, 4.0, 0.5, 2.0, -3.0, 4.0])
    z[0, 0:10] = z[1, 5:25] = z[2, 8:14] = z[3, 25:30] = z[4, 30:35] = z[5, 34:40] = 1
    w[2, 3] = w[3, 2] = 0.4  # over 1, though both hold less inside
    w[3, 5] = 1.6  # one way only: 0.8 on average, over the smaller of 2 and 4
    w[4, 5] = w[5, 4] = 9.0  # inside of 4 links are unlikely: it is not like 5
    w[0, 3] = w[3, 0] = 0.1
    return state._replace(z=z, w=w)


LIKENESS = {(1, 2): 1.0, (0, 1): 0.5, (2, 3): 0.4, (3, 5): 0.4, (0, 2): 1 / 3, (4, 5): 0.2}


def test_pairs_come_by_shared_members_or_links_across_most_alike_first():
    pairs = list(similar_pairs(overlapping(), 15))
    assert pairs == [(1, 2), (0, 1), (2, 3), (3, 5), (0, 2), (4, 5)]
    assert [LIKENESS[pair] for pair in pairs] == sorted(LIKENESS.values(), reverse=True)
    assert list(similar_pairs(overlapping(), 2)) == [(1, 2), (0, 1)]


def test_merges_try_the_most_alike_first_and_list_pairs_anew_after_each(monkeypatch):
    tried = []

    def propose(problem, state, k, m, goal):
        tried.append((len(state.z), k, m))
        better = len(state.z) == 6 and (k, m) == (0, 1)
        return Proposal("merge", merge.merged(state, k, m), np.arange(1), -1.0 if better else 1.0)

    def accept(problem, state, value, proposal):
        return (proposal.state, proposal.score) if proposal.score < value else (state, value)

    monkeypatch.setattr(merge, "propose_merge", propose)
    monkeypatch.setattr(merge, "accept", accept)
    state, value = merges(None, overlapping(), 0.0)
    again = list(similar_pairs(state, 5))
    assert (len(state.z), value) == (5, -1.0)
    assert tried == [(6, 1, 2), (6, 0, 1), *((5, k, m) for k, m in again)]
