"""Kernel of row resets: a node leaves its communities and joins others, its degree factors fitted to what it holds.

A node of m communities has an m-th of its links in each. As long as it is in none its degree factor is large, for the
background must explain all of its links; to join a single community would then promise far more links than there are,
and no flip gains. Sets of communities are tried as a whole instead, each with the factors that are best for it:

    row(S, t, r) = -sum_links h(y, x) + t A(S) + r B(S) + a (t - 1 - log t) + a (r - 1 - log r) + price of S
    A(S) = sum_j r_j u_ij,   B(S) = sum_j t_j u_ji over observed dyads;   t <- (a + sum_j m_ij) / (a + A)

S are the first communities in the order of  c_k log(1 + w_k/e) / (w_k R_k),  what the c_k links into k gain over the
links that k promises.
"""

import math

import numpy as np

from klafter.jit.decorators import bare, inner, kernel
from klafter.search.sparse.kernels.links import (
    ENOUGH,
    expected_count,
    holds,
    join,
    leave,
    link_mean,
    link_term,
    may_link_own_kind,
    one_more_price,
    receivers,
    senders,
)

STEPS = 4  # of the degree factors of a set, which converge that soon


@kernel
def reset_rows(ws, low, high, flags, around, most):
    """Reset the rows of flagged nodes of low..high, each where the objective falls; flags the nodes around them.

    Returns the fall. A node is tried in as many communities as ``most`` says. Affinities must be diagonal.
    """
    size, longest = len(ws.size), 1
    for i in range(ws.n):
        longest = max(longest, ws.start[i + 1] - ws.start[i], ws.hidden_start[i + 1] - ws.hidden_start[i])
    count, merit, order, best = np.zeros(size), np.zeros(size), np.zeros(most + 1, np.int64), np.zeros(2)
    touched, u, hidden_u = np.zeros(size, np.int64), np.zeros(longest), np.zeros(longest)
    sums, row, total = everybody(ws), np.zeros(4), 0.0
    for i in range(low, high):
        if flags[i] and ws.start[i + 1] > ws.start[i] and mostly_background(ws, i):
            fall = reset_row(ws, i, count, merit, touched, order, best, u, hidden_u, sums, row)
            if fall > 0.0:
                total += fall
                for p in range(ws.start[i], ws.start[i + 1]):
                    around[ws.node[p]] = True
                around[i] = True
    return total


@bare
def mostly_background(ws, i):
    """Whether the background explains more than half of the links of i."""
    first, stop, share = ws.start[i], ws.start[i + 1], 0.0
    if ws.held[i] == 0:
        return True
    for p in range(first, stop):
        j, u = ws.node[p], ws.background
        for m in range(first, first + ws.held[i]):
            if holds(ws, j, ws.member[m]):
                u += ws.strength[ws.member[m]]
        share += ws.background / u
    return share > 0.5 * (stop - first)


@bare
def reset_row(ws, i, count, merit, touched, order, best, u, hidden_u, sums, row):
    """Try the sets of communities of one node; returns the fall of the objective, 0 if it stays as it was."""
    held = ws.held[i]
    n_tried = list_communities(ws, i, count, merit, touched, order)
    begin_row(ws, i, u, hidden_u, sums, row)
    for m in range(ws.start[i], ws.start[i] + held):
        add_community(ws, i, ws.member[m], u, hidden_u, row)
    here = row_value(ws, i, u, row, ws.send[i], ws.receive[i])
    lowest, chosen = here, -1
    begin_row(ws, i, u, hidden_u, sums, row)
    for q in range(n_tried + 1):
        if q > 0:
            add_community(ws, i, order[q - 1], u, hidden_u, row)
        t, r = fit_factors(ws, i, u, row)
        value = row_value(ws, i, u, row, t, r)
        if value < lowest - ENOUGH and not is_held(ws, i, order, q):
            lowest, chosen, best[0], best[1] = value, q, t, r
    if chosen < 0:
        return 0.0
    while ws.held[i] > 0:
        leave(ws, i, ws.member[ws.start[i]])
    add_to_everybody(ws, i, best[0] - ws.send[i], best[1] - ws.receive[i], sums)
    ws.send[i], ws.receive[i] = best[0], best[1]
    for q in range(chosen):
        join(ws, i, order[q])
    return here - lowest


