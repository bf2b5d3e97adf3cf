"""The convex step in one kernel: L-BFGS within bounds over all free parameters of a workspace.

SciPy's, which is the better one for hard functions, takes longer for an iteration than the function itself, and so does
one in Python. This function is convex, and scaled by its own curvature where the search begins.
"""

from typing import NamedTuple

import numpy as np

from klafter.core.bernoulli_gradient import Held, list_held, sum_probabilities
from klafter.core.exp_predictor import all_exp_safe
from klafter.core.problem import BOUND, FLOOR
from klafter.core.workspace import list_members
from klafter.jit.decorators import bare, inlined, inner, kernel
from klafter.search.dense.weights_kernels import (
    Sums,
    add_links,
    collect,
    fill_precisions,
    gather,
    n_free,
    new_sums,
    scatter,
    sum_derivatives,
)

MEMORY = 15  # pairs of steps and changes of the slope
SLOTS = MEMORY + 1  # and one whose curvature may be refused
HALVINGS = 12  # of a step that does not fall
FALL = 1e-4  # share of the fall that the slope promises, which a step must bring
FLAT = 1e-6  # slope, in units of the curvature, that counts as none


class Work(NamedTuple):
    """Past steps of p parameters, and scratch space."""

    here: np.ndarray  # (p,) where it stands, and the slope there
    slope: np.ndarray
    there: np.ndarray  # (p,) the same for a trial
    turned: np.ndarray
    free: np.ndarray  # (p,) the slope, 0 where a bound holds the parameter
    direction: np.ndarray
    scale: np.ndarray  # (p,) 1 / curvature at the start
    precisions: np.ndarray
    lows: np.ndarray
    steps: np.ndarray  # (SLOTS, p)
    changes: np.ndarray
    weights: np.ndarray  # (SLOTS,) 1 / step . change
    shares: np.ndarray
    links: np.ndarray  # (p,) what links add to the slope, whatever the parameters
    members: np.ndarray
    held: Held
    sums: Sums
    dyads: np.ndarray


@inner
def new_work(ws, p):
    return Work(
        np.empty(p), np.empty(p), np.empty(p), np.empty(p), np.empty(p), np.empty(p), np.empty(p), np.empty(p),
        np.empty(p), np.empty((SLOTS, p)), np.empty((SLOTS, p)), np.empty(SLOTS), np.empty(SLOTS), np.zeros(p),
        list_members(ws), list_held(ws), new_sums(ws), np.zeros((3, ws.n)),
    )  # fmt: skip


@kernel
def fit_parameters(ws, iterations, tol):
    """Lower Q in W, b, s, r and g together, until its fall is below tol times its size."""
    p = n_free(ws)
    if p > 0:
        minimise(ws, new_work(ws, p), new_sums(ws), iterations, tol)


@inlined
def dot(a, b):
    total = 0.0
    for t in range(a.size):
        total += a[t] * b[t]
    return total


