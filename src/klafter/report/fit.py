"""How the fit went: what chose it against time, how many communities were found how often, and every parameter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SCORE = "score F, minus the log probability of links and memberships"
DENSITY = "minus the log density of the state"
PAPER = "objective Q of the paper"


@dataclass(frozen=True)
class Run:
    """One restart or chain; lists are its history."""

    number: int
    seconds: list[float]
    objective: list[float]
    n_communities: list[int]
    lowest: float  # of what chose the fit
    n_found: int  # communities where it was lowest
    chosen: bool  # whether its communities are those of the report


@dataclass(frozen=True)
class Count:
    """How probable a number of communities is."""

    n_communities: int
    probability: float


def runs(model, most: int = 400) -> list[Run]:
    """The history of each restart, thinned to ``most`` points, the last and the lowest among them."""
    history = getattr(model, "history_", None) or []
    parts: dict[int, list] = {}
    for line in history:
        parts.setdefault(line.run, []).append(line)
    best = {number: min(lines, key=lambda line: line.objective) for number, lines in parts.items()}
    chosen = min(best, key=lambda number: abs(best[number].objective - selected_score(model)), default=None)
    return [_run(number, parts[number], best[number], number == chosen, most) for number in sorted(parts)]


def _run(number: int, lines: list, best, chosen: bool, most: int) -> Run:
    some = np.linspace(0, len(lines) - 1, min(most, len(lines))).astype(int)
    kept = [lines[t] for t in np.union1d(some, lines.index(best))]
    return Run(
        number,
        [float(line.seconds) for line in kept],
        [float(line.objective) for line in kept],
        [int(line.n_communities) for line in kept],
        float(best.objective),
        int(best.n_communities),
        chosen,
    )


def selected_score(model) -> float:
    """The number that chose the fit: that of the finest level, since coarser ones are made of it."""
    levels = getattr(model, "levels_", None)
    return float(levels["score"][0] if levels else getattr(model, "objective_", np.nan))


def criterion(model) -> str:
    """What chose the fit, in words; lower is better."""
    return SCORE if hasattr(model, "prior_") else DENSITY if hasattr(model, "chains_") else PAPER


def counts(model) -> list[Count]:
    """How probable each number of communities is; empty where only one is known."""
    table = getattr(model, "n_communities_posterior_", None)
    if table is None or len(table["n_communities"]) < 2:
        return []
    return [Count(int(k), float(p)) for k, p in zip(table["n_communities"], table["probability"])]


def parameters(model) -> list[tuple[str, str]]:
    """Every constructor parameter, as text."""
    texts = {name: repr(value) for name, value in model.get_params(deep=False).items()}
    return [(name, text if len(text) <= 120 else text[:117] + "...") for name, text in texts.items()]


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
