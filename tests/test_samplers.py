"""The contract of the four samplers: traces, thinning, chains that stop and go on, predictions, refusals."""

import numpy as np
import pytest

import klafter as kl
from klafter.graph import Graph, split_dyads
from klafter.models import EPM, IRM, LFRM, MMSB
from klafter.models.mmsb import GRID
from klafter.models.results.publish import distinct
from klafter.sampling.lfrm_engine import merge_twins

SHORT = {"n_burn": 3, "n_draws": 8, "n_chains": 1, "random_state": 0}
MAKE = {
    "lfrm": lambda **kw: LFRM(**{**SHORT, **kw}),
    "irm": lambda **kw: IRM(**{**SHORT, **kw}),
    "mmsb": lambda **kw: MMSB(n_communities=3, **{**SHORT, **kw}),
    "epm": lambda **kw: EPM(n_communities=10, **{**SHORT, **kw}),
}
EVERY = pytest.mark.parametrize("make", MAKE.values(), ids=MAKE.keys())
PAIRS = np.array([[0, 1], [0, 29], [5, 20], [28, 29]])


@pytest.fixture(scope="module")
def graph() -> Graph:
    """30 nodes in two groups, and some hidden dyads."""
    rng, group = np.random.default_rng(0), np.repeat([0, 1], 15)
    y = np.triu(rng.random((30, 30)) < np.where(group[:, None] == group, 0.5, 0.05), 1)
    return split_dyads(Graph((y + y.T).astype(float)), random_state=1)[0]


def same_draws(a, b) -> bool:
    return len(a.draws_) == len(b.draws_) and all(
        np.array_equal(_dense(one.memberships), _dense(other.memberships))
        and np.array_equal(_dense(one.affinities), _dense(other.affinities))
        for one, other in zip(a.draws_, b.draws_)
    )


def _dense(x):
    return x.toarray() if hasattr(x, "toarray") else x


# ---- what a fit leaves ------------------------------------------------------------------------------------------


@EVERY
def test_traces_history_and_the_best_sweep(make, graph):
    model = make(n_chains=2).fit(graph)
    density = model.trace_["log_likelihood" if isinstance(model, EPM) else "log_posterior"]
    assert density.shape == model.trace_["n_communities"].shape == model.sweep_seconds_.shape == (2, 11)
    assert np.isfinite(density).all()
    assert (model.sweep_seconds_ > 0).all()
    assert model.objective_ == pytest.approx(-density[:, 3:].max())
    assert [line.objective for line in model.history_] == pytest.approx((-density).ravel())
    assert (model.n_iter_, len(model.restarts_), len(model.draws_)) == (11, 2, 16)
    assert model.n_burned_.tolist() == [3, 3]


@EVERY
def test_communities_are_distinct_and_have_members(make, graph):
    model = make().fit(graph)
    z = model.memberships_
    assert z.shape == (30, model.n_communities_)
    assert set(np.unique(z)) <= {0, 1}
    assert z.any(axis=0).all()
    assert len(np.unique(z, axis=1).T) == z.shape[1]
    assert model.affinities_.shape == (z.shape[1], z.shape[1])
    assert [len(c) for c in model.communities()] == sorted(z.sum(axis=0), reverse=True)
    # explain() numbers communities as memberships_ does
    assert np.array_equal(_dense(model.point_.affinities)[: z.shape[1], : z.shape[1]], model.affinities_)


@EVERY
def test_draws_are_thinned_to_the_bound_and_spread_over_the_chain(make, graph):
    few, all_of_them = make(n_draws=30, max_draws=5).fit(graph), make(n_draws=30, max_draws=30).fit(graph)
    assert 3 <= len(few.draws_) <= 5
    assert len(all_of_them.draws_) == 30
    all_of_them.draws_ = all_of_them.draws_[::8]
    assert same_draws(few, all_of_them)


