"""What follows from a table of AUCs: is K-LAFTER level with the best of its siblings?"""

from __future__ import annotations

import numpy as np

SIBLINGS = ("MMSB", "EPM", "IRM", "LFRM")


def networks_of(tables: list[dict]) -> list[str]:
    """The networks, in order."""
    return list(dict.fromkeys(table["network"] for table in tables))


def auc_of(table: dict, model: str) -> tuple[float, float] | None:
    """AUC of a model on one network, and its standard error (0 with a single split)."""
    for row in table["rows"]:
        if row["model"] == model and row["roc_auc"] is not None:
            return row["roc_auc"], row["roc_auc_se"] or 0.0
    return None


def mean_row(tables: list[dict], model: str) -> float | None:
    """Mean AUC over the networks, None unless the model has all of them."""
    found = [auc_of(table, model) for table in tables]
    return None if None in found else float(np.mean([auc[0] for auc in found if auc]))


def against_siblings(tables: list[dict], ending: str = "") -> dict:
    """K-LAFTER beside the best sibling: level within one standard error on each network, and the means.

    Examples
    --------
    >>> row = {"roc_auc": 0.9, "roc_auc_se": 0.01}
    >>> rows = [{"model": "KLafter", **row}, {"model": "IRM", **row, "roc_auc": 0.905}]
    >>> against_siblings([{"network": "karate", "rows": rows}])["networks"]
    {'karate': True}
    """
    networks = {}
    for table in tables:
        mine = auc_of(table, f"KLafter{ending}")
        others = [auc for name in SIBLINGS if (auc := auc_of(table, f"{name}{ending}"))]
        if mine and others:
            best = max(others)
            networks[table["network"]] = mine[0] + max(mine[1], best[1]) >= best[0]
    means = {name: mean_row(tables, f"{name}{ending}") for name in SIBLINGS}
    known = {name: mean for name, mean in means.items() if mean is not None}
    sibling = max(known, key=lambda name: known[name], default=None)
    mean = mean_row(tables, f"KLafter{ending}")
    if sibling is None or mean is None:
        return {"networks": {}, "mean": mean, "sibling": sibling, "sibling_mean": None}
    gap, error = paired_difference(tables, f"KLafter{ending}", f"{sibling}{ending}")
    beside = {"mean": mean, "sibling": sibling, "sibling_mean": known[sibling], "difference": gap, "error": error}
    return {"networks": networks, **beside}


def paired_difference(tables: list[dict], model: str, other: str) -> tuple[float, float]:
    """Mean over networks of the difference of AUC on the same splits, and its standard error; NaN where none is saved.

    Examples
    --------
    >>> rows = [{"model": "a", "aucs": [0.9, 0.8]}, {"model": "b", "aucs": [0.8, 0.7]}]
    >>> [round(number, 3) for number in paired_difference([{"rows": rows}], "a", "b")]
    [0.1, 0.0]
    """
    gaps = []
    for table in tables:
        aucs = {row["model"]: row.get("aucs", []) for row in table["rows"]}
        gaps.append(np.subtract(*(aucs[name] for name in (model, other))) if aucs[model] else np.array([np.nan]))
    means = [gap.mean() for gap in gaps]
    errors = [gap.std(ddof=1) / len(gap) ** 0.5 if len(gap) > 1 else np.nan for gap in gaps]
    return float(np.mean(means)), float(np.sqrt(np.square(errors).sum()) / len(gaps))
