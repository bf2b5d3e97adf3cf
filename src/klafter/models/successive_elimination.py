"""Successive elimination of settings over folds: all run the first folds, those clearly worse leave.

A setting is clearly worse when its paired difference to the best, fold by fold, is on average worse than MARGIN
standard errors; the median standard error of all settings is the least that counts, since two folds may agree by
chance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

MARGIN = 3.0
FIRST = 2  # folds that every setting runs


class Elimination(NamedTuple):
    """What was measured, (settings, folds) each, NaN where a fold was not run."""

    scores: np.ndarray
    seconds: np.ndarray
    alive: np.ndarray  # (settings,): not eliminated


def eliminate_settings(
    n_settings: int,
    n_folds: int,
    evaluate: Callable[[list[tuple[int, int]]], list[tuple[int, int, float, float]]],
    *,
    eliminate: bool = True,
) -> Elimination:
    """Run ``evaluate([(setting, fold), ...])``, which gives (setting, fold, score, seconds); of fewer when stopped."""
    scores, seconds = np.full((2, n_settings, n_folds), np.nan)
    alive = np.ones(n_settings, bool)
    for folds in _rounds(n_folds, eliminate):
        trials = [(setting, fold) for fold in folds for setting in np.flatnonzero(alive).tolist()]
        results = evaluate(trials)
        for setting, fold, score, time in results:
            scores[setting, fold], seconds[setting, fold] = score, time
        if len(results) < len(trials):
            break
        if eliminate:
            alive &= ~clearly_worse(scores[:, : folds[-1] + 1], alive)
    return Elimination(scores, seconds, alive)


def _rounds(n_folds: int, eliminate: bool) -> list[range]:
    if not eliminate or n_folds <= FIRST:
        return [range(n_folds)]
    return [range(FIRST), *(range(fold, fold + 1) for fold in range(FIRST, n_folds))]


def clearly_worse(scores: np.ndarray, alive: np.ndarray) -> np.ndarray:
    """Which settings that are still running are clearly behind the best of them.

    Examples
    --------
    >>> scores = np.array([[0.90, 0.92, 0.91], [0.89, 0.92, 0.91], [0.70, 0.71, 0.73]])
    >>> clearly_worse(scores, np.ones(3, bool)).tolist()
    [False, False, True]
    """
    whole = ~np.isnan(scores[alive]).all(axis=0)
    if whole.sum() < FIRST:
        return np.zeros(len(alive), bool)
    scores = scores[:, whole]
    best = np.argmax(np.where(alive, scores.mean(axis=1), -np.inf))
    behind = scores[best] - scores
    error = behind.std(axis=1, ddof=1) / np.sqrt(behind.shape[1])
    others = alive & (np.arange(len(alive)) != best)
    floor = np.median(error[others]) if others.any() else 0.0
    worse: np.ndarray = others & (behind.mean(axis=1) > MARGIN * np.maximum(error, floor))
    return worse


def results_table(settings: list[dict[str, Any]], result: Elimination) -> dict[str, Any]:
    """The scores as columns, named as scikit-learn names them."""
    scores, n_folds = result.scores, (~np.isnan(result.scores)).sum(axis=1)
    mean = _mean(scores)
    table: dict[str, Any] = {"params": settings}
    table.update({f"param_{name}": np.array([setting[name] for setting in settings]) for name in settings[0]})
    table.update({f"split{fold}_test_score": scores[:, fold] for fold in range(scores.shape[1])})
    table["mean_test_score"] = mean
    table["std_error"] = np.array([_standard_error(row) for row in scores])
    table["n_folds"] = n_folds
    table["eliminated"] = ~result.alive
    table["mean_fit_time"] = _mean(result.seconds)
    table["rank_test_score"] = _ranks(mean, n_folds)
    return table


def _mean(rows: np.ndarray) -> np.ndarray:
    count = (~np.isnan(rows)).sum(axis=1)
    return np.where(count, np.nansum(rows, axis=1) / np.maximum(count, 1), np.nan)


def _standard_error(row: np.ndarray) -> float:
    row = row[~np.isnan(row)]
    return float(row.std(ddof=1) / np.sqrt(len(row))) if len(row) > 1 else float("nan")


def _ranks(mean: np.ndarray, n_folds: np.ndarray) -> np.ndarray:
    """1 is the best; settings that ran more folds come before those that left."""
    order = np.lexsort([np.arange(len(mean)), -np.nan_to_num(mean, nan=-np.inf), -n_folds])
    ranks = np.empty(len(mean), int)
    ranks[order] = np.arange(1, len(mean) + 1)
    return ranks
