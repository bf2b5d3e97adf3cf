"""Families: what a link value y says when the linear predictor is x. One entry each; formulas nowhere else.

    bernoulli   y in {0, 1}, p = 1 / (1 + e^-x)       loss  log(1 + e^x) - y x
    poisson     y in {0, 1, 2, ...}, mean e^x         loss  e^x - y x
    gaussian    y real, mean x, precision tau         loss  tau (y - x)^2 / 2 - log(tau) / 2
    exposure    y in {0, 1}, p = 1 - e^-x, x >= 0     loss  x where y = 0, -log(1 - e^-x) where y = 1

Each loss is minus the log likelihood up to a term in y alone, convex in x. Kernels carry a family as its ``Law``.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from klafter.core.kernel import kernel

BERNOULLI, POISSON, GAUSSIAN, EXPOSURE = 0, 1, 2, 3
CLIP = 40.0  # e^x beyond this is numerically certain, and products of such terms would overflow
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


def _sigmoid(x):
    from scipy.special import expit

    return expit(x)


def _count_draw(x, precision, rng):
    return rng.poisson(np.exp(np.minimum(x, CLIP))).astype(float)


@dataclass(frozen=True)
class Family:
    """What people choose: its values, its mean, and how to draw from it."""

    name: str
    code: int
    mean: object  # x -> E[y]
    probability: object  # (x, precision) -> P(a link, that is y > 0)
    draw: object  # (x, precision, rng) -> y
    values: str  # the link values it allows, in words
    allows: object  # array of link values -> bool
    cure: str
    lower: float = -np.inf  # the smallest x it allows
    canonical: bool = True


def _normal_tail(x, precision):
    """P(y > 1/2): with real values, a link is a value nearer to 1 than to 0."""
    from scipy.special import ndtr

    return ndtr((x - 0.5) * np.sqrt(precision))


def _is_binary(y):
    return bool(np.isin(y, (0.0, 1.0)).all())


def _is_count(y):
    return bool((y >= 0).all() and (y == np.floor(y)).all())


FAMILIES = {
    "bernoulli": Family(
        "bernoulli",
        BERNOULLI,
        mean=_sigmoid,
        probability=lambda x, precision: _sigmoid(x),
        draw=lambda x, precision, rng: (rng.random(np.shape(x)) < _sigmoid(x)).astype(float),
        values="0 or 1",
        allows=_is_binary,
        cure='Use family="poisson" for counts, family="gaussian" for real values, or graph.binarize().',
    ),
    "poisson": Family(
        "poisson",
        POISSON,
        mean=lambda x: np.exp(np.minimum(x, CLIP)),
        probability=lambda x, precision: -np.expm1(-np.exp(np.minimum(x, CLIP))),
        draw=_count_draw,
        values="0, 1, 2, ...",
        allows=_is_count,
        cure='Use family="gaussian" for real values, or graph.binarize().',
    ),
    "gaussian": Family(
        "gaussian",
        GAUSSIAN,
        mean=lambda x: np.asarray(x, float),
        probability=_normal_tail,
        draw=lambda x, precision, rng: rng.normal(x, 1 / np.sqrt(precision)),
        values="real numbers",
        allows=lambda y: True,
        cure="",
    ),
    "exposure": Family(
        "exposure",
        EXPOSURE,
        mean=lambda x: -np.expm1(-np.maximum(x, 0)),
        probability=lambda x, precision: -np.expm1(-np.maximum(x, 0)),
        draw=lambda x, precision, rng: (rng.random(np.shape(x)) < -np.expm1(-np.maximum(x, 0))).astype(float),
        values="0 or 1",
        allows=_is_binary,
        cure='Use family="poisson" for counts, or graph.binarize().',
        lower=0.0,
        canonical=False,
    ),
}


def check_values(family: Family, values, who: str) -> None:
    """Refuse link values that the family cannot have produced."""
    if len(values) and not family.allows(values):
        low, high = min(0.0, values.min()), values.max()
        raise ValueError(
            f'{who}(family="{family.name}") needs links of {family.values}; '
            f"this graph has values from {low:g} to {high:g}. {family.cure}"
        )
