"""Births, deaths, merges and splits: what they report is what the score did."""

import numpy as np
import oracles
import pytest

from klafter.core.families import FAMILIES
from klafter.core.problem import add_communities, copy_state, empty_state, make_priors, make_problem
from klafter.core.workspace import open_workspace
from klafter.datasets import make_lfrm
from klafter.jit.decorators import kernel
from klafter.search.config import SEARCH
from klafter.search.dense import birth_kernels as birth_kernels
from klafter.search.dense.communities import drop_empty, without
from klafter.search.dense.flip_kernels import descend
from klafter.search.dense.growth import grow_inside
from klafter.search.dense.score import score
from klafter.search.dense.weights import fit_weights
from klafter.search.dense.weights_kernels import column_evidence, fit_column, laplace_evidence
from klafter.search.moves.birth import births
from klafter.search.moves.death import deaths
from klafter.search.moves.failures import Failures
from klafter.search.moves.merge import merged, merges, similar_pairs
from klafter.search.moves.split import halves, split_in_two, splits

N = 10
PASSES = SEARCH.dense.birth_sweeps
each_case = oracles.every_family(oracles.case_options("counts", covariates=1, most=3), 6)


@kernel
def seed_community(ws, k, seed):
    return birth_kernels.seed_community(ws, k, seed, True)


@kernel
def around(ws, k):
    return birth_kernels.around(ws, k)


@kernel
def grow(ws, k, price):
    return grow_inside(ws, k, price, PASSES)


@kernel
def own_evidence(ws, k):
    return column_evidence(ws, k)


@kernel
def max_effects(ws):
    return ws.max_effect.copy()


@each_case
def test_births_return_the_score_they_reach_and_count(family, options):
    graph, problem, state = oracles.draw_case(family=family, n=N, **options)
    k = len(state.z)
    state = add_communities(state, np.zeros((3, N)), 0.0)
    before = oracles.score(graph, problem, state)
    value, born = births(
        open_workspace(problem, state), before, np.arange(N), np.arange(k, k + 3), Failures().of_births(problem.dyads)
    )
    assert value == pytest.approx(oracles.score(graph, problem, state), rel=1e-8, abs=1e-7)
    assert value <= before
    assert state.z[k:].any(axis=1).sum() == born


def test_births_in_vain_leave_the_bounds_of_effects():
    graph, truth = make_lfrm(40, 3, random_state=0)
    problem = make_problem(graph, FAMILIES["bernoulli"].law(), make_priors(penalty=1e4))
    members = np.ascontiguousarray(truth.memberships.toarray().T.astype(np.uint8))
    state = fit_weights(problem, add_communities(empty_state(problem), members, 1.0))
    k = len(state.z)
    state = add_communities(state, np.zeros((1, 40)), 0.0)
    ws, seeds = open_workspace(problem, state), np.arange(40)
    before = max_effects(ws)
    _, born = births(ws, score(problem, state), seeds, np.arange(k, k + 1), Failures().of_births(problem.dyads))
    assert born == 0
    assert (max_effects(ws)[:k] == before[:k]).all()


@pytest.mark.slow
@each_case
def test_growth_inside_gains_what_the_objective_falls_and_takes_the_path_of_whole_rows(family, options):
    graph, problem, state = oracles.draw_case(family=family, n=N, **options)
    k = len(state.z)
    state = add_communities(state, np.zeros((1, N)), 0.0)
    rows = copy_state(state)
    before = oracles.objective(graph, problem, state)
    ws, whole = open_workspace(problem, state), open_workspace(problem, rows)
    size, price = seed_community(ws, k, 0)
    seed_community(whole, k, 0)
    if size < 2:
        return
    gain = grow(ws, k, price)
    assert before - oracles.objective(graph, problem, state) == pytest.approx(gain, rel=1e-8, abs=1e-7)
    for _ in range(PASSES):
        fit_column(whole, k, True)
        if descend(whole, around(whole, k), k, 1) == 0.0:
            break
    if gain > 0:
        assert (rows.z == state.z).all()
        assert rows.w == pytest.approx(state.w, abs=1e-6)
        assert oracles.is_fresh(ws, state)


@each_case
def test_the_evidence_of_one_community_is_its_part_of_the_whole(family, options):
    graph, problem, state = oracles.draw_case(family=family, n=N, **options)
    ws, parts = open_workspace(problem, state), oracles.evidences(graph, problem, state)
    assert laplace_evidence(ws) == pytest.approx(parts.sum())
    for k in range(len(state.z)):
        own = [part for part, pair in zip(parts, oracles.weight_pairs(problem, len(state.z))) if k in pair]
        assert own_evidence(ws, k) == pytest.approx(sum(own))


