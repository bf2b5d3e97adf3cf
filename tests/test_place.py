"""New nodes are placed where their links are, by all models and both engines, without a fit."""

import json
import time

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit, softmax
from sklearn.base import clone

import klafter as kl
from klafter.core.families import FAMILIES, loss
from klafter.datasets import make_overlapping
from klafter.graph import Graph
from klafter.models import EPM, IRM, LFRM, MMSB, KLafter
from klafter.prediction.features import Neighbourhoods
from klafter.prediction.place_kernels import Dyads, Others, place_row
from klafter.prediction.place_rows import Row, alternatives

N = 60


def planted(directed=False):
    """Two groups of thirty."""
    rng = np.random.default_rng(0)
    same = np.repeat([0, 1], 30)[:, None] == np.repeat([0, 1], 30)
    links = (rng.random((N, N)) < np.where(same, 0.3, 0.01)) & ~np.eye(N, dtype=bool)
    return Graph(links if directed else np.triu(links, 1), directed=directed)


MODELS = {
    "dense": KLafter(n_init=1, n_smooth=20, random_state=0),
    "sparse": KLafter(link="exposure", n_init=1, random_state=0),
    "counts": KLafter(family="poisson", n_init=1, n_smooth=20, random_state=0),
    "real values": KLafter(family="gaussian", n_init=1, n_smooth=20, random_state=0),
    "LFRM": LFRM(n_burn=50, n_draws=50, n_chains=1, random_state=0),
    "IRM": IRM(n_burn=50, n_draws=50, random_state=0),
    "MMSB": MMSB(n_communities=2, n_burn=50, n_draws=50, random_state=0),
    "EPM": EPM(n_communities=10, n_burn=50, n_draws=50, random_state=0),
}


@pytest.fixture(scope="module", params=MODELS.values(), ids=MODELS)
def model(request):
    return clone(request.param).fit(planted())


@pytest.mark.parametrize("unlinked", [None, list(range(10, 50, 3))])
@pytest.mark.parametrize("group", [0, 1])
def test_three_links_into_a_community_place_a_newcomer_there(model, group, unlinked):
    links = [3 + 30 * group, 7 + 30 * group, 8 + 30 * group]
    if unlinked is None and (isinstance(model, EPM) or getattr(model, "family", "") == "gaussian"):
        unlinked = "others"  # links alone do not bound a rate, nor tell one value from another
    found = model.place(links, unlinked)
    p = found.predict_proba()
    own = np.repeat([0, 1], 30) == group
    own[links] = False
    others = np.repeat([0, 1], 30) != group
    # to a Gaussian three ones among thirty are little evidence
    times = 1.1 if getattr(model, "family", "") == "gaussian" else 1.5
    assert p[own].mean() > times * p[others].mean()
    assert ((p >= 0) & (p <= 1)).all()
    assert all(node // 30 == group and node not in links for node, _ in found.top_links(3))


def test_without_links_a_newcomer_has_the_prior(model):
    placed = model.place([], unlinked="others")
    assert np.isfinite(placed.probabilities).all()
    assert (placed.predict_proba() < 0.5).all()


def test_memberships_are_those_of_the_neighbours(model):
    z = model.memberships_.toarray() if hasattr(model.memberships_, "toarray") else model.memberships_
    found = model.place([33, 37, 38, 41, 43])
    home = np.argmax(z[30:].mean(axis=0) - z[:30].mean(axis=0))
    assert found.probabilities.shape == (model.n_communities_,)
    assert found.memberships[home]
    assert model.community_names_[home] in found.communities


def test_directions():
    graph = planted(directed=True)
    for name in ("dense", "sparse", "LFRM", "IRM", "MMSB"):
        model = clone(MODELS[name]).fit(graph)
        found = model.place([32, 35, 40], linked_by=[33, 36, 41])
        for incoming in (False, True):
            p = found.predict_proba(incoming=incoming)
            assert p[30:].mean() > 1.5 * p[:30].mean()


def test_a_node_of_the_network_is_placed_about_where_it_is():
    """Taken out and placed from its links, a node has about the dyads that the model gives it."""
    graph = planted()
    keep = np.arange(1, N)
    model = clone(MODELS["dense"]).set_params(structure=0.0).fit(Graph(graph.links[keep][:, keep]))
    whole = clone(MODELS["dense"]).set_params(structure=0.0).fit(graph)
    links = np.flatnonzero(graph.links[[0]].toarray()[0]) - 1
    ours = model.place(links).predict_proba()
    theirs = whole.predict_proba(np.column_stack([np.zeros(N - 1, int), keep]))
    assert np.corrcoef(ours, theirs)[0, 1] > 0.9


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"links": "ann"}, ValueError, "place needs a list of nodes; it is 'ann'"),
        ({"links": [1, 1]}, ValueError, "each linked node once"),
        ({"links": [99]}, KeyError, "There is no node 99"),
        ({"links": [1, 2], "values": [1, 3]}, ValueError, "place needs links of 0 or 1; .*such as 3. Use such values"),
        ({"links": [1], "values": [1, 2]}, ValueError, "one finite value for each of 1 links"),
        ({"links": [1], "linked_by": [2]}, ValueError, "linked_by is for directed networks"),
    ],
)
def test_what_cannot_be_placed_is_refused_in_a_sentence(arguments, error, sentence):
    model = clone(MODELS["dense"]).fit(planted())
    with pytest.raises(error, match=sentence):
        model.place(**arguments)