@bare
def list_communities(ws, i, count, merit, touched, order):
    """The communities of the neighbours of i that others hold too, best merit first; returns their number."""
    first, stop, n_touched = ws.start[i], ws.start[i + 1], 0
    for p in range(first, stop):
        j = ws.node[p]
        for m in range(ws.start[j], ws.start[j] + ws.held[j]):
            k = ws.member[m]
            if count[k] == 0.0:
                touched[n_touched] = k
                n_touched += 1
            count[k] += ws.value[p]
    for q in range(n_touched):
        k = touched[q]
        promised = ws.strength[k] * (receivers(ws, i, k) + senders(ws, i, k))
        merit[k] = count[k] * math.log1p(ws.strength[k] / ws.background) / promised if promised > 0.0 else 0.0
        count[k] = 0.0
    n_tried = 0
    for q in range(min(order.size - 1, stop - first)):
        top = -1
        for m in range(n_touched):
            if merit[touched[m]] > 0.0 and (top < 0 or merit[touched[m]] > merit[touched[top]]):
                top = m
        if top < 0:
            break
        order[q], merit[touched[top]] = touched[top], 0.0
        n_tried = q + 1
    for q in range(n_touched):
        merit[touched[q]] = 0.0
    return n_tried


@bare
def is_held(ws, i, order, size):
    """Whether the first of the order are what i holds now."""
    same = ws.held[i] == size
    for q in range(size):
        same = same and holds(ws, i, order[q])
    return same


@bare
def begin_row(ws, i, u, hidden_u, sums, row):
    """A node in no community: u of its dyads, A, B, the price of what it holds, and how much that is."""
    for p in range(ws.start[i + 1] - ws.start[i]):
        u[p] = ws.background
    for p in range(ws.hidden_start[i + 1] - ws.hidden_start[i]):
        hidden_u[p] = ws.background
    send, receive = others(ws, i, sums)
    row[0] = ws.background * (receive - hidden_sum(ws, i, hidden_u, True, False))
    row[1] = ws.background * (send - hidden_sum(ws, i, hidden_u, False, False))
    row[2], row[3] = 0.0, 0.0


@inner
def everybody(ws):
    """The sums of all t and of all r; where there are kinds, then these sums by kind."""
    n_kinds = len(ws.linkable)
    sums = np.zeros(2 + 2 * n_kinds)
    sums[0], sums[1] = ws.send.sum(), ws.receive.sum()
    for i in range(len(ws.kind)):
        sums[2 + ws.kind[i]] += ws.send[i]
        sums[2 + n_kinds + ws.kind[i]] += ws.receive[i]
    return sums


@bare
def add_to_everybody(ws, i, send, receive, sums):
    """What changes if t and r of a node do."""
    sums[0] += send
    sums[1] += receive
    if len(ws.kind) > 0:
        sums[2 + ws.kind[i]] += send
        sums[2 + len(ws.linkable) + ws.kind[i]] += receive


@bare
def others(ws, i, sums):
    """The sum of t over all others that may have a link to i, and of r over those that it may have one to."""
    if len(ws.kind) == 0:
        return sums[0] - ws.send[i], sums[1] - ws.receive[i]
    send, receive, n_kinds, mine = 0.0, 0.0, len(ws.linkable), ws.kind[i]
    for c in range(n_kinds):
        send += sums[2 + c] if ws.linkable[c, mine] else 0.0
        receive += sums[2 + n_kinds + c] if ws.linkable[mine, c] else 0.0
    itself = may_link_own_kind(ws, i)
    return send - (ws.send[i] if itself else 0.0), receive - (ws.receive[i] if itself else 0.0)


