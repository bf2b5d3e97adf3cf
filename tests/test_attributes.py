"""Attributes of nodes that explain links: their columns, their effects, and all that a fitted model says with them."""

import json

import numpy as np
import oracles
import pytest
from scipy.special import expit
from sklearn.metrics import log_loss, roc_auc_score
from test_cli import run, sentence
from test_score import BELOW, at_mode, integrated

import klafter as kl
from klafter.core.families import FAMILIES
from klafter.core.problem import empty_state, make_priors, make_problem
from klafter.core.workspace import open_workspace
from klafter.graph import Graph
from klafter.graph.fingerprint import fingerprint
from klafter.graph.pair_columns import pair_columns
from klafter.jit.decorators import kernel
from klafter.models import IRM, KLafter, KLafterCV
from klafter.models.results.effects import effect_words, laplace_errors
from klafter.report.facts import gather
from klafter.sampling.weights_kernels import draw_coefficients
from klafter.search.dense.score import score

QUICK = {"n_init": 2, "n_smooth": 30, "max_iter": 4, "structure": 0.0, "random_state": 0}
N = 40


def people(n=N, seed=0, *, directed=False, unknown=False, effects=(2.0, 1.0), family="bernoulli", weight=2.5):
    """Two overlapping groups, three offices and ages; links by all of them."""
    rng = np.random.default_rng(seed)
    z = np.stack([rng.random(n) < 0.3, rng.random(n) < 0.3]).astype(float)
    known = {"office": [f"o{v}" for v in rng.integers(3, size=n)], "age": rng.normal(40, 9, n).round().tolist()}
    if unknown:
        known["office"][3], known["age"][5] = None, float("nan")
    graph = Graph(np.zeros((n, n)), directed=directed, attributes=known, labels=[f"p{i}" for i in range(n)])
    same, similar = (pair_columns(graph, list(known))[name].matrix() for name in ("same office", "similar age"))
    x = -2.5 + weight * z.T @ z + effects[0] * same + effects[1] * similar
    drawn = {
        "bernoulli": rng.random((n, n)) < expit(x),
        "poisson": rng.poisson(np.exp(x - 1.0)),
        "gaussian": x + rng.normal(0, 0.5, (n, n)),
    }[family].astype(float)
    np.fill_diagonal(drawn, 0.0)
    return graph.replace(links=drawn if directed else np.triu(drawn, 1) + np.triu(drawn, 1).T)


@pytest.fixture(scope="module")
def model():
    return KLafter(attributes=["office", "age"], **{**QUICK, "structure": "auto"}).fit(people(unknown=True))


# ---- columns


def test_columns_are_centred_over_pairs_that_are_known():
    graph = people(unknown=True)
    columns, upper = pair_columns(graph, ["office", "age"]), np.triu_indices(N, 1)
    assert list(columns) == ["same office", "unknown office", "similar age", "unknown age"]
    for name, column in columns.items():
        full = column.matrix()
        known = ~np.isnan(column.values)
        both = np.outer(known, known)[upper]
        assert (full == full.T).all()
        if name.startswith("unknown"):
            assert full[upper].mean() == pytest.approx(0.0, abs=1e-12)
            continue
        assert (full[upper][~both] == 0.0).all()
        assert full[upper][both].mean() == pytest.approx(0.0, abs=1e-12)
    ages = columns["similar age"]
    known = np.flatnonzero(~np.isnan(ages.values))
    a, b = known[np.array(np.triu_indices(len(known), 1))]
    assert ages[a, b].std() == pytest.approx(1.0)
    assert np.corrcoef(ages[a, b], -np.abs(ages.values[a] - ages.values[b]))[0, 1] == pytest.approx(1.0)
    offices, raw = columns["same office"], graph.attributes["office"]
    assert offices[0, 1] - offices[0, 2] == pytest.approx(float(raw[0] == raw[1]) - float(raw[0] == raw[2]))
    np.testing.assert_array_equal(offices[np.array([2, 3])][:, 4:], offices.matrix()[2:4, 4:])


def test_a_mapping_says_what_values_are():
    graph = people().replace(attributes={"code": [i % 4 for i in range(N)]})
    assert list(pair_columns(graph, ["code"])) == ["similar code"]
    assert list(pair_columns(graph, {"code": "category"})) == ["same code"]


