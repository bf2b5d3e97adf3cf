"""How well held-out links were predicted: curves and measures, beside those of the trivial baselines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

POINTS = 200  # of a curve


@dataclass(frozen=True)
class PredictorScores:
    """The curves and measures of one predictor."""

    name: str
    measures: dict[str, float | None]
    roc: tuple[list[float], list[float]]  # false and true positive rate
    precision_recall: tuple[list[float], list[float]]  # recall and precision


@dataclass(frozen=True)
class HeldOut:
    """Scores of the model and of the baselines on held-out dyads."""

    n_dyads: int
    n_links: int
    predictors: list[PredictorScores]  # the model first
    calibration: tuple[list[float], list[float], list[int]] | None  # predicted, observed, dyads


def evaluate_held_out(model, pairs, values) -> HeldOut | None:
    """The model and each baseline on held-out dyads; None unless there are links and non-links among them."""
    from klafter.evaluation import BASELINES, calibration_curve

    pairs, values = model.graph_.pair_indices(pairs), np.asarray(values, float)
    links = values > 0
    if not 0 < links.sum() < len(links):
        return None
    p = model.predict_proba(pairs)
    scores = {type(model).__name__: p}
    scores |= {name: predict(model.graph_, pairs) for name, predict in BASELINES.items()}
    curve = calibration_curve(values, p)
    return HeldOut(
        n_dyads=len(links),
        n_links=int(links.sum()),
        predictors=[score_predictor(name, links, each) for name, each in scores.items()],
        calibration=(curve.predicted.tolist(), curve.observed.tolist(), curve.n_dyads.tolist()),
    )


def score_predictor(name: str, links: np.ndarray, scores: np.ndarray) -> PredictorScores:
    """One predictor; measures that its scores do not allow are None."""
    from sklearn.metrics import precision_recall_curve, roc_curve

    from klafter.evaluation import link_measures

    measures = link_measures(links, scores)
    false, true, _ = roc_curve(links, scores)
    precision, recall, _ = precision_recall_curve(links, scores)
    return PredictorScores(
        name,
        {key: value if np.isfinite(value) else None for key, value in measures.items()},
        _thin(false, true),
        _thin(recall[::-1], precision[::-1]),
    )


def _thin(x: np.ndarray, y: np.ndarray) -> tuple[list[float], list[float]]:
    """At most POINTS points of a curve, ends included, evenly along its length."""
    length = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    want = np.linspace(0, length[-1], min(POINTS, len(x)))
    keep = np.unique(np.clip(np.searchsorted(length, want), 0, len(x) - 1))
    return x[keep].tolist(), y[keep].tolist()
