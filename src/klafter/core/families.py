"""Families: what a link value y says when the linear predictor is x. One entry each; formulas nowhere else.

    bernoulli   y in {0, 1}, p = 1 / (1 + e^-x)       loss  log(1 + e^x) - y x
    poisson     y in {0, 1, 2, ...}, mean e^x         loss  e^x - y x
    gaussian    y real, mean x, precision tau         loss  tau (y - x)^2 / 2 - log(tau) / 2
    exposure    y in {0, 1}, p = 1 - e^-x, x >= 0     loss  x where y = 0, -log(1 - e^-x) where y = 1

Each loss is minus the log likelihood up to a term in y alone, convex in x. Kernels carry a family as its ``Law``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from klafter.core.responses import CLIP
from klafter.jit.decorators import kernel

BERNOULLI, POISSON, GAUSSIAN, EXPOSURE = 0, 1, 2, 3
BINARIZE = "klafter.as_graph(X).binarize()"  # a cure for whatever a network was given as
TINY = 1e-12  # an exposure of exactly 0 makes a link impossible


class Law(NamedTuple):
    """A family as kernels see it."""

    code: int
    precision: float = 1.0


@kernel
def loss(law, y, x):
    """Minus the log likelihood of y at x, up to a term in y alone."""
    if law.code == BERNOULLI:
        return max(x, 0.0) + np.log1p(np.exp(-abs(x))) - y * x
    if law.code == POISSON:
        return np.exp(min(x, CLIP)) - y * x
    if law.code == GAUSSIAN:
        return 0.5 * law.precision * (y - x) ** 2 - 0.5 * np.log(law.precision)
    if x < 0.0:
        return np.inf
    return x if y == 0.0 else -np.log(-np.expm1(-max(x, TINY)))


@kernel
def slope(law, y, x):
    """Derivative of the loss in x."""
    if law.code == BERNOULLI:
        return 1.0 / (1.0 + np.exp(-x)) - y
    if law.code == POISSON:
        return np.exp(min(x, CLIP)) - y
    if law.code == GAUSSIAN:
        return law.precision * (x - y)
    return 1.0 if y == 0.0 else -1.0 / np.expm1(max(x, TINY))


@kernel
def curvature(law, y, x):
    """Second derivative of the loss in x."""
    if law.code == BERNOULLI:
        p = 1.0 / (1.0 + np.exp(-x))
        return p * (1.0 - p)
    if law.code == POISSON:
        return np.exp(min(x, CLIP))
    if law.code == GAUSSIAN:
        return law.precision
    if y == 0.0:
        return 0.0
    e = np.expm1(max(x, TINY))
    return (e + 1.0) / (e * e)


@dataclass(frozen=True)
class Family:
    """What people choose by name: the response, the link values it allows, and the smallest x."""

    name: str
    code: int
    response: str
    values: str
    allows: Callable[[np.ndarray], bool]
    cure: str = ""
    lower: float = -np.inf


def _is_binary(y):
    return bool(np.isin(y, (0.0, 1.0)).all())


def _is_count(y):
    return bool((y >= 0).all() and (y == np.floor(y)).all())


FAMILIES = {
    family.name: family
    for family in (
        Family(
            "bernoulli", BERNOULLI, "logit", "0 or 1", _is_binary,
            f'Use family="poisson" for counts, family="gaussian" for real values, or {BINARIZE}.',
        ),
        Family(
            "poisson", POISSON, "log", "0, 1, 2, ...", _is_count,
            f'Use family="gaussian" for real values, or {BINARIZE}.',
        ),
        Family("gaussian", GAUSSIAN, "identity", "real numbers", lambda y: True),
        Family(
            "exposure", EXPOSURE, "exposure", "0 or 1", _is_binary,
            f'Use family="poisson" for counts, or {BINARIZE}.', lower=0.0,
        ),
    )
}  # fmt: skip


def check_values(family: Family, values, who: str, cure: str = "") -> None:
    """Refuse link values that the family cannot have produced, with a cure: the family's unless one is given."""
    if len(values) and not family.allows(values):
        low, high = min(0.0, values.min()), values.max()
        name = who if cure else f'{who}(family="{family.name}")'
        odd = next(value for value in np.unique(values) if not family.allows(np.array([value])))
        raise ValueError(
            f"{name} needs links of {family.values}; "
            f"this graph has values from {low:g} to {high:g}, such as {odd:g}. {cure or family.cure}"
        )
