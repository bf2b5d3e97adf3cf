"""The kernels of the dense search in plain NumPy: the same algorithm, move by move, without compiled code.

    with plain_kernels():
        state = dense.step(problem, state, rng)

The rival that speed is measured against, and an oracle for the whole search: from the same seed it must end at the same
objective. Rows and blocks of dyads are vectors; Bernoulli links, no covariates.
"""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np
from scipy.special import expit, gammaln

from klafter.core import objective as core_objective
from klafter.core.problem import BOUND
from klafter.search.dense import engine as dense
from klafter.search.dense import lbfgs, weights
from klafter.search.dense.birth_kernels import PASSES
from klafter.search.dense.flip_kernels import TINY_GAIN
from klafter.search.dense.row_reset import NEWTON_STEPS as CHOICE_STEPS
from klafter.search.dense.row_reset import STARTS
from klafter.search.dense.weights_kernels import NEWTON_STEPS
from klafter.search.moves import merge as moves


class PlainView:
    """What was observed as dense matrices, and the state, whose arrays the functions below change."""

    def __init__(self, problem, state):
        self.priors, self.directed, self.n = problem.priors, problem.dyads.directed, problem.dyads.n
        links = problem.dyads.links_out
        self.y, self.seen = np.zeros((self.n, self.n)), problem.seen_out.astype(bool)
        self.y[np.repeat(np.arange(self.n), np.diff(links.start)), links.node] = links.value
        self.state, self.z, self.w = state, state.z, state.w
        self.free = weights.free_entries(problem, state)

    def x(self, rows=slice(None), columns=slice(None)) -> np.ndarray:
        z, s = self.z.astype(float), self.state
        return s.offset[0] + s.sender[rows, None] + s.receiver[columns] + z[:, rows].T @ self.w @ z[:, columns]


def losses(y, x):
    return np.logaddexp(0.0, x) - y * x


def data_loss(view) -> float:
    total = losses(view.y, view.x())[view.seen].sum()
    return total if view.directed else total / 2


def column_price(priors, n, size) -> float:
    chosen = gammaln(n + 1) - gammaln(size + 1) - gammaln(n - size + 1)
    return priors.penalty + priors.temperature * (np.log(size) + chosen)


def total(view) -> float:
    priors, state, alive = view.priors, view.state, view.z.any(axis=1)
    w = view.w[alive][:, alive]
    squares = weights.weight_precisions(priors, len(w)) * w**2 / 2
    social = (state.sender**2).sum() + ((state.receiver**2).sum() if view.directed else 0.0)
    return (
        data_loss(view)
        + column_price(priors, view.n, view.z[alive].sum(axis=1)).sum()
        + (squares.sum() if view.directed else np.triu(squares).sum())
        + 0.5 * (priors.sociality * social + priors.offset * state.offset[0] ** 2)
    )


def flip_gain(view, i, k, row, column) -> float:
    """Fall of Q when z_ik flips; row and column are the x of node i's dyads."""
    d = 1.0 - 2.0 * view.z[k, i]
    seen = view.seen[i]
    out = d * (view.w[k] @ view.z)
    gain = (losses(view.y[i], row) - losses(view.y[i], row + out))[seen].sum()
    if view.directed:
        seen, into = view.seen[:, i], d * (view.w[:, k] @ view.z)
        gain += (losses(view.y[:, i], column) - losses(view.y[:, i], column + into))[seen].sum()
    others = view.z[k].sum(dtype=int) - int(view.z[k, i])
    if others:
        return gain - d * view.priors.temperature * np.log((view.n - others) / others)
    alive = view.z.any(axis=1)
    alive[k] = False
    weights = 0.5 * view.priors.diagonal * view.w[k, k] ** 2
    weights += 0.5 * view.priors.offdiagonal * (view.w[k, alive] ** 2).sum()
    if view.directed:
        weights += 0.5 * view.priors.offdiagonal * (view.w[alive, k] ** 2).sum()
    return gain - d * (view.priors.penalty + view.priors.temperature * np.log(view.n) + weights)


