"""How the fit went: objective and communities against time, how far restarts agree, and every parameter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from klafter.report.cover import pattern, sizes


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
    """For each community, the F1 of its best match in another restart, averaged over those; None without others."""
    mine = pattern(z)
    others = [pattern(draw.memberships) for draw in restarts or []]
    itself = next((t for t, other in enumerate(others) if _same(mine, other)), 0)
    others = others[:itself] + others[itself + 1 :]
    if not others or mine.shape[1] == 0:
        return None
    return np.mean([_best_f1(mine, other) for other in others], axis=0)


def _same(x: sparse.csr_array, y: sparse.csr_array) -> bool:
    return x.shape == y.shape and (x != y).nnz == 0


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
