"""Kernels of births: the growth of a set around a seed.

    rho_ij = y e / u_ij                                 what link ij owes: the share that no community explains
    c_j(S) = sum_{i in S} rho_ij                        what j owes to links into S
    E, P, w = E / P                                     owed links inside S, its pairs, its strength
    gain(S) = E log(1 + w/e) - w P - price(S)           contrast(S; c) = E log(w/c) - (w - c) P

A node adds to the gain when c_j > theta (t_j R + r_j T) half with theta = w / log(1 + w/e).
"""

import math
from typing import NamedTuple

import numpy as np

from klafter.core.kernel import kernel
from klafter.search.sparse_kernels import price
from klafter.search.sparse_parallel import inner

EARLY = 7  # sets on the path before it may end for want of gain
LONGEST, PATH = 60, 4  # sets on a path; their nodes together, in multiples of n
HUB = 200_000  # links a walk may look at: a hub says little of its neighbours


class Scratch(NamedTuple):
    """What growth writes to; everything is zero, and ``local`` -1, between calls."""

    score: np.ndarray  # (n,)
    inside: np.ndarray  # (n,) int8
    seen: np.ndarray  # (n,) bool
    touched: np.ndarray  # (n,) int32
    value: np.ndarray  # (n,)
    sorted: np.ndarray  # (n,)
    path: np.ndarray  # (4 n,) int32
    local: np.ndarray  # (n,) int64
    number: np.ndarray  # (1,) int64, nodes touched


@inner
def forget(scratch):
    """Clear the scores of all nodes that were looked at."""
    for v in range(scratch.number[0]):
        j = scratch.touched[v]
        scratch.score[j], scratch.seen[j], scratch.inside[j] = 0.0, False, 0
    scratch.number[0] = 0


@inner
def touch(scratch, j):
    """Remember j."""
    if not scratch.seen[j]:
        scratch.seen[j] = True
        scratch.touched[scratch.number[0]] = j
        scratch.number[0] += 1


@inner
def walk(problem, owed, residual, seed, scratch):
    """Two steps of a random walk along rho from the seed: the scores of nodes they touch."""
    touch(scratch, np.int32(seed))
    scratch.score[seed] += 1.0
    low, high = problem.start[seed], problem.start[seed + 1]
    for p in range(low, high):
        j = problem.node[p]
        share = owed[p] / residual[seed]
        touch(scratch, j)
        scratch.score[j] += share
        if (problem.start[j + 1] - problem.start[j]) * (high - low) > HUB or residual[j] <= 0.0:
            continue
        for q in range(problem.start[j], problem.start[j + 1]):
            touch(scratch, problem.node[q])
            scratch.score[problem.node[q]] += share * owed[q] / residual[j]


@inner
def spread(problem, owed, i, sign, scratch):
    """What all nodes owe to links with i, added to their c_j or taken back."""
    touch(scratch, i)
    for p in range(problem.start[i], problem.start[i + 1]):
        touch(scratch, problem.node[p])
        scratch.score[problem.node[p]] += sign * owed[p]


@inner
def enter(problem, owed, old, new, scratch):
    """Make the scores c_j of set ``old`` those of ``new``: only where they differ."""
    for v in range(len(new)):
        scratch.inside[new[v]] += 2
    for v in range(len(old)):
        if scratch.inside[old[v]] == 1:
            spread(problem, owed, old[v], -1.0, scratch)
            scratch.inside[old[v]] = 0
    for v in range(len(new)):
        if scratch.inside[new[v]] == 2:
            spread(problem, owed, new[v], 1.0, scratch)
        scratch.inside[new[v]] = 1


@inner
def measure(problem, state, nodes, scratch):
    """(E, P, T, R) of a set whose c_j are in the scores."""
    links, send_sum, receive_sum, own = 0.0, 0.0, 0.0, 0.0
    for v in range(len(nodes)):
        i = nodes[v]
        t, r = state.send[i], state.receive[i]
        links += 0.5 * scratch.score[i]
        send_sum, receive_sum, own = send_sum + t, receive_sum + r, own + t * r
    return links, problem.half * (send_sum * receive_sum - own), send_sum, receive_sum


@inner
def best_scored(scratch, size):
    """The ``size`` nodes with the largest values above 0."""
    positive = 0
    for v in range(scratch.number[0]):
        if scratch.value[v] > 0.0:
            scratch.sorted[positive] = scratch.value[v]
            positive += 1
    size = min(size, positive)
    cut = nth_largest(scratch.sorted, positive, size) if 0 < size < positive else 0.0
    chosen = np.empty(size, np.int32)
    at = 0
    for v in range(scratch.number[0]):
        if scratch.value[v] > cut:
            chosen[at] = scratch.touched[v]
            at += 1
    for v in range(scratch.number[0]):
        if at < size and scratch.value[v] == cut:
            chosen[at] = scratch.touched[v]
            at += 1
    return chosen


