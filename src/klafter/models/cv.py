"""KLafterCV: penalty, temperature and prior scales chosen by folds over the visible dyads."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from klafter.core.draws import Draw
from klafter.graph import DyadKFold, Graph
from klafter.models.base import NetworkModel, Run
from klafter.models.checks import MOST_RUNS, check_choice
from klafter.models.interrupt import Interrupt
from klafter.models.klafter import KLafter
from klafter.models.results.publish import Fitted, adopted
from klafter.models.storage.checkpoint import run_kept
from klafter.models.successive_elimination import Elimination, eliminate_settings, results_table
from klafter.search.progress import Callback, Progress

GRIDS = {
    "penalty": "penalties",
    "temperature": "temperatures",
    "weight_scale": "weight_scales",
    "offdiagonal_scale": "offdiagonal_scales",
}


class KLafterCV(NetworkModel):
    """K-LAFTER with its settings chosen inside the visible dyads.

    Every setting of the grid is fitted on the first two folds; those clearly behind the best leave, the others run
    the remaining folds; the best is fitted again to all that is visible. Dyads that are hidden stay hidden throughout.

    Parameters
    ----------
    penalties : sequence of float
        Prices of one more community, lambda^2 in the paper.
    temperatures, weight_scales, offdiagonal_scales : sequence of float, optional
        Further values to try; None keeps those of ``estimator``.
    cv : int or splitter
        Number of folds, or an object like ``DyadKFold`` that gives pairs of (train, held).
    scoring : {"roc_auc", "log_likelihood"}
        What the folds measure on their hidden dyads.
    eliminate : bool
        Whether settings that are clearly worse leave early.
    estimator : KLafter, optional
        All other parameters; default ``KLafter()``.
    n_jobs : int, optional
        Fits run side by side: None is 1, -1 all cores. The result does not depend on it.
    random_state : int, optional
        Seeds the folds, and the fits when ``estimator`` has no seed.

    Attributes
    ----------
    best_params_ : dict
    best_score_ : float
        Mean over folds.
    best_estimator_ : KLafter
        Fitted to all that is visible; its attributes and methods are those of this object too.
    cv_results_ : dict of columns
        ``params``, ``param_*``, ``split*_test_score`` (NaN where a setting had left), ``mean_test_score``,
        ``std_error``, ``n_folds``, ``eliminated``, ``mean_fit_time``, ``rank_test_score``.

    Examples
    --------
    >>> from klafter.datasets import load_karate
    >>> from klafter.models import KLafter
    >>> quick = KLafter(n_init=1, n_smooth=0, max_iter=2)
    >>> model = KLafterCV([0.0, 30.0], cv=2, estimator=quick, random_state=0).fit(load_karate())
    >>> sorted(model.best_params_)
    ['penalty']
    """

    best_params_: dict[str, Any]
    best_score_: float
    best_estimator_: Any
    cv_results_: dict[str, Any]

    def __init__(
        self,
        penalties: Sequence[float] = (-1.0, 0.0, 1.0, 3.0),
        *,
        temperatures: Sequence[float] | None = None,
        weight_scales: Sequence[float] | None = None,
        offdiagonal_scales: Sequence[float] | None = None,
        cv: Any = 5,
        scoring: str = "roc_auc",
        eliminate: bool = True,
        estimator: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.penalties = penalties
        self.temperatures = temperatures
        self.weight_scales = weight_scales
        self.offdiagonal_scales = offdiagonal_scales
        self.cv = cv
        self.scoring = scoring
        self.eliminate = eliminate
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def paper(
        cls,
        penalties: Sequence[float] = (0.125, 0.25, 0.5, 1.0, 2.0),
        *,
        cv: int = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> KLafterCV:
        """The paper's choice of lambda: k folds of entries, every value to the end, its own objective."""
        folds = DyadKFold(cv, protocol="entries", random_state=random_state)
        estimator = KLafter.paper()
        return cls(penalties, cv=folds, eliminate=False, estimator=estimator, n_jobs=n_jobs, random_state=random_state)

    @property
    def structure(self) -> float | str:
        """Weight of the structural expert, that of ``estimator``."""
        found: float | str = self._estimator().structure
        return found

    @property
    def family(self) -> str:
        """What links are, as ``estimator`` takes them."""
        return str(getattr(self._estimator(), "family", "bernoulli"))

    def _estimator(self) -> Any:
        return KLafter() if self.estimator is None else self.estimator

    def _settings(self) -> list[dict[str, Any]]:
        """The grid, first parameter slowest."""
        grids = {name: getattr(self, many) for name, many in GRIDS.items() if getattr(self, many) is not None}
        return [dict(zip(grids, values)) for values in product(*grids.values())]

    def _check_parameters(self, graph: Graph) -> None:
        check_choice(self, "scoring", SCORES)
        for many in GRIDS.values():
            values = getattr(self, many)
            if values is not None and (isinstance(values, str) or not hasattr(values, "__iter__")):
                raise ValueError(f"KLafterCV needs {many} to be a list of numbers, such as [0.5]; it is {values!r}.")
        if not self._settings() or not self._settings()[0]:
            raise ValueError("KLafterCV needs at least one setting to try; pass penalties=[0.5], for example.")
        if not hasattr(self.cv, "split") and not (isinstance(self.cv, (int, np.integer)) and 2 <= self.cv <= MOST_RUNS):
            rule = f"a number of folds from 2 to {MOST_RUNS:,}, or a splitter"
            raise ValueError(f"KLafterCV needs cv to be {rule}; it is {self.cv!r}.")
        for setting in self._settings():
            clone(self._estimator()).set_params(**setting)._check_parameters(graph)

    def _fit(self, graph: Graph, run: Run) -> Fitted:
        fold_seed, fit_seed = run.seeds.spawn(2)
        settings, models = self._settings(), self._models(fit_seed)
        splitter = (
            self.cv if hasattr(self.cv, "split") else DyadKFold(self.cv, random_state=np.random.default_rng(fold_seed))
        )
        folds = list(splitter.split(graph))
        evaluate = partial(self._evaluate, models, folds, run.callback, run.client)
        result = eliminate_settings(len(settings), len(folds), evaluate, eliminate=self.eliminate)
        self._check_scores(result)
        table = results_table(settings, result)
        best = int(np.argmin(table["rank_test_score"]))
        estimator = _set_known(models[best], n_jobs=self.n_jobs).fit(
            graph, callback=run.callback, client=run.client, checkpoint=self._store.within("best")
        )
        return adopted(
            estimator,
            cv_results=table,
            best_index=best,
            best_params=table["params"][best],
            best_score=float(table["mean_test_score"][best]),
            best_estimator=estimator,
        )

    def _models(self, seed: np.random.SeedSequence) -> list[Any]:
        """One estimator for each setting, all with the same seed: differences are then due to the settings."""
        base = _set_known(clone(self._estimator()), n_jobs=None)
        if base.random_state is None:
            base.set_params(random_state=int(seed.generate_state(1)[0] >> 1))
        return [clone(base).set_params(**setting) for setting in self._settings()]

    def _evaluate(
        self,
        models: list[Any],
        folds: list[Any],
        callback: Callback,
        client: Any,
        trials: list[tuple[int, int]],
    ) -> list[tuple[int, int, float, float]]:
        """Fit and score some (setting, fold), side by side; those done when the callback or Ctrl-C ends it."""
        tasks = [(setting, fold, clone(models[setting]), *folds[fold]) for setting, fold in trials]
        report = None if client is not None else partial(_report, callback, len(folds), len(models))
        name = f"trials.{trials[0][0]}.{trials[0][1]}"
        results = run_kept(self._store, name, partial(_trial, self.scoring, report), tasks, self.n_jobs, client)
        return [tuple(result) for result in results.values() if result is not None]

    def _check_scores(self, result: Elimination) -> None:
        if np.isnan(result.scores).all() and result.seconds.size and not np.isnan(result.seconds).all():
            raise ValueError(
                f"KLafterCV found no fold with links and non-links to score by {self.scoring!r}. "
                'Use fewer folds, or scoring="log_likelihood".'
            )

    def _prediction_draws(self) -> Sequence[Draw]:
        draws: Sequence[Draw] = self.best_estimator_._prediction_draws()
        return draws

    def _covariates(self, graph: Graph) -> dict[str, Any]:
        known: dict[str, Any] = self.best_estimator_._covariates(graph)
        return known

    def at_level(self, n_communities: int) -> KLafter:
        """The best estimator with the communities of another of its levels.

        Parameters
        ----------
        n_communities : int
            How many communities the level has.

        Returns
        -------
        KLafter
        """
        check_is_fitted(self, "best_estimator_")
        return cast(KLafter, self.best_estimator_.at_level(n_communities))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the best estimator to a file; ``klafter.load`` gives it back as a KLafter.

        Parameters
        ----------
        path : path of the file
        """
        check_is_fitted(self, "best_estimator_")
        self.best_estimator_.save(path)


def _set_known(model: Any, **params: Any) -> Any:
    """The model with those of the parameters that it has."""
    return model.set_params(**{name: value for name, value in params.items() if name in model.get_params(deep=False)})


def _roc_auc(model: Any, held: Any) -> float:
    from sklearn.metrics import roc_auc_score

    links = held.values > 0
    return float(roc_auc_score(links, model.predict_proba(held.pairs))) if 0 < links.sum() < len(links) else np.nan


def _log_likelihood(model: Any, held: Any) -> float:
    return model.score(held.pairs, held.values) if len(held.pairs) else np.nan


SCORES = {"roc_auc": _roc_auc, "log_likelihood": _log_likelihood}


def _trial(
    scoring: str, report: Callable[..., Any] | None, task: tuple[Any, ...], stop: threading.Event | None
) -> tuple[int, int, float, float] | None:
    """One setting on one fold: (setting, fold, score, seconds), or None when stopped on the way."""
    setting, fold, model, train, held = task
    begun = time.perf_counter()
    with Interrupt() as interrupt:
        model.fit(train, callback=interrupt.ends(lambda progress: stop is not None and stop.is_set()))
    seconds = time.perf_counter() - begun
    if interrupt.happened and stop is not None:  # the fit kept its best so far, but the others are not to begin
        stop.set()
    if stop is not None and stop.is_set():
        return None
    score = SCORES[scoring](model, held)
    if report is not None and report(fold, setting, score, model.n_communities_) and stop is not None:
        stop.set()
    return setting, fold, score, seconds


def _report(
    callback: Callback, n_folds: int, n_settings: int, fold: int, setting: int, score: float, n_communities: int
) -> Any:
    return callback(Progress("folds", fold, n_folds, setting + 1, n_settings, score, n_communities))
