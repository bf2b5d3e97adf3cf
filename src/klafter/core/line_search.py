"""Lines: one parameter moves, its dyads follow. Every weight, sociality and coefficient is fitted or drawn along one.

A parameter theta enters dyads t with x_t + c_t delta when it moves by delta, so along the line
    phi(delta) = sum_t loss(y_t, x_t + c_t delta) + precision (theta + delta)^2 / 2,
convex in delta. Descent takes its minimum, a sampler a slice of exp(-phi): the same function at temperature 0 and 1.
"""

from typing import NamedTuple

import numpy as np

from klafter.core.exp_predictor import BLOCK
from klafter.core.families import curvature, loss, slope
from klafter.core.rows import mark
from klafter.jit.decorators import bare, inlined, inner

HALVINGS = 12  # of a Newton step before it is given up


class Line(NamedTuple):
    """The dyads that one parameter enters; of these arrays the first ``Span.size`` entries count."""

    x: np.ndarray
    e: np.ndarray  # e^x, all that the Bernoulli family reads when ``Span.ones`` is known
    y: np.ndarray
    c: np.ndarray


class Span(NamedTuple):
    """How much of a line counts, and where c is 1 in the first ``ones`` entries and 2 in the rest.

    Then e^(c delta) is one of two numbers, and the Bernoulli loss a product of 1 + e^x times it. Else ``ones`` is -1.
    """

    size: int
    ones: int
    linear: float  # sum of y c, where ones is known


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


@bare
def gather_row(law, row, links, i, y, line):
    """The observed dyads of node i's row; y begins as zeros. A Bernoulli dyad not observed has e = 0, and may stay."""
    size, linear = 0, 0.0
    for t in range(links.start[i], links.start[i + 1]):
        linear += links.value[t]
    if law.logistic:
        for j in range(row.e.size):
            line.e[j] = row.e[j]
        return Span(row.e.size, row.e.size, linear)
    mark(links, i, y, 1.0)
    for j in range(row.x.size):
        if row.seen[j] != 0.0:
            put(line, size, row.x[j], row.e[j], y[j], 1.0)
            size += 1
    mark(links, i, y, 0.0)
    return Span(size, size, linear)


@inlined
def log_products(e, start, stop, f):
    """sum of log(1 + e_t f), one logarithm for a block of terms."""
    total = 0.0
    for first in range(start, stop, BLOCK):
        some, p = e[first : min(first + BLOCK, stop)], 1.0
        for t in range(some.size):  # from 0 on: a loop that begins at a variable is not vectorised
            p *= 1.0 + some[t] * f
        if p < 1e300:
            total += np.log(p)
        else:  # the product overflowed
            for t in range(some.size):
                total += np.log1p(some[t] * f)
    return total


@inlined
def line_loss(law, line, span, delta):
    """sum_t loss(y_t, x_t + c_t delta), up to a constant."""
    if law.logistic and span.ones >= 0:
        f = np.exp(delta)
        ones = log_products(line.e, 0, span.ones, f)
        return ones + log_products(line.e, span.ones, span.size, f * f) - span.linear * delta
    total = 0.0
    for t in range(span.size):
        total += loss(law, line.y[t], line.x[t] + line.c[t] * delta)
    return total


@inlined
def sum_probabilities(e, start, stop, f):
    """Sums of p and of p (1 - p) with odds e_t f."""
    first, second, some = 0.0, 0.0, e[start:stop]
    for t in range(some.size):
        p = some[t] * f / (1.0 + some[t] * f)
        first += p
        second += p * (1.0 - p)
    return first, second


@bare
def line_slopes(law, line, span, delta):
    """First and second derivative of the loss along the line."""
    first = second = 0.0
    if law.logistic and span.ones >= 0:
        f = np.exp(delta)
        first, second = sum_probabilities(line.e, 0, span.ones, f)
        first_of_twos, second_of_twos = sum_probabilities(line.e, span.ones, span.size, f * f)
        return first + 2.0 * first_of_twos - span.linear, second + 4.0 * second_of_twos
    for t in range(span.size):
        x = line.x[t] + line.c[t] * delta
        first += line.c[t] * slope(law, line.y[t], x)
        second += line.c[t] ** 2 * curvature(law, line.y[t], x)
    return first, second


@inlined
def phi(law, line, span, axis, delta):
    """The objective along the line."""
    return line_loss(law, line, span, delta) + 0.5 * axis.precision * (axis.theta + delta) ** 2


@bare
def minimise_line(law, line, span, axis, max_steps):
    """The delta that Newton's method reaches, each step halved until phi falls, and the fall."""
    delta = step = trial = here = fall = 0.0
    steps = halvings = 0
    while True:  # one place where phi is worked out, for the compiler's sake
        there = phi(law, line, span, axis, trial)
        begun = steps == 0
        if not begun and there >= here:
            halvings += 1
            step *= 0.5
            if halvings == HALVINGS:
                return delta, fall
        else:
            small = not begun and abs(trial - delta) < 1e-7
            fall += 0.0 if begun else here - there
            delta, here, halvings = trial, there, 0
            if small or steps == max_steps:
                return delta, fall
            first, second = line_slopes(law, line, span, delta)
            first += axis.precision * (axis.theta + delta)
            second += axis.precision
            if abs(first) < 1e-9:
                return delta, fall
            step = min(max(-first / max(second, 1e-10), -5.0), 5.0)
            steps += 1
        trial = min(max(delta + step, axis.lower - axis.theta), axis.upper - axis.theta)


@bare
def sample_line(law, line, span, axis, width, rng):
    """A draw of delta by slice sampling (Neal 2003): step out to the left, to the right, then shrink."""
    floor, ceiling = axis.lower - axis.theta, axis.upper - axis.theta
    level = left = right = delta = 0.0
    stage, shrinks = 0, 0
    while shrinks < 100:  # one place where phi is worked out, for the compiler's sake
        inside = phi(law, line, span, axis, delta)
        if stage == 0:
            level = inside + rng.standard_exponential()
            left = -width * rng.random()
            right = left + width
            stage = 1
        elif stage == 1 and inside < level:
            left -= width
        elif stage == 1:
            stage = 2
        elif stage == 2 and inside < level:
            right += width
        elif stage == 2:
            stage = 3
        elif inside < level:
            return delta
        elif delta < 0.0:
            left = delta
        else:
            right = delta
        if stage == 1 and left <= floor:
            stage = 2
        if stage == 2 and right >= ceiling:
            stage = 3
        if stage == 3:
            left, right = max(left, floor), min(right, ceiling)
            delta = left + (right - left) * rng.random()
            shrinks += 1
        else:
            delta = left if stage == 1 else right
    return 0.0
