"""Fitted attributes: one place sets them, and those of an earlier fit do not stay."""

import ast
from pathlib import Path

import pytest

import klafter
from klafter.datasets import load_karate
from klafter.models import EPM, IRM, LFRM, MMSB, KLafter, KLafterCV
from klafter.models.results.publish import published

ROOT = Path(klafter.__file__).parent
SHARED = {
    "link_", "response_", "point_", "draws_", "restarts_", "memberships_", "affinities_", "objective_", "history_",
    "n_iter_", "precision_", "notes_", "graph_", "n_communities_", "fit_seconds_", "membership_proba_",
    "n_communities_posterior_", "community_names_",
}  # fmt: skip
QUICK = {"n_init": 1, "max_iter": 2, "random_state": 0}
SWEEPS = {"n_burn": 2, "n_draws": 4, "random_state": 0}
SAMPLED = {"chains_", "trace_", "n_burned_", "sweep_seconds_", "diagnostics_"}
CHOSEN = {"cv_results_", "best_index_", "best_params_", "best_score_", "best_estimator_"}
DENSE = {"converged_", "prior_", "finest_", "levels_"}
EXPOSURE = {"converged_", "background_", "prior_", "links_shared_", "degree_prior_"}
MODELS = {
    "logit": (KLafter(**QUICK, n_smooth=0), DENSE),
    "exposure": (KLafter(**QUICK, link="exposure"), EXPOSURE),
    "paper": (KLafter.paper(max_iter=3, random_state=0), set()),
    "lfrm": (LFRM(**SWEEPS), SAMPLED | {"prior_"}),
    "irm": (IRM(**SWEEPS), SAMPLED),
    "mmsb": (MMSB(n_communities=3, **SWEEPS), SAMPLED | {"selection_", "n_roles_"}),
    "epm": (EPM(n_communities=5, **SWEEPS), SAMPLED),
    "cv": (KLafterCV([0.0], cv=2, estimator=KLafter(**QUICK, n_smooth=0), random_state=0), DENSE | CHOSEN),
}


@pytest.mark.parametrize(("model", "own"), MODELS.values(), ids=MODELS)
def test_every_model_has_the_shared_attributes_and_its_own(model, own):
    assert set(published(model.fit(load_karate()))) == SHARED | own


def test_what_only_an_earlier_fit_had_does_not_stay():
    model = KLafter(**QUICK, link="exposure").fit(load_karate())
    assert model.background_ > 0
    assert not hasattr(model.set_params(link="logit").fit(load_karate()), "background_")


def test_a_fit_that_is_refused_leaves_the_last_one():
    model = KLafter(**QUICK, n_smooth=0).fit(load_karate())
    before = {name: getattr(model, name) for name in published(model)}
    with pytest.raises(ValueError, match="at least 1"):
        model.set_params(max_iter=0).fit(load_karate())
    assert all(getattr(model, name) is value for name, value in before.items())


@pytest.mark.parametrize("path", sorted((ROOT / "search").rglob("*.py")), ids=lambda path: path.name)
def test_no_search_is_given_an_estimator(path):
    named = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.arg)]
    assert not [node.lineno for node in named if node.arg == "model"]