def descend(view, nodes, only, passes) -> float:
    total = 0.0
    for i in nodes:
        for _ in range(passes):
            fall = 0.0
            for k in range(len(view.z)):
                size = view.z[k].sum(dtype=int)
                free = size > 0 if only < 0 else k == only and (size > 1 or not view.z[k, i])
                if free:
                    gain = flip_gain(view, i, k, view.x([i])[0], view.x(slice(None), [i])[:, 0])
                    if gain > TINY_GAIN:
                        view.z[k, i] ^= 1
                        fall += gain
            total += fall
            if fall == 0.0:
                break
    return total


def own_part(view, i) -> float:
    """The part of Q that depends on node i's memberships and sociality."""
    others = view.z.sum(axis=1, dtype=int) - view.z[:, i]
    held = view.z[:, i].astype(bool)
    part = (
        losses(view.y[i], view.x([i])[0])[view.seen[i]].sum() + 0.5 * view.priors.sociality * view.state.sender[i] ** 2
    )
    if view.directed:
        part += losses(view.y[:, i], view.x(slice(None), [i])[:, 0])[view.seen[:, i]].sum()
        part += 0.5 * view.priors.sociality * view.state.receiver[i] ** 2
    return part + view.priors.temperature * np.log((view.n - others[held]) / others[held]).sum()


def find_gains(view, i) -> np.ndarray:
    """The gain of every flip of node i, 0 for a community that nobody else holds."""
    row, column = view.x([i])[0], view.x(slice(None), [i])[:, 0]
    others = view.z.sum(axis=1, dtype=int) - view.z[:, i]
    return np.array([flip_gain(view, i, k, row, column) if others[k] else 0.0 for k in range(len(view.z))])


def join(view, i) -> None:
    """The flip that gains most, again and again."""
    while (gains := find_gains(view, i)).max() > TINY_GAIN:
        view.z[int(np.argmax(gains)), i] ^= 1


def fit_sociality(view, i) -> None:
    """s_i, and r_i when directed, by Newton steps along their dyads."""
    sides = [(view.state.sender, view.y[i], view.seen[i], lambda: view.x([i])[0])]
    if view.directed:
        sides.append((view.state.receiver, view.y[:, i], view.seen[:, i], lambda: view.x(slice(None), [i])[:, 0]))
    for values, y, seen, row in sides:
        x = row()[seen]
        values[i] += newton(y[seen], x, np.ones_like(x), 1.0, values[i], view.priors.sociality, CHOICE_STEPS)[0]


def leave_all(view, i) -> None:
    view.z[:, i] = 0
    if view.free.sociality:
        view.state.sender[i] = view.state.receiver[i] = 0.0


def choose_anew(view, nodes) -> float:
    """Each node leaves its communities, forgets its sociality, joins again, and stays there if Q fell."""
    total, state = 0.0, view.state
    for i in nodes:
        if (view.z.sum(axis=1)[view.z[:, i] == 1] == 1).any():
            continue
        here = lowest = own_part(view, i)
        held = best = view.z[:, i].copy()
        social = (state.sender[i], state.receiver[i])
        leave_all(view, i)
        firsts = find_gains(view, i)
        for t in range(STARTS):
            gains = firsts.max(initial=0.0) > TINY_GAIN
            if t > 0:
                if not gains:
                    break
                leave_all(view, i)
            if gains:
                first = int(np.argmax(firsts))
                firsts[first] = 0.0
                view.z[first, i] = 1
                join(view, i)
            if (view.z[:, i] != held).any():
                if view.free.sociality:
                    fit_sociality(view, i)
                there = own_part(view, i)
                if there < lowest - TINY_GAIN:
                    lowest, best, social = there, view.z[:, i].copy(), (state.sender[i], state.receiver[i])
        view.z[:, i] = best
        state.sender[i], state.receiver[i] = social
        total += here - lowest
    return total


def newton(y, x, reach, share, theta, precision, steps) -> tuple[float, float]:
    """Newton steps on a parameter that reaches dyads, halved until Q falls: how far it moved, and the fall."""
    delta = 0.0

    def phi(delta):
        return (share * losses(y, x + reach * delta)).sum() + 0.5 * precision * (theta + delta) ** 2

    begun = here = phi(0.0)
    for _ in range(steps):
        p = expit(x + reach * delta)
        first = (share * reach * (p - y)).sum() + precision * (theta + delta)
        second = (share * reach**2 * p * (1 - p)).sum() + precision
        if abs(first) < 1e-9:
            break
        step, moved = np.clip(-first / max(second, 1e-10), -5.0, 5.0), False
        for _ in range(12):
            trial = np.clip(delta + step, -BOUND - theta, BOUND - theta)
            there = phi(trial)
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
    return delta, begun - here