@EVERY
def test_probabilities(make, graph):
    p = make(structure=0.0).fit(graph).predict_proba(PAIRS)
    assert (p >= 0).all()
    assert (p <= 1).all()
    q = make(structure=0.5).fit(graph).predict_proba(PAIRS)
    assert not np.allclose(p, q)
    assert ((q >= 0) & (q <= 1)).all()


@EVERY
def test_hidden_dyads_tell_nothing(make, graph):
    """What stands where a dyad is hidden is not read."""
    hidden = np.argwhere(np.triu(graph.hidden.toarray()))
    links = graph.links.toarray()
    links[hidden[:, 0], hidden[:, 1]] = links[hidden[:, 1], hidden[:, 0]] = 1.0
    other = Graph(links, hidden=graph.hidden)
    assert np.array_equal(make().fit(graph).predict_proba(PAIRS), make().fit(other).predict_proba(PAIRS))


@EVERY
def test_hidden_is_not_the_same_as_no_link(make, graph):
    bare = graph.replace(hidden=None)
    assert not np.array_equal(make().fit(graph).predict_proba(PAIRS), make().fit(bare).predict_proba(PAIRS))


@EVERY
def test_saved_models_predict_the_same(make, graph, tmp_path):
    model = make(n_chains=2).fit(graph)
    model.save(tmp_path / "model.npz")
    loaded = kl.load(tmp_path / "model.npz")
    assert np.array_equal(model.predict_proba(PAIRS), loaded.predict_proba(PAIRS))
    assert np.array_equal(model.trace_["n_communities"], loaded.trace_["n_communities"])
    with pytest.raises(ValueError, match="files do not keep them"):
        loaded.set_params(warm_start=True).fit(graph)


# ---- chains -----------------------------------------------------------------------------------------------------


@EVERY
def test_a_continued_chain_is_the_uninterrupted_one(make, graph):
    whole = make(n_draws=20, n_chains=2, max_draws=6).fit(graph)
    parts = make(n_draws=12, n_chains=2, max_draws=6, warm_start=True).fit(graph)
    parts.set_params(n_draws=8).fit(graph)
    assert same_draws(whole, parts)
    for name in whole.trace_:
        assert np.array_equal(whole.trace_[name], parts.trace_[name])
    assert whole.objective_ == parts.objective_
    assert np.array_equal(whole.memberships_, parts.memberships_)


@EVERY
def test_the_answer_does_not_depend_on_the_number_of_workers(make, graph):
    one, two = make(n_chains=3).fit(graph), make(n_chains=3, n_jobs=2).fit(graph)
    assert same_draws(one, two)
    assert not np.array_equal(*one.trace_["n_communities"][:2]) or not np.array_equal(
        *next(iter(one.trace_.values()))[:2]
    )


@EVERY
@pytest.mark.parametrize("last", [2, 6], ids=["in-burn-in", "while-sampling"])
def test_a_callback_stops_the_fit_and_keeps_what_was_sampled(make, graph, last):
    seen = []

    def callback(progress):
        seen.append(progress)
        return progress.step == last

    model = make(n_chains=2, warm_start=True).fit(graph, callback=callback)
    assert [p.stage for p in seen] == (["burn-in"] * 3 + ["sampling"] * 3)[:last]
    assert seen[-1].n_steps == 11
    assert model.n_iter_ == last
    assert len(model.chains_) == 1  # the second chain had not begun
    assert len(model.draws_) == max(1, last - 3)
    assert np.isfinite(model.predict_proba(PAIRS)).all()
    # and it goes on from there: the first chain for n_draws more, the second as if it began now
    model.fit(graph)
    ends = [11, 11] if last == 2 else [14, 11]
    assert [int(np.isfinite(row).sum()) for row in model.trace_["n_communities"]] == ends


def test_ctrl_c_keeps_what_was_sampled(graph):
    def callback(progress):
        if progress.step == 5:
            raise KeyboardInterrupt

    model = IRM(**SHORT).fit(graph, callback=callback)
    assert (model.n_iter_, len(model.draws_)) == (5, 2)


