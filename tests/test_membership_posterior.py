"""Probabilities of memberships: the sweep against all covers of small graphs, and what models say of their nodes."""

from itertools import permutations, product

import numpy as np
import oracles
import oracles_sampling as chains
import pytest
from scipy import sparse
from scipy.special import logsumexp

from klafter import load
from klafter.core.problem import copy_state
from klafter.datasets import load_karate, make_lfrm
from klafter.models import EPM, IRM, LFRM, MMSB, KLafter
from klafter.models.results.matching import average_memberships, jaccard, match_columns
from klafter.models.results.posterior import count_posterior
from klafter.sampling.membership_kernels import sweep_memberships
from klafter.sampling.membership_posterior import membership_posterior


def exact_chances(case) -> np.ndarray:
    """P(z_ik = 1) over all covers without an empty community, all parameters being as they are."""
    k, n = case.state.z.shape
    covers = [np.array(bits, np.uint8).reshape(k, n) for bits in product((0, 1), repeat=k * n)]
    covers = [z for z in covers if z.any(axis=1).all()]
    logs = np.array([-oracles.objective(case.graph, case.problem, case.state._replace(z=z)) for z in covers])
    return np.tensordot(np.exp(logs - logsumexp(logs)), np.array(covers, float), axes=1)


@pytest.mark.parametrize("counts", [False, True], ids=["buffet", "counts"])
@pytest.mark.parametrize(
    ("family", "directed"), [("bernoulli", False), ("bernoulli", True), ("poisson", False), ("gaussian", True)]
)
def test_sweeps_average_to_the_exact_probabilities(family, directed, counts):
    case = oracles.draw_case(7, family, directed=directed, counts=counts, n=4, k=3)
    case = case._replace(state=case.state._replace(w=0.5 * case.state.w))  # else some covers are hardly ever left
    state, rng, trace = copy_state(case.state), np.random.default_rng(0), []
    for _ in range(4_000):
        proba = np.zeros(state.z.shape)
        sweep_memberships(case.problem, state, proba, rng)
        trace.append(proba.ravel())
        assert state.z.any(axis=1).all()
    trace = np.array(trace)
    error = np.maximum(chains.batch_error(trace), 1e-6)
    assert (abs(trace.mean(axis=0) - exact_chances(case).ravel()) / error).max() < 4.5


def test_at_temperature_zero_nothing_is_chance():
    case = oracles.draw_case(0, "bernoulli", temperature=0.0)
    assert (membership_posterior(case.problem, case.state, np.random.default_rng(0)) == case.state.z.T).all()


def test_a_chain_leaves_the_state_it_begins_at_alone():
    case = oracles.draw_case(1, "bernoulli", counts=True)
    before = copy_state(case.state)
    proba = membership_posterior(case.problem, case.state, np.random.default_rng(0))
    assert ((proba >= 0) & (proba <= 1)).all()
    assert all(np.array_equal(a, b) for a, b in zip(before, case.state))


MODELS = {
    "KLafter": KLafter(n_init=2, n_smooth=30, structure=0.0, random_state=0),
    "KLafter, no sweeps": KLafter(n_init=1, n_smooth=0, random_state=0),
    "KLafter, exposure": KLafter(link="exposure", n_init=2, structure=0.0, random_state=0),
    "LFRM": LFRM(init="klafter", n_burn=30, n_draws=60, random_state=0),
    "IRM": IRM(n_burn=30, n_draws=60, random_state=0),
    "MMSB": MMSB(n_communities=3, n_burn=60, n_draws=60, random_state=0),
    "EPM": EPM(n_communities=3, n_burn=100, n_draws=60, random_state=0),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_on_a_clear_network_members_are_probable_and_others_are_not(model):
    graph, _ = make_lfrm(60, 3, memberships=(1, 1), random_state=0)
    model.fit(graph)
    held, chance = (sparse.csr_array(found).toarray() for found in (model.memberships_, model.membership_proba_))
    held = held == 1
    assert chance[held].mean() > 0.75
    assert chance[~held].mean() < 0.15


def test_probabilities_are_kept_in_files(tmp_path):
    model = KLafter(n_init=2, n_smooth=9, structure=0.0, random_state=0).fit(load_karate())
    model.save(tmp_path / "karate.npz")
    other = load(tmp_path / "karate.npz")
    assert np.array_equal(other.membership_proba_, model.membership_proba_)
    assert other.n_communities_interval() == model.n_communities_interval()


def test_the_same_seed_gives_the_same_probabilities():
    model = KLafter(n_init=2, n_smooth=9, structure=0.0, random_state=3)
    first = model.fit(load_karate()).membership_proba_
    assert np.array_equal(first, model.fit(load_karate()).membership_proba_)


def test_columns_are_matched_by_their_members_whatever_their_order():
    rng = np.random.default_rng(0)
    z = (rng.random((40, 5)) < 0.3).astype(np.int8)
    order = rng.permutation(5)
    mine, theirs = match_columns(z, z[:, order])
    assert (order[theirs] == mine).all()
    assert (average_memberships(z, [z, z[:, order]]) == z).all()


def test_a_community_that_half_of_the_covers_lack_is_half_as_probable():
    z = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    assert average_memberships(z, [z, z[:, :1]]).tolist() == [[1, 0], [1, 0], [0, 0.5], [0, 0.5]]


def test_a_community_that_two_were_merged_into_holds_the_members_of_both():
    finest, shown = np.repeat(np.eye(2, dtype=int), 2, axis=0), np.ones((4, 1), int)
    assert (average_memberships(shown, [finest, finest[:, ::-1]], finest) == 1).all()


def test_the_interval_leaves_out_as_much_below_as_above():
    model = KLafter(n_init=1, n_smooth=0, max_iter=1, random_state=0).fit(load_karate())
    model.n_communities_posterior_ = count_posterior(range(1, 101))
    assert model.n_communities_interval(0.9) == (5, 95)
    assert model.n_communities_interval(0.5) == (25, 75)
    with pytest.raises(ValueError, match="level between 0 and 1; it is 90"):
        model.n_communities_interval(90)


def test_arrays_and_sparse_arrays_are_matched_alike():
    rng = np.random.default_rng(1)
    for _ in range(20):
        one, other = ((rng.random((12, k)) < 0.3).astype(np.int8) for k in (4, 6))
        dense, thin = match_columns(one, other), match_columns(sparse.csr_array(one), sparse.csr_array(other))
        overlap = jaccard(one, other).toarray()
        assert overlap[dense].sum() == pytest.approx(overlap[thin].sum())
        best = max(sum(overlap[i, p[i]] for i in range(4)) for p in permutations(range(6), 4))
        assert overlap[dense].sum() == pytest.approx(best)
