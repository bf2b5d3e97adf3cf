"""Explanations: parts add up to the log odds that are shown, of every model, and mean what they say."""

import json
import re

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logit
from typer.testing import CliRunner

from klafter.cli.app import app
from klafter.core.draws import ExposureDraw, LinearDraw, Part, Parts
from klafter.core.responses import RESPONSES
from klafter.datasets import load_les_miserables
from klafter.graph import Graph, split_dyads
from klafter.models import EPM, IRM, LFRM, MMSB, KLafter, KLafterCV
from klafter.prediction.explain import Reason, match_communities, take_apart
from klafter.report.facts import gather
from klafter.report.suggestions import PARTS, missing_links

N = 24
SWEEPS = {"n_burn": 5, "n_draws": 20, "random_state": 0}
QUICK = {"n_init": 2, "max_iter": 3, "random_state": 0}
MODELS = {
    "KLafter": KLafter(**QUICK, n_smooth=20),
    "KLafter, one draw": KLafter(**{**QUICK, "n_init": 1}, n_smooth=0, structure=0.0),
    "KLafter, cloglog": KLafter(**QUICK, n_smooth=20, link="cloglog"),
    "KLafter, counts": KLafter(**QUICK, n_smooth=20, family="poisson"),
    "KLafter, real values": KLafter(**QUICK, n_smooth=20, family="gaussian"),
    "KLafter, exposure": KLafter(**QUICK, link="exposure"),
    "KLafter, exposure of counts": KLafter(**QUICK, link="exposure", family="poisson", structure=0.0),
    "KLafter, as published": KLafter.paper(max_iter=4, random_state=0),
    "KLafterCV": KLafterCV([0.0], cv=2, estimator=KLafter(**QUICK, n_smooth=9), random_state=0),
    "LFRM": LFRM(**SWEEPS, structure=0.5),
    "IRM": IRM(**SWEEPS),
    "IRM, counts": IRM(**SWEEPS, family="poisson"),
    "MMSB": MMSB(n_communities=3, **SWEEPS, structure=0.3),
    "EPM": EPM(n_communities=8, **SWEEPS),
}


def network(*, directed: bool) -> Graph:
    """Two groups that share some nodes, two nodes without links, some dyads hidden."""
    rng, z = np.random.default_rng(0), np.zeros((N, 2))
    z[:12, 0] = z[9:22, 1] = 1
    y = (rng.random((N, N)) < 0.05 + 0.6 * (z @ z.T > 0)) * (1.0 - np.eye(N))
    y[22:] = y[:, 22:] = 0.0
    return split_dyads(Graph(y if directed else np.triu(y), directed=directed), random_state=1)[0]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_parts_add_up_to_the_log_odds_that_are_shown(model, directed):
    if directed and isinstance(model, EPM):
        pytest.skip("EPM is for undirected graphs")
    model.fit(network(directed=directed))
    pairs = np.random.default_rng(0).permutation(np.argwhere(~np.eye(N, dtype=bool)))[:40]
    shown = logit(np.clip(model.predict_proba(pairs), 1e-12, 1 - 1e-12))
    for (i, j), odds in zip(pairs.tolist(), shown):
        told = model.explain(i, j)
        assert told.log_odds == pytest.approx(odds, abs=1e-9)
        assert sum(value for _, value in told.parts) == pytest.approx(odds, abs=1e-9)
        assert sum(value for _, value in told.largest(4)) == pytest.approx(odds, abs=1e-9)
        assert sum(told.totals.values()) == pytest.approx(odds, abs=1e-9)
        assert len({what for what, _ in told.parts}) == len(told.parts)


def test_of_one_draw_with_logit_link_parts_are_its_parameters():
    model = MODELS["KLafter, one draw"].fit(load_les_miserables())
    point, z = model.point_, model.memberships_
    k = int(z.sum(axis=0).argmax())
    i, j = np.flatnonzero(z[:, k])[:2]
    a, b = model.graph_.label(i), model.graph_.label(j)
    told = dict(model.explain(a, b).parts)
    assert told["how common links are"] == pytest.approx(point.offset)
    assert told[f"how much {a} links in general"] == pytest.approx(point.sender[i])
    assert told[f"how much {b} is linked in general"] == pytest.approx(point.receiver[j])
    assert told[f"both in community {k}"] == pytest.approx(point.affinities[k, k])