def test_warm_start_refuses_another_graph_model_or_fewer_chains(graph):
    model = IRM(**{**SHORT, "warm_start": True, "n_chains": 2}).fit(graph)
    with pytest.raises(ValueError, match="this is another one"):
        model.fit(graph.replace(hidden=None))
    model.fit(graph)
    with pytest.raises(ValueError, match="n_chains is 1"):
        model.set_params(n_chains=1).fit(graph)
    with pytest.raises(ValueError, match="parameters have changed"):
        model.set_params(n_chains=2, concentration=2.0).fit(graph)


def test_diagnostics(graph):
    two = IRM(n_burn=10, n_draws=40, n_chains=2, random_state=0).fit(graph).diagnostics()
    one = IRM(n_burn=10, n_draws=40, n_chains=1, random_state=0).fit(graph).diagnostics()
    assert set(two) == {"log_posterior", "n_communities"}
    assert two["log_posterior"]["ess"] > 1
    assert two["log_posterior"]["r_hat"] > 0.9
    assert np.isnan(one["log_posterior"]["r_hat"])


def test_four_chains_by_default_share_what_one_made_before():
    for model in (LFRM(), IRM(), MMSB(), EPM()):
        assert model.n_chains == 4
        assert model.n_chains * model.n_draws >= 300


@EVERY
def test_chains_that_are_too_short_are_complained_of(make, graph, caplog):
    model = make(n_chains=4).fit(graph)
    (note,) = [note for note in model.notes_ if "not run long enough" in note]
    assert note in caplog.text
    assert note.endswith("Fit again with warm_start=True to go on, or with n_burn=6, n_draws=16.")
    assert model.diagnostics_ == model.diagnostics()


def test_chains_that_agree_are_not(graph, caplog):
    model = IRM(n_burn=100, n_draws=1000, random_state=0).fit(graph)
    assert max(line["r_hat"] for line in model.diagnostics_.values()) < 1.05
    assert not model.notes_
    assert not caplog.text


# ---- each model -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["random", "irm", "klafter"])
@pytest.mark.parametrize("directed", [False, True])
def test_lfrm_starts(graph, init, directed):
    model = LFRM(init=init, **SHORT).fit(graph.replace(directed=directed))
    assert np.isfinite(model.objective_)
    w = _dense(model.draws_[-1].affinities)
    assert directed or np.allclose(w, w.T)


def test_lfrm_measures_real_values_in_their_own_units(graph):
    large = graph.replace(links=graph.links * 1000.0)
    small, big = (LFRM(family="gaussian", **SHORT).fit(g) for g in (graph, large))
    assert big.predict(PAIRS) == pytest.approx(1000 * small.predict(PAIRS))
    assert big.precision_ == pytest.approx(small.precision_ / 1e6)


def test_lfrm_learns_only_when_asked(graph):
    fixed = LFRM(learn=False, penalty=0.5, **SHORT).fit(graph).chains_[0].state.priors
    assert fixed.penalty == 0.5
    assert fixed.diagonal == pytest.approx(1 / 3.2**2)
    assert LFRM(penalty=0.5, **SHORT).fit(graph).chains_[0].state.priors.penalty != 0.5


def test_lfrm_says_which_prior_it_has_and_a_file_keeps_it(graph, tmp_path):
    model = LFRM(prior="counts", **SHORT).fit(graph)
    assert (LFRM(**SHORT).fit(graph).prior_, model.prior_) == ("buffet", "counts")
    model.save(tmp_path / "model.npz")
    loaded = kl.load(tmp_path / "model.npz")
    assert (loaded.prior, loaded.prior_, loaded.diagnostics().keys()) == ("counts", "counts", model.diagnostics_.keys())


def test_lfrm_with_learned_counts_has_no_alpha_to_learn(graph):
    priors = LFRM(prior="counts", penalty=0.5, **SHORT).fit(graph).chains_[0].state.priors
    assert priors.penalty == 0.5
    assert LFRM(prior="counts", **SHORT).fit(graph).chains_[0].state.priors.penalty == 1.0
    assert priors.diagonal != pytest.approx(1 / 3.2**2)


