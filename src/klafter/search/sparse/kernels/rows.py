"""Kernels of whole rows, above all where nodes share their links among their communities; see ``sharing``.

Another community then changes what a node has in all others, so rows are revised as a whole: for each size the best
set of communities, one joined after the other, each with the degree factors that are best for it, as in ``row_reset``:

    row(S, t, r) = -sum_links h(y, x) + t A(S) + r B(S) + a (t - 1 - log t) + a (r - 1 - log r) + price of S
    u_ij = e + s sum_{k in S} w_k s_j z_jk,   A(S) = e A_0 + s sum_{k in S} w_k A_k
    A_k  = R_k - sum_{hidden ij} r_j s_j z_jk,   B(S) likewise with t

Where links are not shared, s = 1.
"""

import math

import numpy as np
from numba import types
from numba.experimental import structref

from klafter.jit.decorators import bare, kernel
from klafter.jit.structs import define_reference
from klafter.search.sparse.kernels.links import ENOUGH, add_by_kind, holds, link_change, link_mean, receivers, senders
from klafter.search.sparse.kernels.row_reset import (
    add_to_everybody,
    everybody,
    fit_factors,
    hidden_sum,
    list_communities,
    others,
    row_value,
)
from klafter.search.sparse.kernels.sharing import share

WORSE_SIZES = 4  # sizes in a row that lower the row no further before larger ones are given up
FIELDS = (
    "which", "price", "member",  # communities that are tried: number, price of joining, whether i is in it
    "out_rate", "in_rate",  # of these: w_k A_k, w_k B_k
    "reach",  # (community, link) w_k s_j z_jk
    "u", "none",  # of each link: u_ij of the set at hand; of each hidden dyad: a mark that it counts
    "alone", "row", "best_factors",  # e A_0 and e B_0; A, B, price and size of the set at hand; t and r of the best
    "sums",  # of all t, and of all r, and by kind
    "joined", "best",  # the set at hand, and the best one, by place
    "count", "merit", "touched", "order",  # by community, for `list_communities`
    "holding", "totals",  # nodes by how many communities they hold, N first; E and K; empty at the buffet's price
    "sharing",  # whether links are shared
)  # fmt: skip


class RowScratchType(types.StructRef):
    """The type of the scratch space in kernels."""


class RowScratch(structref.StructRefProxy):
    """Arrays for the row of one node after the other."""


define_reference(RowScratch, RowScratchType, list(FIELDS))


@kernel
def row_scratch(ws, most, holding, totals, sharing):
    """Scratch space for rows of nodes that are tried in ``most`` communities, and in what they hold."""
    size, longest, hidden, held = len(ws.size), 1, 1, 0
    for i in range(ws.n):
        longest, held = max(longest, ws.start[i + 1] - ws.start[i]), max(held, ws.held[i])
        hidden = max(hidden, ws.hidden_start[i + 1] - ws.hidden_start[i])
    tried = most + held
    return RowScratch(
        np.zeros(tried, np.int64), np.zeros(tried), np.zeros(tried, np.bool_), np.zeros(tried), np.zeros(tried),
        np.zeros((tried, longest)), np.zeros(longest), np.zeros(hidden), np.zeros(2), np.zeros(4), np.zeros(2),
        everybody(ws), np.zeros(tried, np.bool_), np.zeros(tried, np.bool_),
        np.zeros(size), np.zeros(size), np.zeros(size, np.int64), np.zeros(most + 1, np.int64),
        holding, totals, sharing,
    )  # fmt: skip


@bare
def share_of(ws, i, scratch):
    """s_i."""
    return share(ws, i) if scratch.sharing else 1.0


@bare
def share_in(size, scratch):
    """s of a node in so many communities."""
    return 1.0 / max(size, 1.0) if scratch.sharing else 1.0


@bare
def take_out(ws, i, sign, scratch):
    """Take i out of the sums of its communities and of the counts, sign -1, or put it back, +1."""
    s = share_of(ws, i, scratch)
    if len(scratch.holding) > 0:
        scratch.holding[ws.held[i]] += sign
        scratch.totals[0] += sign * ws.held[i]
    for m in range(ws.start[i], ws.start[i] + ws.held[i]):
        k = ws.member[m]
        ws.size[k] += sign
        ws.send_sum[k] += sign * s * ws.send[i]
        ws.receive_sum[k] += sign * s * ws.receive[i]
        add_by_kind(ws, i, k, sign * s * ws.send[i], sign * s * ws.receive[i])


@bare
def is_last(ws, i):
    """Whether i is the last member of one of its communities."""
    for m in range(ws.start[i], ws.start[i] + ws.held[i]):  # noqa: SIM110
        if ws.size[ws.member[m]] < 2:
            return True
    return False