def fit_weight(view, k, m) -> float:
    """Newton steps on w_km, halved until Q falls."""
    zk, zm = view.z[k].astype(float), view.z[m].astype(float)
    rows, columns = np.flatnonzero(zk), np.flatnonzero(zm)
    if not view.directed and k != m:
        rows = columns = np.flatnonzero(zk + zm)
    reach = np.outer(zk[rows], zm[columns])
    if not view.directed and k != m:
        reach += np.outer(zm[rows], zk[columns])
    block = np.ix_(rows, columns)
    share = view.seen[block] * (1.0 if view.directed else 0.5)
    y, x = view.y[block], view.x(rows, columns)
    precision = view.priors.diagonal if k == m else view.priors.offdiagonal
    delta, fall = newton(y, x, reach, share, view.w[k, m], precision, NEWTON_STEPS)
    view.w[k, m] += delta
    if not view.directed and k != m:
        view.w[m, k] += delta
    return fall


def fit_column(view, k, diagonal_only) -> float:
    fall = fit_weight(view, k, k)
    others = [m for m in range(len(view.z)) if not diagonal_only and m != k and view.z[m].any()]
    fall += sum(fit_weight(view, k, m) for m in others)
    if view.directed:
        fall += sum(fit_weight(view, m, k) for m in others)
    return fall


def plant(view, k, seed, with_seed) -> int:
    view.w[k] = view.w[:, k] = 0.0
    state = view.state
    typical = state.offset[0] + state.sender[seed] + state.receiver + 1.5
    for y, x in ((view.y[seed], view.x([seed])[0]), (view.y[:, seed], view.x(slice(None), [seed])[:, 0])):
        surprise = (x <= typical) | (expit(x) < 0.5)
        view.z[k, (y > 0) & surprise] = 1
        typical = state.offset[0] + state.receiver[seed] + state.sender + 1.5
        if not view.directed:
            break
    if with_seed and view.z[k].any():
        view.z[k, seed] = 1
    return int(view.z[k].sum())


def around(view, k) -> np.ndarray:
    members = view.z[k].astype(bool)
    return np.flatnonzero(members | (view.y[members] > 0).any(axis=0) | (view.y[:, members] > 0).any(axis=1))


def clear(view, k) -> None:
    view.w[k] = view.w[:, k] = 0.0
    view.z[k] = 0


def grow(view, k, price, diagonal_only) -> float:
    gain = -price
    for left in range(PASSES - 1, -1, -1):
        before = gain
        gain += fit_column(view, k, diagonal_only)
        step = descend(view, around(view, k), k, 1)
        gain += step
        if step == 0.0 or gain + left * (gain - before) < 0.0:
            break
    return gain


def births(view, seeds, slots) -> tuple[float, int]:
    fall, born = 0.0, 0
    for t, seed in enumerate(seeds):
        if born == len(slots):
            break
        k, assortative = slots[born], t % 3 != 2
        size = plant(view, k, seed, assortative)
        gain = grow(view, k, column_price(view.priors, view.n, size), assortative) if size > 1 else 0.0
        if gain > TINY_GAIN and view.z[k].sum() > 1 and gain > column_evidence(view, k):
            fall, born = fall + gain, born + 1
        else:
            clear(view, k)
    return fall, born


def column_evidence(view, k) -> float:
    priors = view.priors
    bends = column_bends(view, k)
    precisions = np.full(bends.shape, priors.offdiagonal)
    precisions[:, k] = priors.diagonal
    return 0.5 * priors.temperature * float(np.log1p(bends / precisions).sum())


def column_bends(view, k) -> np.ndarray:
    p = np.where(view.seen, expit(view.x()), 0.0)
    bends, z = p * (1 - p), view.z.astype(float)
    if view.directed:
        into = z[k] @ bends.T @ z.T
        into[k] = 0.0
        return np.stack([z[k] @ bends @ z.T, into])
    found = z[k] @ bends @ z.T
    found[k] *= 0.5
    return found[None]


