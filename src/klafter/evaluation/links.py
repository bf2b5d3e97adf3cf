"""Measures of link prediction: held-out values against scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

MEASURES = ("roc_auc", "average_precision", "log_loss", "brier", "slope", "expected")
EDGE = 1e-9  # probabilities nearer to 0 or 1 count as so near
STEEPEST = 100.0  # slopes beyond it: links and non-links are apart


def link_measures(values, scores) -> dict[str, float]:
    """How well scores tell links from non-links, and how well they fit as probabilities.

    Parameters
    ----------
    values : (m,) array
        Held-out link values; above zero is a link.
    scores : (m,) array
        One score each, higher for likelier links.

    Returns
    -------
    dict
        ``roc_auc`` (ties averaged) and ``average_precision``, NaN unless there are links and non-links;
        ``log_loss``, ``brier``, ``slope`` (of the log odds of links on those of the scores: above 1 the scores are too
        timid, below too bold) and ``expected`` (links expected over those there are), NaN unless all scores are
        probabilities.

    Examples
    --------
    >>> measures = link_measures([1, 0, 1, 0], [0.9, 0.1, 0.4, 0.4])
    >>> round(measures["roc_auc"], 3)
    0.875
    """
    from sklearn.metrics import average_precision_score, brier_score_loss, log_loss, roc_auc_score

    links, scores = _check(values, scores)
    measures = dict.fromkeys(MEASURES, float("nan"))
    if 0 < links.sum() < len(links):
        measures["roc_auc"] = float(roc_auc_score(links, scores))
        measures["average_precision"] = float(average_precision_score(links, scores))
    if len(links) and scores.min() >= 0 and scores.max() <= 1:
        measures["log_loss"] = float(log_loss(links, scores, labels=[False, True]))
        measures["brier"] = float(brier_score_loss(links, scores, labels=[False, True]))
        measures["slope"] = _slope(links, scores) if 0 < links.sum() < len(links) else float("nan")
        measures["expected"] = float(scores.sum() / links.sum()) if links.any() else float("nan")
    return measures


def _slope(links: np.ndarray, p: np.ndarray) -> float:
    """The slope b of the logistic regression a + b logit p, by Newton's method; NaN where p does not vary."""
    x = logit(np.clip(p, EDGE, 1 - EDGE))
    if np.ptp(x) == 0:
        return float("nan")
    design, beta = np.column_stack([np.ones(len(x)), x]), np.array([0.0, 1.0])
    for _ in range(50):
        q = expit(design @ beta)
        curve = (design * (q * (1 - q))[:, None]).T @ design + 1e-9 * np.eye(2)
        step = np.linalg.solve(curve, design.T @ (links - q))
        beta = beta + step * min(1.0, 2.0 / np.abs(step).max(initial=1e-300))
        if np.abs(step).max() < 1e-8 or abs(beta[1]) > STEEPEST:
            break
    return float(np.clip(beta[1], -STEEPEST, STEEPEST))


def precision_at(values, scores, n: int) -> float:
    """Share of links among the n highest scores, averaged over the orders of tied ones.

    Parameters
    ----------
    values : (m,) array
        1 where there is a link.
    scores : (m,) array
        Higher where one is likelier.
    n : int
        How many of the highest.

    Returns
    -------
    float

    Examples
    --------
    >>> precision_at([1, 0, 1, 0], [0.9, 0.1, 0.4, 0.4], 2)
    0.75
    """
    links, scores = _check(values, scores)
    if not 1 <= n <= len(links):
        raise ValueError(f"precision_at needs n between 1 and {len(links)}, the number of scores; this is {n}.")
    last = -np.partition(-scores, n - 1)[n - 1]
    above, tied = scores > last, scores == last
    return float((links[above].sum() + (n - above.sum()) * links[tied].mean()) / n)


class Calibration(NamedTuple):
    """Bins of predicted probability."""

    predicted: np.ndarray  # mean probability in the bin
    observed: np.ndarray  # share of links in the bin
    n_dyads: np.ndarray


def calibration_curve(values, scores, n_bins: int = 10, strategy: str = "quantile") -> Calibration:
    """Share of links against predicted probability, in bins; empty bins are left out.

    Parameters
    ----------
    values, scores : (m,) arrays
        Held-out link values and their predicted probabilities.
    n_bins : int
    strategy : {"quantile", "uniform"}
        Bins with equal numbers of dyads, or of equal width.

    Returns
    -------
    Calibration

    Examples
    --------
    >>> curve = calibration_curve([0, 0, 1, 1], [0.1, 0.3, 0.7, 0.9], n_bins=2)
    >>> curve.observed.tolist(), curve.n_dyads.tolist()
    ([0.0, 1.0], [2, 2])
    """
    links, scores = _check(values, scores)
    if len(scores) and not (scores.min() >= 0 and scores.max() <= 1):
        raise ValueError(
            f"calibration_curve needs probabilities; these scores go from {scores.min():g} to {scores.max():g}."
        )
    if strategy not in ("quantile", "uniform"):
        raise ValueError(f'calibration_curve needs strategy "quantile" or "uniform"; {strategy!r} is neither.')
    edges = np.linspace(0, 1, n_bins + 1)
    if strategy == "quantile" and len(scores):
        edges = np.quantile(scores, edges)
    which = np.searchsorted(edges[1:-1], scores)
    count = np.bincount(which, minlength=n_bins)
    full = count > 0
    predicted, observed = (np.bincount(which, v, minlength=n_bins)[full] / count[full] for v in (scores, links))
    return Calibration(predicted, observed, count[full])


def _check(values, scores) -> tuple[np.ndarray, np.ndarray]:
    """Links as booleans, scores as finite numbers, as many of each."""
    values, scores = np.asarray(values, float), np.asarray(scores, float)
    if values.ndim != 1 or values.shape != scores.shape:
        raise ValueError(
            f"Measures need one score for each value; there are {values.shape} values, {scores.shape} scores."
        )
    if not (np.isfinite(values).all() and np.isfinite(scores).all()):
        raise ValueError("Measures need finite values and scores; these have NaN or infinity.")
    return values > 0, scores
