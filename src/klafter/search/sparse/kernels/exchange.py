"""Exchanges: some communities are given up for others, judged by the exact change of the objective.

An exchange touches only links between the nodes concerned, so these are cut out as a subgraph with u as it is without
the communities given up and their off-diagonal affinities. On it, with new columns z_c of strength w_c,

    loss = -sum_links h(y, a (u + sum_c w_c z_ic z_jc)) + sum_c [w_c P_c + price(S_c)]

is minimised by flips and weight steps.
"""

import math

import numpy as np

from klafter.jit.decorators import bare, inlined, inner, kernel
from klafter.search.sparse.kernels.links import (
    ENOUGH,
    UNDERFLOW,
    add_to_kind,
    expected_count,
    holds,
    join,
    leave,
    link_mean,
    link_term,
    pairs_with,
    price,
)
from klafter.search.sparse.kernels.subgraph import (
    as_bits,
    cut_subgraph,
    mean_alone,
    mean_with,
    subgraph_pairs,
    summed_strengths,
)

BLOCK = 16  # factors of a bound multiplied before one logarithm is taken


@kernel
def subgraph_loss(ws, nodes, subgraph, before, z, w):
    """-sum_links h(y, a (u + sum_c w_c z_ic z_jc)) + sum_c [w_c P_c + price(S_c)], u as it is before or after."""
    loss, bits, added = 0.0, as_bits(z), summed_strengths(w)
    for c in range(len(w)):
        pairs, size = subgraph_pairs(ws, nodes, subgraph, z, c)
        loss += w[c] * pairs + price(ws, size)
    return loss - subgraph_fit(ws, subgraph, before, bits, added)


@bare
def subgraph_fit(ws, subgraph, before, bits, added):
    """sum_links h, one logarithm for many."""
    base = subgraph.base_before if before else subgraph.base
    start, node, factor, value, counts = subgraph.start, subgraph.node, subgraph.factor, subgraph.value, ws.counts
    fit, product = 0.0, 1.0
    for v in range(len(bits)):
        for p in range(start[v], start[v + 1]):
            if node[p] <= v:
                continue
            both = bits[v] & bits[node[p]]
            x = factor[p] * (base[p] + added[both])
            mean = link_mean(counts, x) if before else mean_with(counts, subgraph, p, both, added)
            if counts or mean < UNDERFLOW:
                fit += link_term(counts, value[p], x, mean)
                continue
            fit += x
            product *= mean
            if product < UNDERFLOW:
                fit += math.log(product)
                product = 1.0
    return fit + math.log(product)


@kernel
def subgraph_weights(ws, nodes, subgraph, z, w):
    """w_c <- sum_{links in c} m_ij w_c / u_ij / P_c."""
    credit = np.zeros(1 << len(w))
    add_credit(ws.counts, subgraph, as_bits(z), summed_strengths(w), credit)
    for c in range(len(w)):
        pairs, _ = subgraph_pairs(ws, nodes, subgraph, z, c)
        if pairs > 0.0:
            total = 0.0
            for both in range(len(credit)):
                if (both >> c) & 1:
                    total += credit[both]
            w[c] *= total / pairs
    subgraph.turn[0] += 1


@bare
def add_credit(counts, subgraph, bits, added, credit):
    """sum of m_ij / u_ij over links whose ends have just these columns in common, for all sets of columns."""
    start, node, factor, base, value = subgraph.start, subgraph.node, subgraph.factor, subgraph.base, subgraph.value
    for v in range(len(bits)):
        if bits[v] != 0:
            for p in range(start[v], start[v + 1]):
                both = bits[v] & bits[node[p]] if node[p] > v else 0
                if both != 0:
                    u = added[both] + base[p]
                    mean = mean_with(counts, subgraph, p, both, added)
                    credit[both] += expected_count(counts, value[p], factor[p] * u, mean) / u


@kernel
def subgraph_flips(ws, nodes, subgraph, z, w):
    """Flip every membership of the subgraph that gains, column by column; returns how many did."""
    longest = np.int64(0)
    for v in range(len(nodes)):
        longest = max(longest, subgraph.start[v + 1] - subgraph.start[v])
    return flip_columns(ws, nodes, subgraph, z, w, as_bits(z), summed_strengths(w), np.empty(longest, np.int64))