@inner
def nth_largest(values, count, rank):
    """The value at ``rank`` (from 1) of the first ``count`` in falling order, by quickselect in place."""
    low, high = 0, count - 1
    while low < high:
        pivot = values[(low + high) // 2]
        a, b = low, high
        while a <= b:
            while values[a] > pivot:
                a += 1
            while values[b] < pivot:
                b -= 1
            if a <= b:
                values[a], values[b] = values[b], values[a]
                a, b = a + 1, b - 1
        if rank - 1 <= b:
            high = b
        elif rank - 1 >= a:
            low = a
        else:
            break
    return values[rank - 1]


@inner
def rank(problem, state, nodes, size, scratch):
    """The ``size`` nodes that add most to the set, by c_j - theta (t_j R + r_j T) half; with E and P of the set."""
    links, pairs, send_sum, receive_sum = measure(problem, state, nodes, scratch)
    w = links / max(pairs, 1e-300)
    theta = w / math.log1p(w / state.background) if w > 0.0 else 0.0
    for v in range(scratch.number[0]):
        j = scratch.touched[v]
        t, inside = state.send[j], scratch.inside[j]
        r = t if problem.half < 1.0 else state.receive[j]
        near = t * (receive_sum - inside * r) + r * (send_sum - inside * t)
        scratch.value[v] = scratch.score[j] - theta * problem.half * near
    return best_scored(scratch, size), links, pairs


@kernel
def around_set(problem, state, owed, nodes, size, scratch):
    """The ``size`` nodes that add most to the set."""
    enter(problem, owed, nodes[:0], nodes, scratch)
    chosen, _, _ = rank(problem, state, nodes, size, scratch)
    forget(scratch)
    return chosen


@kernel
def walk_set(problem, owed, residual, seed, size, scratch):
    """The nodes that the walk from the seed reaches most."""
    walk(problem, owed, residual, seed, scratch)
    for v in range(scratch.number[0]):
        scratch.value[v] = scratch.score[scratch.touched[v]]
    nodes = best_scored(scratch, size)
    forget(scratch)
    return nodes


@kernel
def grow(problem, state, owed, nodes, factor, hope, scratch):
    """A set chosen by contrast on a path that grows from ``nodes``; with its strength and the best gain of the path."""
    links, pairs, stop = np.zeros(LONGEST), np.zeros(LONGEST), np.zeros(LONGEST + 1, np.int64)
    size, length, best, best_gain = len(nodes) + 0.0, 0, 0, -np.inf
    enter(problem, owed, nodes[:0], nodes, scratch)
    beyond = 2 if hope == 1.0 else 3  # a weak community shows on a path that is less smooth
    while len(nodes) > 1 and length < max(best + beyond, EARLY) and length < LONGEST:
        if stop[length] + len(nodes) > len(scratch.path):
            break
        size *= factor
        grown, e_c, p_c = rank(problem, state, nodes, int(size), scratch)
        for v in range(len(nodes)):
            scratch.path[stop[length] + v] = nodes[v]
        stop[length + 1] = stop[length] + len(nodes)
        links[length], pairs[length] = e_c, max(p_c, 1e-300)
        gain = e_c * math.log1p(e_c / pairs[length] / (hope * state.background)) - e_c - price(problem, len(nodes))
        if gain > best_gain:
            best, best_gain = length, gain
        length += 1
        if len(grown) <= len(nodes):
            break
        enter(problem, owed, nodes, grown, scratch)
        nodes = grown
    forget(scratch)
    if length == 0:
        return nodes, 0.0, best_gain
    chosen = by_contrast(links[:length], pairs[:length], best)
    return scratch.path[stop[chosen] : stop[chosen + 1]].copy(), links[chosen] / pairs[chosen], best_gain


@inner
def by_contrast(links, pairs, best):
    """The set on the path that stands out most from half its own strength, coming from the one with the best gain.

    The best gain is often that of a union of communities, and so may be the best contrast to half the union's strength.
    """
    chosen = -1
    while chosen != best:
        chosen = best
        bar = 0.5 * links[chosen] / pairs[chosen]
        most = 0.0
        for m in range(chosen + 1):
            w = links[m] / pairs[m]
            if w > bar > 0.0:
                contrast = links[m] * math.log(w / bar) - (w - bar) * pairs[m]
                if contrast > most:
                    best, most = m, contrast
    return chosen