def test_twins_are_one_community_with_both_weights():
    from klafter.core.problem import State

    z = np.array([[1, 1, 0], [0, 1, 1], [1, 1, 0]], np.uint8)
    w = np.arange(9.0).reshape(3, 3)
    s = np.zeros(3)
    one = merge_twins(State(z, w, np.zeros(1), s, s, np.zeros(0)))
    assert len(one.z) == 2
    assert np.allclose(one.z.T @ one.w @ one.z, z.T.astype(float) @ w @ z)


def test_distinct_communities():
    assert distinct(np.zeros((4, 0), np.int8)).tolist() == []
    assert distinct(np.array([[0, 1, 1, 1], [0, 1, 0, 1]])).tolist() == [1, 2]


@EVERY
def test_planted_groups_show_in_predictions(make, graph):
    p = make(n_burn=40, n_draws=40).fit(graph).predict_proba(np.argwhere(np.triu(np.ones((30, 30)), 1)))
    inside = np.equal.outer(np.arange(30) < 15, np.arange(30) < 15)[np.triu_indices(30, 1)]
    assert p[inside].mean() > 2 * p[~inside].mean()


def test_mmsb_chooses_the_number_of_roles_inside_the_training_data(graph):
    model = MMSB(n_communities="auto", **SHORT).fit(graph)
    chosen = GRID[int(np.argmax(model.selection_["log_likelihood"]))]
    assert model.n_roles_ == chosen
    assert model.draws_[0].affinities.shape == (chosen, chosen)
    assert MMSB(n_communities=None, **SHORT).fit(graph).n_roles_ == chosen


def test_epm_leaves_out_only_loadings_that_say_nothing(graph):
    model = EPM(n_communities=30, **SHORT).fit(graph)
    engine, state = model._last_engine, model.chains_[0].state
    whole, kept = state.loadings @ state.affinities @ state.loadings.T, engine.draw(graph, state)
    u = kept.memberships.toarray()
    assert np.abs(whole - u @ kept.affinities @ u.T).max() < 1e-6


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (EPM(), r"EPM needs an undirected graph; this one is directed. Use klafter.as_graph\(X\).symmetrize\(\)"),
        (LFRM(prior="counts", penalty=0.0), "penalty to be a finite number above 0"),
        (LFRM(prior="uniform"), "one of 'buffet', 'counts'"),
        (LFRM(init="spectral"), "one of 'random', 'irm', 'klafter'"),
        (LFRM(penalty=-1e300), "penalty to be a finite number of at least -30"),
        (LFRM(weight_scale=0), "weight_scale to be a finite number above 0"),
        (LFRM(n_burn=-1), "n_burn to be a whole number of at least 0"),
        (IRM(n_draws=0), "n_draws to be a whole number of at least 1"),
        (IRM(link_prior=(1.0, -1.0)), "two positive numbers"),
        (IRM(link_prior=3), "two positive numbers"),
        (IRM(family="gaussian"), "one of 'bernoulli', 'poisson'"),
        (MMSB(n_communities=0), "n_communities to be a whole number of at least 1"),
        (MMSB(alpha=0), "alpha to be a finite number above 0"),
        (MMSB(structure=-1), "structure to be a finite number of at least 0 or 'auto'"),
        (IRM(max_draws=0), "max_draws"),
    ],
)
def test_bad_values_are_refused_in_a_sentence(model, words, graph):
    with pytest.raises(ValueError, match=words):
        model.fit(graph.replace(directed=True))


@pytest.mark.parametrize("model", [IRM(), MMSB(), EPM(), LFRM()])
def test_counts_need_a_family_for_counts(model, graph):
    with pytest.raises(ValueError, match=r"links of 0 or 1.*klafter.as_graph\(X\).binarize\(\)"):
        model.fit(graph.replace(links=graph.links * 3))
