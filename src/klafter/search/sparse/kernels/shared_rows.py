"""Kernels of rows where nodes share their links among their communities; see ``sharing``.

Another community changes what a node has in all others, so rows are revised as a whole: for each size the best set of
communities, one joined after the other, by

    row(S) = -sum_links h(y, a (e + s sum_{k in S} w_k s_j z_jk)) + s sum_{k in S} w_k P_k + price of S
    P_k    = half (t_i R_k + r_i T_k) - sum_{hidden ij} a_ij s_j z_jk
"""

import math

import numpy as np
from numba import types
from numba.experimental import structref

from klafter.jit.decorators import bare, kernel
from klafter.jit.structs import define_reference
from klafter.search.sparse.kernels.flips import CLIP, FAINT
from klafter.search.sparse.kernels.links import (
    ENOUGH,
    at_least,
    exposure_factor,
    hidden_factor,
    holds,
    link_change,
    link_mean,
    link_term,
)
from klafter.search.sparse.kernels.row_reset import list_communities
from klafter.search.sparse.kernels.sharing import share

WORSE_SIZES = 4  # sizes in a row that lower the row no further before larger ones are given up
FIELDS = (
    "which", "rate", "price", "member",  # communities that are tried: number, P_k, price of joining, whether i is in it
    "reach",  # (community, link) w_k s_j z_jk
    "factor", "sum",  # of each link: a_ij, and the sum of reach over a set
    "joined", "best",  # the set at hand, and the best one, by place
    "count", "merit", "touched", "order",  # by community, for `list_communities`
    "holding", "totals",  # nodes by how many communities they hold, N first; E and K; empty at the buffet's price
)  # fmt: skip


class RowScratchType(types.StructRef):
    """The type of the scratch space in kernels."""


class RowScratch(structref.StructRefProxy):
    """Arrays for the row of one node after the other."""


define_reference(RowScratch, RowScratchType, list(FIELDS))


@kernel
def row_scratch(ws, most, holding, totals):
    """Scratch space for rows of nodes that are tried in ``most`` communities, and in what they hold."""
    size, longest, held = len(ws.size), 1, 0
    for i in range(ws.n):
        longest, held = max(longest, ws.start[i + 1] - ws.start[i]), max(held, ws.held[i])
    tried = most + held
    return RowScratch(
        np.zeros(tried, np.int64), np.zeros(tried), np.zeros(tried), np.zeros(tried, np.bool_),
        np.zeros((tried, longest)), np.zeros(longest), np.zeros(longest),
        np.zeros(tried, np.bool_), np.zeros(tried, np.bool_),
        np.zeros(size), np.zeros(size), np.zeros(size, np.int64), np.zeros(most + 1, np.int64), holding, totals,
    )  # fmt: skip


@bare
def take_out(ws, i, sign):
    """Take the shares of i out of the sums of its communities, sign -1, or put them back, +1."""
    s = share(ws, i)
    for m in range(ws.start[i], ws.start[i] + ws.held[i]):
        k = ws.member[m]
        ws.size[k] += sign
        ws.send_sum[k] += sign * s * ws.send[i]
        ws.receive_sum[k] += sign * s * ws.receive[i]


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
    first, n_links = ws.start[i], ws.start[i + 1] - ws.start[i]
    for p in range(n_links):
        scratch.factor[p] = exposure_factor(ws, i, first + p)
    for q in range(number):
        k = scratch.which[q]
        scratch.rate[q] = ws.pair_weight * (ws.send[i] * ws.receive_sum[k] + ws.receive[i] * ws.send_sum[k])
        scratch.price[q] = joining_price(ws, k, scratch)
        for p in range(n_links):
            j = ws.node[first + p]
            scratch.reach[q, p] = ws.strength[k] * share(ws, j) if holds(ws, j, k) else 0.0
        for p in range(ws.hidden_start[i], ws.hidden_start[i + 1]):
            j = ws.hidden_node[p]
            scratch.rate[q] -= hidden_factor(ws, i, p) * share(ws, j) if holds(ws, j, k) else 0.0
        scratch.rate[q] *= ws.strength[k]
    return number


@bare
def joining_price(ws, k, scratch):
    """The price of joining k, of the part that depends on k."""
    others = float(ws.size[k])
    if len(scratch.holding) > 0:
        return -ws.temperature * math.log(others + 1.0)
    return ws.temperature * math.log((ws.n - others) / others)


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
def clear_sums(scratch, n_links):
    for p in range(n_links):
        scratch.sum[p] = 0.0


@bare
def row_fit(ws, i, s, scratch):
    """sum_links h of the row, for the sums in the scratch space."""
    fit, first = 0.0, ws.start[i]
    for p in range(ws.start[i + 1] - first):
        x = scratch.factor[p] * (ws.background + s * scratch.sum[p])
        fit += link_term(ws.counts, ws.value[first + p], x, link_mean(ws.counts, x))
    return fit


