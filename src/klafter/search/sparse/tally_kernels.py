"""Kernels of passes over all links: what the objective needs, and what the weights need.

P_k = half (T_k R_k - sum_i t_i r_i z_ik) - sum_{hidden dyads in k} a_ij
"""

import math

import numpy as np

from klafter.jit.decorators import bare, kernel
from klafter.search.sparse.kernels import (
    common_strength,
    expected_count,
    exposure_factor,
    hidden_factor,
    link_chance,
    link_term,
    look_ahead,
    mark_row,
    shared_strength,
)


@bare
def tally_pairs(ws, i, mine, totals):
    """The row's part of sum t_i r_i z_ik and of the sum of a over hidden dyads inside, the background last."""
    last = len(ws.size)
    own = ws.send[i] * ws.receive[i]
    totals[1, last] += own
    for m in range(ws.start[i], ws.start[i] + ws.held[i]):
        totals[1, ws.member[m]] += own
    for p in range(ws.hidden_start[i], ws.hidden_start[i + 1]):
        j = ws.hidden_node[p]
        a = 0.5 * hidden_factor(ws, i, p)
        totals[2, last] += a
        for m in range(ws.start[j], ws.start[j] + ws.held[j]):
            k = ws.member[m]
            if mine[k]:
                totals[2, k] += a


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
    mine = np.zeros(len(ws.size), np.bool_)
    fit, read = 0.0, 0.0
    for i in range(low, high):
        first, stop = start[i], ws.middle[i]
        if ws.pair_weight < 1.0:
            first = first_above(node, first, stop, i)
        read += look_ahead(ws, first, stop)
        mark_row(ws, i, mine)
        tally_pairs(ws, i, mine, totals)
        for p in range(first, stop):
            x = exposure_factor(ws, i, p) * shared_strength(ws, node[p], mine)
            fit += link_term(ws.counts, ws.value[p], x, link_chance(ws.counts, x))
        mark_row(ws, i, mine)
    return fit if read >= 0.0 else -math.inf


@kernel
def tally_rows(ws, low, high, totals, sent, received, fitted):
    """Sums over the rows low..high that the weights need; returns sum_links h if asked for, a sixth of the work.

    ``totals`` is (3, K + 1), the background last: expected counts credited to each community, sum t_i r_i z_ik,
    and the sum of a over hidden dyads inside. ``sent`` and ``received`` take the expected counts of each node.
    """
    start, held, member, counts, background = ws.start, ws.held, ws.member, ws.counts, ws.background
    node, value, strength = ws.node, ws.value, ws.strength
    mine = np.zeros(len(ws.size), np.bool_)
    last = len(ws.size)
    fit, read = 0.0, 0.0
    for i in range(low, high):
        read += look_ahead(ws, start[i], start[i + 1])
        mark_row(ws, i, mine)
        tally_pairs(ws, i, mine, totals)
        as_source, as_target, middle = 0.0, 0.0, ws.middle[i]
        for p in range(start[i], start[i + 1]):
            j, y = node[p], value[p]
            u = background + common_strength(start, held, member, strength, j, mine)
            x = exposure_factor(ws, i, p) * u
            chance = link_chance(counts, x)
            if fitted:
                fit += 0.5 * link_term(counts, y, x, chance)
            share = expected_count(counts, y, x, chance)
            if p < middle:
                as_source += share
            else:
                as_target += share
            credit = 0.5 * share / u
            totals[0, last] += credit * background
            for m in range(start[j], start[j] + held[j]):
                k = member[m]
                if mine[k]:
                    totals[0, k] += credit * strength[k]
        sent[i], received[i] = as_source, as_target
        mark_row(ws, i, mine)
    return fit if read >= 0.0 else -math.inf