@bare
def prepare_row(ws, i, scratch):
    """What the row of i, taken out, needs of the communities that are tried; returns their number."""
    number = list_communities(ws, i, scratch.count, scratch.merit, scratch.touched, scratch.order)
    for q in range(number):
        scratch.which[q], scratch.member[q] = scratch.order[q], False
    for m in range(ws.start[i], ws.start[i] + ws.held[i]):
        place = number
        for q in range(number):
            if scratch.which[q] == ws.member[m]:
                place = q
        scratch.which[place], scratch.member[place] = ws.member[m], True
        number += 1 if place == number else 0
    none = scratch.none
    send, receive = others(ws, i, scratch.sums)
    scratch.alone[0] = ws.background * (receive - hidden_sum(ws, i, none, True, False))
    scratch.alone[1] = ws.background * (send - hidden_sum(ws, i, none, False, False))
    first, n_links = ws.start[i], ws.start[i + 1] - ws.start[i]
    for q in range(number):
        k = scratch.which[q]
        scratch.price[q] = joining_price(ws, k, scratch)
        hidden_rates(ws, i, q, k, scratch)
        for p in range(n_links):
            j = ws.node[first + p]
            scratch.reach[q, p] = ws.strength[k] * share_of(ws, j, scratch) if holds(ws, j, k) else 0.0
    return number


@bare
def hidden_rates(ws, i, q, k, scratch):
    """w_k A_k and w_k B_k; both sides of an undirected network are one."""
    low, middle, high = ws.hidden_start[i], ws.hidden_middle[i], ws.hidden_start[i + 1]
    undirected = ws.pair_weight < 1.0
    out, into = receivers(ws, i, k), senders(ws, i, k)
    for p in range(low, high):
        j = ws.hidden_node[p]
        if holds(ws, j, k):
            if p < middle or undirected:
                out -= ws.receive[j] * share_of(ws, j, scratch)
            else:
                into -= ws.send[j] * share_of(ws, j, scratch)
    scratch.out_rate[q], scratch.in_rate[q] = ws.strength[k] * out, ws.strength[k] * into


@bare
def joining_price(ws, k, scratch):
    """The price of joining k, of the part that depends on k."""
    members = float(ws.size[k])
    if len(scratch.holding) > 0:
        return -ws.temperature * math.log(members + 1.0)
    return ws.temperature * math.log((ws.n - members) / members)


@bare
def holding_price(ws, size, scratch):
    """The price of holding so many communities, beside those of joining them; of learned counts, i taken out."""
    if len(scratch.holding) == 0:
        return 0.0
    held, k = scratch.totals[0], scratch.totals[1]
    price = math.log(scratch.holding[0] + 1.0) - math.log(scratch.holding[size] + 1.0)
    for q in range(size):
        e = held + q
        price += math.log(e / (e - k + 1.0)) + math.log(e + 1.0) - math.log(q + 1.0)
    return ws.temperature * price


@bare
def copy_marks(to, source, number):
    for q in range(number):
        to[q] = source[q]


@bare
def clear_joined(scratch, number):
    for q in range(number):
        scratch.joined[q] = False


@bare
def open_set(ws, i, size, scratch):
    """Of an empty set that is to have so many communities: u of each link, A, B, price and size."""
    for p in range(ws.start[i + 1] - ws.start[i]):
        scratch.u[p] = ws.background
    scratch.row[0], scratch.row[1] = scratch.alone[0], scratch.alone[1]
    scratch.row[2], scratch.row[3] = holding_price(ws, size, scratch), float(size)


@bare
def add_to_set(ws, i, q, scratch):
    """The set with one community more, at the share that its size gives."""
    s = share_in(scratch.row[3], scratch)
    scratch.row[0] += s * scratch.out_rate[q]
    scratch.row[1] += s * scratch.in_rate[q]
    scratch.row[2] += scratch.price[q]
    for p in range(ws.start[i + 1] - ws.start[i]):
        scratch.u[p] += s * scratch.reach[q, p]


@bare
def open_joined(ws, i, number, scratch):
    """What ``open_set`` and ``add_to_set`` make of the communities that are joined."""
    size = 0
    for q in range(number):
        size += scratch.joined[q]
    open_set(ws, i, size, scratch)
    for q in range(number):
        if scratch.joined[q]:
            add_to_set(ws, i, q, scratch)


@bare
def set_factors(ws, i, scratch):
    """The degree factors that are best for the set at hand; the node's own where there are none to fit."""
    if ws.shrinkage < math.inf:
        return fit_factors(ws, i, scratch.u, scratch.row)
    return ws.send[i], ws.receive[i]


@bare
def set_value(ws, i, number, scratch):
    """row(S, t, r) of the communities that are joined, at the factors that are best for them."""
    open_joined(ws, i, number, scratch)
    t, r = set_factors(ws, i, scratch)
    return row_value(ws, i, scratch.u, scratch.row, t, r)


