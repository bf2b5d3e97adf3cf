"""Trades: some communities are given up for others, judged by the exact change of the objective.

A trade touches only links between the nodes concerned, so these are cut out as a patch with u as it is without the
communities given up. On the patch, with new columns z_c of strength w_c,

    loss = -sum_links h(y, a (u + sum_c w_c z_ic z_jc)) + sum_c [w_c P_c + price(S_c)]

is minimised by flips and weight steps; the gain is the loss with the old columns less the loss with the new ones.
"""

import math
from typing import NamedTuple

import numpy as np

from klafter.core.kernel import kernel
from klafter.search.sparse_kernels import (
    ENOUGH,
    expected_count,
    exposure_factor,
    hidden_factor,
    holds,
    join,
    leave,
    link_chance,
    link_change,
    link_term,
    mark_row,
    price,
    shared_strength,
)
from klafter.search.sparse_parallel import inner


class Patch(NamedTuple):
    """Links and hidden dyads among a few nodes, each listed by both ends."""

    start: np.ndarray
    node: np.ndarray
    factor: np.ndarray  # a
    base: np.ndarray  # u without the communities given up
    value: np.ndarray  # y
    hidden_start: np.ndarray
    hidden_node: np.ndarray
    hidden_factor: np.ndarray
    room: np.ndarray  # new communities each node has room for


@inner
def cut_patch(problem, state, nodes, out, local):
    """The patch of ``nodes`` without communities ``out``; ``local`` is (n,), -1 everywhere before and after."""
    m = len(nodes)
    for v in range(m):
        local[nodes[v]] = v
    start, hidden_start = np.zeros(m + 1, np.int64), np.zeros(m + 1, np.int64)
    for v in range(m):
        i = np.int64(nodes[v])
        inside = 0
        for p in range(problem.start[i], problem.start[i + 1]):
            inside += local[problem.node[p]] >= 0
        start[v + 1] = start[v] + inside
        inside = 0
        for p in range(problem.hidden_start[i], problem.hidden_start[i + 1]):
            inside += local[problem.hidden_node[p]] >= 0
        hidden_start[v + 1] = hidden_start[v] + inside
    node, factor, base = np.empty(start[m], np.int64), np.empty(start[m]), np.empty(start[m])
    value, room = np.empty(start[m]), np.zeros(m, np.int64)
    hidden_node, hidden_a = np.empty(hidden_start[m], np.int64), np.empty(hidden_start[m])
    mine = np.zeros(len(state.size), np.bool_)
    at, hidden_at = 0, 0
    for v in range(m):
        i = np.int64(nodes[v])
        mark_row(problem, state, i, mine, True)
        room[v] = problem.start[i + 1] - problem.start[i] - state.held[i]
        for c in range(len(out)):
            room[v] += mine[out[c]]
            mine[out[c]] = False
        for p in range(problem.start[i], problem.start[i + 1]):
            j = problem.node[p]
            if local[j] >= 0:
                node[at], value[at] = local[j], problem.value[p]
                factor[at] = exposure_factor(problem, state, i, p)
                base[at] = shared_strength(problem, state, j, mine)
                at += 1
        for p in range(problem.hidden_start[i], problem.hidden_start[i + 1]):
            if local[problem.hidden_node[p]] >= 0:
                hidden_node[hidden_at] = local[problem.hidden_node[p]]
                hidden_a[hidden_at] = hidden_factor(problem, state, i, p)
                hidden_at += 1
        mark_row(problem, state, i, mine, False)
    for v in range(m):
        local[nodes[v]] = -1
    return Patch(start, node, factor, base, value, hidden_start, hidden_node, hidden_a, room)


@inner
def patch_pairs(problem, state, nodes, patch, z):
    """P_c of one column z of the patch."""
    send_sum, receive_sum, own, hidden = 0.0, 0.0, 0.0, 0.0
    for v in range(len(nodes)):
        if z[v]:
            t, r = state.send[nodes[v]], state.receive[nodes[v]]
            send_sum, receive_sum, own = send_sum + t, receive_sum + r, own + t * r
            for p in range(patch.hidden_start[v], patch.hidden_start[v + 1]):
                if z[patch.hidden_node[p]]:
                    hidden += 0.5 * patch.hidden_factor[p]
    return problem.half * (send_sum * receive_sum - own) - hidden


@inner
def patch_strength(patch, z, w, v, p):
    """u of entry p in row v with the new columns."""
    u = patch.base[p]
    for c in range(len(w)):
        if z[c, v] and z[c, patch.node[p]]:
            u += w[c]
    return u


