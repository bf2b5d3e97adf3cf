"""The kernels of the dense search in plain NumPy: the same algorithm, move by move, without compiled code.

    with plain_kernels():
        state, value = dense.step(problem, state, value, rng)

The rival that speed is measured against, and an oracle for the whole search: from the same seed it must end at the same
score. Rows and blocks of dyads are vectors; Bernoulli links, no covariates, the buffet's price of covers.
"""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np
from scipy.special import expit, gammaln

from klafter.core import objective as core_objective
from klafter.core.problem import BOUND
from klafter.search.dense import lbfgs, score, weights
from klafter.search.dense.flip_kernels import DEAREST, TINY_GAIN
from klafter.search.dense.row_reset import SOCIALITY_STEPS
from klafter.search.dense.weights_kernels import NEWTON_STEPS
from klafter.search.moves import birth, death, flip, row_reset


class PlainView:
    """What was observed as dense matrices, and the state, whose arrays the functions below change."""

    def __init__(self, problem, state):
        if problem.counts:
            raise ValueError("The plain kernels know the buffet's price of covers; counts is True. Use counts=False.")
        self.dyads, self.priors = problem.dyads, problem.priors
        self.directed, self.n = problem.dyads.directed, problem.dyads.n
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


def data_loss(ws) -> float:
    total = losses(ws.y, ws.x())[ws.seen].sum()
    return total if ws.directed else total / 2


def column_price(priors, n, size) -> float:
    chosen = gammaln(n + 1) - gammaln(size + 1) - gammaln(n - size + 1)
    return priors.penalty + priors.temperature * (np.log(size) + chosen)


def total(ws) -> float:
    priors, state, alive = ws.priors, ws.state, ws.z.any(axis=1)
    w = ws.w[alive][:, alive]
    squares = weights.weight_precisions(priors, len(w)) * w**2 / 2
    social = (state.sender**2).sum() + ((state.receiver**2).sum() if ws.directed else 0.0)
    return (
        data_loss(ws)
        + column_price(priors, ws.n, ws.z[alive].sum(axis=1)).sum()
        + (squares.sum() if ws.directed else np.triu(squares).sum())
        + 0.5 * (priors.sociality * social + priors.offset * state.offset[0] ** 2)
    )


def flip_gain(ws, i, k, row, column) -> float:
    """Fall of Q when z_ik flips; row and column are the x of node i's dyads."""
    d = 1.0 - 2.0 * ws.z[k, i]
    seen = ws.seen[i]
    out = d * (ws.w[k] @ ws.z)
    gain = (losses(ws.y[i], row) - losses(ws.y[i], row + out))[seen].sum()
    if ws.directed:
        seen, into = ws.seen[:, i], d * (ws.w[:, k] @ ws.z)
        gain += (losses(ws.y[:, i], column) - losses(ws.y[:, i], column + into))[seen].sum()
    others = ws.z[k].sum(dtype=int) - int(ws.z[k, i])
    if others:
        return gain - d * ws.priors.temperature * np.log((ws.n - others) / others)
    alive = ws.z.any(axis=1)
    alive[k] = False
    weights = 0.5 * ws.priors.diagonal * ws.w[k, k] ** 2
    weights += 0.5 * ws.priors.offdiagonal * (ws.w[k, alive] ** 2).sum()
    if ws.directed:
        weights += 0.5 * ws.priors.offdiagonal * (ws.w[alive, k] ** 2).sum()
    return gain - d * (ws.priors.penalty + ws.priors.temperature * np.log(ws.n) + weights)


def descend(ws, nodes, only, passes) -> float:
    total = 0.0
    for i in nodes:
        for _ in range(passes):
            fall = 0.0
            for k in range(len(ws.z)):
                size = ws.z[k].sum(dtype=int)
                free = size > 0 if only < 0 else k == only and (size > 1 or not ws.z[k, i])
                if free:
                    gain = flip_gain(ws, i, k, ws.x([i])[0], ws.x(slice(None), [i])[:, 0])
                    if gain > TINY_GAIN:
                        ws.z[k, i] ^= 1
                        fall += gain
            if fall == 0.0 and only < 0:
                fall = swap(ws, i)
            total += fall
            if fall == 0.0:
                break
    return total


