"""Families: what a link value y says when the linear predictor is x. One entry each; formulas nowhere else.

    bernoulli   y in {0, 1}, p = 1 / (1 + e^-x)       loss  log(1 + e^x) - y x
    poisson     y in {0, 1, 2, ...}, mean e^x         loss  e^x - y x
    gaussian    y real, mean x, precision tau         loss  tau (y - x)^2 / 2 - log(tau) / 2
    exposure    y in {0, 1}, p = 1 - e^-x, x >= 0     loss  x where y = 0, -log(1 - e^-x) where y = 1
    cloglog     y in {0, 1}, p = 1 - e^(-e^x)         loss  e^x where y = 0, -log(1 - e^(-e^x)) where y = 1

Each loss is minus the log likelihood up to a term in y alone, convex in x. Kernels carry a family as its ``Law``, and
ask it only for what it declares; a family that declares nothing is right everywhere, and slower.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from klafter.core.responses import CLIP, MOST, RESPONSES, Response, bernoulli_response
from klafter.jit.decorators import kernel

BERNOULLI, POISSON, GAUSSIAN, EXPOSURE, CLOGLOG = 0, 1, 2, 3, 4
BINARIZE = "klafter.as_graph(X).binarize()"  # a cure for whatever a network was given as
TINY = 1e-12  # an exposure of exactly 0 makes a link impossible


class Law(NamedTuple):
    """A family as kernels see it: which loss, and what the ``Family`` declares of it. Made by ``Family.law``."""

    code: int
    precision: float
    logistic: bool
    exponential: bool
    quadratic: bool
    linear: bool
    linear_links: bool
    nonnegative: bool
    splits: bool  # whether a sum over dyads may be taken as non-links all, and corrected at the links


@kernel
def loss(law, y, x):
    """Minus the log likelihood of y at x, up to a term in y alone."""
    if law.code == BERNOULLI:
        return max(x, 0.0) + np.log1p(np.exp(-abs(x))) - y * x
    if law.code == POISSON:
        return np.exp(min(x, CLIP)) - y * x
    if law.code == GAUSSIAN:
        return 0.5 * law.precision * (y - x) ** 2 - 0.5 * np.log(law.precision)
    if law.code == EXPOSURE:
        if x < 0.0:
            return np.inf
        return x if y == 0.0 else -np.log(-np.expm1(-max(x, TINY)))
    if law.code == CLOGLOG:
        m = np.exp(min(x, CLIP))
        if y == 0.0:
            return m
        if m > 0.5:
            return -np.log1p(-np.exp(-m))
        return -np.log(-np.expm1(-m)) if x > -30.0 else -x
    return np.nan


@kernel
def slope(law, y, x):
    """Derivative of the loss in x."""
    if law.code == BERNOULLI:
        return 1.0 / (1.0 + np.exp(-x)) - y
    if law.code == POISSON:
        return np.exp(min(x, CLIP)) - y
    if law.code == GAUSSIAN:
        return law.precision * (x - y)
    if law.code == EXPOSURE:
        return 1.0 if y == 0.0 else -1.0 / np.expm1(max(x, TINY))
    if law.code == CLOGLOG:
        m = np.exp(min(x, CLIP))
        return m if y == 0.0 else -max(m, TINY) / np.expm1(max(m, TINY))
    return np.nan


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
    if law.code == EXPOSURE:
        if y == 0.0:
            return 0.0
        e = np.expm1(max(x, TINY))
        return (e + 1.0) / (e * e)
    if law.code == CLOGLOG:
        m = np.exp(min(x, CLIP))
        if y == 0.0 or m < TINY:
            return m if y == 0.0 else 0.5 * m
        bend = m / -np.expm1(-m) - 1.0 if m > 1e-4 else m / 2.0 + m * m / 12.0
        return m / np.expm1(m) * bend
    return np.nan


@dataclass(frozen=True)
class Family:
    """What people choose by name: the response, the link values it allows, and what kernels may rely on.

    What is declared of the loss saves time, and must be true; what is not declared costs time alone.
    """

    name: str
    code: int
    response: str
    values: str
    allows: Callable[[np.ndarray], bool]
    cure: str = ""
    logistic: bool = False  # loss(y, x) = log(1 + e^x) - y x: of a dyad e^x is all that need be kept
    exponential: bool = False  # loss(0, x) = e^x
    quadratic: bool = False  # loss(y, x) = tau (y - x)^2 / 2 - log(tau) / 2: the precision tau is learned
    linear: bool = False  # loss(0, x) = x
    linear_links: bool = False  # loss(y, x) - loss(0, x) = -y x, times tau and up to a term in y where quadratic
    nonnegative: bool = False  # x >= 0, and so is every parameter
    least: float = 0.0  # size of the largest link value, from which arithmetic is exact enough
    most: float = np.inf  # and up to which
    responds: Response | None = None  # the response, where ``core.responses`` has none of this name

    def __post_init__(self) -> None:
        """Refuse a code whose loss or derivatives are missing."""
        for formula in (loss, slope, curvature):
            if np.isnan([getattr(formula, "py_func", formula)(self.law(), y, 0.5) for y in (0.0, 1.0)]).any():
                raise ValueError(
                    f"The family {self.name!r} has code {self.code}, which loss, slope and curvature do not all know. "
                    "Give each of them a branch for it in klafter.core.families."
                )

    def law(self, precision: float = 1.0) -> Law:
        """The family as kernels see it."""
        if precision != 1.0 and not self.quadratic:
            raise ValueError(f"The family {self.name!r} has no precision; {precision:g} was given. Leave it out.")
        nonlink = self.logistic or self.exponential or self.quadratic or self.linear
        return Law(
            self.code, float(precision), self.logistic, self.exponential, self.quadratic, self.linear,
            self.linear_links, self.nonnegative, nonlink or self.linear_links,
        )  # fmt: skip


def _is_binary(y: NDArray[Any]) -> bool:
    return bool(np.isin(y, (0.0, 1.0)).all())


def _is_count(y: NDArray[Any]) -> bool:
    return bool((y >= 0).all() and (y == np.floor(y)).all())


def _cloglog(x: Any) -> Any:
    return -np.expm1(-np.exp(np.minimum(x, CLIP)))


FAMILIES = {
    family.name: family
    for family in (
        Family(
            "bernoulli", BERNOULLI, "logit", "0 or 1", _is_binary,
            f'Use family="poisson" for counts, family="gaussian" for real values, or {BINARIZE}.',
            logistic=True, linear_links=True,
        ),
        Family(
            "poisson", POISSON, "log", "0, 1, 2, ...", _is_count,
            f'Use family="gaussian" for real values, or {BINARIZE}.',
            exponential=True, linear_links=True, most=MOST,
        ),
        Family(
            "gaussian", GAUSSIAN, "identity", "real numbers", lambda y: True,
            quadratic=True, linear_links=True, least=1e-50, most=1e50,
        ),
        Family(
            "exposure", EXPOSURE, "exposure", "0 or 1", _is_binary,
            f'Use family="poisson" for counts, or {BINARIZE}.',
            linear=True, nonnegative=True,
        ),
        Family(
            "cloglog", CLOGLOG, "cloglog", "0 or 1", _is_binary,
            f'Use family="poisson" for counts, or {BINARIZE}.',
            responds=bernoulli_response(_cloglog)._replace(
                log_density=lambda y, x, precision=1.0: np.where(
                    y > 0, np.log(np.maximum(_cloglog(x), 1e-300)), -np.exp(np.minimum(x, CLIP))
                )
            ),
        ),
    )
}  # fmt: skip
RESPONSES.update({family.response: family.responds for family in FAMILIES.values() if family.responds})


def check_values(family: Family, values: NDArray[Any], who: str, cure: str = "") -> None:
    """Refuse link values that the family cannot have produced, with a cure: the family's unless one is given."""
    if len(values) and not family.least <= (largest := np.abs(values).max()) <= family.most:
        bounds = f"up to {family.most:g}" if largest > family.most else f"of at least {family.least:g}"
        raise ValueError(
            f'{who}(family="{family.name}") needs link values {bounds}; the largest of this graph is {largest:.10g}. '
            "Give them in another unit."
        )
    if len(values) and not family.allows(values):
        low, high = min(0.0, values.min()), values.max()
        name = who if cure else f'{who}(family="{family.name}")'
        odd = next(value for value in np.unique(values) if not family.allows(np.array([value])))
        raise ValueError(
            f"{name} needs links of {family.values}; "
            f"this graph has values from {low:g} to {high:g}, such as {odd:g}. {cure or family.cure}"
        )