@bare
def hidden_sum(ws, i, among, as_source, some):
    """Sum of r_j over hidden dyads of i as source, or t_j as target; of ``some``, those with a mark of -1."""
    total = 0.0
    low, middle, high = ws.hidden_start[i], ws.hidden_middle[i], ws.hidden_start[i + 1]
    if ws.pair_weight < 1.0:
        middle = high
    for p in range(low if as_source else middle, middle if as_source else high):
        if not some or among[p - low] == -1.0:
            total += ws.receive[ws.hidden_node[p]] if as_source else ws.send[ws.hidden_node[p]]
    return total


@bare
def add_community(ws, i, k, u, hidden_u, row):
    """The row after i joined k."""
    first, w, inside = ws.start[i], ws.strength[k], holds(ws, i, k)
    for p in range(first, ws.start[i + 1]):
        if holds(ws, ws.node[p], k):
            u[p - first] += w
    low = ws.hidden_start[i]
    for p in range(low, ws.hidden_start[i + 1]):
        hidden_u[p - low] = -1.0 if holds(ws, ws.hidden_node[p], k) else 0.0
    itself = inside and may_link_own_kind(ws, i)
    receive_sum = receivers(ws, i, k) - (ws.receive[i] if itself else 0.0)
    send_sum = senders(ws, i, k) - (ws.send[i] if itself else 0.0)
    row[0] += w * (receive_sum - hidden_sum(ws, i, hidden_u, True, True))
    row[1] += w * (send_sum - hidden_sum(ws, i, hidden_u, False, True))
    others = ws.size[k] - (1 if inside else 0)
    row[2] += ws.temperature * math.log((ws.n - others) / others) if others > 0 else math.inf
    row[2] += one_more_price(ws, int(row[3]))
    row[3] += 1.0


@bare
def fit_factors(ws, i, u, row):
    """t and r that are best for a set, from what they would be if every link were one count."""
    a, first, middle, stop = ws.shrinkage, ws.start[i], ws.middle[i], ws.start[i + 1]
    undirected = ws.pair_weight < 1.0
    if undirected:
        middle = stop
    t, r = (a + middle - first) / (a + row[0]), (a + stop - middle) / (a + row[1])
    for _ in range(STEPS):
        sent, received = 0.0, 0.0
        for p in range(first, middle):
            x = t * ws.receive[ws.node[p]] * u[p - first]
            sent += expected_count(ws.counts, ws.value[p], x, link_mean(ws.counts, x))
        for p in range(middle, stop):
            x = r * ws.send[ws.node[p]] * u[p - first]
            received += expected_count(ws.counts, ws.value[p], x, link_mean(ws.counts, x))
        t, r = (a + sent) / (a + row[0]), (a + received) / (a + row[1])
    if undirected:
        return t, t
    return t if ws.send[i] > 0.0 else 0.0, r if ws.receive[i] > 0.0 else 0.0


@bare
def row_value(ws, i, u, row, t, r):
    """The part of the objective that depends on the communities and degree factors of i."""
    first, middle, stop, total = ws.start[i], ws.middle[i], ws.start[i + 1], row[2]
    undirected = ws.pair_weight < 1.0
    if undirected:
        middle = stop
    for p in range(first, stop):
        j = ws.node[p]
        x = (t * ws.receive[j] if p < middle else r * ws.send[j]) * u[p - first]
        total -= link_term(ws.counts, ws.value[p], x, link_mean(ws.counts, x))
    total += t * row[0] + factor_price(ws, t)
    return total if undirected else total + r * row[1] + factor_price(ws, r)


@bare
def factor_price(ws, t):
    """a (t - 1 - log t); nothing where factors are fixed, or a node of a two-mode network has none."""
    return ws.shrinkage * (t - 1.0 - math.log(t)) if t > 0.0 and ws.shrinkage < math.inf else 0.0
