"""A two-mode graph gives what the one-mode graph gives in which every pair within a kind is hidden."""

import numpy as np
import pytest
from sklearn.base import clone
from two_mode_graphs import as_one_mode, blocks, shuffled

import klafter as kl
from klafter.core.families import FAMILIES
from klafter.core.problem import make_priors, make_problem
from klafter.datasets import load_southern_women
from klafter.search.dense import engine as dense
from klafter.search.dense.score import score
from klafter.search.descend import refit_law
from klafter.search.starts import above_the_mean, coin_flips

GRAPHS = [blocks(), shuffled(blocks(9, 12, 1)), shuffled(blocks()).hide(np.array([[0, 1], [2, 3], [4, 9], [5, 8]]))]
SHORT = {"n_draws": 20, "n_burn": 10, "n_chains": 1, "random_state": 0, "structure": 0}
MODELS = {
    "dense": kl.KLafter(n_init=2, n_smooth=20, link="logit", structure=0, random_state=0),
    "counts": kl.KLafter(family="poisson", n_init=1, n_smooth=5, structure=0, random_state=0),
    "values": kl.KLafter(family="gaussian", n_init=1, n_smooth=5, structure=0, random_state=0),
    "LFRM": kl.LFRM(**SHORT),
    "IRM": kl.IRM(**SHORT),
    "MMSB": kl.MMSB(n_communities=3, **SHORT),
    "EPM": kl.EPM(n_communities=6, **SHORT),
    "with the expert": kl.KLafter(n_init=1, n_smooth=40, link="logit", random_state=0),
}


def _dense(graph, family):
    return make_problem(graph, FAMILIES[family].law(), make_priors())


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("family", ["bernoulli", "poisson", "gaussian"])
def test_the_dense_score_is_that_of_hidden_pairs(graph, family):
    one, other = _dense(graph, family), _dense(as_one_mode(graph), family)
    state = dense.init(one, np.random.default_rng(0), coin_flips(one, 3, np.random.default_rng(1)))
    assert score(one, state) == score(other, state)
    assert refit_law(one, state).law == refit_law(other, state).law
    assert np.array_equal(above_the_mean(one).dyads.links_out.node, above_the_mean(other).dyads.links_out.node)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_fits_are_those_of_hidden_pairs(graph, name):
    one, other = (clone(MODELS[name]).fit(g) for g in (graph, as_one_mode(graph)))
    pairs = np.argwhere(graph.second_kind[:, None] != graph.second_kind)
    assert np.allclose(one.predict_proba(pairs), other.predict_proba(pairs), rtol=1e-6)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-9)


@pytest.fixture(scope="module")
def fitted():
    return kl.KLafter(random_state=0).fit(load_southern_women())


def test_southern_women_are_two_groups_with_their_events(fitted):
    """Davis, Gardner and Gardner (1941); Freeman (2003): women 1 to 7 with events 1 to 6, 10 to 15 with 9 to 14."""
    groups = [{str(name) for name in members} for members in fitted.communities()]
    assert len(groups) == 2
    first = next(group for group in groups if "E1" in group)
    second = next(group for group in groups if "E14" in group)
    women = fitted.graph_.labels[:18].tolist()
    assert {f"E{k}" for k in range(1, 7)} <= first
    assert {f"E{k}" for k in range(9, 15)} <= second
    known = {"Evelyn Jefferson", "Laura Mandeville", "Theresa Anderson", "Brenda Rogers", "Charlotte McDowd"}
    assert known <= first & set(women)
    assert {"Sylvia Avondale", "Nora Fayette", "Helen Lloyd", "Katherina Rogers", "Myra Liddel"} <= second & set(women)
    assert not first & second


def test_pairs_within_a_kind_are_never_predicted(fitted):
    graph, pairs = fitted.graph_, np.array([[0, 1], [20, 21]])
    assert (fitted.predict_proba(pairs) == 0).all()
    assert (fitted.predict(pairs) == 0).all()
    best = fitted.top_links(400)
    assert len(best) == graph.n_dyads - graph.n_links
    assert graph.is_possible(graph.pair_indices([pair[:2] for pair in best])).all()
    for refused in (lambda: fitted.score(pairs, np.zeros(2)), lambda: fitted.explain("E1", "E2")):
        with pytest.raises(ValueError, match="Only pairs across kinds can be linked"):
            refused()


def test_samples_from_the_model_are_two_mode(fitted):
    assert fitted.sample(0).n_dyads == 252


@pytest.mark.parametrize("name", ["KLafter", "exposure", "IRM", "EPM", "MMSB", "LFRM"])
def test_models_are_saved_with_kinds_and_place_newcomers(name, tmp_path):
    made = {"KLafter": MODELS["dense"], "exposure": kl.KLafter(link="exposure", n_init=1, random_state=0)}
    model = clone(made.get(name, MODELS.get(name))).fit(load_southern_women())
    model.save(tmp_path / "a.npz")
    again = kl.load(tmp_path / "a.npz")
    assert again.graph_.kinds.tolist() == model.graph_.kinds.tolist()
    assert np.allclose(again.predict_proba([("E1", "Flora Price")]), model.predict_proba([("E1", "Flora Price")]))
    placed = again.place(["E1", "E3", "E5"], unlinked="others")
    p = placed.predict_proba()
    assert (p[again.graph_.second_kind] > 0).all()
    assert (p[~again.graph_.second_kind] == 0).all()
    assert len(placed.top_links(40)) == 11
    with pytest.raises(ValueError, match="these are of both kinds"):
        again.place(["E1", "Flora Price"])


def test_tables_and_graphs_say_kinds(fitted):
    assert fitted.to_frame()["kind"].tolist() == fitted.graph_.kinds.tolist()
    assert (fitted.communities_frame()["density"] > 0.5).all()
    made = fitted.to_networkx()
    assert [made.nodes[v]["bipartite"] for v in made] == fitted.graph_.second_kind.astype(int).tolist()
    assert np.array_equal(kl.as_graph(made).second_kind, fitted.graph_.second_kind)
    assert kl.as_graph(made).kind_names == ("woman", "event")