def derivatives(view, bend):
    x, z = view.x(), view.z.astype(float)
    p = np.where(view.seen, expit(x), 0.0)
    share = 1.0 if view.directed else 0.5
    vectors = []
    for values in (p - view.seen * view.y, p * (1 - p)):
        w = z @ values @ z.T
        if not view.directed:
            w[np.diag_indices(len(w))] *= 0.5
        by_sender, by_receiver = values.sum(axis=1), values.sum(axis=0)
        vectors.append(weights.pack(view.free, w, share * values.sum(), by_sender, by_receiver, np.zeros(0)))
    return data_loss(view), *vectors


def evidence(view, among) -> float:
    rows, columns = view.free.rows, view.free.columns
    bends = derivatives(view, True)[2][: len(rows)]
    prices = np.log1p(bends / weights.weight_precisions(view.priors, len(view.z))[rows, columns])
    return 0.5 * view.priors.temperature * prices[among[rows] | among[columns]].sum()


def place(view, theta) -> None:
    for ours, theirs in zip(view.state, weights.unpack(view.free, view.state, theta)):
        ours[...] = theirs


def times_inverse(pairs, slope, scale) -> np.ndarray:
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


def fit_parameters(view, iterations, tol) -> None:
    """L-BFGS within bounds, as ``search.lbfgs`` has it."""
    free, priors, k, n = view.free, view.priors, len(view.z), view.n
    ones = np.ones(n)
    precisions = weights.pack(
        free,
        weights.weight_precisions(priors, k),
        priors.offset,
        priors.sociality * ones,
        priors.sociality * ones,
        np.zeros(0),
    )
    state = view.state
    theta = weights.pack(free, state.w, state.offset, state.sender, state.receiver, state.coefficients)
    if not len(theta):
        return

    def at(theta, bend=False):
        place(view, theta)
        loss, slope, curvature = derivatives(view, bend)
        return loss + 0.5 * (precisions * theta**2).sum(), slope + precisions * theta, curvature

    value, slope, curvature = at(theta, True)
    scale = 1.0 / np.maximum(curvature + precisions, 1e-3)
    pairs = deque(maxlen=lbfgs.MEMORY)
    for _ in range(iterations):
        held = (theta <= -BOUND) & (slope > 0) | (theta >= BOUND) & (slope < 0)
        free_slope = np.where(held, 0.0, slope)
        if np.abs(free_slope * np.sqrt(scale)).max(initial=0.0) < lbfgs.FLAT:
            break
        direction = np.where(held, 0.0, -times_inverse(pairs, free_slope, scale))
        if direction @ slope >= 0.0:
            pairs.clear()
            direction = -scale * free_slope
        length, there = 1.0, theta
        for _ in range(lbfgs.HALVINGS):
            there = np.clip(theta + length * direction, -BOUND, BOUND)
            lower, turned, _ = at(there)
            if lower <= value + lbfgs.FALL * (slope @ (there - theta)) and lower < value:
                break
            length *= 0.5
        else:
            if not pairs:
                break
            pairs.clear()
            continue
        step, change = there - theta, turned - slope
        if step @ change > 1e-12 * (change @ (scale * change)):
            pairs.append((step, change, 1.0 / (step @ change)))
        fall, theta, value, slope = value - lower, there, lower, turned
        if fall <= tol * max(abs(value), 1.0):
            break
    place(view, theta)


@contextmanager
def plain_kernels():
    """Within, the dense search runs on the functions above."""
    swaps = [
        (core_objective, {"look": PlainView, "total": total}),
        (dense, {
            "look": PlainView, "descend": descend, "births": births, "choose_anew": choose_anew,
            "fit_parameters": fit_parameters,
        }),
        (moves, {
            "look": PlainView, "total": total, "descend": descend, "fit_column": fit_column, "evidence": evidence,
            "choose_anew": choose_anew,
        }),
        (weights, {"look": PlainView, "fit_parameters": fit_parameters}),
    ]  # fmt: skip
    with ExitStack() as stack:
        for module, names in swaps:
            for name, value in names.items():
                stack.enter_context(patch.object(module, name, value))
        yield
