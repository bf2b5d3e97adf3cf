"""Figure 1: AUC against wall-clock time, K-LAFTER and LFRM-MCMC, all from ten communities."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from klafter.datasets import load_dataset
from klafter.evaluation.comparison import mean_and_error
from klafter.evaluation.reproduce import curves
from klafter.evaluation.reproduce.table1 import RESULTS, result_path
from klafter.graph import split_dyads
from klafter.graph.writing import write_json

FULL = {"LFRM-MCMC": 1000, "K-LAFTER, paper": 30, "K-LAFTER": 240}
QUICK = {"LFRM-MCMC": 100, "K-LAFTER, paper": 3, "K-LAFTER": 60}


def figure1(
    quick: bool = False,
    results=RESULTS,
    *,
    network: str = "protein230",
    splits: int | None = None,
    steps: dict[str, int] | None = None,
    data_home=None,
    callback: Callable | None = None,
) -> dict:
    """Measure the curves of Figure 1 on clean splits and save them as ``figure1.json``.

    ``steps`` are sweeps of LFRM-MCMC, iterations of the paper's algorithm, and smoothing sweeps of K-LAFTER.

    Returns
    -------
    dict
        ``curves``: method, split, seconds, cpu_seconds, roc_auc and n_communities after each step; ``summary``: final
        AUC of each method, its seconds to reach LFRM-MCMC's final AUC on each split, as a mean, and those after which
        its mean over splits is at LFRM-MCMC's.
    """
    steps = {**(QUICK if quick else FULL), **(steps or {})}
    graph = load_dataset(network, data_home=data_home)
    _warm_up(graph)
    found: list[dict] = []
    for curve in _curves(graph, splits or (1 if quick else 5), steps):
        found.append(curve)
        if callback is not None and callback(curve):
            break
    content = {"quick": quick, "network": network, "steps": steps, "summary": summary(found), "curves": found}
    write_json(result_path(results, "figure1", quick), content)
    return content


def _curves(graph, splits: int, steps: dict[str, int]) -> Iterator[dict]:
    """Each method on each split."""
    for split in range(splits):
        train, held = split_dyads(graph, random_state=split)
        for method, (states, average) in _methods(train, split, steps).items():
            yield {"method": method, "split": split, **curves.timed(states, held, average)}


def _methods(train, split: int, steps: dict[str, int]) -> dict:
    def rng():
        return np.random.default_rng(split)

    return {
        "LFRM-MCMC": (curves.lfrm_steps(train, rng(), steps["LFRM-MCMC"]), curves.later_half),
        "K-LAFTER": (curves.klafter_steps(train, rng(), steps["K-LAFTER"]), curves.Smoothed()),
        "K-LAFTER, paper": (curves.paper_steps(train, rng(), steps["K-LAFTER, paper"]), curves.last),
    }


def _warm_up(graph) -> None:
    """Compile everything before the clock starts."""
    small = graph.replace(links=graph.links[:30][:, :30], hidden=None, labels=None, attributes=None, covariates=None)
    train = split_dyads(small)[0]
    for steps, _ in _methods(train, 0, {"LFRM-MCMC": 1, "K-LAFTER, paper": 1, "K-LAFTER": 1}).values():
        for _ in steps:
            pass


def summary(found: list[dict]) -> list[dict]:
    """Final AUC of each method, and when it first reached what LFRM-MCMC ends with on the same split."""
    target = {curve["split"]: curve["roc_auc"][-1] for curve in found if curve["method"] == "LFRM-MCMC"}
    rows = []
    for method in dict.fromkeys(curve["method"] for curve in found):
        mine = [curve for curve in found if curve["method"] == method]
        reached = [first_at(curve, target.get(curve["split"], np.nan)) for curve in mine]
        row = {"method": method, "splits": len(mine), "splits_that_reach_it": int(np.isfinite(reached).sum())}
        row["roc_auc"], row["roc_auc_se"] = mean_and_error([curve["roc_auc"][-1] for curve in mine])
        row["seconds"], _ = mean_and_error([curve["seconds"][-1] for curve in mine])
        row["seconds_to_final_lfrm"], _ = mean_and_error(reached)
        for clock in ("seconds", "cpu_seconds"):
            level = first_at(mean_curve(mine, clock), float(np.mean(list(target.values()))))
            row[f"{clock}_to_mean"] = level if np.isfinite(level) else None
        row["cpu_seconds"], _ = mean_and_error([curve["cpu_seconds"][-1] for curve in mine])
        rows.append(row)
    return rows


def mean_curve(found: list[dict], clock: str) -> dict:
    """The mean over splits, step by step, of seconds and AUC; a split that ended stays where it was.

    Examples
    --------
    >>> mean_curve([{"seconds": [1.0, 2.0], "roc_auc": [0.6, 0.8]}, {"seconds": [3.0], "roc_auc": [0.7]}], "seconds")
    {'seconds': [2.0, 2.5], 'roc_auc': [0.65, 0.75]}
    """
    longest = max(len(curve["roc_auc"]) for curve in found)

    def mean(name):
        padded = [curve[name] + curve[name][-1:] * (longest - len(curve[name])) for curve in found]
        return np.mean(padded, axis=0).round(12).tolist()

    return {"seconds": mean(clock), "roc_auc": mean("roc_auc")}


def first_at(curve: dict, target: float) -> float:
    """Seconds after which the AUC first is at the target, NaN if never.

    Examples
    --------
    >>> first_at({"seconds": [1.0, 2.0, 3.0], "roc_auc": [0.6, 0.9, 0.8]}, 0.7)
    2.0
    """
    reached = np.flatnonzero(np.asarray(curve["roc_auc"]) >= target)
    return curve["seconds"][reached[0]] if len(reached) else float("nan")
