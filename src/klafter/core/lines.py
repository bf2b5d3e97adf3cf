"""Lines: one parameter moves, its dyads follow. Every weight, sociality and coefficient is fitted or drawn along one.

A parameter theta reaches dyads t with x_t + c_t delta when it moves by delta, so along the line
    phi(delta) = sum_t loss(y_t, x_t + c_t delta) + precision (theta + delta)^2 / 2,
convex in delta. Descent takes its minimum, a sampler a slice of exp(-phi): the same function at temperature 0 and 1.
"""

from typing import NamedTuple

import numpy as np

from klafter.core.families import BERNOULLI, curvature, loss, slope
from klafter.core.kernel import inlined, inner, kernel
from klafter.core.rows import BLOCK


class Line(NamedTuple):
    """The dyads that one parameter reaches; the first ``m`` entries count."""

    x: np.ndarray
    e: np.ndarray  # e^x, for the Bernoulli family
    y: np.ndarray
    c: np.ndarray


class Axis(NamedTuple):
    """The parameter: its value, its prior precision, and its bounds."""

    theta: float
    precision: float
    lower: float
    upper: float


@inner
def new_line(size):
    return Line(np.empty(size), np.empty(size), np.empty(size), np.empty(size))


@inlined
def put(line, m, x, e, y, c):
    """Add a dyad to the line, with e = e^x where the family needs it."""
    line.x[m] = x
    line.e[m] = e
    line.y[m] = y
    line.c[m] = c


@inlined
def linear_part(law, line, m):
    """sum_t y_t c_t where the Bernoulli loss is a product of 1 + e^x times e^(c delta) with c of 1 or 2; else NaN."""
    total = 0.0
    for t in range(m):
        if law.code != BERNOULLI or (line.c[t] != 1.0 and line.c[t] != 2.0):
            return np.nan
        total += line.y[t] * line.c[t]
    return total


@inlined
def line_loss(law, line, m, linear, delta):
    """sum_t loss(y_t, x_t + c_t delta), up to a constant; the quick way where ``linear`` allows it."""
    total = 0.0
    if np.isnan(linear):
        for t in range(m):
            total += loss(law, line.y[t], line.x[t] + line.c[t] * delta)
        return total
    f1, f2 = np.exp(delta), np.exp(2.0 * delta)
    for start in range(0, m, BLOCK):
        stop = min(start + BLOCK, m)
        p = 1.0
        for t in range(start, stop):
            p *= 1.0 + line.e[t] * (f1 if line.c[t] == 1.0 else f2)
        if p < 1e300:
            total += np.log(p)
        else:  # the product overflowed
            for t in range(start, stop):
                total += np.log1p(line.e[t] * (f1 if line.c[t] == 1.0 else f2))
    return total - linear * delta


@kernel
def line_slopes(law, line, m, delta):
    """First and second derivative of the loss along the line."""
    first = second = 0.0
    for t in range(m):
        x = line.x[t] + line.c[t] * delta
        first += line.c[t] * slope(law, line.y[t], x)
        second += line.c[t] ** 2 * curvature(law, line.y[t], x)
    return first, second


@inlined
def phi(law, line, m, linear, axis, delta):
    """The objective along the line."""
    return line_loss(law, line, m, linear, delta) + 0.5 * axis.precision * (axis.theta + delta) ** 2


@kernel
def minimise_line(law, line, m, axis, max_steps):
    """The delta that Newton's method reaches, each step halved until phi falls."""
    linear = linear_part(law, line, m)
    delta = 0.0
    here = phi(law, line, m, linear, axis, delta)
    for _ in range(max_steps):
        first, second = line_slopes(law, line, m, delta)
        first += axis.precision * (axis.theta + delta)
        second += axis.precision
        if abs(first) < 1e-9:
            break
        step = -first / max(second, 1e-10)
        step = min(max(step, -5.0), 5.0)
        moved = False
        for _ in range(12):
            trial = min(max(delta + step, axis.lower - axis.theta), axis.upper - axis.theta)
            there = phi(law, line, m, linear, axis, trial)
            if there < here:
                moved = True
                break
            step *= 0.5
        if not moved:
            break
        small = abs(trial - delta) < 1e-7
        delta, here = trial, there
        if small:
            break
    return delta


@kernel
def sample_line(law, line, m, axis, width, rng):
    """A draw of delta by slice sampling (Neal 2003): step out, then shrink."""
    linear = linear_part(law, line, m)
    floor, ceiling = axis.lower - axis.theta, axis.upper - axis.theta
    level = phi(law, line, m, linear, axis, 0.0) + rng.standard_exponential()
    left = -width * rng.random()
    right = left + width
    while left > floor and phi(law, line, m, linear, axis, left) < level:
        left -= width
    while right < ceiling and phi(law, line, m, linear, axis, right) < level:
        right += width
    left, right = max(left, floor), min(right, ceiling)
    for _ in range(100):
        delta = left + (right - left) * rng.random()
        if phi(law, line, m, linear, axis, delta) < level:
            return delta
        if delta < 0.0:
            left = delta
        else:
            right = delta
    return 0.0


@kernel
def line_fall(law, line, m, axis, delta):
    """Fall of the objective when the parameter moves by delta."""
    linear = linear_part(law, line, m)
    return phi(law, line, m, linear, axis, 0.0) - phi(law, line, m, linear, axis, delta)
