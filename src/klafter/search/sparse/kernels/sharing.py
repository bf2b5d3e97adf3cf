"""Kernels where nodes share their links among their communities, affinities diagonal.

    x_ij = t_i r_j u_ij,   u_ij = e + s_i s_j sum_k w_k z_ik z_jk,   s_i = 1 / max(m_i, 1)

with m_i the communities that i holds. Sums by community are of shares: T_k = sum_i t_i s_i z_ik. Another community
changes what i has in all others, so rows are revised as a whole: for each size the best set of communities, one joined
after the other, by

    row(S) = -sum_links h(y, a (e + s sum_{k in S} w_k s_j z_jk)) + s sum_{k in S} w_k P_k + price of S
    P_k    = half (t_i R_k + r_i T_k) - sum_{hidden ij} a_ij s_j z_jk
"""

import math

import numpy as np
from numba import types
from numba.experimental import structref

from klafter.jit.decorators import bare, inlined, kernel
from klafter.jit.structs import define_reference
from klafter.search.sparse.kernels.links import (
    ENOUGH,
    add_row_effect,
    at_least,
    clear_row_effect,
    expected_count,
    exposure_factor,
    hidden_factor,
    holds,
    link_change,
    link_mean,
    link_term,
    mark_row,
)
from klafter.search.sparse.kernels.row_reset import list_communities

FAINT = 1e-3  # a probability below this is left out
CLIP = 50.0  # of log odds: beyond it exp says 0 or 1
PATIENCE = 4  # sizes in a row that lower the row no further before larger ones are given up
ROOM = (
    "which", "rate", "price", "member",  # communities that are tried: number, P_k, price of joining, whether i is in it
    "reach",  # (community, link) w_k s_j z_jk
    "factor", "sum",  # of each link: a_ij, and the sum of reach over a set
    "joined", "best",  # the set at hand, and the best one, by place
    "count", "merit", "touched", "order",  # by community, for `list_communities`
    "holding", "totals",  # nodes by how many communities they hold, N first; E and K; empty at the buffet's price
)  # fmt: skip


class RoomType(types.StructRef):
    """The type of room in kernels."""


class Room(structref.StructRefProxy):
    """Arrays for the row of one node after the other."""


define_reference(Room, RoomType, list(ROOM))


@kernel
def sharing_room(ws, most, holding, totals):
    """Room for rows of nodes that are tried in ``most`` communities, and in what they hold."""
    size, longest, held = len(ws.size), 1, 0
    for i in range(ws.n):
        longest, held = max(longest, ws.start[i + 1] - ws.start[i]), max(held, ws.held[i])
    tried = most + held
    return Room(
        np.zeros(tried, np.int64), np.zeros(tried), np.zeros(tried), np.zeros(tried, np.bool_),
        np.zeros((tried, longest)), np.zeros(longest), np.zeros(longest),
        np.zeros(tried, np.bool_), np.zeros(tried, np.bool_),
        np.zeros(size), np.zeros(size), np.zeros(size, np.int64), np.zeros(most + 1, np.int64), holding, totals,
    )  # fmt: skip


@inlined
def share(ws, i):
    """s_i."""
    return 1.0 / (1 if ws.held[i] < 1 else ws.held[i])


@inlined
def shared_affinity(ws, j, effect, own_share):
    """u_ij, from the effect of row i."""
    u = 0.0
    for m in range(ws.start[j], ws.start[j] + ws.held[j]):
        u += effect[ws.member[m]]
    return ws.background + own_share * share(ws, j) * u


# ---- sums over links ------------------------------------------------------------------------------------------------


@bare
def shared_pairs(ws, i, mine, totals):
    """The row's part of the second and third totals; see ``totals.tally_pairs``."""
    last, own, s = totals.shape[1] - 1, ws.send[i] * ws.receive[i], share(ws, i)
    totals[1, last] += own
    for m in range(ws.start[i], ws.start[i] + ws.held[i]):
        totals[1, ws.member[m]] += own * s * s
    for p in range(ws.hidden_start[i], ws.hidden_start[i + 1]):
        j, a = ws.hidden_node[p], 0.5 * hidden_factor(ws, i, p)
        totals[2, last] += a
        for m in range(ws.start[j], ws.start[j] + ws.held[j]):
            if mine[ws.member[m]]:
                totals[2, ws.member[m]] += a * s * share(ws, j)


