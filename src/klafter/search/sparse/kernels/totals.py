"""Kernels of passes over all links: what the objective needs, and what the weights need.

Totals are (3, K + m + 1), by community, by off-diagonal affinity and the background last: expected counts credited to
each, sum of t_i r_i over nodes inside, and sum of a over hidden dyads inside.
"""

# ruff: noqa: E741 - k and l are communities, as in the papers

import math

import numpy as np

from klafter.jit.decorators import bare, kernel
from klafter.search.sparse.kernels.links import (
    add_row_effect,
    clear_row_effect,
    expected_count,
    exposure_factor,
    hidden_factors,
    is_symmetric,
    link_mean,
    link_term,
    look_ahead,
    mark_row,
    may_link_own_kind,
    n_hidden_partners,
    pair_affinity,
)


@bare
def tally_pairs(ws, i, mine, totals):
    """The row's part of the second and third totals."""
    last = totals.shape[1] - 1
    own = ws.send[i] * ws.receive[i] if may_link_own_kind(ws, i) else 0.0
    totals[1, last] += own
    for m in range(ws.start[i], ws.start[i] + ws.held[i]):
        totals[1, ws.member[m]] += own
    if not ws.diagonal:
        tally_off_diagonal(ws, i, True, mine, ws.pair_weight * own, totals, 1)
    low = ws.hidden_start[i]
    partners = n_hidden_partners(ws, i) if ws.diagonal else ws.hidden_start[i + 1] - low
    for p in range(low, low + partners):
        j = ws.hidden_node[p]
        a = 0.5 * hidden_factors(ws, i, p, partners)
        totals[2, last] += a
        for m in range(ws.start[j], ws.start[j] + ws.held[j]):
            totals[2, ws.member[m]] += a * mine[ws.member[m]]
        if not ws.diagonal:
            tally_off_diagonal(ws, j, p < ws.hidden_middle[i], mine, a, totals, 2)


@bare
def tally_off_diagonal(ws, j, is_target, mine, amount, totals, row):
    """Add an amount, times L_kl in row 0, for every k that is mine and l of j; for every (l, k) if j is the source."""
    first, other, place = ws.row_start, ws.row_other, ws.row_place
    if is_target:
        first, other, place = ws.column_start, ws.column_other, ws.column_place
    size = len(ws.size)
    for m in range(ws.start[j], ws.start[j] + ws.held[j]):
        l = ws.member[m]
        for q in range(first[l], first[l + 1]):
            if mine[other[q]]:
                totals[row, size + place[q]] += amount if row else amount * ws.off_diagonal[place[q]]


@bare
def first_above(sorted, low, high, bound):
    """The first entry of low..high that is not below the bound; ``high`` if there is none."""
    while low < high:
        middle = (low + high) // 2
        if sorted[middle] < bound:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def fit_rows(ws, low, high, totals):
    """What the objective alone needs of the rows low..high, each link looked at once; returns sum_links h."""
    start, node = ws.start, ws.node
    size = len(ws.size)
    mine, out = np.zeros(size, np.bool_), np.zeros(size)
    into = out if is_symmetric(ws) else np.zeros(size)
    fit, read = 0.0, 0.0
    for i in range(low, high):
        first, stop = start[i], ws.middle[i]
        if ws.pair_weight < 1.0:
            first = first_above(node, first, stop, i)
        read += look_ahead(ws, first, stop)
        mark_row(ws, i, mine)
        add_row_effect(ws, i, out, into)
        tally_pairs(ws, i, mine, totals)
        for p in range(first, stop):
            x = exposure_factor(ws, i, p) * pair_affinity(ws, node[p], out)
            fit += link_term(ws.counts, ws.value[p], x, link_mean(ws.counts, x))
        clear_row_effect(ws, i, out, into)
        mark_row(ws, i, mine)
    return fit if read >= 0.0 else -math.inf


@kernel
def tally_rows(ws, low, high, totals, sent, received, fitted):
    """Sums over the rows low..high that the weights need; returns sum_links h if asked for, a sixth of the work.

    ``sent`` and ``received`` take the expected counts of each node.
    """
    start, held, member, counts, background = ws.start, ws.held, ws.member, ws.counts, ws.background
    node, value, strength = ws.node, ws.value, ws.strength
    size, last = len(ws.size), totals.shape[1] - 1
    mine, out = np.zeros(size, np.bool_), np.zeros(size)
    into = out if is_symmetric(ws) else np.zeros(size)
    fit, read = 0.0, 0.0
    for i in range(low, high):
        read += look_ahead(ws, start[i], start[i + 1])
        mark_row(ws, i, mine)
        add_row_effect(ws, i, out, into)
        tally_pairs(ws, i, mine, totals)
        as_source, as_target, middle = 0.0, 0.0, ws.middle[i]
        for p in range(start[i], start[i + 1]):
            j, y = node[p], value[p]
            u = pair_affinity(ws, j, out if p < middle else into)
            x = exposure_factor(ws, i, p) * u
            mean = link_mean(counts, x)
            if fitted:
                fit += 0.5 * link_term(counts, y, x, mean)
            share = expected_count(counts, y, x, mean)
            if p < middle:
                as_source += share
            else:
                as_target += share
            credit = 0.5 * share / u
            totals[0, last] += credit * background
            if ws.diagonal:
                for m in range(start[j], start[j] + held[j]):  # out_k is w_k, 0 where k is not mine: no branch
                    totals[0, member[m]] += credit * out[member[m]]
            else:
                for m in range(start[j], start[j] + held[j]):
                    k = member[m]
                    totals[0, k] += credit * strength[k] * mine[k]
                tally_off_diagonal(ws, j, p < middle, mine, credit, totals, 0)
        sent[i], received[i] = as_source, as_target
        clear_row_effect(ws, i, out, into)
        mark_row(ws, i, mine)
    return fit if read >= 0.0 else -math.inf