def test_a_saved_model_places_too(tmp_path):
    model = clone(MODELS["sparse"]).fit(planted())
    model.save(tmp_path / "model.npz")
    again = kl.load(tmp_path / "model.npz")
    assert np.allclose(again.place([1, 2, 3]).predict_proba(), model.place([1, 2, 3]).predict_proba())


@pytest.mark.slow
def test_a_placement_among_a_hundred_thousand_nodes_takes_milliseconds(unchecked):
    graph, _ = make_overlapping(100_000, random_state=0)
    model = KLafter(random_state=0, bridges=False, max_iter=1)
    model.fit(graph, callback=lambda progress: True)  # stopped early: how long a placement takes is asked, not where
    model.place([0, 1, 2])
    begun = time.perf_counter()
    for i in range(50):
        model.place([i, i + 1, i + 2])
    assert (time.perf_counter() - begun) / 50 < 0.05  # measured: benchmarks/place.py


def test_the_command(tmp_path):
    from typer.testing import CliRunner

    from klafter.cli.app import app

    path = tmp_path / "model.npz"
    clone(MODELS["sparse"]).fit(planted()).save(path)
    told = CliRunner().invoke(app, ["place", str(path), "33", "37", "38", "--json"])
    assert told.exit_code == 0
    found = json.loads(told.stdout)
    assert all(link["node"] >= 30 for link in found["links"][:3])
    assert "Likely links" in CliRunner().invoke(app, ["place", str(path), "33", "37", "--unlinked", "2"]).output
    assert CliRunner().invoke(app, ["place", str(path), "33", "--linked-by", "2"]).exit_code != 0  # it is undirected
    wrong = CliRunner().invoke(app, ["place", str(path), "999"])
    assert wrong.exit_code == 2
    assert "There is no node" in wrong.output


# ---- the kernel of memberships of 0/1


