"""Responses: what the linear predictor x of a dyad means. All five models predict through one of these.

logit        p = 1 / (1 + e^-x)            exposure     p = 1 - e^-x, x >= 0
log          y ~ Poisson(e^x)              rate         y ~ Poisson(x), x >= 0
identity     y ~ Normal(x, 1 / precision)  probability  p = x
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.special import expit, gammaln, ndtr, xlogy

Formula: TypeAlias = Callable[..., Any]  # of numbers and of arrays

MOST = 1e9  # a count, also one that is drawn: no larger one is fitted
CLIP = 300.0  # of x in e^x: far beyond certainty, and two such factors do not overflow


class Response(NamedTuple):
    """Mean of y, probability of a link, a draw and the log density of y, from x (and the precision, if any)."""

    mean: Formula
    probability: Formula
    draw: Formula
    log_density: Formula
    binary: bool = False  # y is 0 or 1: its mean is the probability of a link
    logarithmic: bool = False  # x is the logarithm of the mean
    inverse: Formula | None = None  # x of a probability, of those with x >= 0

    @property
    def nonnegative(self) -> bool:
        """Whether x >= 0, and at 0 a link is impossible: communities only attract."""
        return self.inverse is not None


def bernoulli_response(probability: Formula, inverse: Formula | None = None) -> Response:
    """Links that are there with a probability."""
    return Response(
        mean=probability,
        probability=lambda x, precision=1.0: probability(x),
        draw=lambda x, rng, precision=1.0: (rng.random(np.shape(x)) < probability(x)).astype(float),
        log_density=lambda y, x, precision=1.0: np.log(
            np.clip(np.where(y > 0, probability(x), 1 - probability(x)), 1e-300, 1)
        ),
        binary=True,
        inverse=inverse,
    )


def _poisson(rate: Formula, inverse: Formula | None = None) -> Response:
    return Response(
        mean=rate,
        probability=lambda x, precision=1.0: -np.expm1(-rate(x)),
        draw=lambda x, rng, precision=1.0: np.minimum(rng.poisson(np.minimum(rate(x), MOST)), MOST),
        log_density=lambda y, x, precision=1.0: xlogy(y, rate(x)) - rate(x) - gammaln(y + 1),
        logarithmic=inverse is None,
        inverse=inverse,
    )


def _normal() -> Response:
    """A real value counts as a link when it is nearer to 1 than to 0."""
    return Response(
        mean=lambda x: np.asarray(x, float),
        probability=lambda x, precision=1.0: ndtr((x - 0.5) * np.sqrt(precision)),
        draw=lambda x, rng, precision=1.0: rng.normal(x, 1 / np.sqrt(precision)),
        log_density=lambda y, x, precision=1.0: 0.5 * np.log(precision / (2 * np.pi)) - 0.5 * precision * (y - x) ** 2,
    )


def _exposure(p: float) -> float:
    return float(-np.log1p(-p))


# families with a response of their own add it here: see ``Family.responds``
RESPONSES = {
    "logit": bernoulli_response(expit),
    "exposure": bernoulli_response(lambda x: -np.expm1(-np.maximum(x, 0.0)), _exposure),
    "probability": bernoulli_response(lambda x: np.clip(x, 0.0, 1.0), float),
    "log": _poisson(lambda x: np.exp(np.minimum(x, CLIP))),
    "rate": _poisson(lambda x: np.maximum(x, 0.0), _exposure),
    "identity": _normal(),
}
