"""The memberships of a newcomer under one draw: single flips and sociality in turn, by loss and prior.

    -log p(z, s | y) = sum_t loss(y_t, b_t + s + z' reach_t) - sum_k z_k prior_k + s^2 / (2 spread^2)

Dyads t of both directions stand one after the other, the incoming ones from ``cut`` on. Of 0/1 links with logit link
the odds e^x are enough, as in ``core.exp_predictor``: a community multiplies them, and one logarithm does for many.
"""

from typing import NamedTuple

import numpy as np

from klafter.core.exp_predictor import log_product, log_quotient, log_sum
from klafter.core.families import curvature, loss, slope
from klafter.core.responses import CLIP
from klafter.jit.decorators import bare, inner, kernel

SWEEPS = 6  # of flips, at most
NEWTON_STEPS = 3
FARTHEST = 3.0  # of sociality, in standard deviations


class Dyads(NamedTuple):
    """Observed dyads of the newcomer."""

    nodes: np.ndarray  # (m,) with whom
    values: np.ndarray  # (m,)
    cut: int


class Others(NamedTuple):
    """The other nodes under a draw, and what is known besides of their dyads with the newcomer."""

    w: np.ndarray  # (K, K)
    start: np.ndarray  # memberships by node, as in a CSR matrix
    which: np.ndarray
    offset: float
    sender: np.ndarray  # (n,)
    receiver: np.ndarray  # (n,)
    explained: np.ndarray  # (n,)


class Effects(NamedTuple):
    """What memberships of the newcomer would do."""

    step: np.ndarray  # (K, m) added to x
    factor: np.ndarray  # (K, m) e^step
    links: np.ndarray  # (K,) sum over links of value times step
    prior: np.ndarray  # (K,) log odds of the share of members
    spread: np.ndarray  # (2,) standard deviation of sociality, sending and receiving


@kernel
def place_row(law, dyads, others):
    """Probabilities of memberships, and sociality: the better of two ascents.

    One begins in no community, one in those that the newcomer's links have more of than all its dyads.
    """
    k, m = others.w.shape[0], dyads.nodes.size
    effects = Effects(np.empty((k, m)), np.empty((k, m)), np.zeros(k), np.zeros(k), np.zeros(2))
    fill_steps(dyads, others, np.exp(others.w), effects)
    fill_prior(others, effects)
    base, empty, drawn = np.empty(m), np.zeros(k), np.zeros(k)
    farthest = fill_base(dyads, others, effects, base)
    fill_drawn(dyads, effects, drawn)
    quick = law.logistic and farthest < CLIP
    first = ascend(law, dyads, effects, base, empty, quick)
    second = ascend(law, dyads, effects, base, drawn, quick)
    return (first if first[0] <= second[0] else second)[1:]


@bare
def fill_steps(dyads, others, exp_w, effects):
    w = others.w
    for k in range(w.shape[0]):
        for t in range(dyads.nodes.size):
            j, step, factor = dyads.nodes[t], 0.0, 1.0
            for s in range(others.start[j], others.start[j + 1]):
                row, column = (k, others.which[s]) if t < dyads.cut else (others.which[s], k)
                step += w[row, column]
                factor *= exp_w[row, column]
            effects.step[k, t], effects.factor[k, t] = step, factor
            effects.links[k] += dyads.values[t] * step


@bare
def fill_prior(others, effects):
    prior, n = effects.prior, others.start.size - 1
    for s in range(others.which.size):
        prior[others.which[s]] += 1.0
    for k in range(prior.size):
        prior[k] = np.log((prior[k] + 0.5) / (n - prior[k] + 0.5))
    for side in range(2):
        values, mean, square = others.receiver if side else others.sender, 0.0, 0.0
        for i in range(n):
            mean += values[i] / n
        for i in range(n):
            square += (values[i] - mean) ** 2 / n
        effects.spread[side] = np.sqrt(square)


@bare
def fill_base(dyads, others, effects, base):
    """x without memberships and sociality of the newcomer; returns how far x may go."""
    farthest = 0.0
    for t in range(base.size):
        j = dyads.nodes[t]
        base[t] = others.offset + others.explained[j] + (others.receiver[j] if t < dyads.cut else others.sender[j])
        far = abs(base[t]) + FARTHEST * max(effects.spread[0], effects.spread[1])
        for k in range(effects.prior.size):
            far += abs(effects.step[k, t])
        farthest = max(farthest, far)
    return farthest