def posterior(law, dyads, others, z, social):
    """-log p(z, s | y), every term as the formula has it."""
    u = sparse.csr_array((np.ones(len(others.which)), others.which, others.start), shape=(len(others.sender), len(z)))
    u = u.toarray()
    x = np.empty(len(dyads.nodes))
    for t, j in enumerate(dyads.nodes):
        out = t < dyads.cut
        x[t] = others.offset + others.explained[j] + (others.receiver if out else others.sender)[j]
        x[t] += social[0 if out else 1] + (z @ others.w @ u[j] if out else u[j] @ others.w @ z)
    share = (u.sum(axis=0) + 0.5) / (len(u) + 1)
    spread = np.array([others.sender.std(), others.receiver.std()])
    price = (social**2 / (2 * np.maximum(spread, 1e-300) ** 2)).sum() - z @ np.log(share / (1 - share))
    return sum(loss(law, y, a) for y, a in zip(dyads.values, x)) + price


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("family", ["bernoulli", "cloglog", "poisson", "gaussian"])
@pytest.mark.parametrize("far", [False, True])
def test_a_row_is_where_no_flip_and_no_sociality_gains(family, directed, far):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n, k = 30, 4
        u = sparse.csr_array(rng.random((n, k)) < 0.3)
        w, sender = rng.normal(0, 1.5, (k, k)), rng.normal(size=n)
        w, receiver = (w, rng.normal(size=n)) if directed else (w + w.T, sender)
        w = 100.0 * w if far and family == "bernoulli" else w
        start, which = u.indptr.astype(np.int64), u.indices.astype(np.int64)
        others = Others(w, start, which, -1.0, sender, receiver, rng.normal(size=n))
        cut = 18 if directed else 25
        dyads = Dyads(rng.permutation(n)[:25], (rng.random(25) < 0.3).astype(float), cut)
        law = FAMILIES[family].law(2.0 if family == "gaussian" else 1.0)
        chances, social = place_row(law, dyads, others)
        z = (chances > 0.5).astype(float)
        here = posterior(law, dyads, others, z, social)
        for t in range(k):
            there = z.copy()
            there[t] = 1 - z[t]
            change = (posterior(law, dyads, others, there, social) - here) * (2 * z[t] - 1)
            assert expit(change) == pytest.approx(chances[t], rel=1e-5, abs=1e-9)
        for side in range(2 if directed else 1):
            for step in (-0.05, 0.05):
                moved = social + step * np.eye(2)[side]
                if abs(moved[side]) <= 3.0 * (receiver if side else sender).std() and not far:
                    assert posterior(law, dyads, others, z, moved) > here - 1e-3