def test_of_one_exposure_draw_without_a_common_community_degree_factors_multiply_the_background():
    z = sparse.csr_array(np.array([[1.0, 0.0], [0.0, 1.0]]))
    draw = ExposureDraw(z, sparse.csr_array(np.eye(2)), 1e-5, np.array([3.0, 0.5]), np.array([3.0, 0.5]))
    told = take_apart([draw.parts(0, 1)], RESPONSES["exposure"].probability, [np.arange(2)])
    assert told[Reason("offset")] == pytest.approx(np.log(1e-5), abs=1e-4)
    assert told[Reason("sender")] == pytest.approx(np.log(3.0), abs=1e-4)
    assert told[Reason("receiver")] == pytest.approx(np.log(0.5), abs=1e-4)


def plain_shares(probability, start: np.ndarray, terms: np.ndarray, steps: int = 20_000) -> np.ndarray:
    """The integral of the slope of logit(mean p) in x_d, times the terms, on the way from the start: (terms,)."""
    total, h = np.zeros(terms.shape[1]), 1e-6 * np.abs(terms).max()
    for t in (np.arange(steps) + 0.5) / steps:
        x = start + t * terms.sum(axis=1)
        mean = probability(x).mean()
        slope = (probability(x + h) - probability(x - h)) / (2 * h)
        total += slope @ terms / len(x) / (mean * (1 - mean)) / steps
    return total


@pytest.mark.parametrize(("response", "scale"), [("logit", 1.0), ("exposure", 1.0), ("exposure", 1e-5)])
def test_draws_count_as_far_as_they_move_the_average(response, scale):
    rng, probability = np.random.default_rng(0), RESPONSES[response].probability
    start, terms = rng.normal(-3, 1, 6), rng.normal(0, 2, (6, 3))
    if response == "exposure":
        start, terms = scale * rng.gamma(2.0, size=6), scale * rng.gamma(2.0, size=(6, 3))
    terms[5] = (scale / 3, -scale / 3, 0.0)  # a draw that does not move as a whole
    taken = [Parts(s, [], [Part("covariate", v, t) for t, v in enumerate(row)]) for s, row in zip(start, terms)]
    told = take_apart(taken, probability, [np.zeros(0, int)] * 6)
    slow = plain_shares(probability, start, terms)
    assert [told[Reason("covariate", t)] for t in range(3)] == pytest.approx(slow, abs=0.01)
    assert sum(told.values()) == pytest.approx(logit(probability(start + terms.sum(axis=1)).mean()), abs=1e-9)


def test_communities_of_draws_take_the_numbers_of_those_with_the_same_members():
    z = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 0]])
    other = np.array([[0.0, 0.9], [0.0, 0.8], [0.0, 0.2], [2.0, 0.0], [2.0, 0.0], [0.0, 0.0]])
    finer = np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    draws = [LinearDraw(sparse.csr_array(u), np.eye(2)) for u in (z[:, ::-1], other, finer)]
    assert [match.tolist() for match in match_communities(z, draws)] == [[1, 0], [1, 0], [0, -1]]


def test_no_draw_or_model_without_communities_is_refused():
    none = LinearDraw(sparse.csr_array((4, 0)), np.zeros((0, 0)))
    assert [match.tolist() for match in match_communities(np.zeros((4, 0)), [none, none])] == [[], []]


def test_page_and_command_say_what_explain_says(tmp_path):
    model = KLafter(**QUICK, n_smooth=20).fit(load_les_miserables())
    model.save(tmp_path / "m.npz")
    a, b, _ = model.top_links(1)[0]
    told = model.explain(a, b)
    first = missing_links(model, gather(model).communities).links[0]
    assert [what for what, _ in first.parts] == [what for what, _ in told.largest(PARTS)]
    assert [value for _, value in first.parts] == pytest.approx([value for _, value in told.largest(PARTS)], abs=1e-9)
    assert (first.log_odds, dict(first.totals)) == (pytest.approx(told.log_odds), pytest.approx(told.totals))
    command = ["explain", str(tmp_path / "m.npz"), a, b]
    document = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert [(part["what"], part["value"]) for part in document["parts"]] == told.parts
    assert (document["log_odds"], document["totals"]) == (told.log_odds, told.totals)
    screen = " ".join(CliRunner().invoke(app, command).stdout.split())
    assert f"These add up to {told.log_odds:+.2f}" in screen
    numbers = [float(number) for number in re.findall(r"[+-]\d+\.\d\d(?= )", screen.partition("These")[0])]
    assert numbers == [float(f"{value:.2f}") for _, value in told.largest(20)]
