"""Kernels of births: the growth of a set around a seed.

    rho_ij = y e / u_ij                                 the responsibility of the background for link ij
    c_j(S) = sum_{i in S} rho_ij                        its sum over the links of j into S
    E, P, w = E / P                                     its sum over the links inside S, the pairs of S, its strength
    gain(S) = E log(1 + w/e) - w P - price(S)           contrast(S; c) = E log(w/c) - (w - c) P

A node adds to the gain when c_j > theta (t_j R + r_j T) half with theta = w / log(1 + w/e).
"""

import math

import numpy as np
from numba import types
from numba.experimental import structref

from klafter.jit.decorators import bare, inlined, inner, kernel
from klafter.jit.structs import define_reference
from klafter.search.sparse.kernels.links import (
    add_to_kind,
    at_least,
    may_link_own_kind,
    pairs_with,
    permitted_pairs,
    price,
)

LONGEST, PATH = 60, 4  # sets on a path; their nodes together, in multiples of n


class ScratchType(types.StructRef):
    """The type of scratch space in kernels."""


class Scratch(structref.StructRefProxy):
    """What growth writes to; scores and marks are zero between calls. ``number`` counts the nodes touched."""


define_reference(Scratch, ScratchType, ["score", "inside", "seen", "touched", "value", "sorted", "path", "number"])


@kernel
def scratch_space(inside):
    """Scratch space for as many nodes as there are marks; made here, since a call of Scratch is compiled every time."""
    n = len(inside)
    return Scratch(
        np.zeros(n), inside, np.zeros(n, np.bool_), np.empty(n, np.int32), np.empty(n), np.empty(n),
        np.empty(PATH * n, np.int32), np.zeros(1, np.int64),
    )  # fmt: skip


@bare
def forget(scratch):
    """Clear the scores of all nodes that were looked at."""
    for v in range(scratch.number[0]):
        j = scratch.touched[v]
        scratch.score[j], scratch.seen[j], scratch.inside[j] = 0.0, False, 0
    scratch.number[0] = 0


@inlined
def touch(seen, touched, number, j):
    """Remember j."""
    if not seen[j]:
        seen[j] = True
        touched[number[0]] = j
        number[0] += 1


@kernel
def walk_set(ws, responsibility, residual, seed, size, hub, scratch):
    """The nodes that two steps of a random walk along rho from the seed reach most.

    A neighbour by which a step would look at more than ``hub`` links is passed over: it tells them little apart.
    """
    score, seen, touched, number = scratch.score, scratch.seen, scratch.touched, scratch.number
    start, node = ws.start, ws.node
    touch(seen, touched, number, np.int32(seed))
    score[seed] += 1.0
    low, high = start[seed], start[seed + 1]
    for p in range(low, high):
        j = node[p]
        share = responsibility[p] / residual[seed]
        touch(seen, touched, number, j)
        score[j] += share
        if (start[j + 1] - start[j]) * (high - low) > hub or residual[j] <= 0.0:
            continue
        for q in range(start[j], start[j + 1]):
            touch(seen, touched, number, node[q])
            score[node[q]] += share * responsibility[q] / residual[j]
    for v in range(scratch.number[0]):
        scratch.value[v] = score[scratch.touched[v]]
    nodes = best_scored(scratch, size)
    forget(scratch)
    return nodes


@bare
def spread(ws, responsibility, i, sign, scratch):
    """rho of the links with i, added to c_j of its neighbours or taken back."""
    score, seen, touched, number = scratch.score, scratch.seen, scratch.touched, scratch.number
    start, node = ws.start, ws.node
    touch(seen, touched, number, i)
    for p in range(start[i], start[i + 1]):
        touch(seen, touched, number, node[p])
        score[node[p]] += sign * responsibility[p]


@bare
def enter(ws, responsibility, old, new, scratch):
    """Make the scores c_j of set ``old`` those of ``new``: only where they differ."""
    inside = scratch.inside
    for v in range(len(new)):
        inside[new[v]] += 2
    for v in range(len(old)):
        if inside[old[v]] == 1:
            spread(ws, responsibility, old[v], -1.0, scratch)
            inside[old[v]] = 0
    for v in range(len(new)):
        if inside[new[v]] == 2:
            spread(ws, responsibility, new[v], 1.0, scratch)
        inside[new[v]] = 1


