"""How the fit went: objective and communities against time, how far restarts agree, and every parameter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Run:
    """One restart or chain."""

    number: int
    seconds: list[float]
    objective: list[float]
    n_communities: list[int]


def runs(model, most: int = 400) -> list[Run]:
    """The history of each restart, thinned to ``most`` points."""
    found = []
    history = getattr(model, "history_", None) or []
    for number in sorted({line.run for line in history}):
        lines = [line for line in history if line.run == number]
        keep = np.unique(np.linspace(0, len(lines) - 1, min(most, len(lines))).astype(int))
        lines = [lines[t] for t in keep]
        found.append(
            Run(
                number,
                [float(line.seconds) for line in lines],
                [float(line.objective) for line in lines],
                [int(line.n_communities) for line in lines],
            )
        )
    return found


def parameters(model) -> list[tuple[str, str]]:
    """Every constructor parameter, as text."""
    given = model.get_params(deep=False)
    return [(name, _show(value)) for name, value in given.items()]


def _show(value) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."


@dataclass(frozen=True)
class Setting:
    """A setting that was tried over folds, and how it did."""

    parameters: str
    score: float
    error: float
    n_folds: int
    chosen: bool


def settings_tried(model) -> list[Setting]:
    """The settings of a model that chose among several, best first; none for other models."""
    table = getattr(model, "cv_results_", None)
    if table is None:
        return []
    rows = [
        Setting(
            ", ".join(f"{name} = {value}" for name, value in table["params"][t].items()),
            float(table["mean_test_score"][t]),
            float(table["std_error"][t]),
            int(table["n_folds"][t]),
            t == model.best_index_,
        )
        for t in range(len(table["params"]))
    ]
    return sorted(rows, key=lambda row: (not row.chosen, -row.score))