@bare
def fill_drawn(dyads, effects, drawn):
    """1 where the linked dyads have more of a community than all dyads."""
    for k in range(drawn.size):
        linked = all_dyads = 0.0
        n_linked = 0
        for t in range(dyads.nodes.size):
            all_dyads += effects.step[k, t]
            if dyads.values[t] > 0:
                linked += effects.step[k, t]
                n_linked += 1
        drawn[k] = 1.0 if n_linked and linked / n_linked > all_dyads / dyads.nodes.size else 0.0


@inner
def ascend(law, dyads, effects, base, z, quick):
    """Minus the log posterior, probabilities and sociality where no flip gains any more, from z on."""
    social, proba, x = np.zeros(2), np.zeros(z.size), base.copy()
    for k in range(z.size):
        proba[k] = 1.0 / (1.0 + np.exp(-effects.prior[k]))
        for t in range(x.size):
            x[t] += z[k] * effects.step[k, t]
    e = np.exp(x) if quick else x
    total = alternate(law, dyads, effects, z, social, proba, x, e, quick)
    for side in range(2):
        total += 0.5 * (social[side] / effects.spread[side]) ** 2 if effects.spread[side] > 0.0 else 0.0
    for k in range(z.size):
        total -= z[k] * effects.prior[k]
    return total, proba, social


@bare
def alternate(law, dyads, effects, z, social, proba, x, e, quick):
    """Sociality and flips in turn, in place; returns the loss. Where ``quick``, e is e^x and x stays behind it."""
    total, linked = 0.0, 0.0
    for t in range(x.size):
        linked += dyads.values[t] * x[t]
    for _ in range(SWEEPS):
        for side in range(2):
            begin, end = (dyads.cut, x.size) if side else (0, dyads.cut)
            if effects.spread[side] > 0.0 and end > begin:
                values = dyads.values[begin:end]
                linked += move_sociality(law, values, e[begin:end], social[side:], effects.spread[side], quick)
        total = log_sum(e) - linked if quick else sum_losses(law, dyads.values, e)
        moved = False
        for k in range(z.size):
            d = 1 - 2 * int(z[k])
            if not quick:
                other = sum_shifted(law, dyads.values, e, effects.step, k, d)
            elif d > 0:
                other = log_product(e, effects.factor, k) - linked - effects.links[k]
            else:
                other = log_quotient(e, effects.factor, k) - linked + effects.links[k]
            odds = effects.prior[k] + d * (total - other)
            proba[k] = 1.0 / (1.0 + np.exp(-odds))
            if (odds > 0.0) == (d > 0):
                z[k], total, moved = z[k] + d, other, True
                linked += d * effects.links[k]
                shift(e, effects, k, d, quick)
        if not moved:
            break
    return total


@bare
def sum_losses(law, values, x):
    total = 0.0
    for t in range(x.size):
        total += loss(law, values[t], x[t])
    return total


@bare
def sum_shifted(law, values, x, step, k, d):
    total = 0.0
    for t in range(x.size):
        total += loss(law, values[t], x[t] + d * step[k, t])
    return total


@bare
def shift(e, effects, k, d, quick):
    """The newcomer joins community k, or leaves it."""
    for t in range(e.size):
        if not quick:
            e[t] += d * effects.step[k, t]
        elif d > 0:
            e[t] *= effects.factor[k, t]
        else:
            e[t] /= effects.factor[k, t]


@bare
def move_sociality(law, values, e, social, spread, quick):
    """Newton steps of one direction's sociality, within some standard deviations; returns the change of sum y x."""
    linked, begun = 0.0, social[0]
    for _ in range(NEWTON_STEPS):
        first, second = social[0] / spread**2, 1.0 / spread**2
        for t in range(e.size):
            if quick:
                p = e[t] / (1.0 + e[t])
                first += p - values[t]
                second += p * (1.0 - p)
            else:
                first += slope(law, values[t], e[t])
                second += curvature(law, values[t], e[t])
        there = min(max(social[0] - first / second, -FARTHEST * spread), FARTHEST * spread)
        delta = there - social[0]
        factor = np.exp(delta)
        for t in range(e.size):
            e[t] = e[t] * factor if quick else e[t] + delta
        social[0] = there
    for t in range(e.size):
        linked += values[t] * (social[0] - begun)
    return linked