def swap(ws, i) -> float:
    """The exchange of one community of node i for another that lowers Q most; returns the fall, 0 if none falls."""
    best, leave, join, sizes = TINY_GAIN, -1, -1, ws.z.sum(axis=1, dtype=int)
    for k in np.flatnonzero((ws.z[:, i] == 1) & (sizes > 1)).tolist():
        gone = flip_gain(ws, i, k, ws.x([i])[0], ws.x(slice(None), [i])[:, 0])
        if gone < -DEAREST:
            continue
        ws.z[k, i] = 0
        row, column = ws.x([i])[0], ws.x(slice(None), [i])[:, 0]
        for m in np.flatnonzero((ws.z[:, i] == 0) & (sizes > 0)).tolist():
            gain = gone + flip_gain(ws, i, m, row, column) if m != k else 0.0
            if gain > best:
                best, leave, join = gain, k, m
        ws.z[k, i] = 1
    if leave < 0:
        return 0.0
    ws.z[leave, i], ws.z[join, i] = 0, 1
    return best


def own_part(ws, i) -> float:
    """The part of Q that depends on node i's memberships and sociality."""
    others = ws.z.sum(axis=1, dtype=int) - ws.z[:, i]
    held = ws.z[:, i].astype(bool)
    part = losses(ws.y[i], ws.x([i])[0])[ws.seen[i]].sum() + 0.5 * ws.priors.sociality * ws.state.sender[i] ** 2
    if ws.directed:
        part += losses(ws.y[:, i], ws.x(slice(None), [i])[:, 0])[ws.seen[:, i]].sum()
        part += 0.5 * ws.priors.sociality * ws.state.receiver[i] ** 2
    return part + ws.priors.temperature * np.log((ws.n - others[held]) / others[held]).sum()


def find_gains(ws, i) -> np.ndarray:
    """The gain of every flip of node i, 0 for a community that nobody else holds."""
    row, column = ws.x([i])[0], ws.x(slice(None), [i])[:, 0]
    others = ws.z.sum(axis=1, dtype=int) - ws.z[:, i]
    return np.array([flip_gain(ws, i, k, row, column) if others[k] else 0.0 for k in range(len(ws.z))])


def join(ws, i) -> None:
    """The flip that gains most, again and again."""
    while (gains := find_gains(ws, i)).max() > TINY_GAIN:
        ws.z[int(np.argmax(gains)), i] ^= 1


def fit_sociality(ws, i) -> None:
    """s_i, and r_i when directed, by Newton steps along their dyads."""
    sides = [(ws.state.sender, ws.y[i], ws.seen[i], lambda: ws.x([i])[0])]
    if ws.directed:
        sides.append((ws.state.receiver, ws.y[:, i], ws.seen[:, i], lambda: ws.x(slice(None), [i])[:, 0]))
    for values, y, seen, row in sides:
        x = row()[seen]
        values[i] += newton(y[seen], x, np.ones_like(x), 1.0, values[i], ws.priors.sociality, SOCIALITY_STEPS)[0]


def leave_all(ws, i) -> None:
    ws.z[:, i] = 0
    if ws.free.sociality:
        ws.state.sender[i] = ws.state.receiver[i] = 0.0


def reset_rows(ws, nodes, starts) -> float:
    """Each node leaves its communities, forgets its sociality, joins again, and stays there if Q fell."""
    total, state = 0.0, ws.state
    for i in nodes:
        if (ws.z.sum(axis=1)[ws.z[:, i] == 1] == 1).any():
            continue
        here = lowest = own_part(ws, i)
        held = best = ws.z[:, i].copy()
        social = (state.sender[i], state.receiver[i])
        leave_all(ws, i)
        firsts = find_gains(ws, i)
        for t in range(starts):
            gains = firsts.max(initial=0.0) > TINY_GAIN
            if t > 0:
                if not gains:
                    break
                leave_all(ws, i)
            if gains:
                first = int(np.argmax(firsts))
                firsts[first] = 0.0
                ws.z[first, i] = 1
                join(ws, i)
            if (ws.z[:, i] != held).any():
                if ws.free.sociality:
                    fit_sociality(ws, i)
                there = own_part(ws, i)
                if there < lowest - TINY_GAIN:
                    lowest, best, social = there, ws.z[:, i].copy(), (state.sender[i], state.receiver[i])
        ws.z[:, i] = best
        state.sender[i], state.receiver[i] = social
        total += here - lowest
    return total