@bare
def expected_factors(ws, i, number, scratch):
    """Degree factors of a node in as many communities as it has links for: every link one count, A that of the mean."""
    out, into = scratch.alone[0], scratch.alone[1]
    for q in range(number):
        out += scratch.out_rate[q] / number
        into += scratch.in_rate[q] / number
    a, first, middle, stop = ws.shrinkage, ws.start[i], ws.middle[i], ws.start[i + 1]
    if a == math.inf:
        return ws.send[i], ws.receive[i]
    if ws.pair_weight < 1.0:
        t = (a + stop - first) / (a + out)
        return t, t
    t, r = (a + middle - first) / (a + out), (a + stop - middle) / (a + into)
    return t if ws.send[i] > 0.0 else 0.0, r if ws.receive[i] > 0.0 else 0.0


@bare
def join_best(ws, i, t, r, number, scratch):
    """Join the community that lowers the row most, at the share of the set that is to come."""
    first, middle, stop, s = ws.start[i], ws.middle[i], ws.start[i + 1], share_in(scratch.row[3], scratch)
    best, most, undirected = -1, -math.inf, ws.pair_weight < 1.0
    for q in range(number):
        if scratch.joined[q]:
            continue
        gain = -s * (t * scratch.out_rate[q] + (0.0 if undirected else r * scratch.in_rate[q])) - scratch.price[q]
        for p in range(stop - first):
            if scratch.reach[q, p] > 0.0:
                j = ws.node[first + p]
                a = t * ws.receive[j] if first + p < middle else r * ws.send[j]
                x = a * scratch.u[p]
                step = a * s * scratch.reach[q, p]
                gain += link_change(ws.counts, ws.value[first + p], x, link_mean(ws.counts, x), step)
        if gain > most:
            best, most = q, gain
    scratch.joined[best] = True
    add_to_set(ws, i, best, scratch)


@bare
def best_of_size(ws, i, size, t, r, number, scratch):
    """row(S) of the set of that size that joining one community after the other gives; it is the one at hand."""
    clear_joined(scratch, number)
    open_set(ws, i, size, scratch)
    for _ in range(size):
        join_best(ws, i, t, r, number, scratch)
    return set_value(ws, i, number, scratch)


@bare
def best_set(ws, i, number, least, scratch):
    """The set with the lowest row, of at least so many communities, goes to ``best``; returns what it is lower by."""
    n_links, in_vain = ws.start[i + 1] - ws.start[i], 0
    copy_marks(scratch.joined, scratch.member, number)
    copy_marks(scratch.best, scratch.member, number)
    open_joined(ws, i, number, scratch)
    here = row_value(ws, i, scratch.u, scratch.row, ws.send[i], ws.receive[i])
    scratch.best_factors[0], scratch.best_factors[1] = ws.send[i], ws.receive[i]
    lowest, low = (math.inf if ws.held[i] < least else here), math.inf
    t, r = expected_factors(ws, i, number, scratch)
    for size in range(least, min(number, n_links) + 1):
        value = best_of_size(ws, i, size, t, r, number, scratch)
        if value < lowest - ENOUGH:
            lowest = value
            copy_marks(scratch.best, scratch.joined, number)
            scratch.best_factors[0], scratch.best_factors[1] = set_factors(ws, i, scratch)
        in_vain = 0 if value < low else in_vain + 1
        low = min(low, value) if size > 0 else math.inf  # a single one may be worse than none, and several better
        if in_vain >= WORSE_SIZES:
            break
    return here - lowest if lowest < math.inf else 0.0


@bare
def hold_best(ws, i, number, scratch):
    """i holds the best set, and has the degree factors of that."""
    held = 0
    for q in range(number):
        if scratch.best[q]:
            ws.member[ws.start[i] + held] = scratch.which[q]
            held += 1
    ws.held[i] = held
    t, r = scratch.best_factors[0], scratch.best_factors[1]
    add_to_everybody(ws, i, t - ws.send[i], r - ws.receive[i], scratch.sums)
    ws.send[i], ws.receive[i] = t, r


@bare
def is_other(number, scratch):
    """Whether the best set is another than the one that is held."""
    for q in range(number):  # noqa: SIM110
        if scratch.best[q] != scratch.member[q]:
            return True
    return False


@kernel
def choose_rows(ws, order, least, scratch):
    """Give each node, in this order, its best set of ``least`` communities or more; the fall, and how many changed."""
    total, changed = 0.0, 0
    for i in order:
        if is_last(ws, i) or ws.start[i] == ws.start[i + 1]:
            continue
        take_out(ws, i, -1, scratch)
        number = prepare_row(ws, i, scratch)
        fall = best_set(ws, i, number, least, scratch)
        if is_other(number, scratch):
            hold_best(ws, i, number, scratch)
            total += fall
            changed += 1
        take_out(ws, i, 1, scratch)
    return total, changed
