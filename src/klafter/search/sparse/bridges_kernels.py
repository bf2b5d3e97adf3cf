"""Kernels of the sparse engine with bridges; compiled only when there is a bridge.

    u_ij = e + sum_{k in z_i, l in z_j} L_kl;  x_ij = t_i r_j u_ij;  a_ij = t_i r_j
    V_kl = T_k R_l - sum_i t_i r_i z_ik z_il - sum_{hidden ij} a_ij z_ik z_jl
    Q    = -sum_links h(y, x) + half (e V_all + sum_kl L_kl V_kl) + prices + a sum_i (t_i - 1 - log t_i)

The reach of a node, sum_{k in z_i} L_kl for every l, is spread once a row: then a link costs the communities of its
other end, as it does without bridges.
"""

# ruff: noqa: E741 - k and l are communities, as in the papers

import numpy as np

from klafter.jit.decorators import bare, inlined, kernel
from klafter.search.sparse.kernels import (
    at_least,
    expected_count,
    exposure_factor,
    hidden_factor,
    link_chance,
    link_term,
    mark_row,
)


@inlined
def reached(ws, j, reach):
    """The sum of a reach over the communities of j."""
    start, held, member = ws.start, ws.held, ws.member
    u = 0.0
    for m in range(start[j], start[j] + held[j]):
        u += reach[member[m]]
    return u


@bare
def spread(ws, i, first, other, strength, reach):
    """Add L_kl to reach_l for the communities k of i; with columns of L instead of rows, the reach as target."""
    begin = ws.start[i]
    for m in range(begin, begin + ws.held[i]):
        k = ws.member[m]
        for q in range(first[k], first[k + 1]):
            reach[other[q]] += strength[q]


@bare
def withdraw(ws, i, first, other, reach):
    """Set the reach of i back to 0."""
    begin = ws.start[i]
    for m in range(begin, begin + ws.held[i]):
        k = ws.member[m]
        for q in range(first[k], first[k + 1]):
            reach[other[q]] = 0.0


@bare
def add_to_ties(ws, ties, j, mine, total, amount, weighted):
    """Add an amount, times L_kl if weighted, to the totals of ties from my communities k to the communities l of j."""
    start, held, member = ws.start, ws.held, ws.member
    for m in range(start[j], start[j] + held[j]):
        l = member[m]
        for q in range(ties.into_start[l], ties.into_start[l + 1]):
            if mine[ties.into_other[q]]:
                total[q] += amount * ties.into_strength[q] if weighted else amount


@kernel
def tally_ties(ws, ties, low, high, totals, sent, received):
    """Sums over the rows low..high that weights and objective need; returns sum_links h.

    ``totals`` is (3, ties + 1), by columns of L and the background last: expected counts, sum t_i r_i z_ik z_il, and
    the sum of a over hidden dyads. Every dyad counts as often as it has a source: twice when undirected.
    """
    start, node, counts, background = ws.start, ws.node, ws.counts, ws.background
    size, last = len(ws.size), len(ties.other)
    mine, out, into = np.zeros(size, np.bool_), np.zeros(size), np.zeros(size)
    fit = 0.0
    for i in range(low, high):
        mark_row(ws, i, mine)
        spread(ws, i, ties.start, ties.other, ties.strength, out)
        spread(ws, i, ties.into_start, ties.into_other, ties.into_strength, into)
        own = ws.send[i] * ws.receive[i]
        totals[1, last] += own
        add_to_ties(ws, ties, i, mine, totals[1], own, False)
        for p in range(ws.hidden_start[i], ws.hidden_middle[i]):
            a = hidden_factor(ws, i, p)
            totals[2, last] += a
            add_to_ties(ws, ties, ws.hidden_node[p], mine, totals[2], a, False)
        as_source, as_target, middle = 0.0, 0.0, ws.middle[i]
        for p in range(start[i], start[i + 1]):
            j, y = node[p], ws.value[p]
            u = background + reached(ws, j, out if p < middle else into)
            x = exposure_factor(ws, i, p) * u
            chance = link_chance(counts, x)
            fit += 0.5 * link_term(counts, y, x, chance)
            share = expected_count(counts, y, x, chance)
            if p < middle:
                as_source += share
                totals[0, last] += share * background / u
                add_to_ties(ws, ties, j, mine, totals[0], share / u, True)
            else:
                as_target += share
        sent[i], received[i] = as_source, as_target
        withdraw(ws, i, ties.start, ties.other, out)
        withdraw(ws, i, ties.into_start, ties.into_other, into)
        mark_row(ws, i, mine)
    return fit


@kernel
def responsibility_affinities(ws, ties, low, high, responsibility):
    """rho_ij = y e / u_ij of every entry with its row's node as source."""
    out = np.zeros(len(ws.size))
    for i in range(low, high):
        spread(ws, i, ties.start, ties.other, ties.strength, out)
        for p in range(ws.start[i], ws.middle[i]):
            u = ws.background + reached(ws, ws.node[p], out)
            responsibility[p] = ws.value[p] * ws.background / u
        withdraw(ws, i, ties.start, ties.other, out)