def newton(y, x, max_effect, share, theta, precision, steps) -> tuple[float, float]:
    """Newton steps on a parameter that reaches dyads, halved until Q falls: how far it moved, and the fall."""
    delta = 0.0

    def phi(delta):
        return (share * losses(y, x + max_effect * delta)).sum() + 0.5 * precision * (theta + delta) ** 2

    begun = here = phi(0.0)
    for _ in range(steps):
        p = expit(x + max_effect * delta)
        first = (share * max_effect * (p - y)).sum() + precision * (theta + delta)
        second = (share * max_effect**2 * p * (1 - p)).sum() + precision
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


def fit_weight(ws, k, m) -> float:
    """Newton steps on w_km, halved until Q falls."""
    zk, zm = ws.z[k].astype(float), ws.z[m].astype(float)
    rows, columns = np.flatnonzero(zk), np.flatnonzero(zm)
    if not ws.directed and k != m:
        rows = columns = np.flatnonzero(zk + zm)
    max_effect = np.outer(zk[rows], zm[columns])
    if not ws.directed and k != m:
        max_effect += np.outer(zm[rows], zk[columns])
    block = np.ix_(rows, columns)
    share = ws.seen[block] * (1.0 if ws.directed else 0.5)
    y, x = ws.y[block], ws.x(rows, columns)
    precision = ws.priors.diagonal if k == m else ws.priors.offdiagonal
    delta, fall = newton(y, x, max_effect, share, ws.w[k, m], precision, NEWTON_STEPS)
    ws.w[k, m] += delta
    if not ws.directed and k != m:
        ws.w[m, k] += delta
    return fall


def fit_column(ws, k, diagonal_only) -> float:
    fall = fit_weight(ws, k, k)
    others = [m for m in range(len(ws.z)) if not diagonal_only and m != k and ws.z[m].any()]
    fall += sum(fit_weight(ws, k, m) for m in others)
    if ws.directed:
        fall += sum(fit_weight(ws, m, k) for m in others)
    return fall


def underpredicted(ws, seed) -> list[np.ndarray]:
    """Partners whose link with the seed is above what was expected, outgoing and, where directed, incoming."""
    state, found = ws.state, []
    typical = state.offset[0] + state.sender[seed] + state.receiver + 1.5
    for y, x in ((ws.y[seed], ws.x([seed])[0]), (ws.y[:, seed], ws.x(slice(None), [seed])[:, 0])):
        found.append((y > 0) & ((x <= typical) | (expit(x) < 0.5)))
        typical = state.offset[0] + state.receiver[seed] + state.sender + 1.5
    return found if ws.directed else found[:1]


def newly_underpredicted(ws, seed, failed_out, failed_in) -> bool:
    new, dyads = False, ws.dyads
    for partners, rows, failed in zip(
        underpredicted(ws, seed), (dyads.links_out, dyads.links_in), (failed_out, failed_in)
    ):
        here = slice(rows.start[seed], rows.start[seed + 1])
        now = partners[rows.node[here]] & (failed[here] == 0)
        failed[here][now] = 1
        new = new or bool(now.any())
    return new


def seed_community(ws, k, seed, with_seed) -> int:
    ws.w[k] = ws.w[:, k] = 0.0
    for partners in underpredicted(ws, seed):
        ws.z[k, partners] = 1
    if with_seed and ws.z[k].any():
        ws.z[k, seed] = 1
    return int(ws.z[k].sum())


def around(ws, k) -> np.ndarray:
    members = ws.z[k].astype(bool)
    return np.flatnonzero(members | (ws.y[members] > 0).any(axis=0) | (ws.y[:, members] > 0).any(axis=1))


def clear(ws, k) -> None:
    ws.w[k] = ws.w[:, k] = 0.0
    ws.z[k] = 0


def grow(ws, k, price, diagonal_only, passes) -> float:
    gain = -price
    for left in range(passes - 1, -1, -1):
        before = gain
        gain += fit_column(ws, k, diagonal_only)
        step = descend(ws, around(ws, k), k, 1)
        gain += step
        if step == 0.0 or gain + left * (gain - before) < 0.0:
            break
    return gain


def no_bounds(ws) -> None:
    """Bounds that save gains are for compiled births: here every gain is worked out."""


def propose_birth(ws, seed, k, assortative, passes, _) -> tuple[float, float]:
    size = seed_community(ws, k, seed, assortative)
    gain = grow(ws, k, column_price(ws.priors, ws.n, size), assortative, passes) if size > 1 else 0.0
    if ws.z[k].sum() < 2:
        return 0.0, 0.0
    return gain, column_evidence(ws, k) if gain > TINY_GAIN else 0.0


