"""How much attributes count: coefficients of their columns with standard errors and intervals.

Half of what is said comes from the mode of the best cover, with Laplace's errors given its communities,

    sd(g_p)^2 = (H^-1)_pp        H the Hessian of Q in W, b, s, r and g together

and half from the sweeps, which draw coefficients along with communities. On planted networks the first alone was too
sure, the second often too far from 0, and the half was chosen there: ``benchmarks/attributes.py`` measures the mixture
on networks of the same kind, too few to tell 85% from 90%. Sweeps that leave a column out count as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

from klafter.core.problem import Problem, State
from klafter.core.workspace import open_workspace
from klafter.models.results.posterior import social_draws
from klafter.search.dense.weights import value_and_slope
from klafter.search.dense.weights_kernels import derivatives
from klafter.search.descend import Outcome

TAIL = 0.05  # left out on either side of the interval
RATIOS = {"logit": "odds_ratio", "log": "rate_ratio", "cloglog": "rate_ratio"}  # e^coefficient, by link
FEWEST_SWEEPS = 20
NUDGE = 1e-4  # of parameters, for differences of slopes


def attribute_effects(names: Sequence[str], outcomes: list[Outcome], unit: float, link: str) -> dict[str, Any]:
    """The effects of the last columns of the covariates, which have these names."""
    best = min(outcomes, key=lambda outcome: outcome.score)
    sweeps = np.array([state.coefficients for state in social_draws(outcomes)])
    m = max(len(sweeps), 1000)
    scores = ndtri((np.arange(m) + 0.5) / m)  # as evenly spread as the normal distribution allows
    values = best.state.coefficients + np.outer(scores, laplace_errors(best.problem, best.state))
    if len(sweeps) >= FEWEST_SWEEPS:
        values = np.concatenate([values, np.resize(sweeps, values.shape)])
    values = values[:, -len(names) :] * unit
    centre, (low, high) = values.mean(axis=0), np.quantile(values, [TAIL, 1 - TAIL], axis=0)
    ratio = {RATIOS[link]: np.exp(centre)} if link in RATIOS else {}
    found = {"coefficient": centre, "standard_error": values.std(axis=0), "low": low, "high": high}
    return {"name": list(names), **found, **ratio}


def laplace_errors(problem: Problem, state: State) -> np.ndarray:
    """Standard errors of all coefficients at the mode: H is only multiplied with, by differences of slopes."""
    from scipy.sparse.linalg import LinearOperator, cg

    _, theta, at = value_and_slope(problem, state)
    curvature = derivatives(open_workspace(problem, state), True)[2] + 1.0  # about that of the priors
    size, n_coefficients = len(theta), len(state.coefficients)

    def product(vector: np.ndarray) -> np.ndarray:
        step = NUDGE * np.ravel(vector) / np.linalg.norm(vector)
        change = at(theta + step)[1] - at(theta - step)[1]
        return np.asarray(change * np.linalg.norm(vector) / (2 * NUDGE))

    hessian = LinearOperator((size, size), product, dtype=float)
    nearly = LinearOperator((size, size), lambda vector: np.ravel(vector) / curvature, dtype=float)
    errors = np.empty(n_coefficients)
    for p in range(n_coefficients):
        unit = np.zeros(size)
        unit[size - n_coefficients + p] = 1.0
        column, _ = cg(hessian, unit, M=nearly, rtol=1e-2, maxiter=100)
        errors[p] = np.sqrt(max(column[size - n_coefficients + p], 0.0))
    return errors


def effect_words(effects: dict[str, Any]) -> list[str]:
    """Each effect in words, such as ``same office: odds ratio 7.2 (90% interval 5.1 to 10.3)``."""
    ratio = next((name for name in RATIOS.values() if name in effects), None)
    words = []
    for t, name in enumerate(effects["name"]):
        parts = [float(effects[part][t]) for part in ("coefficient", "low", "high")]
        value, low, high = np.exp(parts) if ratio else parts
        what = ratio.replace("_", " ") if ratio else "coefficient"
        words.append(f"{name}: {what} {value:.3g} (90% interval {low:.3g} to {high:.3g})")
    return words
