"""Flips at a temperature, for annealing."""

import math

from klafter.jit.decorators import bare, kernel
from klafter.search.sparse.kernels.flips import (
    flip_rest,
    flip_scratch,
    forget_flips,
    links_bound,
    links_gain,
    tally_flips,
)
from klafter.search.sparse.kernels.links import flip

LEAST = 2  # members that a community keeps: deaths are another move


@bare
def drawn_flip(ws, i, temperature, rng, scratch):
    """Community k with probability proportional to exp(gain of its flip / temperature), -1 (none) to 1.

    The largest of log weights with Gumbel noise is such a draw; most gains are too low by a bound already.
    """
    n_touched = tally_flips(ws, i, scratch)
    full = ws.start[i] + ws.held[i] == ws.start[i + 1]
    chosen, highest = -1, -math.log(rng.standard_exponential())
    for m in range(n_touched):
        k = scratch.touched[m]
        inside = scratch.mine[k]
        if ws.size[k] > LEAST if inside else not full:
            rest = flip_rest(ws, i, k, inside, scratch.back[k])
            noise = -math.log(rng.standard_exponential())
            if (links_bound(scratch, k) + rest) / temperature + noise > highest:
                level = (links_gain(ws, i, k, scratch) + rest) / temperature + noise
                if level > highest:
                    chosen, highest = k, level
    forget_flips(ws, i, n_touched, scratch)
    return chosen


@kernel
def annealed_rows(ws, order, most, temperature, rng):
    """Draw flips of the nodes in this order, ``most`` of each at most; returns how many there were."""
    scratch, flips = flip_scratch(ws), 0
    for i in order:
        for _ in range(most):
            k = drawn_flip(ws, i, temperature, rng, scratch)
            if k < 0:
                break
            flip(ws, i, k)
            flips += 1
    return flips
