"""Models on their way into a comparison: what they are called, what tells their settings apart, and their structure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from sklearn.base import clone

RUNNING = ("n_jobs",)  # parameters that change how a fit runs, not what it gives


def named(models) -> dict[str, object]:
    """Models by name: the class, or the class with its settings where two would have the same name.

    Examples
    --------
    >>> from klafter.models import KLafter
    >>> list(named([KLafter(), KLafter(penalty=2.0)]))
    ['KLafter()', 'KLafter(penalty=2.0)']
    >>> list(named(KLafter()))
    ['KLafter']
    """
    if isinstance(models, Mapping):
        return dict(models)
    models = models if isinstance(models, (list, tuple)) else [models]
    short = [type(model).__name__ for model in models]
    names = [name if short.count(name) == 1 else " ".join(repr(model).split()) for name, model in zip(short, models)]
    if len(set(names)) < len(names):
        raise ValueError("Two of these models are the same. Give them as a dictionary of names and models.")
    return dict(zip(names, models))


def describe(model) -> str:
    """All parameters of a model, defaults too: what was measured stays true when defaults change.

    Examples
    --------
    >>> from klafter.models import PaperKLafter
    >>> describe(PaperKLafter())[:44]
    'PaperKLafter(max_iter=100, n_communities=1, '
    """
    if not hasattr(model, "get_params"):
        return repr(model)
    params = sorted(model.get_params(deep=False).items())
    return f"{type(model).__name__}({', '.join(f'{k}={_value(v)}' for k, v in params if k not in RUNNING)})"


def describe_fit(model) -> str:
    """The parameters that matter to a fit: all but the weight of the structural expert, which only predicts."""
    if not hasattr(model, "get_params") or "structure" not in model.get_params(deep=False):
        return describe(model)
    return describe(clone(model).set_params(structure=0.0))


def _value(value) -> str:
    if hasattr(value, "get_params"):
        return describe(value)
    if hasattr(value, "__dict__") and type(value).__repr__ is object.__repr__:
        return f"{type(value).__name__}({', '.join(f'{k}={_value(v)}' for k, v in sorted(vars(value).items()))})"
    return repr(list(value)) if isinstance(value, (tuple, np.ndarray)) else repr(value)


def prepared(model, seed: int, structure: float | str | None):
    """A fresh copy with a seed if it has none, and with the structural expert at the weight given."""
    if not hasattr(model, "get_params"):
        return model
    model = clone(model)
    params = model.get_params(deep=False)
    if "random_state" in params and params["random_state"] is None:
        model.set_params(random_state=seed)
    if structure is not None:
        set_structure(model, structure)
    return model


def set_structure(model, structure: float | str) -> None:
    """Give the structural expert to a model, or to the one inside it; a model without the parameter is left alone."""
    params = model.get_params(deep=False)
    if "structure" in params:
        model.set_params(structure=structure)
    elif "estimator" in params:
        inner = clone(model._estimator())
        set_structure(inner, structure)
        model.set_params(estimator=inner)
