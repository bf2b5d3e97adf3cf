"""Flips at a temperature, for annealing."""

import math

from klafter.jit.decorators import bare, kernel
from klafter.search.sparse.kernels.flips import flip_rest, flip_scratch, links_gain, tally_flips
from klafter.search.sparse.kernels.links import flip, mark_row

LEAST = 2  # members that a community keeps: deaths are another move


@bare
def drawn_flip(ws, i, temperature, rng, scratch):
    """Community k with probability proportional to exp(gain of its flip / temperature), -1 (none) to 1.

    The largest of log weights with Gumbel noise is such a draw.
    """
    n_touched = tally_flips(ws, i, scratch)
    full = ws.start[i] + ws.held[i] == ws.start[i + 1]
    chosen, highest = -1, -math.log(rng.standard_exponential())
    for m in range(n_touched):
        k = scratch.touched[m]
        scratch.seen[k] = False
        inside = scratch.mine[k]
        if ws.size[k] > LEAST if inside else not full:
            gain = links_gain(scratch, k) + flip_rest(ws, i, k, inside, scratch.back[k])
            level = gain / temperature - math.log(rng.standard_exponential())
            if level > highest:
                chosen, highest = k, level
    mark_row(ws, i, scratch.mine)
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
