"""How the fit went: objective and communities against time, how far restarts agree, and every parameter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from klafter.report.memberships import pattern, sizes


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


def community_stability(z: sparse.csr_array, restarts) -> np.ndarray | None:
    """For each community, the F1 of its best match in another restart, averaged over those; None without others.

    The restart that gave the communities is the one that matches them best, and is left out.
    """
    mine = pattern(z)
    if len(restarts or []) < 2 or mine.shape[1] == 0:
        return None
    f1 = np.array([_best_f1(mine, main_loadings(draw.memberships)) for draw in restarts])
    return np.delete(f1, np.argmax(f1.mean(axis=1)), axis=0).mean(axis=0)


def main_loadings(memberships) -> sparse.csr_array:
    """One where a node loads at least half as much as where it loads most: all memberships when they are 0/1."""
    u = sparse.coo_array(memberships, dtype=float)
    most = np.zeros(u.shape[0])
    np.maximum.at(most, u.row, np.abs(u.data))
    keep = (np.abs(u.data) >= 0.5 * most[u.row]) & (u.data != 0)
    return sparse.csr_array((np.ones(keep.sum()), (u.row[keep], u.col[keep])), shape=u.shape)


def _best_f1(x: sparse.csr_array, y: sparse.csr_array) -> np.ndarray:
    """2 |A and B| / (|A| + |B|) of each community A of x with its best match B in y."""
    best = np.zeros(x.shape[1])
    overlap = sparse.coo_array(x.T @ y)
    if overlap.nnz:
        f1 = 2 * overlap.data / (sizes(x)[overlap.row] + sizes(y)[overlap.col])
        np.maximum.at(best, overlap.row, f1)
    return best


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