@kernel
def factor_ties(ws, expected, own, own_sum, other, other_sum, first, partner, strength, as_source):
    """t_i <- (a + m_i) / (a + e sum_{j != i} r_j + sum_l reach_l (R_l - r_i z_il) - sum_{hidden} r_j u_ij), in order.

    ``own`` and ``other`` are t and r with rows of L, or the reverse with its columns.
    """
    a, shared = ws.shrinkage, ws.pair_weight < 1.0
    everybody = 0.0
    for i in range(ws.n):
        everybody += other[i]
    reach, mine = np.zeros(len(ws.size)), np.zeros(len(ws.size), np.bool_)
    for i in range(ws.n):
        begin, end = ws.start[i], ws.start[i] + ws.held[i]
        mark_row(ws, i, mine)
        spread(ws, i, first, partner, strength, reach)
        rate = ws.background * (everybody - other[i])
        for m in range(begin, end):
            k = ws.member[m]
            for q in range(first[k], first[k + 1]):
                l = partner[q]
                rate += strength[q] * (other_sum[l] - (other[i] if mine[l] else 0.0))
        low, high = ws.hidden_start[i], ws.hidden_start[i + 1]
        if as_source:
            high = ws.hidden_middle[i]
        else:
            low = ws.hidden_middle[i]
        for p in range(low, high):
            j = ws.hidden_node[p]
            rate -= other[j] * (ws.background + reached(ws, j, reach))
        change = (a + expected[i]) / (a + at_least(rate, 0.0)) - own[i]
        own[i] += change
        if shared:
            everybody += change
        for m in range(begin, end):
            own_sum[ws.member[m]] += change
        withdraw(ws, i, first, partner, reach)
        mark_row(ws, i, mine)


@kernel
def tie_worth(ws, ties, nodes, k, l, old, guess, halvings):
    """The best L_kl, now ``old``, all else as it is, and the gain of it over none:

    sum_links [h(a (u + c b)) - h(a u)] - b V_kl,   c = z_ik z_jl (+ z_il z_jk when undirected), u without the tie.
    ``nodes`` are the members of k. The slope falls in b: doubled from the guess until it is below 0, then halved.
    """
    room = 0
    for v in range(len(nodes)):
        room += ws.middle[nodes[v]] - ws.start[nodes[v]]
    part = np.zeros((4, room))  # u, a, c, y
    links, pairs = gather_tie(ws, ties, nodes, k, l, old, part)
    if not pairs > 0.0:
        return 0.0, 0.0
    low, high = 0.0, at_least(old if old > guess else guess, 1e-9)
    flat = pairs * (1.0 + 1e-9)  # where all pairs are linked more always gains, but soon next to nothing
    while tie_slope(ws.counts, part, links, high) > flat:
        low, high = high, 2.0 * high
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        if tie_slope(ws.counts, part, links, middle) > flat:
            low = middle
        else:
            high = middle
    b = 0.5 * (low + high) if low > 0.0 else 0.0
    gain = -b * pairs
    for q in range(links):
        a, u, c, y = part[1, q], part[0, q], part[2, q], part[3, q]
        before, after = a * u, a * (u + c * b)
        change = link_term(ws.counts, y, after, link_chance(ws.counts, after))
        gain += (change - link_term(ws.counts, y, before, link_chance(ws.counts, before))) / c
    return b, gain


@bare
def tie_slope(counts, part, links, b):
    """sum_links E[count] / (u + c b): what one more of b would explain."""
    total = 0.0
    for q in range(links):
        u = part[0, q] + part[2, q] * b
        x = part[1, q] * u
        total += expected_count(counts, part[3, q], x, link_chance(counts, x)) / u
    return total


@bare
def gather_tie(ws, ties, nodes, k, l, old, part):
    """Links from k to l, as columns of ``part``, and V_kl. A link in both directions of a tie stands there twice."""
    links, pairs = 0, ws.send_sum[k] * ws.receive_sum[l]
    shared = ws.pair_weight < 1.0
    for v in range(len(nodes)):
        i = np.int64(nodes[v])
        both = holds_one(ws, i, l)
        if both:
            pairs -= ws.send[i] * ws.receive[i]
        for p in range(ws.hidden_start[i], ws.hidden_middle[i]):
            if holds_one(ws, ws.hidden_node[p], l):
                pairs -= hidden_factor(ws, i, p)
        for p in range(ws.start[i], ws.middle[i]):
            j = ws.node[p]
            if holds_one(ws, j, l):
                c = 2.0 if shared and both and holds_one(ws, j, k) else 1.0
                part[0, links] = at_least(whole_strength(ws, ties, i, j) - c * old, ws.background)
                part[1, links], part[2, links], part[3, links] = exposure_factor(ws, i, p), c, ws.value[p]
                links += 1
    return links, pairs


@bare
def holds_one(ws, i, k):
    """Whether i is in community k."""
    begin = ws.start[i]
    for m in range(begin, begin + ws.held[i]):  # noqa: SIM110
        if ws.member[m] == k:
            return True
    return False


@bare
def whole_strength(ws, ties, i, j):
    """u_ij, entry by entry."""
    begin = ws.start[i]
    u = ws.background
    for m in range(begin, begin + ws.held[i]):
        k = ws.member[m]
        for q in range(ties.start[k], ties.start[k + 1]):
            if holds_one(ws, j, ties.other[q]):
                u += ties.strength[q]
    return u