@inner
def best_scored(scratch, size):
    """The ``size`` nodes with the largest values above 0."""
    value, touched, number = scratch.value, scratch.touched, scratch.number
    positive = np.int64(0)  # a literal 0 would compile what follows twice
    for v in range(number[0]):
        if value[v] > 0.0:
            scratch.sorted[positive] = value[v]
            positive += 1
    size = size if size < positive else positive
    cut = nth_largest(scratch.sorted, positive, size) if 0 < size < positive else 0.0
    chosen = np.empty(size, np.int32)
    at = 0
    for v in range(number[0]):
        if value[v] > cut:
            chosen[at] = touched[v]
            at += 1
    for v in range(number[0]):
        if at < size and value[v] == cut:
            chosen[at] = touched[v]
            at += 1
    return chosen


@bare
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
def rank(ws, nodes, size, scratch):
    """The ``size`` nodes that add most to the set, by c_j - theta (t_j R + r_j T) half; with E and P of the set."""
    send, receive, pair_weight = ws.send, ws.receive, ws.pair_weight
    score, touched, inside, value = scratch.score, scratch.touched, scratch.inside, scratch.value
    links, send_sum, receive_sum, own = 0.0, 0.0, 0.0, 0.0
    by_kind, n_kinds = np.zeros((2, len(ws.linkable))), len(ws.linkable)
    for v in range(len(nodes)):
        i = nodes[v]
        t, r = send[i], receive[i]
        links += 0.5 * score[i]
        send_sum, receive_sum = send_sum + t, receive_sum + r
        own += t * r if may_link_own_kind(ws, i) else 0.0
        if n_kinds > 0:
            add_to_kind(ws, i, t, r, by_kind)
    pairs = pair_weight * ((send_sum * receive_sum if n_kinds == 0 else permitted_pairs(ws, by_kind)) - own)
    w = links / at_least(pairs, 1e-300)
    theta = w / math.log1p(w / ws.background) if w > 0.0 else 0.0
    for v in range(scratch.number[0]):
        j = touched[v]
        t, there = send[j], inside[j]
        r = t if pair_weight < 1.0 else receive[j]
        if n_kinds == 0:
            near = t * (receive_sum - there * r) + r * (send_sum - there * t)
        else:
            near = pairs_with(ws, j, t, r, there > 0, by_kind)
        value[v] = score[j] - theta * pair_weight * near
    return best_scored(scratch, size), links, pairs


@kernel
def around_set(ws, responsibility, nodes, size, scratch):
    """The ``size`` nodes that add most to the set."""
    enter(ws, responsibility, nodes[:0], nodes, scratch)
    chosen, _, _ = rank(ws, nodes, size, scratch)
    forget(scratch)
    return chosen


@kernel
def grow(ws, responsibility, nodes, factor, early, background_discount, scratch):
    """A set chosen by contrast on a path that grows from ``nodes``; with its strength and the best gain of the path.

    The path does not end before it has ``early`` sets. Then it ends for want of gain, or where sets have less than half
    the strength of the one with most links for a node: they are unions of it with others. On a large sparse graph,
    where one link to a set is enough to gain, unions would grow to the whole graph.
    """
    links, pairs, stop = np.zeros(LONGEST), np.zeros(LONGEST), np.zeros(LONGEST + 1, np.int64)
    size, length, best, best_gain, dense, unions = len(nodes) + 0.0, 0, 0, -np.inf, 0, 0
    enter(ws, responsibility, nodes[:0], nodes, scratch)
    beyond = 2 if background_discount == 1.0 else 3  # a weak community shows on a path that is less smooth
    while len(nodes) > 1 and length < LONGEST:
        if length >= early and (length >= best + beyond or unions >= beyond):
            break
        if stop[length] + len(nodes) > len(scratch.path):
            break
        size *= factor
        grown, e_c, p_c = rank(ws, nodes, np.int64(size), scratch)
        for v in range(len(nodes)):
            scratch.path[stop[length] + v] = nodes[v]
        stop[length + 1] = stop[length] + len(nodes)
        links[length], pairs[length] = e_c, at_least(p_c, 1e-300)
        gain = (
            e_c * math.log1p(e_c / pairs[length] / (background_discount * ws.background)) - e_c - price(ws, len(nodes))
        )
        if gain > best_gain:
            best, best_gain = length, gain
        if links[length] * (stop[dense + 1] - stop[dense]) >= links[dense] * len(nodes):
            dense = length
        unions = unions + 1 if 2.0 * links[length] * pairs[dense] < links[dense] * pairs[length] else 0
        length += 1
        if len(grown) <= len(nodes):
            break
        enter(ws, responsibility, nodes, grown, scratch)
        nodes = grown
    forget(scratch)
    if length == 0:
        return nodes, 0.0, best_gain
    chosen = by_contrast(links[:length], pairs[:length], best)
    return scratch.path[stop[chosen] : stop[chosen + 1]].copy(), links[chosen] / pairs[chosen], best_gain


@bare
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