@bare
def set_prior(ws, work):
    """Precision and lower bound of every parameter, in the order of ``gather``."""
    fill_precisions(ws, work.precisions)
    work.lows[:] = max(ws.lower, -BOUND)
    if ws.has_offset and ws.lower == 0.0:
        n_communities = ws.z.shape[0]
        work.lows[n_communities**2 if ws.directed else n_communities * (n_communities + 1) // 2] = FLOOR


@bare
def value_and_slope_at(ws, theta, slope, work, curvatures):
    """Value and slope of Q, up to a constant, at theta; and its curvatures, into the scale, where sums are given."""
    sums, with_curvature = work.sums, curvatures.senders.size > 0
    clear(sums)
    scatter(ws, theta, work.members)
    if all_exp_safe(ws):
        value = sum_probabilities(ws, work.held, with_curvature, sums, curvatures, work.dyads)
    else:
        value = sum_derivatives(ws, with_curvature, sums, curvatures, work.dyads, not links_are_linear(ws))
    collect(ws, work.members, sums, slope)
    if with_curvature:
        collect(ws, work.members, curvatures, work.scale)
    for t in range(theta.size):
        value += (work.links[t] + 0.5 * work.precisions[t] * theta[t]) * theta[t]
        slope[t] += work.links[t] + work.precisions[t] * theta[t]
    return value


@bare
def clear(sums):
    sums.effects[:] = 0.0
    sums.senders[:] = 0.0
    sums.receivers[:] = 0.0
    sums.coefficients[:] = 0.0


@bare
def links_are_linear(ws):
    """Whether a link adds -y x to the loss of a non-link; dyads with covariates are left to the slow way."""
    return ws.law.linear_links and ws.coefficients.size == 0


@bare
def minimise(ws, work, curvatures, iterations, tol):
    """Steps until the slope is flat, the fall is small, or no step falls; the workspace is left at the lowest."""
    here, slope, free, scale = work.here, work.slope, work.free, work.scale
    gather(ws, here)
    set_prior(ws, work)
    if links_are_linear(ws):
        clear(work.sums)
        add_links(ws, work.sums)
        collect(ws, work.members, work.sums, work.links)
    value = value_and_slope_at(ws, here, slope, work, curvatures)
    none = Sums(curvatures.effects[:0], curvatures.senders[:0], curvatures.receivers[:0], curvatures.coefficients[:0])
    for t in range(scale.size):
        scale[t] = 1.0 / max(scale[t] + work.precisions[t], 1e-3)
    n_pairs = newest = 0
    for _ in range(iterations):
        steepest = 0.0
        for t in range(here.size):
            held = (here[t] <= work.lows[t] and slope[t] > 0) or (here[t] >= BOUND and slope[t] < 0)
            free[t] = 0.0 if held else slope[t]
            steepest = max(steepest, abs(free[t]) * np.sqrt(scale[t]))
        if steepest < FLAT:
            break
        point(work, n_pairs, newest)
        if dot(work.direction, slope) >= 0.0:
            n_pairs = 0
            point(work, n_pairs, newest)
        lower = step_along(ws, work, value, none)
        if lower == np.inf:
            if n_pairs == 0:
                break
            n_pairs = 0
            continue
        slot = (newest + 1) % SLOTS
        if remember(work, slot):
            newest, n_pairs = slot, min(n_pairs + 1, MEMORY)
        fall, value = value - lower, lower
        if fall <= tol * max(abs(value), 1.0):
            break
    scatter(ws, here, work.members)


@bare
def point(work, n_pairs, newest):
    """The direction: minus the approximate inverse curvature times the slope, by two loops over the pairs kept."""
    direction, free, scale, factor = work.direction, work.free, work.scale, 1.0
    for t in range(free.size):
        direction[t] = -free[t]
    for u in range(n_pairs):
        at = (newest - u) % SLOTS
        step, change = work.steps[at], work.changes[at]
        work.shares[u] = share = work.weights[at] * dot(step, direction)
        for t in range(direction.size):
            direction[t] -= share * change[t]
        if u == 0:
            curvature = 0.0
            for t in range(change.size):
                curvature += change[t] * change[t] * scale[t]
            factor = 1.0 / (work.weights[at] * curvature)
    for t in range(direction.size):
        direction[t] *= factor * scale[t]
    for u in range(n_pairs - 1, -1, -1):
        at = (newest - u) % SLOTS
        step, change = work.steps[at], work.changes[at]
        share = work.shares[u] - work.weights[at] * dot(change, direction)
        for t in range(direction.size):
            direction[t] += share * step[t]
    for t in range(direction.size):
        if free[t] == 0.0:
            direction[t] = 0.0


@bare
def step_along(ws, work, value, none):
    """Try 1, 1/2, 1/4 ... of the direction until Q falls enough; returns Q there, or infinity."""
    here, there, length = work.here, work.there, 1.0
    for _ in range(HALVINGS):
        promised = 0.0
        for t in range(here.size):
            there[t] = min(max(here[t] + length * work.direction[t], work.lows[t]), BOUND)
            promised += work.slope[t] * (there[t] - here[t])
        lower = value_and_slope_at(ws, there, work.turned, work, none)
        if lower <= value + FALL * promised and lower < value:
            return lower
        length *= 0.5
    return np.inf


@bare
def remember(work, at):
    """Move to the trial and note the step and the change of the slope; whether their curvature is positive."""
    step, change, along, curvature = work.steps[at], work.changes[at], 0.0, 0.0
    for t in range(step.size):
        step[t] = work.there[t] - work.here[t]
        change[t] = work.turned[t] - work.slope[t]
        along += step[t] * change[t]
        curvature += change[t] * change[t] * work.scale[t]
        work.here[t] = work.there[t]
        work.slope[t] = work.turned[t]
    work.weights[at] = 1.0 / along
    return along > 1e-12 * curvature
