"""What is known of a cover: how probable each membership is, and how many communities there are.

P(z_ik = 1 | y) of the dense engine averages two answers. The sweeps of the restarts let communities come and go: their
columns are matched to the cover, and say whether such a community is there at all. A chain around the cover keeps its
communities, and says who is in them. On networks drawn from the model the first is calibrated and coarse, the second
too sure; a third of the second beside two thirds of the first predicts best (benchmarks/calibration.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from klafter.core.draws import Matrix
from klafter.core.problem import Problem, State
from klafter.models.results.matching import average_memberships
from klafter.sampling.membership_posterior import membership_posterior
from klafter.search.descend import Outcome

AROUND = 1 / 3  # weight of the chain around the cover


def posterior_of_restarts(
    outcomes: list[Outcome], best: Outcome, shown: State, rng: np.random.Generator
) -> dict[str, Any]:
    """Of the dense engine: probabilities of memberships, and of numbers of communities."""
    draws, finest = social_draws(outcomes), None if shown is best.state else best.state.z.T
    probabilities = probabilities_of_cover(best.problem, shown, [state.z.T for state in draws], finest, rng)
    sizes = [len(distinct(state.z.T)) for state in draws or [shown]]
    return {"membership_proba": probabilities, "n_communities_posterior": count_posterior(sizes)}


def probabilities_of_cover(
    problem: Problem, shown: State, covers: Sequence[Matrix], finest: np.ndarray | None, rng: np.random.Generator
) -> np.ndarray:
    """(n, K) of the memberships of a cover; ``covers`` are sweeps, and ``finest`` is what they are matched to."""
    probabilities = membership_posterior(problem, shown, rng)
    if not covers:
        return probabilities
    return AROUND * probabilities + (1 - AROUND) * average_memberships(shown.z.T, covers, finest)


def social_draws(outcomes: list[Outcome]) -> list[State]:
    """The sweeps of the model itself: where it has sociality, not those without, whose communities stand in for it."""
    draws = [(outcome, state) for outcome in outcomes for state in outcome.draws]
    return [state for outcome, state in draws if state.sender.any() or not outcome.problem.has_sociality]


def fill_in(model: Any) -> None:
    """Where a model knows one cover only, its memberships and their number are certain."""
    if getattr(model, "membership_proba_", None) is None:
        model.membership_proba_ = model.memberships_.astype(np.float64)
    if getattr(model, "n_communities_posterior_", None) is None:
        model.n_communities_posterior_ = count_posterior([model.n_communities_])


def count_posterior(counts: Sequence[int], weights: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Numbers of communities, and how much of the weight each has.

    Examples
    --------
    >>> {name: values.tolist() for name, values in count_posterior([3, 4, 4, 4]).items()}
    {'n_communities': [3, 4], 'probability': [0.25, 0.75]}
    """
    values, where = np.unique(np.asarray(counts, np.int64), return_inverse=True)
    weight = np.bincount(where, weights, minlength=len(values)).astype(float)
    return {"n_communities": values, "probability": weight / weight.sum()}


def distinct(members: np.ndarray) -> np.ndarray:
    """Columns with members, each set of members once, largest first.

    Examples
    --------
    >>> distinct(np.array([[1, 0, 1, 1], [0, 0, 0, 1]])).tolist()
    [3, 0]
    """
    seen: dict[bytes, int] = {}
    for k in np.flatnonzero(members.any(axis=0)).tolist():
        seen.setdefault(np.ascontiguousarray(members[:, k]).tobytes(), k)
    keep = np.array(list(seen.values()), np.int64)
    return keep[np.argsort(-members[:, keep].sum(axis=0, dtype=np.int64), kind="stable")]