def test_one_link_that_was_thought_impossible_is_worth_what_it_is_in_a_score():
    graph = Graph(np.pad(np.ones((4, 4)) - np.eye(4), (0, 30)))  # thirty nodes are alone
    model = EPM(n_communities=20, n_burn=30, n_draws=4, n_chains=1, random_state=0).fit(graph)
    newcomer, alone = model.place([0, 1], [4, 5]), np.arange(6, 34)
    assert newcomer.predict_proba(alone).min() < 1e-12
    assert newcomer.log_likelihood(alone, np.ones(28)).min() == np.log(1e-12)
    assert model.score(np.ones((1, 34))) >= np.log(1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_are_averaged_have_their_posterior_probabilities(seed):
    rng = np.random.default_rng(seed)
    n, k = 30, 4
    u = sparse.csr_array(rng.random((n, k)) < 0.3)
    sender, w = rng.normal(size=n), rng.normal(0, 1.5, (k, k))
    others = Others(w, u.indptr.astype(np.int64), u.indices.astype(np.int64), -1.0, sender, sender, np.zeros(n))
    dyads = Dyads(rng.permutation(n)[:25], (rng.random(25) < 0.3).astype(float), 25)
    law = FAMILIES["bernoulli"].law(1.0)
    proba, social = place_row(law, dyads, others)
    weights, rows = alternatives(Row(proba, 0.0, 0.0, flips=True))
    assert rows.shape == (k + 1, k)
    assert len({tuple(row) for row in rows.tolist()}) == k + 1
    wanted = softmax([-posterior(law, dyads, others, row, social) for row in rows])
    assert weights == pytest.approx(wanted, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("name", ["dense", "counts", "LFRM"])
def test_a_probability_averages_over_draws_and_memberships_one_flip_away(name):
    model = clone(MODELS[name]).set_params(structure=0.0).fit(planted())
    placed, wanted = model.place([33], [1, 2, 40]), np.zeros(N)
    for draw, row in placed.draws:
        likeliest, z = np.round(row.u), draw.memberships.toarray()
        for t in range(-1, len(row.u)):
            there = likeliest.copy()
            there[t] = 1 - there[t] if t >= 0 else there[t]
            weight = 1.0 if t < 0 else min(row.u[t], 1 - row.u[t]) / max(row.u[t], 1 - row.u[t])
            total = 1 + (np.minimum(row.u, 1 - row.u) / np.maximum(row.u, 1 - row.u)).sum()
            x = draw.offset + z @ draw.affinities @ there + draw.receiver + row.send
            p = -np.expm1(-np.exp(x)) if name == "counts" else expit(x)
            wanted += weight / total * p / len(placed.draws)
    assert placed.predict_proba() == pytest.approx(wanted)
    assert placed.predict_proba([5, 31]) == pytest.approx(wanted[[5, 31]])
    assert placed.log_likelihood([5, 31], [0, 0]) == pytest.approx(np.log(1 - wanted[[5, 31]]))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("structure", ["auto", 0.5])
def test_the_expert_sees_the_newcomer_in_the_network(directed, structure, monkeypatch):
    """The trees of the model, and features of the network with a node more; their mean with the model's own."""
    graph = planted(directed)
    model = clone(MODELS["LFRM"]).set_params(structure=structure).fit(graph)
    links, by = [33, 35, 41], [40, 50] if directed else []
    placed = model.place(links, [1, 2], linked_by=by or None)
    whole = np.zeros((N + 1, N + 1))
    whole[:N, :N], whole[N, links], whole[by, N] = graph.links.toarray(), 1.0, 1.0
    whole = whole if directed else np.maximum(whole, whole.T)
    grown = Graph(whole, directed=directed)
    for incoming in (False, True)[: 1 + directed]:
        p = placed.predict_proba(incoming=incoming)
        monkeypatch.setattr(model, "structure", 0.0)
        own = placed.predict_proba(incoming=incoming)
        monkeypatch.setattr(model, "structure", structure)
        ends = np.full(N, N), np.arange(N)
        pairs = np.column_stack(ends[::-1] if incoming else ends)
        model.predict_proba([(0, 1)])
        expert = model._expert.amid(sparse.csr_array(whole))
        assert np.allclose(expert.near.features(pairs), Neighbourhoods(grown.links, directed=directed).features(pairs))
        blend = expert.mean(pairs, 0.5) if structure == 0.5 else expert.blend(pairs, model._weights)
        assert logit(p) == pytest.approx(0.5 * logit(own) + 0.5 * blend.log_odds(logit(own)))
        assert not np.allclose(p, own)


def test_the_expert_says_nothing_of_strangers_nor_in_large_networks(monkeypatch):
    model = clone(MODELS["dense"]).fit(planted())
    own = clone(MODELS["dense"]).set_params(structure=0.0).fit(planted())
    assert model.place([], [1, 2]).predict_proba() == pytest.approx(own.place([], [1, 2]).predict_proba())
    monkeypatch.setattr("klafter.models.interop.placement.MOST_NODES", 50)
    assert model.place([33, 35]).predict_proba() == pytest.approx(own.place([33, 35]).predict_proba())


def test_a_newcomer_of_whom_nothing_is_known_may_be_a_member():
    """Twenty nodes in a clique among a hundred: a stranger is linked to one about as often as to be of the clique."""
    links = np.zeros((100, 100))
    links[:20, :20] = 1 - np.eye(20)
    model = KLafter(n_init=1, n_smooth=20, sociality=False, structure=0.0, random_state=0).fit(Graph(links))
    assert model.communities() == [set(range(20))]
    assert model.place([]).predict_proba([3])[0] == pytest.approx(0.2, abs=0.03)
