"""Scores that scikit-learn's cross-validation asks of a model on its own, which have no meaning for it.

A scorer such as "roc_auc" compares predictions of held-out rows with y. Rows of a matrix of links are nodes that the
fit has not seen, and a model predicts pairs. scikit-learn would fit all folds, fail to score them, and answer NaN with
a warning; where all fits fail it raises what they said. Scorers are not shown to models: the fit looks for them itself.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

VALIDATION = "sklearn.model_selection._validation"
FOLD = "_fit_and_score"  # the function there that fits a model to one fold and scores it


def refuse_scorer(model: Any) -> None:
    """Refuse to be fitted to a fold whose score would be NaN."""
    asked = _fold_of(model)
    if asked is None:
        return
    name = type(model).__name__
    if asked["estimator"] is not model and asked["estimator"].steps[-1][1] is not model:
        raise ValueError(
            f"Cross-validation leaves nodes out, and a pipeline cannot transform nodes that {name} has not seen. "
            f"Cross-validate what follows {name} on fit_transform(graph), or LinkClassifier({name}(), graph) on pairs."
        )
    if (scorer := _comparing(asked["scorer"])) is not None:
        raise ValueError(
            f"{scorer} compares predictions of rows with y, and rows are nodes that {name} was not fitted to. Leave "
            f"scoring out (the mean log likelihood of new nodes), or use LinkClassifier({name}(), graph) with "
            "pairs, values = klafter.models.dyad_samples(graph), whose rows are pairs of nodes."
        )


def _fold_of(model: Any) -> dict[str, Any] | None:
    """What the fold is fitted and scored with, if that is this model or a pipeline with it."""
    if VALIDATION not in sys.modules:
        return None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == FOLD and frame.f_globals.get("__name__") == VALIDATION:
            known = frame.f_locals
            steps = [step for _, step in getattr(known.get("estimator"), "steps", ())]
            mine = known.get("estimator") is model or any(step is model for step in steps)
            return known if mine and "scorer" in known else None
        frame = frame.f_back
    return None


def _comparing(scorer: Any) -> str | None:
    """A scorer of scikit-learn's that asks for predictions of rows, or one of several that does."""
    from sklearn.metrics import make_scorer

    several = getattr(scorer, "_scorers", None)
    if isinstance(several, dict):
        return next((said for one in several.values() if (said := _comparing(one))), None)
    return repr(scorer) if isinstance(scorer, type(make_scorer(abs))) else None