@pytest.mark.parametrize("attempt", [deaths, merges, splits])
@each_case
def test_moves_return_the_score_they_reach_and_never_a_higher_one(family, attempt, options):
    graph, problem, state = oracles.draw_case(family=family, n=N, **options)
    before, untouched = oracles.score(graph, problem, state), copy_state(state)
    after, value = attempt(problem, state, before)
    assert value == pytest.approx(oracles.score(graph, problem, after), rel=1e-9, abs=1e-8)
    assert value <= before
    assert (state.z == untouched.z).all()
    assert (state.w == untouched.w).all()


def two_cliques():
    """Two cliques of five, far apart, and a problem at T = 1."""
    y = np.kron(np.eye(2), np.ones((5, 5)))
    graph = oracles.draw_case(0, "bernoulli", n=N, covariates=0).graph.replace(links=y, hidden=None)
    case = oracles.draw_case(0, "bernoulli", n=N, covariates=0, sociality=False)
    law, priors, offset = case.problem.law, case.problem.priors, case.problem.has_offset
    return graph, make_problem(graph, law, priors, offset=offset, sociality=False), case.state


def state_with(state, columns):
    z = np.array(columns, np.uint8)
    offset, none = np.array([-2.0]), np.zeros(N)
    return state._replace(z=z, w=3.0 * np.eye(len(z)), offset=offset, sender=none, receiver=none)


FIRST, SECOND = [1] * 5 + [0] * 5, [0] * 5 + [1] * 5


def test_a_community_of_two_cliques_is_split():
    graph, problem, state = two_cliques()
    state = state_with(state, [[1] * N])
    state, _ = splits(problem, state, oracles.score(graph, problem, state))
    assert sorted(state.z.tolist()) == [SECOND, FIRST]


def test_two_halves_of_a_clique_are_merged():
    graph, problem, state = two_cliques()
    state = state_with(state, [[1, 1, 1, 0, 0] + [0] * 5, [0, 0, 1, 1, 1] + [0] * 5, SECOND])
    state.w[0, 1] = state.w[1, 0] = 3.0
    state, _ = merges(problem, state, oracles.score(graph, problem, state))
    assert sorted(state.z.tolist()) == [SECOND, FIRST]


def test_a_community_that_explains_nothing_dies():
    graph, problem, state = two_cliques()
    state = state_with(state, [FIRST, SECOND, [1, 0, 0, 0, 0, 1, 0, 0, 0, 0]])
    state.w[2, 2] = 0.1
    state, _ = deaths(problem, state, oracles.score(graph, problem, state))
    assert sorted(state.z.tolist()) == [SECOND, FIRST]


def test_halves_of_two_cliques_are_the_cliques():
    _, problem, state = two_cliques()
    assert halves(problem, state_with(state, [[1] * N]), 0).tolist() in (FIRST, SECOND)


def test_merged_split_and_dead_states_are_what_their_names_say():
    state = oracles.draw_case(0, "bernoulli", directed=True, n=N).state
    both = merged(state, 0, 2)
    assert (both.z[0] == (state.z[0] | state.z[2])).all()
    assert (without(state, 1).w == state.w[np.ix_([0, 2], [0, 2])]).all()
    second = np.zeros(N, np.uint8)
    second[np.flatnonzero(state.z[0])[:1]] = 1
    apart = split_in_two(state, 0, second)
    assert (apart.z[0] + apart.z[3] == state.z[0]).all()
    assert apart.w[3, 3] == state.w[0, 0]
    assert apart.w[3, 1] == state.w[0, 1]
    assert len(drop_empty(add_communities(state, np.zeros((2, N)), 0.0)).z) == 3
    assert all(0 <= k < m < 3 for k, m in similar_pairs(state, 3))


def test_communities_that_do_not_pay_for_their_weights_leave():
    graph, truth = make_lfrm(n=80, k=2, random_state=1)
    problem = make_problem(graph, FAMILIES["bernoulli"].law(), make_priors(0.0, 1.0, 3.2, 1.4))
    planted = truth.memberships.toarray().T.astype(np.uint8)
    noise = (np.random.default_rng(0).random((4, 80)) < 0.2).astype(np.uint8)
    both = np.concatenate([noise[:2], planted, noise[2:]])
    crowded = fit_weights(problem, add_communities(empty_state(problem), both, 1.0), 200)
    left, value = deaths(problem, crowded, score(problem, crowded))
    assert {tuple(row) for row in left.z} == {tuple(row) for row in planted}
    assert value == pytest.approx(score(problem, left))
    assert value < score(problem, crowded)