@kernel
def shared_tally(ws, low, high, totals, sent, received):
    """Sums over the rows low..high that the weights need; returns sum_links h."""
    size, last = len(ws.size), totals.shape[1] - 1
    mine, effect, fit = np.zeros(size, np.bool_), np.zeros(size), 0.0
    for i in range(low, high):
        mark_row(ws, i, mine)
        add_row_effect(ws, i, effect, effect)
        shared_pairs(ws, i, mine, totals)
        s, sent[i], received[i] = share(ws, i), 0.0, 0.0
        for p in range(ws.start[i], ws.start[i + 1]):
            j = ws.node[p]
            u = shared_affinity(ws, j, effect, s)
            x = exposure_factor(ws, i, p) * u
            mean = link_mean(ws.counts, x)
            fit += 0.5 * link_term(ws.counts, ws.value[p], x, mean)
            expected = expected_count(ws.counts, ws.value[p], x, mean)
            if p < ws.middle[i]:
                sent[i] += expected
            else:
                received[i] += expected
            credit = 0.5 * expected / u
            totals[0, last] += credit * ws.background
            for m in range(ws.start[j], ws.start[j] + ws.held[j]):
                k = ws.member[m]
                if mine[k]:
                    totals[0, k] += credit * ws.strength[k] * s * share(ws, j)
        clear_row_effect(ws, i, effect, effect)
        mark_row(ws, i, mine)
    return fit


@kernel
def shared_factor_step(ws, expected, own, own_sum, other, other_sum, as_source):
    """t_i <- (a + m_i) / (a + sum_j r_j u_ij over observed j), in order; see ``factors.factor_step``."""
    everybody, undirected, effect = other.sum(), ws.pair_weight < 1.0, np.zeros(len(ws.size))
    for i in range(ws.n):
        if own[i] == 0.0:  # of a kind that does not send, or does not receive
            continue
        first, s = ws.start[i], share(ws, i)
        rate = ws.background * (everybody - other[i])
        for m in range(first, first + ws.held[i]):
            k = ws.member[m]
            rate += s * ws.strength[k] * (other_sum[k] - s * other[i])
        low, high = ws.hidden_start[i], ws.hidden_start[i + 1]
        low, high = (low, ws.hidden_middle[i]) if as_source else (ws.hidden_middle[i], high)
        add_row_effect(ws, i, effect, effect)
        for p in range(low, high):
            rate -= other[ws.hidden_node[p]] * shared_affinity(ws, ws.hidden_node[p], effect, s)
        clear_row_effect(ws, i, effect, effect)
        change = (ws.shrinkage + expected[i]) / (ws.shrinkage + at_least(rate, 0.0)) - own[i]
        own[i] += change
        everybody += change if undirected else 0.0
        for m in range(first, first + ws.held[i]):
            own_sum[ws.member[m]] += s * change


# ---- rows -----------------------------------------------------------------------------------------------------------


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
def lay_out(ws, i, room):
    """What the row of i, taken out, needs of the communities that are tried; returns their number."""
    number = list_communities(ws, i, room.count, room.merit, room.touched, room.order)
    for q in range(number):
        room.which[q], room.member[q] = room.order[q], False
    for m in range(ws.start[i], ws.start[i] + ws.held[i]):
        place = number
        for q in range(number):
            if room.which[q] == ws.member[m]:
                place = q
        room.which[place], room.member[place] = ws.member[m], True
        number += 1 if place == number else 0
    first, n_links = ws.start[i], ws.start[i + 1] - ws.start[i]
    for p in range(n_links):
        room.factor[p] = exposure_factor(ws, i, first + p)
    for q in range(number):
        k = room.which[q]
        room.rate[q] = ws.pair_weight * (ws.send[i] * ws.receive_sum[k] + ws.receive[i] * ws.send_sum[k])
        room.price[q] = joining_price(ws, k, room)
        for p in range(n_links):
            j = ws.node[first + p]
            room.reach[q, p] = ws.strength[k] * share(ws, j) if holds(ws, j, k) else 0.0
        for p in range(ws.hidden_start[i], ws.hidden_start[i + 1]):
            j = ws.hidden_node[p]
            room.rate[q] -= hidden_factor(ws, i, p) * share(ws, j) if holds(ws, j, k) else 0.0
        room.rate[q] *= ws.strength[k]
    return number


@bare
def joining_price(ws, k, room):
    """The price of joining k, of the part that depends on k."""
    others = float(ws.size[k])
    if len(room.holding) > 0:
        return -ws.temperature * math.log(others + 1.0)
    return ws.temperature * math.log((ws.n - others) / others)


@bare
def holding_price(ws, size, room):
    """The price of holding so many communities, beside those of joining them; of learned counts, i taken out."""
    if len(room.holding) == 0:
        return 0.0
    held, k = room.totals[0], room.totals[1]
    price = math.log(room.holding[0] + 1.0) - math.log(room.holding[size] + 1.0)
    for q in range(size):
        e = held + q
        price += math.log(e / (e - k + 1.0)) + math.log(e + 1.0) - math.log(q + 1.0)
    return ws.temperature * price


@bare
def copy_marks(to, source, number):
    for q in range(number):
        to[q] = source[q]


@bare
def clear_joined(room, number):
    for q in range(number):
        room.joined[q] = False


@bare
def clear_sums(room, n_links):
    for p in range(n_links):
        room.sum[p] = 0.0