@bare
def flip_columns(ws, nodes, subgraph, z, w, bits, added, found):
    send, receive, free_slots, flips = ws.send, ws.receive, subgraph.free_slots, 0
    hidden_start, hidden_node, hidden_a = subgraph.hidden_start, subgraph.hidden_node, subgraph.hidden_factor
    by_kind, n_kinds = subgraph.by_kind, len(ws.linkable)
    for c in range(len(w)):
        size, send_sum, receive_sum = 0, 0.0, 0.0
        by_kind[:] = 0.0
        for v in range(len(nodes)):
            if z[c, v]:
                size += 1
                send_sum += send[nodes[v]]
                receive_sum += receive[nodes[v]]
                if n_kinds > 0:
                    add_to_kind(ws, nodes[v], send[nodes[v]], receive[nodes[v]], by_kind)
        for v in range(len(nodes)):
            t, r, inside = send[nodes[v]], receive[nodes[v]], z[c, v]
            others, back = size - inside, 0.0
            if others < 2 or (not inside and free_slots[v] <= 0):
                continue
            for p in range(hidden_start[v], hidden_start[v + 1]):
                if z[c, hidden_node[p]]:
                    back += hidden_a[p]
            if n_kinds == 0:
                near = t * (receive_sum - inside * r) + r * (send_sum - inside * t)
            else:
                near = pairs_with(ws, nodes[v], t, r, inside, by_kind)
            pairs = ws.pair_weight * near - back
            rest = w[c] * pairs + ws.temperature * math.log((ws.n - others) / others)
            rest = rest if inside else -rest
            gain = rest + links_gain(ws.counts, subgraph, v, c, bits, added, ENOUGH - rest, found)
            if gain > ENOUGH:
                d = -1 if inside else 1
                z[c, v] = not inside
                bits[v] ^= 1 << c
                free_slots[v] -= d
                size, send_sum, receive_sum = size + d, send_sum + d * t, receive_sum + d * r
                if n_kinds > 0:
                    add_to_kind(ws, nodes[v], d * t, d * r, by_kind)
                flips += 1
    return flips


@bare
def links_gain(counts, subgraph, v, c, bits, added, least, found):
    """What the flip of z_cv adds to the sum of h over the links of v, or a bound not above ``least``."""
    node, number = subgraph.node, 0
    for p in range(subgraph.start[v], subgraph.start[v + 1]):
        found[number] = p  # without a branch, which would often be taken for the other one
        number += (bits[node[p]] >> c) & 1
    if not counts:
        bound = gain_bound(subgraph, bits[v], 1 << c, bits, added, found[:number])
        if bound <= least:
            return bound
    return exact_gain(counts, subgraph, bits[v], 1 << c, bits, added, found[:number])


@inlined
def mean_bound(x):
    """1 - e^-x is no larger: its series up to x^5, which is good to 1% up to x = 1.5."""
    series = x * (1.0 - x * (1 / 2 - x * (1 / 6 - x * (1 / 24 - x / 120))))
    return series if series < 1.0 else 1.0


@inlined
def inverse_series(x):
    """s with 1 - e^-x >= s / (1 + s): the series of e^x - 1 up to x^4, which is good to 1% up to x = 2."""
    return x * (1.0 + x * (1 / 2 + x * (1 / 6 + x / 24)))


@bare
def gain_bound(subgraph, mine, bit, bits, added, links):
    """The flip of a bit of ``mine`` adds no more over these links; infinity or NaN where that cannot be told."""
    node, factor, base, total = subgraph.node, subgraph.factor, subgraph.base, 0.0
    for start in range(0, len(links), BLOCK):
        above, below = 1.0, 1.0
        for q in range(start, min(start + BLOCK, len(links))):
            p = links[q]
            a, both = factor[p], mine & bits[node[p]]
            x, there = a * (base[p] + added[both]), a * (base[p] + added[both ^ bit])
            series = inverse_series(x)
            total += there - x
            above *= mean_bound(there) * (1.0 + series)
            below *= series
        if above < UNDERFLOW:
            return math.inf
        total += math.log(above / below)
    return total