def next_birth(ws, seeds, first, k, bipartite_every, passes, failed, _) -> tuple[int, float, float, int]:
    n_proposed = 0
    for t in range(first, len(seeds)):
        assortative = (t + 1) % bipartite_every != 0
        if newly_underpredicted(ws, seeds[t], *failed[assortative]):
            gain, evidence = propose_birth(ws, seeds[t], k, assortative, passes, None)
            n_proposed += 1
            if gain > evidence:
                return t, gain, evidence, n_proposed
            clear(ws, k)
    return len(seeds), 0.0, 0.0, n_proposed


def column_evidence(ws, k) -> float:
    priors = ws.priors
    curvatures = column_bends(ws, k)
    precisions = np.full(curvatures.shape, priors.offdiagonal)
    precisions[:, k] = priors.diagonal
    return 0.5 * priors.temperature * float(np.log1p(curvatures / precisions).sum())


def column_bends(ws, k) -> np.ndarray:
    p = np.where(ws.seen, expit(ws.x()), 0.0)
    curvatures, z = p * (1 - p), ws.z.astype(float)
    if ws.directed:
        into = z[k] @ curvatures.T @ z.T
        into[k] = 0.0
        return np.stack([z[k] @ curvatures @ z.T, into])
    found = z[k] @ curvatures @ z.T
    found[k] *= 0.5
    return found[None]


def derivatives(ws, with_curvature):
    x, z = ws.x(), ws.z.astype(float)
    p = np.where(ws.seen, expit(x), 0.0)
    share = 1.0 if ws.directed else 0.5
    vectors = []
    for values in (p - ws.seen * ws.y, p * (1 - p)):
        w = z @ values @ z.T
        if not ws.directed:
            w[np.diag_indices(len(w))] *= 0.5
        by_sender, by_receiver = values.sum(axis=1), values.sum(axis=0)
        vectors.append(weights.pack(ws.free, w, share * values.sum(), by_sender, by_receiver, np.zeros(0)))
    return data_loss(ws), *vectors


def precisions_of(ws) -> np.ndarray:
    """The precision of every free parameter's prior."""
    priors, social = ws.priors, np.full(ws.n, ws.priors.sociality)
    return weights.pack(
        ws.free, weights.weight_precisions(priors, len(ws.z)), priors.offset, social, social, np.zeros(0)
    )


def laplace_evidence(ws) -> float:
    if ws.priors.temperature == 0.0:
        return 0.0
    return 0.5 * ws.priors.temperature * float(np.log1p(derivatives(ws, True)[2] / precisions_of(ws)).sum())


def place(ws, theta) -> None:
    for ours, theirs in zip(ws.state, weights.unpack(ws.free, ws.state, theta)):
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


def fit_parameters(ws, iterations, tol) -> None:
    """L-BFGS within bounds, as ``search.lbfgs`` has it."""
    precisions, state = precisions_of(ws), ws.state
    theta = weights.pack(ws.free, state.w, state.offset, state.sender, state.receiver, state.coefficients)
    if not len(theta):
        return

    def at(theta, with_curvature=False):
        place(ws, theta)
        loss, slope, curvature = derivatives(ws, with_curvature)
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
    place(ws, theta)


@contextmanager
def plain_kernels():
    """Within, the dense search runs on the functions above."""
    swaps = [
        (core_objective, {"open_workspace": PlainView, "total": total}),
        (birth, {"open_workspace": PlainView, "next_birth": next_birth, "clear_column": clear,
                 "new_residuals": no_bounds, "laplace_evidence": laplace_evidence}),
        (flip, {"open_workspace": PlainView, "descend": descend, "fit_parameters": fit_parameters,
                "fit_column": fit_column, "total": total}),
        (row_reset, {"open_workspace": PlainView, "reset_rows": reset_rows, "fit_parameters": fit_parameters,
                     "total": total}),
        (death, {"open_workspace": PlainView}),
        (score, {"open_workspace": PlainView, "total": total, "laplace_evidence": laplace_evidence}),
        (weights, {"open_workspace": PlainView, "fit_parameters": fit_parameters}),
    ]  # fmt: skip
    with ExitStack() as stack:
        for module, names in swaps:
            for name, value in names.items():
                stack.enter_context(patch.object(module, name, value))
        yield
