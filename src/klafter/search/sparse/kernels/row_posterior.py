"""Kernels of the probabilities of memberships: each node's set of communities is drawn as a whole.

    P(S | the rest) ~ exp(-row(S, t, r))

with the degree factors that are best for S; see ``rows``. A node with one link into each of four communities may be
in none of them in the most probable set, and yet hardly in none. Of up to six communities all sets are looked at, of
more the best of each size and those that differ from one of these by one community.
"""

import math

import numpy as np

from klafter.jit.decorators import bare, kernel
from klafter.search.sparse.kernels.flips import FAINT
from klafter.search.sparse.kernels.row_reset import mostly_background
from klafter.search.sparse.kernels.rows import (
    WORSE_SIZES,
    best_of_size,
    copy_marks,
    expected_factors,
    is_last,
    prepare_row,
    set_value,
    take_out,
)

ALL_SETS = 6  # communities of which all sets are looked at
PLACES = 62  # communities that one number marks


@kernel
def set_posterior(ws, low, high, scratch, which, proba, ends):
    """P(z_ik = 1) given the rest, of the nodes low..high and the communities that each is tried in.

    Of nodes that the background hardly explains there are none where links are not shared: flips serve these.
    """
    total, tried = 0, len(scratch.which)
    most = max(tried * (tried + 2) + 1, 1 << ALL_SETS)
    marks, rows, sums = np.zeros(most, np.int64), np.zeros(most), np.zeros(tried)
    for i in range(low, high):
        if scratch.sharing or mostly_background(ws, i):
            if is_last(ws, i):
                for m in range(ws.start[i], ws.start[i] + ws.held[i]):
                    which[total], proba[total] = ws.member[m], 1.0
                    total += 1
            else:
                total = row_posterior(ws, i, scratch, marks, rows, sums, which, proba, total)
        ends[i - low] = total
    return total


@bare
def row_posterior(ws, i, scratch, marks, rows, sums, which, proba, total):
    """Append the probabilities of one row; returns how many there are then."""
    take_out(ws, i, -1, scratch)
    number = min(prepare_row(ws, i, scratch), PLACES)
    n_sets = list_sets(ws, i, number, scratch, marks, rows)
    take_out(ws, i, 1, scratch)
    lowest, weight = math.inf, 0.0
    for c in range(n_sets):
        lowest = min(lowest, rows[c])
    for q in range(number):
        sums[q] = 0.0
    for c in range(n_sets):
        part = math.exp(lowest - rows[c])
        weight += part
        for q in range(number):
            if marks[c] >> q & 1:
                sums[q] += part
    for q in range(number):
        if sums[q] > FAINT * weight:
            which[total], proba[total] = scratch.which[q], sums[q] / weight
            total += 1
    return total


@bare
def list_sets(ws, i, number, scratch, marks, rows):
    """The sets that are looked at, as bits, and their rows; returns how many."""
    if number <= ALL_SETS:
        for mark in range(1 << number):
            for q in range(number):
                scratch.joined[q] = mark >> q & 1
            marks[mark], rows[mark] = mark, set_value(ws, i, number, scratch)
        return 1 << number
    copy_marks(scratch.joined, scratch.member, number)
    n_sets = add_with_neighbours(ws, i, number, scratch, marks, rows, 0)
    (t, r), in_vain, low = expected_factors(ws, i, number, scratch), 0, math.inf
    for size in range(min(number, ws.start[i + 1] - ws.start[i]) + 1):
        value = best_of_size(ws, i, size, t, r, number, scratch)
        n_sets = add_with_neighbours(ws, i, number, scratch, marks, rows, n_sets)
        in_vain = 0 if value < low else in_vain + 1
        low = min(low, value) if size > 0 else math.inf
        if in_vain >= WORSE_SIZES:
            break
    return n_sets


@bare
def add_with_neighbours(ws, i, number, scratch, marks, rows, n_sets):
    """List the joined set, and those with one community more or fewer."""
    n_sets = add_set(ws, i, number, scratch, marks, rows, n_sets)
    for q in range(number):
        scratch.joined[q] ^= True
        n_sets = add_set(ws, i, number, scratch, marks, rows, n_sets)
        scratch.joined[q] ^= True
    return n_sets


@bare
def add_set(ws, i, number, scratch, marks, rows, n_sets):
    """List the joined set unless it is there."""
    mark = 0
    for q in range(number):
        mark |= scratch.joined[q] << q
    for c in range(n_sets):
        if marks[c] == mark:
            return n_sets
    marks[n_sets], rows[n_sets] = mark, set_value(ws, i, number, scratch)
    return n_sets + 1
