"""Kernels of single off-diagonal affinities: the best value of L_kl, and its gain.

gain(b) = sum_links [h(a (u + c b)) - h(a u)] - b P_kl,   c = z_ik z_jl (+ z_il z_jk when undirected), u with L_kl = 0
"""

# ruff: noqa: E741 - k and l are communities, as in the papers

import numpy as np

from klafter.jit.decorators import bare, kernel
from klafter.search.sparse.kernels.links import (
    add_row_effect,
    at_least,
    clear_row_effect,
    expected_count,
    exposure_factor,
    hidden_factor,
    holds,
    link_mean,
    link_term,
    pair_affinity,
)


@kernel
def best_affinity(ws, nodes, k, l, old, guess, halvings):
    """The best L_kl, now ``old``, all else as it is, and its gain over none.

    ``nodes`` are the members of k. The slope falls in b: doubled from the guess until it is below 0, then halved.
    """
    n_entries = 0
    for v in range(len(nodes)):
        n_entries += ws.middle[nodes[v]] - ws.start[nodes[v]]
    part = np.zeros((4, n_entries))  # u, a, c, y
    pairs = pairs_between(ws, nodes, k, l)
    links = links_between(ws, nodes, k, l, old, part, np.zeros(len(ws.size)), np.zeros(len(ws.size)))
    if not pairs > 0.0:
        return 0.0, 0.0
    low, high = 0.0, at_least(old if old > guess else guess, 1e-9)
    flat = pairs * (1.0 + 1e-9)  # where all pairs are linked more always gains, but soon next to nothing
    while slope(ws.counts, part, links, high) > flat:
        low, high = high, 2.0 * high
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        if slope(ws.counts, part, links, middle) > flat:
            low = middle
        else:
            high = middle
    b = 0.5 * (low + high) if low > 0.0 else 0.0
    gain = -b * pairs
    for q in range(links):
        a, u, c, y = part[1, q], part[0, q], part[2, q], part[3, q]
        before, after = a * u, a * (u + c * b)
        change = link_term(ws.counts, y, after, link_mean(ws.counts, after))
        gain += (change - link_term(ws.counts, y, before, link_mean(ws.counts, before))) / c
    return b, gain


@bare
def slope(counts, part, links, b):
    """sum_links E[count] / (u + c b): what one more of b would explain."""
    total = 0.0
    for q in range(links):
        u = part[0, q] + part[2, q] * b
        x = part[1, q] * u
        total += expected_count(counts, part[3, q], x, link_mean(counts, x)) / u
    return total


@kernel
def pairs_between(ws, nodes, k, l):
    """P_kl; ``nodes`` are the members of k, or these and others."""
    pairs = ws.send_sum[k] * ws.receive_sum[l]
    for v in range(len(nodes)):
        i = np.int64(nodes[v])
        if holds(ws, i, k):
            if holds(ws, i, l):
                pairs -= ws.send[i] * ws.receive[i]
            for p in range(ws.hidden_start[i], ws.hidden_middle[i]):
                if holds(ws, ws.hidden_node[p], l):
                    pairs -= hidden_factor(ws, i, p)
    return pairs


@bare
def links_between(ws, nodes, k, l, old, part, out, into):
    """Links from k to l, as columns of ``part``; returns their number. Undirected, one that is both from k to l and
    from l to k stands there twice."""
    links, shared = 0, ws.pair_weight < 1.0
    for v in range(len(nodes)):
        i = np.int64(nodes[v])
        both = holds(ws, i, l)
        add_row_effect(ws, i, out, into)
        for p in range(ws.start[i], ws.middle[i]):
            j = ws.node[p]
            if holds(ws, j, l):
                c = 2.0 if shared and both and holds(ws, j, k) else 1.0
                part[0, links] = at_least(pair_affinity(ws, j, out) - c * old, ws.background)
                part[1, links], part[2, links], part[3, links] = exposure_factor(ws, i, p), c, ws.value[p]
                links += 1
        clear_row_effect(ws, i, out, into)
    return links
