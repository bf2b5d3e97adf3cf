"""Sweeps over memberships with the number of communities fixed, and the probabilities by which they are drawn.

A node's row is drawn twice: flip by flip, each with probability sigmoid(gain), and by an exchange of one community that
it holds for another. Under learned counts a node changes community by leaving one and joining another at once, and
either flip alone raises Q. No community is ever emptied.
"""

import math

import numpy as np

from klafter.core.objective import flip_gain
from klafter.core.rows import load_rows
from klafter.core.workspace import open_workspace, refresh_effects
from klafter.jit.decorators import bare, inner, kernel
from klafter.sampling.weights_kernels import draw_parameters
from klafter.search.dense.flip_kernels import apply_flip

CLIP = 500.0


@bare
def draw_flips(ws, i, proba, scratch, rng):
    """Every z_ik in turn by Gibbs; proba[k, i] grows by half the probability that it is 1."""
    for k in range(ws.z.shape[0]):
        held = ws.z[k, i] == 1
        if ws.size[k] - np.int64(ws.z[k, i]) == 0:  # nobody else holds it
            proba[k, i] += 0.5 * ws.z[k, i]
            continue
        gain = flip_gain(ws, i, k, scratch)
        flips = 1.0 / (1.0 + math.exp(min(max(-gain, -CLIP), CLIP)))
        proba[k, i] += 0.5 * (1.0 - flips if held else flips)
        if rng.random() < flips:
            apply_flip(ws, i, k)


@bare
def draw_exchange(ws, i, proba, weights, scratch, rng):
    """An exchange; proba[k, i] grows by half the probability of z_ik = 1 after it."""
    leave = open_exchange(ws, i, weights, scratch, rng)
    for k in range(ws.z.shape[0]):
        proba[k, i] += 0.5 * (ws.z[k, i] + weights[k])
    close_exchange(ws, i, leave, weights, rng)


@bare
def exchange(ws, i, rows, rng):
    """One community that i shares for another; (2, K) ``rows`` hold probabilities and gains on the way."""
    leave = open_exchange(ws, i, rows[0], rows[1], rng)
    if leave >= 0:
        close_exchange(ws, i, leave, rows[0], rng)
        refresh_effects(ws, i)


@bare
def open_exchange(ws, i, weights, scratch, rng):
    """One community that i shares, at random, is left; ``weights`` are the probabilities of those to join instead.

    It may be the same again. The set of rows to choose from is the same seen from each of them, and so is the chance to
    choose it. Returns the community that was left, -1 if i shares none.
    """
    n_communities, leave = ws.z.shape[0], shared_at_random(ws, i, rng)
    weights[:] = 0.0
    if leave < 0:
        return leave
    apply_flip(ws, i, leave)
    highest, total = -np.inf, 0.0
    for k in range(n_communities):
        weights[k] = -np.inf if ws.z[k, i] or ws.size[k] == 0 else flip_gain(ws, i, k, scratch)
        highest = max(highest, weights[k])
    for k in range(n_communities):
        weights[k] = math.exp(max(weights[k] - highest, -CLIP)) if weights[k] > -np.inf else 0.0
        total += weights[k]
    for k in range(n_communities):
        weights[k] /= total
    return leave


@bare
def close_exchange(ws, i, leave, weights, rng):
    """A community is joined by its weight."""
    if leave < 0:
        return
    left, join = rng.random(), leave
    for k in range(ws.z.shape[0]):
        if weights[k] > 0.0:
            join = k
            left -= weights[k]
            if left < 0.0:
                break
    apply_flip(ws, i, join)


@bare
def shared_at_random(ws, i, rng):
    """A community that i holds with others, each with the same chance; -1 if there is none."""
    found, n_shared = -1, 0
    for k in range(ws.z.shape[0]):
        if ws.z[k, i] and ws.size[k] > 1:
            n_shared += 1
            if rng.random() * n_shared < 1.0:
                found = k
    return found


@bare
def draw_rows(ws, proba, weights, scratch, rng):
    for i in range(ws.n):
        load_rows(ws, i)
        draw_flips(ws, i, proba, scratch, rng)
        draw_exchange(ws, i, proba, weights, scratch, rng)
        refresh_effects(ws, i)


@inner
def draw_all_rows(ws, proba, rng):
    draw_rows(ws, proba, np.empty(ws.z.shape[0]), np.empty(ws.z.shape[0]), rng)


@kernel
def sweep_memberships(problem, state, proba, rng):
    """Every node's row, in place, given all parameters; (K, n) ``proba`` grow by the probabilities."""
    draw_all_rows(open_workspace(problem, state), proba, rng)


@kernel
def sweep_fixed(problem, state, proba, rng):
    """The same, then all parameters."""
    ws = open_workspace(problem, state)
    draw_all_rows(ws, proba, rng)
    draw_parameters(ws, 1.0, rng)