KNOWN = {
    "office": ["a", "b"] * 20,
    "one": ["a"] * N,
    "name": [f"n{i}" for i in range(N)],
    "nothing": [None] * N,
    "odd": [{"a": 1}] * N,
    "two": [1.0, 2.0] + [None] * (N - 2),
}
REFUSED = [
    ("office", "attributes needs a list of names, such as .* it is 'office'"),
    (7, "attributes needs a list of names"),
    (["offic"], "no attribute 'offic'; it has office, one, .* Did you mean 'office'"),
    (["office", "office"], "attributes names 'office' twice"),
    (["one"], "'one' tells no pair from another: every node has 'a'. Leave it out"),
    (["nothing"], "'nothing' tells no pair from another: no node's value is known"),
    (["name"], "'name' has another value for every node"),
    (["odd"], "'odd' needs text or numbers; it has {'a': 1}"),
    (["two"], "'two' is known of two nodes only"),
    ({"office": "number"}, "'office' is not a number: it has 'a'. Use it as a category"),
    ({"office": "kind"}, "'office' is a 'category' or a 'number'; 'kind' is neither"),
]


@pytest.mark.parametrize(("asked", "sentence"), REFUSED, ids=lambda value: str(value)[:20])
def test_attributes_that_say_nothing_are_refused(asked, sentence):
    graph = people().replace(attributes=KNOWN)
    with pytest.raises(ValueError, match=sentence):
        KLafter(attributes=asked, **QUICK).fit(graph)


def test_attributes_need_a_graph_that_has_them_and_the_dense_engine():
    with pytest.raises(ValueError, match="This graph has no attributes, so there is no 'office'"):
        KLafter(attributes=["office"]).fit(np.zeros((5, 5)))
    with pytest.raises(ValueError, match=r"uses the sparse engine.*no attributes\. Use link='logit'"):
        KLafter(attributes=["office"], link="exposure").fit(people())
    taken = people().replace(covariates={"same office": np.zeros((N, N))})
    with pytest.raises(ValueError, match="attributes make a column 'same office', the name of a covariate"):
        KLafter(attributes=["office"]).fit(taken)


def test_attributes_of_one_kind_of_nodes_say_nothing_of_pairs_across():
    links, kinds = np.zeros((6, 6)), ["woman"] * 3 + ["event"] * 3
    links[0, 3] = links[1, 4] = links[2, 5] = links[0, 4] = 1.0
    known = {"age": [20, 30, 40, None, None, None], "town": ["a", "b", "a", "a", "b", "b"]}
    graph = Graph(links + links.T, kinds=kinds, attributes=known)
    assert list(pair_columns(graph, ["town"])) == ["same town"]
    with pytest.raises(ValueError, match="'age' tells no possible pair from another: only pairs across kinds"):
        pair_columns(graph, ["age"])


# ---- the score


@pytest.mark.parametrize("family", ["bernoulli", "cloglog"])
def test_the_score_with_an_attribute_is_near_the_integral_over_its_coefficient_too(family):
    y = np.zeros((4, 4))
    y[0, 1] = y[1, 2] = y[2, 3] = 1.0
    plain = Graph(y + y.T, attributes={"office": ["a", "a", "b", "b"]})
    graph = plain.replace(covariates={"same": pair_columns(plain, ["office"])["same office"].matrix()})
    problem = make_problem(graph, FAMILIES[family].law(), make_priors(0.0, 1.0, 3.2, 1.4), sociality=False)
    for size in (0, 1):
        for z in oracles.column_sets(4, size):
            state = at_mode(problem, z)
            assert -BELOW < score(problem, state) - integrated(graph, problem, state) < 2.0


