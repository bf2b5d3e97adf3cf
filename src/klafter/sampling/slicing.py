"""Slice sampling of one positive number, for hyper-parameters without a conjugate conditional (Neal 2003)."""

from collections.abc import Callable

import numpy as np


def slice_positive(log_density: Callable[[float], float], value: float, rng, width: float = 1.0) -> float:
    """One slice draw of log x by stepping out and shrinking; ``log_density`` is that of x, the Jacobian is added."""

    def height(u: float) -> float:
        return log_density(float(np.exp(u))) + u

    now = float(np.log(value))
    level = height(now) - rng.exponential()
    low = now - width * rng.random()
    high = low + width
    while height(low) > level:
        low -= width
    while height(high) > level:
        high += width
    while True:
        u = low + (high - low) * rng.random()
        if height(u) >= level:
            return float(np.exp(u))
        low, high = (u, high) if u < now else (low, u)