@inner
def patch_loss(problem, state, nodes, patch, z, w):
    """-sum_links h + sum_c [w_c P_c + price(S_c)]."""
    loss = 0.0
    for v in range(len(nodes)):
        for p in range(patch.start[v], patch.start[v + 1]):
            x = patch.factor[p] * patch_strength(patch, z, w, v, p)
            loss -= 0.5 * link_term(problem.counts, patch.value[p], x, link_chance(problem.counts, x))
    for c in range(len(w)):
        loss += w[c] * patch_pairs(problem, state, nodes, patch, z[c]) + price(problem, count_true(z[c]))
    return loss


@inner
def count_true(z):
    """How many."""
    total = 0
    for v in range(len(z)):
        total += z[v]
    return total


@inner
def patch_weights(problem, state, nodes, patch, z, w):
    """w_c <- sum_{links in c} m_ij w_c / u_ij / P_c."""
    credit = np.zeros(len(w))
    for v in range(len(nodes)):
        for p in range(patch.start[v], patch.start[v + 1]):
            u = patch_strength(patch, z, w, v, p)
            if u > patch.base[p]:
                x = patch.factor[p] * u
                share = 0.5 * expected_count(problem.counts, patch.value[p], x, link_chance(problem.counts, x)) / u
                for c in range(len(w)):
                    if z[c, v] and z[c, patch.node[p]]:
                        credit[c] += share * w[c]
    for c in range(len(w)):
        pairs = patch_pairs(problem, state, nodes, patch, z[c])
        if pairs > 0.0:
            w[c] = credit[c] / pairs


@inner
def patch_flips(problem, state, nodes, patch, z, w):
    """Flip every membership of the patch that gains, column by column; returns how many did."""
    flips = 0
    for c in range(len(w)):
        size, send_sum, receive_sum = 0, 0.0, 0.0
        for v in range(len(nodes)):
            if z[c, v]:
                size += 1
                send_sum += state.send[nodes[v]]
                receive_sum += state.receive[nodes[v]]
        for v in range(len(nodes)):
            t, r, inside = state.send[nodes[v]], state.receive[nodes[v]], z[c, v]
            others = size - inside
            if others < 2 or (not inside and patch.room[v] <= 0):
                continue
            gain, back = 0.0, 0.0
            for p in range(patch.start[v], patch.start[v + 1]):
                if z[c, patch.node[p]]:
                    a = patch.factor[p]
                    x = a * patch_strength(patch, z, w, v, p)
                    step = -a * w[c] if inside else a * w[c]
                    gain += link_change(problem.counts, patch.value[p], x, link_chance(problem.counts, x), step)
            for p in range(patch.hidden_start[v], patch.hidden_start[v + 1]):
                if z[c, patch.hidden_node[p]]:
                    back += patch.hidden_factor[p]
            pairs = problem.half * (t * (receive_sum - inside * r) + r * (send_sum - inside * t)) - back
            rest = w[c] * pairs + problem.temperature * math.log((problem.n - others) / others)
            gain += rest if inside else -rest
            if gain > ENOUGH:
                d = -1 if inside else 1
                z[c, v] = not inside
                patch.room[v] -= d
                size, send_sum, receive_sum = size + d, send_sum + d * t, receive_sum + d * r
                flips += 1
    return flips


@kernel
def trade_gain(problem, state, nodes, out, z, w, rounds, local):
    """The gain of giving up ``out`` for columns z (q, m) of strengths w on ``nodes``, first improved in place."""
    patch = cut_patch(problem, state, nodes, out, local)
    old = np.zeros((len(out), len(nodes)), np.bool_)
    old_w = np.empty(len(out))
    for c in range(len(out)):
        old_w[c] = state.strength[out[c]]
        for v in range(len(nodes)):
            old[c, v] = holds(problem, state, np.int64(nodes[v]), out[c])
    before = patch_loss(problem, state, nodes, patch, old, old_w)
    for v in range(len(nodes)):
        for c in range(len(w)):
            if z[c, v] and patch.room[v] <= 0:
                z[c, v] = False
            patch.room[v] -= z[c, v]
    for turn in range(rounds):
        for _ in range(4 if turn == 0 else 1):  # strengths that fit the columns before any flip
            patch_weights(problem, state, nodes, patch, z, w)
        if patch_flips(problem, state, nodes, patch, z, w) == 0 and turn > 2:
            break
    return before - patch_loss(problem, state, nodes, patch, z, w)


@kernel
def make_trade(problem, state, nodes, out, into, z, w):
    """Give up ``out`` for columns z, which become communities ``into``."""
    for v in range(len(nodes)):
        i = np.int64(nodes[v])
        for c in range(len(out)):
            if holds(problem, state, i, out[c]):
                leave(problem, state, i, out[c])
        for c in range(len(into)):
            if z[c, v]:
                join(problem, state, i, into[c])
    for c in range(len(into)):
        state.strength[into[c]] = w[c]
