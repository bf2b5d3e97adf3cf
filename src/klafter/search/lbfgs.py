"""L-BFGS within bounds, for functions whose value and slope cost little.

SciPy's, which is the better one for hard functions, takes longer to load than a small network takes to fit, and longer
for an iteration than the function itself. These are convex, and scaled by their own curvature.
"""

from collections import deque
from collections.abc import Callable

import numpy as np

MEMORY = 15  # pairs of steps and changes of the slope
HALVINGS = 12
FALL = 1e-4  # share of the fall that the slope promises, which a step must bring
FLAT = 1e-6  # slope, in units of the curvature, that counts as none


def minimise(
    at: Callable[[np.ndarray], tuple[float, np.ndarray]],
    theta: np.ndarray,
    begin: tuple[float, np.ndarray],
    scale: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    iterations: int,
    tol: float,
) -> np.ndarray:
    """Where ``at`` (value and slope) is lower than at theta, where it is ``begin``; ``scale`` guesses 1 / curvature."""
    lows, highs = bounds
    value, slope = begin
    root = np.sqrt(scale)
    pairs: deque = deque(maxlen=MEMORY)
    for _ in range(iterations):
        held = (theta <= lows) & (slope > 0) | (theta >= highs) & (slope < 0)
        free = np.where(held, 0.0, 1.0)
        if np.abs(slope * free * root).max(initial=0.0) < FLAT:
            break
        direction = -free * _times_inverse(pairs, slope * free, scale)
        if direction @ slope >= 0.0:
            pairs.clear()
            direction = -free * scale * slope
        found = _search(at, theta, value, slope, direction, bounds)
        if found is None:
            if not pairs:
                break
            pairs.clear()
            continue
        there, (lower, turned) = found
        step, change = there - theta, turned - slope
        if step @ change > 1e-12 * (change @ (scale * change)):
            pairs.append((step, change, 1.0 / (step @ change)))
        fall, theta, value, slope = value - lower, there, lower, turned
        if fall <= tol * max(abs(value), 1.0):
            break
    return theta


def _search(at, theta, value, slope, direction, bounds):
    """The first of 1, 1/2, 1/4 ... of the direction that falls enough, with value and slope there; or None."""
    length = 1.0
    for _ in range(HALVINGS):
        there = np.clip(theta + length * direction, *bounds)
        found = at(there)
        if found[0] <= value + FALL * (slope @ (there - theta)) and found[0] < value:
            return there, found
        length *= 0.5
    return None


def _times_inverse(pairs, slope: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The approximate inverse curvature times a slope, by the two loops over the pairs kept."""
    shares = []
    for step, change, weight in reversed(pairs):
        share = weight * (step @ slope)
        slope = slope - share * change
        shares.append(share)
    if pairs:
        step, change, weight = pairs[-1]
        scale = scale / (weight * (change @ (scale * change)))
    answer = scale * slope
    for (step, change, weight), share in zip(pairs, reversed(shares)):
        answer = answer + (share - weight * (change @ answer)) * step
    return answer
