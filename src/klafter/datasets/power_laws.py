"""Whole numbers that follow bounded power laws, p(x) ~ x^-exponent: degrees of nodes, sizes of communities."""

from __future__ import annotations

import numpy as np


def lowest_mean(most: int, exponent: float) -> float:
    """The mean on 1, ..., most, below which no degrees with this exponent and this maximum are."""
    x = np.arange(1.0, most + 1)
    return float(x ** (1 - exponent) @ np.ones(most) / (x**-exponent).sum())


def draw_with_mean(n: int, mean: float, most: int, exponent: float, rng) -> np.ndarray:
    """n numbers up to ``most`` with this expectation: the least value is chosen so, and has a part of its weight."""
    x = np.arange(1.0, most + 1)
    weight = x**-exponent
    above = np.append(np.cumsum(weight[::-1])[::-1], 0.0)  # weight of x and more
    total = np.append(np.cumsum((x * weight)[::-1])[::-1], 0.0)
    low = int(np.flatnonzero(total[:-1] <= mean * above[:-1] * (1 + 1e-12))[-1])  # the mean rises with the least value
    weight[:low] = 0.0
    if x[low] < mean:
        weight[low] = (total[low + 1] - mean * above[low + 1]) / (mean - x[low])
    return rng.choice(np.arange(1, most + 1), size=n, p=weight / weight.sum())


def draw_with_sum(total: int, least: int, most: int, exponent: float, rng) -> np.ndarray:
    """Numbers between least and most that add up to the total: drawn until they do, then changed one by one."""
    x = np.arange(least, most + 1)
    weight = x.astype(float) ** -exponent
    drawn = rng.choice(x, size=-(-total // least), p=weight / weight.sum())
    sizes = drawn[: np.searchsorted(np.cumsum(drawn), total) + 1]
    if sizes.sum() - total > (sizes - least).sum():  # even the least sizes would be too many
        sizes = sizes[:-1]
    while missing := total - sizes.sum():
        step = np.sign(missing)
        room = np.flatnonzero(sizes < most if step > 0 else sizes > least)
        if not len(room):
            raise ValueError(f"No communities of {least} to {most} nodes have {total} places together.")
        sizes[rng.choice(room, size=min(len(room), abs(missing)), replace=False)] += step
    return sizes


def round_at_random(values: np.ndarray, rng) -> np.ndarray:
    """Whole numbers whose expectations are the values."""
    return np.floor(values + rng.random(len(values))).astype(np.int64)
