"""The price of a cover Z, minus its log prior probability, and how a flip changes it.

The buffet (limit of the Indian buffet process):

    sum_k [log S_k + log C(N, S_k)]

Learned counts, n_m nodes of m communities each, E = sum_m m n_m memberships in all:

    log C(N + K, K) + log(N! / prod_m n_m!)                        how many communities nodes hold, and which nodes
    + log C(E - 1, K - 1) + log(E! / prod_k S_k!) - sum_i log m_i!   which ones, sizes being free
    - log K!                                                       communities have no names

Both leave out communities without members, and add lambda^2 for each of the others.
"""

import math

import numpy as np

from klafter.jit.decorators import bare


@bare
def log_choose(n, k):
    """log C(n, k)."""
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)


@bare
def cover_price(ws):
    """lambda^2 K and T times the price of the memberships."""
    alive, total = 0, 0.0
    for k in range(ws.z.shape[0]):
        if ws.size[k] > 0:
            alive += 1
            total += -math.lgamma(ws.size[k] + 1.0) if ws.counts else column_price(ws.n, ws.size[k])
    if ws.counts and alive > 0:
        total += number_price(ws.n, alive, ws.held_total[0]) + math.lgamma(ws.n + 1.0)
        for m in range(ws.n_holding.size):
            total -= math.lgamma(ws.n_holding[m] + 1.0)
        for i in range(ws.n):
            total -= math.lgamma(ws.n_held[i] + 1.0)
    return ws.priors.penalty * alive + ws.priors.temperature * total


@bare
def column_price(n, size):
    """log S + log C(N, S) of a community with S members."""
    return np.log(size) + log_choose(n, size)


@bare
def number_price(n, n_communities, memberships):
    """The terms of learned counts that hold K and E alone."""
    if n_communities == 0:
        return 0.0
    total = log_choose(n + n_communities, n_communities) - math.lgamma(n_communities + 1.0)
    return total + log_choose(memberships - 1.0, n_communities - 1.0) + math.lgamma(memberships + 1.0)


@bare
def membership_price(ws, i, k):
    """Rise of the price when i holds k instead of not."""
    held = np.int64(ws.z[k, i])
    price = ws.priors.temperature * np.log(membership_odds(ws, i, k))
    if ws.size[k] > held:
        return price
    price += ws.priors.penalty
    if ws.counts:
        before, total = ws.held_total[1] - held, ws.held_total[0] - held
        price += ws.priors.temperature * (number_price(ws.n, before + 1, total + 1) - number_price(ws.n, before, total))
    return price


@bare
def membership_odds(ws, i, k):
    """The price of a membership of i in k is T times the logarithm of this, where others hold k."""
    held = np.int64(ws.z[k, i])
    others = ws.size[k] - held
    if not ws.counts:
        return (ws.n - others) / others if others > 0 else 1.0 * ws.n
    m, total, alive = ws.n_held[i] - held, ws.held_total[0] - held, ws.held_total[1]
    as_many, one_more = ws.n_holding[m] + held, ws.n_holding[m + 1] - held
    odds = as_many / ((one_more + 1.0) * (others + 1.0) * (m + 1.0))
    return odds * ((total + 1.0) * total / (total - alive + 1.0)) if others > 0 else odds


@bare
def set_membership(ws, i, k, held):
    """z_ik, and the counts that the price of a cover is made of."""
    change = np.int64(held) - np.int64(ws.z[k, i])
    if change == 0:
        return
    ws.z[k, i] = held
    if (ws.size[k] == 0) or (ws.size[k] == 1 and change < 0):
        ws.held_total[1] += change
    ws.size[k] += change
    ws.n_holding[ws.n_held[i]] -= 1
    ws.n_held[i] += change
    ws.n_holding[ws.n_held[i]] += 1
    ws.held_total[0] += change


@bare
def count_memberships(ws):
    """The counts from the memberships themselves; sizes must be there."""
    ws.n_holding[:] = 0
    ws.held_total[:] = 0
    for k in range(ws.z.shape[0]):
        ws.held_total[0] += ws.size[k]
        ws.held_total[1] += 1 if ws.size[k] > 0 else 0
    for i in range(ws.n):
        ws.n_held[i] = 0
        for k in range(ws.z.shape[0]):
            ws.n_held[i] += ws.z[k, i]
        ws.n_holding[ws.n_held[i]] += 1