@bare
def set_value(ws, i, number, scratch):
    """row(S) of the set of communities that are joined."""
    n_links, size, value = ws.start[i + 1] - ws.start[i], 0, 0.0
    clear_sums(scratch, n_links)
    for q in range(number):
        size += scratch.joined[q]
    s = 1.0 / max(size, 1)
    for q in range(number):
        if scratch.joined[q]:
            value += s * scratch.rate[q] + scratch.price[q]
            for p in range(n_links):
                scratch.sum[p] += scratch.reach[q, p]
    return value + holding_price(ws, size, scratch) - row_fit(ws, i, s, scratch)


@bare
def join_best(ws, i, s, number, scratch):
    """Join the community that lowers the row most, at the share s of a set that is not complete."""
    first, best, most = ws.start[i], -1, -math.inf
    n_links = ws.start[i + 1] - first
    for q in range(number):
        if scratch.joined[q]:
            continue
        gain = -s * scratch.rate[q] - scratch.price[q]
        for p in range(n_links):
            if scratch.reach[q, p] > 0.0:
                a = scratch.factor[p]
                x = a * (ws.background + s * scratch.sum[p])
                step = a * s * scratch.reach[q, p]
                gain += link_change(ws.counts, ws.value[first + p], x, link_mean(ws.counts, x), step)
        if gain > most:
            best, most = q, gain
    scratch.joined[best] = True
    for p in range(n_links):
        scratch.sum[p] += scratch.reach[best, p]


@bare
def best_set(ws, i, number, least, scratch):
    """The set with the lowest row, of at least so many communities, goes to ``best``; returns what it is lower by."""
    n_links, in_vain = ws.start[i + 1] - ws.start[i], 0
    copy_marks(scratch.joined, scratch.member, number)
    here = set_value(ws, i, number, scratch)
    copy_marks(scratch.best, scratch.member, number)
    lowest, low = (math.inf if ws.held[i] < least else here), math.inf
    for size in range(least, min(number, n_links) + 1):
        clear_joined(scratch, number)
        clear_sums(scratch, n_links)
        for _ in range(size):
            join_best(ws, i, 1.0 / size, number, scratch)
        value = set_value(ws, i, number, scratch)
        if value < lowest - ENOUGH:
            lowest = value
            copy_marks(scratch.best, scratch.joined, number)
        in_vain = 0 if value < low else in_vain + 1
        low = min(low, value) if size > 0 else math.inf  # a single one may be worse than none, and several better
        if in_vain >= WORSE_SIZES:
            break
    return here - lowest if lowest < math.inf else 0.0


@bare
def hold_best(ws, i, number, scratch):
    """i holds the best set."""
    held = 0
    for q in range(number):
        if scratch.best[q]:
            ws.member[ws.start[i] + held] = scratch.which[q]
            held += 1
    ws.held[i] = held


@kernel
def shared_rows(ws, order, least, scratch):
    """Give each node, in this order, its best set of ``least`` communities or more; the fall, and how many changed."""
    total, changed, counted = 0.0, 0, len(scratch.holding) > 0
    for i in order:
        if is_last(ws, i) or ws.start[i] == ws.start[i + 1]:
            continue
        take_out(ws, i, -1)
        if counted:
            scratch.holding[ws.held[i]] -= 1
            scratch.totals[0] -= ws.held[i]
        number = prepare_row(ws, i, scratch)
        fall = best_set(ws, i, number, least, scratch)
        for q in range(number):
            if scratch.best[q] != scratch.member[q]:
                hold_best(ws, i, number, scratch)
                total += fall
                changed += 1
                break
        take_out(ws, i, 1)
        if counted:
            scratch.holding[ws.held[i]] += 1
            scratch.totals[0] += ws.held[i]
    return total, changed


@kernel
def shared_posterior(ws, low, high, scratch, which, proba, ends):
    """P(z_ik = 1) given the rest, of the nodes low..high and the communities that each is tried in."""
    total = 0
    for i in range(low, high):
        if is_last(ws, i):
            for m in range(ws.start[i], ws.start[i] + ws.held[i]):
                which[total], proba[total] = ws.member[m], 1.0
                total += 1
        else:
            total = row_posterior(ws, i, scratch, which, proba, total)
        ends[i - low] = total
    return total


@bare
def row_posterior(ws, i, scratch, which, proba, total):
    """Append the probabilities of one row; returns how many there are then."""
    take_out(ws, i, -1)
    number = prepare_row(ws, i, scratch)
    copy_marks(scratch.joined, scratch.member, number)
    here = set_value(ws, i, number, scratch)
    for q in range(number):
        scratch.joined[q] ^= True
        rise = set_value(ws, i, number, scratch) - here
        scratch.joined[q] ^= True
        odds = rise if scratch.member[q] else -rise
        p = 1.0 / (1.0 + math.exp(min(at_least(-odds, -CLIP), CLIP)))
        if p > FAINT:
            which[total], proba[total] = scratch.which[q], p
            total += 1
    take_out(ws, i, 1)
    return total
