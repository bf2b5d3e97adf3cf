"""Kernels of passes over all links: what the objective needs, and what the weights need.

P_k = half (T_k R_k - sum_i t_i r_i z_ik) - sum_{hidden dyads in k} a_ij
"""

import math

import numpy as np

from klafter.core.kernel import kernel
from klafter.search.sparse_kernels import (
    expected_count,
    exposure_factor,
    hidden_factor,
    link_chance,
    link_term,
    look_ahead,
    mark_row,
    shared_strength,
)
from klafter.search.sparse_parallel import inner


@inner
def tally_pairs(problem, state, i, mine, totals):
    """The row's part of sum t_i r_i z_ik and of the sum of a over hidden dyads inside, the background last."""
    last = len(state.size)
    own = state.send[i] * state.receive[i]
    totals[1, last] += own
    for m in range(problem.start[i], problem.start[i] + state.held[i]):
        totals[1, state.member[m]] += own
    for p in range(problem.hidden_start[i], problem.hidden_start[i + 1]):
        j = problem.hidden_node[p]
        a = 0.5 * hidden_factor(problem, state, i, p)
        totals[2, last] += a
        for m in range(problem.start[j], problem.start[j] + state.held[j]):
            k = state.member[m]
            if mine[k]:
                totals[2, k] += a


@kernel
def fit_rows(problem, state, low, high, totals):
    """What the objective alone needs of the rows low..high, each link looked at once; returns sum_links h."""
    mine = np.zeros(len(state.size), np.bool_)
    fit, read = 0.0, 0.0
    for i in range(low, high):
        first, stop = problem.start[i], problem.middle[i]
        if problem.half < 1.0:
            first += np.searchsorted(problem.node[first:stop], i)
        read += look_ahead(problem, state, first, stop)
        mark_row(problem, state, i, mine, True)
        tally_pairs(problem, state, i, mine, totals)
        for p in range(first, stop):
            x = exposure_factor(problem, state, i, p) * shared_strength(problem, state, problem.node[p], mine)
            fit += link_term(problem.counts, problem.value[p], x, link_chance(problem.counts, x))
        mark_row(problem, state, i, mine, False)
    return fit if read >= 0.0 else -math.inf


@kernel
def tally_rows(problem, state, low, high, totals, sent, received):
    """Sums over the rows low..high that the objective and the weights need; returns sum_links h.

    ``totals`` is (3, K + 1), the background last: expected counts credited to each community, sum t_i r_i z_ik,
    and the sum of a over hidden dyads inside. ``sent`` and ``received`` take the expected counts of each node.
    """
    mine = np.zeros(len(state.size), np.bool_)
    last = len(state.size)
    fit, read = 0.0, 0.0
    for i in range(low, high):
        read += look_ahead(problem, state, problem.start[i], problem.start[i + 1])
        mark_row(problem, state, i, mine, True)
        tally_pairs(problem, state, i, mine, totals)
        as_source, as_target = 0.0, 0.0
        for p in range(problem.start[i], problem.start[i + 1]):
            j = problem.node[p]
            u = shared_strength(problem, state, j, mine)
            x = exposure_factor(problem, state, i, p) * u
            y = problem.value[p]
            chance = link_chance(problem.counts, x)
            fit += 0.5 * link_term(problem.counts, y, x, chance)
            share = expected_count(problem.counts, y, x, chance)
            if p < problem.middle[i]:
                as_source += share
            else:
                as_target += share
            credit = 0.5 * share / u
            totals[0, last] += credit * state.background
            for m in range(problem.start[j], problem.start[j] + state.held[j]):
                k = state.member[m]
                if mine[k]:
                    totals[0, k] += credit * state.strength[k]
        sent[i], received[i] = as_source, as_target
        mark_row(problem, state, i, mine, False)
    return fit if read >= 0.0 else -math.inf