@bare
def row_fit(ws, i, s, room):
    """sum_links h of the row, for the sums in the room."""
    fit, first = 0.0, ws.start[i]
    for p in range(ws.start[i + 1] - first):
        x = room.factor[p] * (ws.background + s * room.sum[p])
        fit += link_term(ws.counts, ws.value[first + p], x, link_mean(ws.counts, x))
    return fit


@bare
def set_value(ws, i, number, room):
    """row(S) of the set of communities that are joined."""
    n_links, size, value = ws.start[i + 1] - ws.start[i], 0, 0.0
    clear_sums(room, n_links)
    for q in range(number):
        size += room.joined[q]
    s = 1.0 / max(size, 1)
    for q in range(number):
        if room.joined[q]:
            value += s * room.rate[q] + room.price[q]
            for p in range(n_links):
                room.sum[p] += room.reach[q, p]
    return value + holding_price(ws, size, room) - row_fit(ws, i, s, room)


@bare
def join_best(ws, i, s, number, room):
    """Join the community that lowers the row most, at the share s of a set that is not complete."""
    first, best, most = ws.start[i], -1, -math.inf
    n_links = ws.start[i + 1] - first
    for q in range(number):
        if room.joined[q]:
            continue
        gain = -s * room.rate[q] - room.price[q]
        for p in range(n_links):
            if room.reach[q, p] > 0.0:
                a = room.factor[p]
                x = a * (ws.background + s * room.sum[p])
                step = a * s * room.reach[q, p]
                gain += link_change(ws.counts, ws.value[first + p], x, link_mean(ws.counts, x), step)
        if gain > most:
            best, most = q, gain
    room.joined[best] = True
    for p in range(n_links):
        room.sum[p] += room.reach[best, p]


@bare
def best_set(ws, i, number, least, room):
    """The set with the lowest row, of at least so many communities, goes to ``best``; returns what it is lower by."""
    n_links, in_vain = ws.start[i + 1] - ws.start[i], 0
    copy_marks(room.joined, room.member, number)
    here = set_value(ws, i, number, room)
    copy_marks(room.best, room.member, number)
    lowest, low = (math.inf if ws.held[i] < least else here), math.inf
    for size in range(least, min(number, n_links) + 1):
        clear_joined(room, number)
        clear_sums(room, n_links)
        for _ in range(size):
            join_best(ws, i, 1.0 / size, number, room)
        value = set_value(ws, i, number, room)
        if value < lowest - ENOUGH:
            lowest = value
            copy_marks(room.best, room.joined, number)
        in_vain = 0 if value < low else in_vain + 1
        low = min(low, value) if size > 0 else math.inf  # a single one may be worse than none, and several better
        if in_vain >= PATIENCE:
            break
    return here - lowest if lowest < math.inf else 0.0


@bare
def settle(ws, i, number, room):
    """i holds the best set."""
    held = 0
    for q in range(number):
        if room.best[q]:
            ws.member[ws.start[i] + held] = room.which[q]
            held += 1
    ws.held[i] = held


@kernel
def shared_rows(ws, order, least, room):
    """Give each node, in this order, its best set of ``least`` communities or more; the fall, and how many changed."""
    total, changed, counted = 0.0, 0, len(room.holding) > 0
    for i in order:
        if is_last(ws, i) or ws.start[i] == ws.start[i + 1]:
            continue
        take_out(ws, i, -1)
        if counted:
            room.holding[ws.held[i]] -= 1
            room.totals[0] -= ws.held[i]
        number = lay_out(ws, i, room)
        fall = best_set(ws, i, number, least, room)
        for q in range(number):
            if room.best[q] != room.member[q]:
                settle(ws, i, number, room)
                total += fall
                changed += 1
                break
        take_out(ws, i, 1)
        if counted:
            room.holding[ws.held[i]] += 1
            room.totals[0] += ws.held[i]
    return total, changed


@kernel
def shared_posterior(ws, low, high, room, which, proba, ends):
    """P(z_ik = 1) given the rest, of the nodes low..high and the communities that each is tried in."""
    total = 0
    for i in range(low, high):
        if is_last(ws, i):
            for m in range(ws.start[i], ws.start[i] + ws.held[i]):
                which[total], proba[total] = ws.member[m], 1.0
                total += 1
        else:
            total = row_posterior(ws, i, room, which, proba, total)
        ends[i - low] = total
    return total


@bare
def row_posterior(ws, i, room, which, proba, total):
    """Append the probabilities of one row; returns how many there are then."""
    take_out(ws, i, -1)
    number = lay_out(ws, i, room)
    copy_marks(room.joined, room.member, number)
    here = set_value(ws, i, number, room)
    for q in range(number):
        room.joined[q] ^= True
        rise = set_value(ws, i, number, room) - here
        room.joined[q] ^= True
        odds = rise if room.member[q] else -rise
        p = 1.0 / (1.0 + math.exp(min(at_least(-odds, -CLIP), CLIP)))
        if p > FAINT:
            which[total], proba[total] = room.which[q], p
            total += 1
    take_out(ws, i, 1)
    return total
