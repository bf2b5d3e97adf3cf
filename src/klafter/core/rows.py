"""The row of a node: x_ij for every j, rebuilt when node i is visited, and what a shift of the row costs.

Loss splits into the part of a non-link on every observed dyad and a correction on the links:
    sum_j loss(y_ij, x_ij) = sum_j loss(0, x_ij) + sum_{links} [loss(y_ij, x_ij) - loss(0, x_ij)]
An unobserved j carries e^x = 0 and seen = 0, which takes it out of every sum without a branch.
"""

from typing import NamedTuple

import numpy as np

from klafter.core.families import BERNOULLI, EXPOSURE, GAUSSIAN, POISSON, loss
from klafter.core.kernel import inner, kernel
from klafter.core.responses import CLIP

BLOCK = 64  # factors of 1 + e^x multiplied before one logarithm is taken


class Cache(NamedTuple):
    """Derived from the state: sizes, members, and what each node adds to its partners' x."""

    size: np.ndarray  # (K,) int64
    pull_out: np.ndarray  # (K, n): (W z_j)_k, what j adds to x_ij for each community k of i
    pull_in: np.ndarray  # (K, n): (W' z_j)_k, what j adds to x_ji; the same array when undirected
    exp_out: np.ndarray  # (K, n): e^pull_out, where the family needs it
    exp_in: np.ndarray


class Row(NamedTuple):
    """One node's dyads in one direction."""

    x: np.ndarray  # (n,)
    e: np.ndarray  # (n,) e^x, 0 where not observed
    seen: np.ndarray  # (n,) 1 where observed
    base: np.ndarray  # (1,) sum over observed j of loss(0, x_j)


def make_cache(state, directed: bool) -> Cache:
    """The cache of a state, from scratch."""
    z = state.z.astype(float)
    pull_out = np.ascontiguousarray(state.w @ z)
    exp_out = np.exp(np.clip(pull_out, -CLIP, CLIP))
    size = state.z.sum(axis=1).astype(np.int64)
    if not directed:
        return Cache(size, pull_out, pull_out, exp_out, exp_out)
    pull_in = np.ascontiguousarray(state.w.T @ z)
    return Cache(size, pull_out, pull_in, exp_out, np.exp(np.clip(pull_in, -CLIP, CLIP)))


@kernel
def new_row(n):
    return Row(np.empty(n), np.empty(n), np.empty(n), np.zeros(1))


@inner
def log_product(e, f):
    """sum_j log(1 + e_j f_j), one logarithm for a block of terms."""
    total = 0.0
    for start in range(0, e.size, BLOCK):
        stop = min(start + BLOCK, e.size)
        p = 1.0
        for j in range(start, stop):
            p *= 1.0 + e[j] * f[j]
        if p < 1e300:
            total += np.log(p)
        else:  # the product overflowed
            for j in range(start, stop):
                total += np.log1p(e[j] * f[j])
    return total


@inner
def log_quotient(e, f):
    """sum_j log(1 + e_j / f_j)."""
    total = 0.0
    for start in range(0, e.size, BLOCK):
        stop = min(start + BLOCK, e.size)
        p = 1.0
        for j in range(start, stop):
            p *= 1.0 + e[j] / f[j]
        if p < 1e300:
            total += np.log(p)
        else:  # the product overflowed
            for j in range(start, stop):
                total += np.log1p(e[j] / f[j])
    return total


@inner
def nonlink_loss(law, row):
    """sum over observed j of loss(0, x_j)."""
    if law.code == BERNOULLI:
        return log_product(row.e, row.seen)
    if law.code == POISSON:
        return row.e.sum()
    total = 0.0
    for j in range(row.x.size):
        if law.code == GAUSSIAN:
            total += row.seen[j] * (0.5 * law.precision * row.x[j] ** 2 - 0.5 * np.log(law.precision))
        elif law.code == EXPOSURE:
            total += row.seen[j] * row.x[j]
    return total


@inner
def shifted_nonlink_loss(law, row, step, factor, d):
    """sum over observed j of loss(0, x_j + d step_j), with factor = e^step."""
    total = 0.0
    if law.code == BERNOULLI:
        return log_product(row.e, factor) if d > 0 else log_quotient(row.e, factor)
    if law.code == POISSON:
        for j in range(row.e.size):
            total += row.e[j] * (factor[j] if d > 0 else 1.0 / factor[j])
        return total
    for j in range(row.x.size):
        x = row.x[j] + d * step[j]
        if law.code == GAUSSIAN:
            total += row.seen[j] * (0.5 * law.precision * x * x - 0.5 * np.log(law.precision))
        elif law.code == EXPOSURE:
            total += row.seen[j] * x
    return total


@inner
def link_term(law, y, x):
    """loss(y, x) - loss(0, x): the correction that a link makes."""
    if law.code == GAUSSIAN:
        return law.precision * (0.5 * y * y - y * x)
    if law.code == EXPOSURE:
        return loss(law, y, max(x, 0.0)) - max(x, 0.0)
    return -y * x


@inner
def shift_loss(law, row, links, i, step, factor, d):
    """Rise of the loss of node i's row when x_j moves by d step_j."""
    rise = shifted_nonlink_loss(law, row, step, factor, d) - row.base[0]
    for t in range(links.start[i], links.start[i + 1]):
        j = links.node[t]
        if law.code == BERNOULLI or law.code == POISSON:
            rise -= links.value[t] * d * step[j]
        else:
            x = row.x[j]
            rise += link_term(law, links.value[t], x + d * step[j]) - link_term(law, links.value[t], x)
    return rise


@inner
def shift_row(law, row, step, factor, d):
    """Move the row by d step."""
    for j in range(row.x.size):
        row.x[j] += d * step[j]
    if law.code == BERNOULLI or law.code == POISSON:
        for j in range(row.x.size):
            row.e[j] = row.e[j] * factor[j] if d > 0 else row.e[j] / factor[j]
    row.base[0] = nonlink_loss(law, row)


@inner
def load_row(problem, state, cache, i, incoming, row):
    """x_ij for every j (x_ji when incoming), and which of them were observed."""
    dyads = problem.dyads
    hidden, covariates, which = dyads.hidden_out, dyads.covariates_out, dyads.which_out
    pull, own, other = cache.pull_out, state.sender, state.receiver
    if incoming:
        hidden, covariates, which = dyads.hidden_in, dyads.covariates_in, dyads.which_in
        pull, own, other = cache.pull_in, state.receiver, state.sender
    x = row.x
    constant = state.offset[0] + own[i]
    for j in range(x.size):
        x[j] = constant + other[j]
    for k in range(state.z.shape[0]):
        if state.z[k, i]:
            for j in range(x.size):
                x[j] += pull[k, j]
    for t in range(covariates.start[i], covariates.start[i + 1]):
        x[covariates.node[t]] += state.coefficients[which[t]] * covariates.value[t]
    row.seen[:] = 1.0
    row.seen[i] = 0.0
    for t in range(hidden.start[i], hidden.start[i + 1]):
        row.seen[hidden.node[t]] = 0.0
    if problem.law.code == BERNOULLI or problem.law.code == POISSON:
        for j in range(x.size):
            row.e[j] = row.seen[j] * np.exp(min(max(x[j], -CLIP), CLIP))
    row.base[0] = nonlink_loss(problem.law, row)


@inner
def row_loss(law, row, links, i):
    """sum over observed j of loss(y_ij, x_ij)."""
    total = row.base[0]
    for t in range(links.start[i], links.start[i + 1]):
        total += link_term(law, links.value[t], row.x[links.node[t]])
    return total
