"""Models side by side on the same hidden dyads, with trivial baselines so that nobody is fooled."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.base import clone

from klafter.evaluation.baselines import BASELINES
from klafter.evaluation.comparison import Comparison
from klafter.evaluation.links import link_measures
from klafter.evaluation.protocols import PROTOCOL_NAMES, check_protocol, make_splits
from klafter.evaluation.rivals import RIVALS
from klafter.evaluation.saved import Saved
from klafter.graph import Graph, as_graph
from klafter.graph.fingerprint import fingerprint
from klafter.models.base import NetworkModel
from klafter.models.interrupt import Interrupt

RUNNING = ("n_jobs",)  # parameters that change how a fit runs, not what it gives


def compare(
    models,
    graph,
    protocol: str = "clean",
    splits: int | Sequence[tuple] = 5,
    fraction: float = 0.2,
    *,
    baselines: bool | str = True,
    structure: float | str | Sequence[float | str] | None = None,
    random_state: int = 0,
    results=None,
    callback: Callable | None = None,
) -> Comparison:
    """Compare how well models predict hidden links.

    Each split hides the same dyads from every model; differences are therefore paired. A model is anything with
    ``fit(graph)`` and ``predict_proba(pairs)``.

    Parameters
    ----------
    models : model, list of models, or dict of names and models
    graph : Graph, or what ``as_graph`` takes
    protocol : {"clean", "entries", "unguarded", "balanced", "degree-corrected", "given"}
        What is hidden: ``clean`` and ``entries`` (the paper's, where mirrors of hidden entries stay visible) as in
        ``split_dyads``; ``unguarded`` is clean but lets nodes lose all links; ``balanced`` is SEAL's, as many non-links
        as links and no guard; ``degree-corrected`` draws non-links with the degrees of links; ``given`` is for
        ``splits`` of your own.
    splits : int, or list of (train, held)
        Splits are seeded ``random_state``, ``random_state + 1``, ...; models without a seed take that of the split.
    fraction : float
        Share of the dyads to hide.
    baselines : bool or "all"
        Whether the trivial baselines stand in the table; "all" adds those of ``RIVALS``.
    structure : float, "auto", or sequence of these, optional
        Weight of the structural expert, given to every model that can have it (0: to none); None leaves each its own,
        "auto" lets each learn it. With several weights each model stands in the table with each of them, from one fit.
    random_state : int
        Seed of the first split.
    results : path, optional
        A JSON file of all runs, whole after every fit. What is already there is not run again; a fit that was cut
        short goes on from a checkpoint beside the file, and has no time.
    callback : callable, optional
        Called with each record as it is measured; returning True ends the comparison with what there is.

    Returns
    -------
    Comparison
        With ``rows``, ``records``, ``difference(model, other)``, ``to_markdown()`` and ``to_json()``.

    Examples
    --------
    >>> from klafter.datasets import load_karate
    >>> from klafter.models import KLafter
    >>> table = compare(KLafter(n_init=1, n_smooth=0, max_iter=2), load_karate(), splits=2)
    >>> sorted(row["model"] for row in table.rows)
    ['Adamic-Adar', 'KLafter', 'common neighbours', 'degree product', 'resource allocation']
    """
    graph, contestants = as_graph(graph), named(models)
    check_protocol(protocol, splits)
    saved, task = Saved(results), f"{fingerprint(graph)} {protocol} {fraction:g}"
    records: list[dict] = []
    for seed, train, held in make_splits(graph, protocol, splits, fraction, random_state):
        for name, key, run in _runs(contestants, baselines, structure, seed, train, held, saved):
            key = f"{key} on {task} split {seed}{fingerprint(train) if protocol == 'given' else ''}"
            if key not in saved:
                saved.add(key, {"split": seed, **run()})
            records.append({"model": name, **saved[key]})
            if callback is not None and callback(records[-1]):
                return Comparison(records, _title(graph, protocol, fraction, structure))
    return Comparison(records, _title(graph, protocol, fraction, structure))


def _runs(
    contestants: dict, baselines: bool | str, structure, seed: int, train: Graph, held, saved: Saved
) -> Iterator[tuple]:
    """(name, what was run, how to run it) of every model and baseline on one split."""
    levels, data = structure if _several(structure) else [structure], fingerprint(train)
    for name, model in contestants.items():
        fits: dict[str, tuple] = {}
        seen: set[str] = set()
        places: set[Path] = set()
        for level in levels:
            ready = prepared(model, seed, level)
            key = describe(ready)
            if key in seen:  # a model that cannot have the expert stands in the table once
                continue
            seen.add(key)
            place = saved.checkpoint(f"{describe_fit(ready)} on {data}")
            if place is not None:
                places.add(place)
            full_name = f"{name} + {_weight(level)} expert" if level and len(levels) > 1 else name
            yield full_name, key, partial(_run_model, ready, train, held, fits, place, "auto" in levels)
        for done in places:
            done.unlink(missing_ok=True)
    if baselines:
        for name, score in (BASELINES | RIVALS if baselines == "all" else BASELINES).items():
            yield name, name, partial(_run_baseline, score, train, held)


def _run_model(model, train: Graph, held, fits: dict, checkpoint: Path | None, learned: bool) -> dict:
    """Fit, unless the same model was fitted before, predict, measure; the seconds are those of fit and prediction."""
    fitted, seconds = _fit(model, train, fits, checkpoint, learned)
    begun = time.perf_counter()
    scores = fitted.predict_proba(held.pairs)
    seconds += time.perf_counter() - begun
    n_communities = getattr(fitted, "n_communities_", float("nan"))
    return {**link_measures(held.values, scores), "seconds": seconds, "n_communities": n_communities}


def _fit(model, train: Graph, fits: dict, checkpoint: Path | None, learned: bool) -> tuple:
    """The fitted model and its seconds; one fit serves all weights of the expert, and learns them if one is learned."""
    key, has_expert = describe_fit(model), "structure" in getattr(model, "get_params", dict)()
    level = model.structure if has_expert else None
    if key not in fits:
        how = {"checkpoint": checkpoint} if checkpoint is not None and isinstance(model, NetworkModel) else {}
        resumed, begun = any(place.exists() for place in how.values()), time.perf_counter()
        if has_expert and learned:
            model.set_params(structure="auto")
        with Interrupt() as interrupt:
            model.fit(train, **how)
        if interrupt.happened:  # the best so far is no measurement of the model
            raise KeyboardInterrupt
        fits[key] = model, math.nan if resumed else time.perf_counter() - begun
    fitted, seconds = fits[key]
    if has_expert:
        fitted.set_params(structure=level)
    return fitted, seconds


def _run_baseline(score: Callable, train: Graph, held) -> dict:
    """A baseline ranks dyads: its scores are no probabilities, so it has no log loss."""
    begun = time.perf_counter()
    scores = score(train, held.pairs)
    seconds = time.perf_counter() - begun
    measures = link_measures(held.values, scores)
    measures.update(dict.fromkeys(("log_loss", "brier", "slope", "expected"), float("nan")))
    return {**measures, "seconds": seconds, "n_communities": float("nan"), "baseline": True}


def _title(graph: Graph, protocol: str, fraction: float, structure) -> str:
    one = structure is not None and not _several(structure)
    expert = f", structural expert {f'at {_weight(structure)}' if structure else 'off'} for all" if one else ""
    share = "" if protocol == "given" else f", {fraction:.0%} hidden"
    return f"{graph!r}, {PROTOCOL_NAMES[protocol]}{share}{expert}"


def _several(structure) -> bool:
    return isinstance(structure, Sequence) and not isinstance(structure, str)


def _weight(structure: float | str) -> str:
    return "learned" if structure == "auto" else f"{structure:g}"


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
