"""What a model file may say was fitted: every attribute has a rule, and one without a rule is refused.

A rule takes a value and the model, and gives the value as a fit would have left it, or raises. What it lets through
every method can answer for: kernels see arrays of the type that they were compiled for, and nobody a wrong shape.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from klafter.core.draws import Draw, ExposureDraw, LinearDraw
from klafter.core.responses import RESPONSES
from klafter.search.progress import Step

Rule: TypeAlias = Callable[[Any, Any], Any]

LARGEST = 1e120  # fits take values up to 1e50, and the objective has their squares
REQUIRED = (
    "link_", "response_", "point_", "draws_", "restarts_", "memberships_", "membership_proba_", "affinities_",
    "objective_", "history_", "n_iter_", "precision_", "n_communities_", "n_communities_posterior_", "community_names_",
    "fit_seconds_",
)  # fmt: skip
OF_SAMPLERS = ("trace_", "sweep_seconds_", "n_burned_", "diagnostics_")


def check_fitted(model: Any) -> None:
    """Refuse fitted attributes that no fit could have left; ``graph_`` is there already."""
    has = [name for name in RULES if name in vars(model)]  # in this order: later ones are held against earlier ones
    sampler = OF_SAMPLERS if hasattr(type(model), "diagnostics") else ()
    finest = ("finest_",) if "levels_" in has else ()
    for name in REQUIRED + sampler + finest:
        _need(name in has, name)
    for name in has:
        setattr(model, name, RULES[name](getattr(model, name), model))
    _check_together(model, [model.point_, *model.draws_, *model.restarts_, getattr(model, "finest_", model.point_)])


def _check_together(model: Any, draws: list[Draw]) -> None:
    """All draws are of one kind, that of the link, and know the covariates."""
    _need(len({type(draw) for draw in draws}) == 1, "draws_")
    _need(not _searches(model) or (model.link_ == "exposure") == isinstance(model.point_, ExposureDraw), "link_")
    _need(model.point_.affinities.shape[0] >= model.n_communities_, "point_")
    known = (len(model._covariates(model.graph_)),)
    for draw in draws:
        coefficients = getattr(draw, "coefficients", None)
        _need(coefficients is None or coefficients.shape == known, "coefficients")


def _need(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)


def _searches(model: Any) -> bool:
    """Whether this is a model of 0/1 memberships that a search found."""
    return type(model).__name__ in ("KLafter", "PaperKLafter")


# ---- numbers and words ----------------------------------------------------------------------------------------------


def _numbers(value: Any, kinds: str = "biuf") -> np.ndarray:
    """An array of finite numbers of 64 bits, as kernels take them."""
    array = np.asarray(value)
    _need(array.dtype.kind in kinds, "numbers")
    array = np.ascontiguousarray(array, np.int64 if kinds == "iu" else np.float64).reshape(array.shape)
    _need(bool((np.abs(array) <= LARGEST).all()), "a number that is not finite, or beyond what any fit finds")
    return array


def _count(least: int) -> Rule:
    def rule(value: Any, model: Any) -> int:
        _need(type(value) is int and least <= value < 2**62, "a count")
        return int(value)

    return rule


def _real(least: float = -LARGEST, most: float = LARGEST) -> Rule:
    def rule(value: Any, model: Any) -> float:
        _need(type(value) in (int, float) and least <= value <= most, "a number")
        return float(value)

    return rule


def _weight_or_none(value: Any, model: Any) -> float | None:
    """A number above 0, or None."""
    return None if value is None else _real(math.ulp(0.0))(value, model)


def _one_of(*words: Any) -> Rule:
    def rule(value: Any, model: Any) -> Any:
        _need(type(value) in (str, bool) and value in words, "a word")
        return value

    return rule


def _response(value: Any, model: Any) -> str:
    """What x means: that of the link, but for counts of the sparse engine."""
    _need(value == model.link_ or (model.link_ == "exposure" and value == "rate"), "response_")
    return str(value)


def _words(value: Any, model: Any) -> list[str]:
    _need(isinstance(value, list) and all(isinstance(word, str) for word in value), "words")
    return list(value)


def _names(value: Any, model: Any) -> list[str]:
    _need(len(value) == model.n_communities_, "community_names_")
    return _words(value, model)


def _steps(value: Any, model: Any) -> list[Step]:
    _need(isinstance(value, list) and all(isinstance(step, Step) for step in value), "history_")
    _need(not np.isnan(np.array([step.seconds for step in value])).any(), "history_")
    return list(value)


# ---- draws ----------------------------------------------------------------------------------------------------------


def _draw(value: Any, model: Any) -> Draw:
    """One set of parameters, with arrays of the types that kernels know."""
    _need(isinstance(value, (LinearDraw, ExposureDraw)), "draw")
    fixed: dict[str, Any] = {name: _part(part) for name, part in zip(value._fields, value)}
    draw: Draw = type(value)(**fixed)
    _need(draw.affinities.ndim == draw.memberships.ndim == 2 and draw.fits(model.graph_.n_nodes), "draw")
    if isinstance(draw, LinearDraw):
        _need(type(draw.offset) is float and (draw.sender is None) == (draw.receiver is None), "draw")
        _need(not sparse.issparse(draw.affinities), "draw")
    else:
        _need(type(draw.background) is float and sparse.issparse(draw.affinities) and draw.shared in (0, 1), "draw")
        draw = draw._replace(shared=bool(draw.shared))
    if _searches(model):
        _need(sparse.issparse(draw.memberships) and bool((draw.memberships.data == 1).all()), "draw")
    if RESPONSES[model.response_].nonnegative:
        _need(all(part is None or bool((_values(part) >= 0).all()) for part in draw), "draw")
    return draw


def _part(part: Any) -> Any:
    if part is None or isinstance(part, str):
        return part
    if sparse.issparse(part):
        return sparse.csr_array((_numbers(part.data), part.indices, part.indptr), shape=part.shape)
    array = _numbers(part)
    return array if array.ndim else float(array)


def _values(part: Any) -> np.ndarray:
    return np.asarray(part.data if sparse.issparse(part) else part)


def _draws(value: Any, model: Any) -> list[Draw]:
    _need(isinstance(value, list) and len(value) > 0, "draws_")
    return [_draw(each, model) for each in value]


# ---- covers ---------------------------------------------------------------------------------------------------------


def _cover(value: Any, n: int, k: int) -> Any:
    """Memberships of 0 and 1."""
    _need(value.shape == (n, k) and _values(value).dtype.kind in "biuf", "memberships_")
    _need(bool(np.isin(_values(value), (0, 1)).all()), "memberships_")
    return value.astype(np.int8)


def _membership_proba(value: Any, model: Any) -> Any:
    values = _values(value)
    _need(value.shape == model.memberships_.shape and values.dtype.kind in "biuf", "membership_proba_")
    _need(bool(((values >= 0) & (values <= 1 + 1e-9)).all()), "membership_proba_")
    return value.astype(np.float32 if values.dtype == np.float32 else np.float64)


def _affinities(value: Any, model: Any) -> Any:
    _need(value.shape == (model.n_communities_,) * 2, "affinities_")
    return _part(value)


def _posterior(value: Any, model: Any) -> dict[str, np.ndarray]:
    counts, probability = _numbers(value["n_communities"], "iu"), _numbers(value["probability"])
    _need(len(value) == 2 and counts.ndim == 1 and len(counts) > 0 and probability.shape == counts.shape, "posterior")
    _need(bool((counts >= 0).all() and (np.diff(counts) > 0).all() and (probability >= 0).all()), "posterior")
    _need(abs(float(probability.sum()) - 1) < 1e-6, "posterior")
    return {"n_communities": counts, "probability": probability}


def _levels(value: Any, model: Any) -> dict[str, Any]:
    sizes, scores = _numbers(value["n_communities"], "iu"), _numbers(value["score"])
    merged, shown = _numbers(value["merged"], "iu"), value["shown"]
    _need(len(value) == 5 and sizes.ndim == 1 and 0 < len(sizes) == len(scores) and scores.ndim == 1, "levels_")
    _need(bool((sizes >= 0).all()) and merged.shape == (len(sizes), 2), "levels_")
    _need(bool(((merged >= -1) & (merged < np.append(1, sizes[:-1])[:, None])).all()), "levels_")
    _need(type(shown) is int and 0 <= shown < len(sizes) and sizes[shown] == model.n_communities_, "levels_")
    cover = sparse.csr_array(_cover(value["memberships"], model.graph_.n_nodes, sum(sizes.tolist())))
    return {"memberships": cover, "n_communities": sizes, "score": scores, "merged": merged, "shown": shown}


def _blend_weights(value: Any, model: Any) -> np.ndarray:
    weights = _numbers(value)
    _need(weights.shape == (3,) and bool((weights[1:] >= 0).all()), "blend_weights_")
    return weights


# ---- chains, attributes of nodes, clusters --------------------------------------------------------------------------


def _table(value: Any, model: Any) -> np.ndarray:
    """A number for each chain and sweep; NaN beyond the end of a chain that was stopped."""
    array = np.asarray(value)
    _need(array.dtype.kind == "f" and array.ndim == 2 and array.size > 0, "a table of sweeps")
    return array.astype(np.float64)


def _trace(value: Any, model: Any) -> dict[str, np.ndarray]:
    _need(set(value) == {model._density, "n_communities"}, "trace_")
    tables = {name: _table(part, model) for name, part in value.items()}
    _need(len({table.shape for table in tables.values()}) == 1, "trace_")
    return tables


def _diagnostics(value: Any, model: Any) -> dict[str, dict[str, float]]:
    for line in value.values():
        _need(set(line) == {"ess", "r_hat"}, "diagnostics_")
    return _lines(value, model)


def _selection(value: Any, model: Any) -> dict[str, np.ndarray]:
    columns = {name: _numbers(value[name]) for name in ("n_communities", "log_likelihood") if value}
    _need(len(value) == len(columns) and len({column.shape for column in columns.values()}) <= 1, "selection_")
    return columns


def _effects(value: Any, model: Any) -> dict[str, Any]:
    """One row for each column that the model makes of attributes."""
    names = [str(name) for name in np.asarray(value["name"]).tolist()]
    found: dict[str, Any] = {"name": np.asarray(value["name"]) if isinstance(value["name"], np.ndarray) else names}
    found |= {str(name): _finite_or_missing(column) for name, column in value.items() if name != "name"}
    _need({"coefficient", "low", "high"} <= set(found) and all(len(c) == len(names) for c in found.values()), "effects")
    return found


def _finite_or_missing(column: Any) -> np.ndarray:
    array = np.asarray(column)
    _need(array.dtype.kind in "biuf" and array.ndim == 1, "a column")
    return array


def _lines(value: Any, model: Any) -> dict[str, dict[str, float]]:
    _need(all(type(part) in (int, float) for line in value.values() for part in line.values()), "a table of numbers")
    return dict(value)


RULES: dict[str, Rule] = {
    "link_": _one_of(*RESPONSES),
    "response_": _response,
    "n_features_in_": _count(1),
    "n_communities_": _count(0),
    "point_": _draw,
    "draws_": _draws,
    "restarts_": _draws,
    "finest_": _draw,
    "memberships_": lambda value, model: _cover(value, model.graph_.n_nodes, model.n_communities_),
    "membership_proba_": _membership_proba,
    "affinities_": _affinities,
    "objective_": _real(),
    "history_": _steps,
    "n_iter_": _count(0),
    "precision_": _real(math.ulp(0.0), sys.float_info.max),  # above 0 and finite
    "notes_": _words,
    "n_communities_posterior_": _posterior,
    "community_names_": _names,
    "fit_seconds_": _real(0.0),
    "converged_": _one_of(True, False),
    "prior_": _one_of("counts", "buffet"),
    "links_shared_": _one_of(True, False),
    "degree_prior_": _weight_or_none,
    "levels_": _levels,
    "blend_weights_": _blend_weights,
    "background_": _real(0.0),
    "trace_": _trace,
    "sweep_seconds_": _table,
    "n_burned_": lambda value, model: _numbers(value, "iu"),
    "diagnostics_": _diagnostics,
    "selection_": _selection,
    "n_roles_": _count(1),
    "attribute_effects_": _effects,
    "traffic_": _lines,
}