def test_errors_are_those_of_the_whole_hessian():
    graph = people(unknown=True)
    model = KLafter(attributes=["office", "age"], **{**QUICK, "n_smooth": 0}).fit(graph)
    problem, _ = model._problem(graph)
    state = at_mode(problem, model.memberships_.T.astype(np.uint8))
    full = graph.replace(covariates={name: c.matrix() for name, c in model._covariates(graph).items()})
    h = oracles.hessian(full, problem, state) + np.diag(oracles.precisions(problem, len(state.z)))
    k = len(state.z)
    wanted = np.sqrt(np.diag(np.linalg.inv(h)))[k * (k + 1) // 2 :][:4]  # after W
    np.testing.assert_allclose(laplace_errors(problem, state), wanted, rtol=1e-2)
    effects = model.attribute_effects_
    assert (effects["low"] < effects["coefficient"]).all()
    assert (effects["coefficient"] < effects["high"]).all()


# ---- sweeps that leave attributes out


@kernel
def draw_often(ws, rng, kept):
    for t in range(kept.shape[0]):
        draw_coefficients(ws, rng)
        kept[t] = ws.coefficients


@pytest.mark.parametrize("family", ["bernoulli", "cloglog", "poisson", "gaussian"])
def test_sweeps_leave_coefficients_out_as_often_as_the_posterior_does(family):
    """Of two columns the four models with either, their evidence by quadrature, and the means over all four."""
    effects, offset = ((0.1, 0.15), -2.5) if family == "gaussian" else ((0.3, 0.5), -1.2)
    graph = people(14, 5, effects=effects, weight=0.0, family="bernoulli" if family == "cloglog" else family)
    columns = [column.matrix() for column in pair_columns(graph, ["office", "age"]).values()]
    full = graph.replace(covariates=dict(zip("ab", columns)))
    law = FAMILIES[family].law()
    problem = make_problem(full, law, make_priors(coefficient_scale=1.5), sociality=False, selects=True)
    state = empty_state(problem)._replace(offset=np.array([offset]))
    kept = np.empty((40_000, 2))
    draw_often(open_workspace(problem, state), np.random.default_rng(0), kept)

    upper, grid = np.triu_indices(14, 1), np.linspace(-4, 4, 161)  # steps of 0.05
    y, (a, b) = graph.links.toarray()[upper], (column[upper] for column in columns)
    x = offset + grid[:, None, None] * a + grid[:, None] * b
    log_joint = -oracles.losses(family, y, x, law.precision).sum(axis=-1)
    spike, slab = 1.0 * (np.abs(grid) < 1e-9), np.exp(-0.5 * (grid / 1.5) ** 2) / (1.5 * np.sqrt(2 * np.pi)) * 0.05
    likelihood = np.exp(log_joint - log_joint.max())
    joint = likelihood * np.outer(spike + slab, spike + slab)
    for p, axis in enumerate((1, 0)):
        left_out = likelihood * (np.outer(spike, spike + slab) if p == 0 else np.outer(spike + slab, spike))
        share = 1 - left_out.sum() / joint.sum()
        assert 0.02 < share < 0.999
        assert np.mean(kept[:, p] != 0) == pytest.approx(share, abs=0.02)
        marginal = joint.sum(axis=axis) / joint.sum()
        assert kept[:, p].mean() == pytest.approx(marginal @ grid, abs=0.02)
        assert (kept[:, p] ** 2).mean() == pytest.approx(marginal @ grid**2, rel=0.1, abs=0.01)


def test_sweeps_leave_out_what_explains_nothing_and_keep_what_explains_links():
    shares = []
    for effects in ((0.0, 0.0), (2.0, 1.0)):
        model = KLafter(attributes=["office", "age"], **QUICK).fit(people(60, 4, effects=effects))
        shares.append(np.mean([np.asarray(draw.coefficients) != 0 for draw in model.draws_], axis=0))
    assert (shares[0] < 0.5).all()
    assert (shares[1] == 1.0).all()


# ---- links that attributes explain, and others


@pytest.mark.parametrize("directed", [False, True])
def test_effects_are_recovered_and_predictions_gain(directed):
    gains = []
    for seed in range(3):
        graph = people(60, seed, directed=directed)
        train, held = kl.split_dyads(graph, fraction=0.2, random_state=seed)
        options = {**QUICK, "n_smooth": 60}
        with_, without = (KLafter(attributes=a, **options).fit(train) for a in (["office", "age"], None))
        effects = with_.attribute_effects_
        away = np.abs(effects["coefficient"] - [2.0, 1.0]) / effects["standard_error"]
        assert (away < 3.5).all()
        assert effects["odds_ratio"] == pytest.approx(np.exp(effects["coefficient"]))
        linked = held.values > 0
        p, q = (m.predict_proba(held.pairs) for m in (with_, without))
        gains.append((roc_auc_score(linked, p) - roc_auc_score(linked, q), log_loss(linked, q) - log_loss(linked, p)))
    assert (np.mean(gains, axis=0) > 0.0).all()


@pytest.mark.slow
def test_attributes_that_explain_nothing_do_no_harm():
    """What is lost by chance correlations differs from graph to graph: its mean is within two standard errors of 0."""
    losses, quick = [], {**QUICK, "n_init": 6, "n_smooth": 60}
    for seed in range(10):
        graph = people(60, seed, effects=(0.0, 0.0), weight=3.5)
        train, held = kl.split_dyads(graph, fraction=0.2, random_state=seed)
        with_, without = (KLafter(attributes=a, **quick).fit(train) for a in (["office", "age"], None))
        losses.append(without.score(held.pairs, held.values) - with_.score(held.pairs, held.values))
        assert (np.abs(with_.attribute_effects_["coefficient"]) < 4 * with_.attribute_effects_["standard_error"]).all()
    error = np.std(losses, ddof=1) / np.sqrt(len(losses))
    assert np.mean(losses) < 2 * error
    assert error < 0.003  # few sweeps differ by more from one seed to the next


def test_communities_are_what_attributes_do_not_explain():
    """Offices alone make the links: they are communities, unless the attribute is used."""
    graph = people(60, effects=(4.0, 0.0), weight=0.0)
    alone, used = KLafter(**QUICK).fit(graph), KLafter(attributes=["office"], **QUICK).fit(graph)
    assert alone.n_communities_ >= 2
    assert used.n_communities_ == 0
    assert used.objective_ < alone.objective_
    assert "Communities are what attributes do not explain (office)." in used.notes_


@pytest.mark.parametrize("options", [{"link": "cloglog"}, {"family": "poisson"}, {"family": "gaussian"}])
def test_other_families_have_effects(options):
    family = options.get("family", "bernoulli")
    model = KLafter(attributes=["office", "age"], **QUICK, **options).fit(people(family=family))
    effects = model.attribute_effects_
    assert (effects["coefficient"] > 0).all()
    assert ("rate_ratio" in effects) == (family != "gaussian")
    assert "odds_ratio" not in effects
    assert len(effect_words(effects)) == 2


# ---- what a fitted model says


PAIRS = np.array([[0, 1], [3, 20], [5, 6], [39, 0]])


def test_predictors_are_the_formula(model):
    known = model.graph_.replace(covariates={name: c.matrix() for name, c in model._covariates(model.graph_).items()})
    for draw in model.draws_[::9]:
        assert len(draw.coefficients) == 4
        z = draw.memberships.toarray()
        x = draw.offset + draw.sender[:, None] + draw.receiver + z @ draw.affinities @ z.T
        x = x + sum(g * v.toarray() for g, v in zip(draw.coefficients, known.covariates.values()))
        covariates = model._covariates(model.graph_).values()
        assert draw.predictor(PAIRS, covariates) == pytest.approx(x[tuple(PAIRS.T)])
        rows = draw.predictor_rows(np.array([4, 7]), covariates)
        apart = ~np.eye(N, dtype=bool)[[4, 7]]
        np.testing.assert_allclose(rows[apart], x[[4, 7]][apart])


@pytest.mark.parametrize("pair", [("p0", "p1"), ("p3", "p20"), ("p5", "p6")])
def test_parts_of_an_explanation_add_up_and_name_attributes(model, pair):
    told = model.explain(*pair)
    assert abs(sum(value for _, value in told.parts) - told.log_odds) < 1e-9
    assert abs(sum(told.totals.values()) - told.log_odds) < 1e-9
    named = dict(told.parts)
    assert told.totals["attributes"] == pytest.approx(
        sum(value for what, value in named.items() if "office" in what or "age" in what)
    )
    i, j = (model.graph_.index(node) for node in pair)
    offices = model.graph_.attributes["office"][[i, j]].tolist()
    wanted = "office unknown" if None in offices else f"{'same' if offices[0] == offices[1] else 'different'} office"
    assert wanted in named


def test_a_model_file_keeps_effects_and_no_columns(model, tmp_path):
    model.save(tmp_path / "m.npz")
    again = kl.load(tmp_path / "m.npz")
    assert again.attributes == ["office", "age"]
    assert not again.graph_.covariates
    assert again.predict_proba(PAIRS) == pytest.approx(model.predict_proba(PAIRS), abs=0)
    for name, column in model.attribute_effects_.items():
        assert list(again.attribute_effects_[name]) == list(column)


def test_a_sample_has_the_links_that_attributes_make():
    graph = people(60, effects=(4.0, 0.0), weight=0.0)
    drawn = KLafter(attributes=["office"], **QUICK).fit(graph).sample(random_state=0)
    same = pair_columns(graph, ["office"])["same office"].matrix() > 0
    assert drawn.links.toarray()[same].mean() > 4 * drawn.links.toarray()[~same].mean()


def test_a_newcomer_brings_its_attributes():
    graph = people(60, effects=(4.0, 0.0), weight=0.0)
    model = KLafter(attributes=["office"], **QUICK).fit(graph)
    offices, nodes = graph.attributes["office"], [0, 1]
    for office in ("o0", "o1"):
        p = model.place(np.array(nodes), attributes={"office": office}).predict_proba()
        assert p[offices == office].mean() > 4 * p[offices != office].mean()
    unknown, other = (model.place(np.array(nodes), attributes=a).predict_proba() for a in (None, {"office": "none"}))
    assert other.max() < unknown.max()
    with pytest.raises(ValueError, match="'town' is none, those of this model are office"):
        model.place(np.array(nodes), attributes={"town": "here"})
    with pytest.raises(ValueError, match="'age' is none, this model was fitted without any"):
        KLafter(**QUICK).fit(graph).place(np.array(nodes), attributes={"age": 3})


def test_newcomers_without_an_attribute_are_added_to_a_fitted_model(model):
    grown = KLafter(attributes=["office", "age"], **QUICK).fit(people())
    assert grown.attribute_effects_["name"] == ["same office", "similar age"]
    begun = dict(zip(grown.attribute_effects_["name"], grown.finest_.coefficients))
    grown.partial_fit([("p0", "new"), ("p1", "new")])
    assert grown.attribute_effects_["name"] == ["same office", "unknown office", "similar age", "unknown age"]
    assert grown.graph_.n_nodes == N + 1
    assert begun["same office"] > 0


def test_a_checkpoint_is_of_the_attributes_that_were_used(tmp_path):
    graph, path = people(), tmp_path / "c.ckpt"
    KLafter(attributes=["office"], **QUICK).fit(graph, checkpoint=path)
    other = graph.replace(attributes={**graph.attributes, "office": graph.attributes["office"][::-1]})
    assert fingerprint(graph) == fingerprint(other)
    with pytest.raises(ValueError, match="checkpoint of a fit to other data"):
        KLafter(attributes=["office"], **QUICK).fit(other, checkpoint=path)
    assert KLafter(attributes=["office"], **QUICK).fit(graph, checkpoint=path).n_communities_ >= 0


def test_the_search_for_settings_knows_attributes():
    quick = KLafter(attributes=["office"], n_init=1, n_smooth=0, max_iter=2)
    model = KLafterCV([0.0], cv=2, estimator=quick, random_state=0).fit(people())
    assert model.predict_proba(PAIRS) == pytest.approx(model.best_estimator_.predict_proba(PAIRS))
    assert model.attribute_effects_["name"] == ["same office"]


def test_the_report_says_what_attributes_count(model):
    words = " ".join(gather(model).words)
    assert "communities, which are what they do not explain: same office: odds ratio" in words
    assert "90% interval" in words


# ---- the command line


def test_the_command_line_takes_attributes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graph = people()
    links, nodes = tmp_path / "l.tsv", tmp_path / "n.csv"
    rows = np.argwhere(np.triu(graph.links.toarray()))
    links.write_text("".join(f"p{i}\tp{j}\n" for i, j in rows))
    known = zip(graph.labels, graph.attributes["office"], graph.attributes["age"])
    nodes.write_text("node,office,age\n" + "".join(f"{a},{b},{c}\n" for a, b, c in known))
    quick = ["--restarts", 1, "--smooth", 30, "-o", "m.npz", "--jobs", 1]
    found = run("fit", links, "--nodes", nodes, "--attributes", "office,age:category", *quick, "--json")
    assert found.exit_code == 0, found.output
    effects = json.loads(found.output)["fit"]["attribute_effects"]
    assert [row["name"] for row in effects] == ["same office", "same age"]
    assert all(row["low"] < row["coefficient"] < row["high"] for row in effects)
    told = run("fit", links, "--nodes", nodes, "--attributes", "office,age", *quick)
    assert "same office: odds ratio" in told.output
    assert "Communities are what attributes do not explain (office, age)." in told.output
    placed = run("place", "m.npz", "p1", "--attribute", "office=o1", "--attribute", "age=41", "--json")
    assert placed.exit_code == 0, placed.output
    assert "'age' is a number here; 'old' is none" in sentence(run("place", "m.npz", "p1", "--attribute", "age=old"))
    assert "this names none" in sentence(run("fit", links, "--nodes", nodes, "--attributes", " , "))
    assert "Did you mean 'office'" in sentence(run("fit", links, "--nodes", nodes, "--attributes", "ofice"))


def test_models_that_ignore_attributes_have_no_such_parameter():
    with pytest.raises(TypeError):
        IRM(attributes=["office"])