@bare
def exact_gain(counts, subgraph, mine, bit, bits, added, links):
    """sum of h(y, x) after the flip of a bit of ``mine`` less that before, over these links."""
    node, factor, base = subgraph.node, subgraph.factor, subgraph.base
    total, above, below = 0.0, 1.0, 1.0
    for p in links:
        a, both = factor[p], mine & bits[node[p]]
        other, mean = both ^ bit, mean_with(counts, subgraph, p, both, added)
        after = mean_alone(counts, subgraph, p) if other == 0 else link_mean(counts, a * (base[p] + added[other]))
        step = a * (added[other] - added[both])
        if counts or mean < UNDERFLOW or after < UNDERFLOW:
            change = math.log(after) - math.log(mean)
            total += subgraph.value[p] * change if counts else step + change
            continue
        total += step
        above *= after
        below *= mean
        if above < UNDERFLOW or below < UNDERFLOW:
            total += math.log(above) - math.log(below)
            above, below = 1.0, 1.0
    return total + math.log(above / below)


@kernel
def improve_exchange(ws, nodes, out, z, w, rounds, most_loss, local):
    """Improve columns z (q, m) of strengths w in place; returns what they gain in the place of ``out``, links and
    prices of communities.

    Flips come after strengths that fit the columns. Where the first round leaves a loss of more than ``most_loss``,
    there is no other.
    """
    subgraph, old = cut_subgraph(ws, nodes, out, local)
    before = subgraph_loss(ws, nodes, subgraph, True, old, strengths_of(ws, out))
    return before - improved_loss(ws, nodes, subgraph, z, w, rounds, before + most_loss)


@kernel
def improve_either(ws, nodes, out, z, w, other_z, other_w, rounds, local):
    """The same of two sets of columns, each in the place of ``out``; what either gains."""
    subgraph, old = cut_subgraph(ws, nodes, out, local)
    before = subgraph_loss(ws, nodes, subgraph, True, old, strengths_of(ws, out))
    free_slots = subgraph.free_slots.copy()
    gain = before - improved_loss(ws, nodes, subgraph, z, w, rounds, np.inf)
    subgraph.free_slots[:] = free_slots
    subgraph.known[:] = 0
    return gain, before - improved_loss(ws, nodes, subgraph, other_z, other_w, rounds, np.inf)


@inner
def strengths_of(ws, some):
    """w_k of some communities."""
    strength = np.empty(len(some))
    for c in range(len(some)):
        strength[c] = ws.strength[some[c]]
    return strength


@inner
def improved_loss(ws, nodes, subgraph, z, w, rounds, most):
    """The loss of columns and strengths that were improved in place, of the first round if that is above ``most``."""
    free_slots = subgraph.free_slots
    for c in range(len(w)):
        for v in range(len(nodes)):
            z[c, v] = z[c, v] and free_slots[v] > 0
            free_slots[v] -= z[c, v]
    for turn in range(rounds):
        for _ in range(4 if turn == 0 else 1):
            subgraph_weights(ws, nodes, subgraph, z, w)
        flips = subgraph_flips(ws, nodes, subgraph, z, w)
        if turn == 0 and most < np.inf:
            loss = subgraph_loss(ws, nodes, subgraph, False, z, w)
            if loss > most:
                return loss
        if flips == 0 and turn > 0:
            break
    return subgraph_loss(ws, nodes, subgraph, False, z, w)


@kernel
def apply_exchange(ws, nodes, out, into, z, w):
    """Give up ``out`` for columns z, which become communities ``into``."""
    for v in range(len(nodes)):
        i = np.int64(nodes[v])
        for c in range(len(out)):
            if holds(ws, i, out[c]):
                leave(ws, i, out[c])
        for c in range(len(into)):
            if z[c, v]:
                join(ws, i, into[c])
    for c in range(len(into)):
        ws.strength[into[c]] = w[c]
