"""Sums over the neighbourhoods of pairs, a first node at a time."""

from typing import NamedTuple

import numpy as np

from klafter.jit.decorators import kernel


class Walk(NamedTuple):
    """A column of the kernel as far as it is known, what is left to push, and the nodes that wait or were reached."""

    value: np.ndarray
    left: np.ndarray
    queued: np.ndarray
    queue: np.ndarray
    reached: np.ndarray


@kernel
def walk_pairs(indptr, indices, half, pairs, order):
    """(m, 4): common neighbours over degree, links u - v between the two over sqrt(d_u d_v), own link, how many common.

    ``order`` brings pairs with the same first node together: what is two steps away from it is summed once,
    reach_v = sum_u a_iu a_uv / sqrt(d_u), and each pair then visits only the neighbours of its second node.
    """
    found = np.zeros((len(pairs), 4))
    reach, near = np.zeros(len(half)), np.zeros(len(half), np.bool_)
    here = -1
    for t in order:
        i, j = pairs[t]
        if i != here:
            if here >= 0:
                _visit(indptr, indices, half, here, reach, near, False)
            _visit(indptr, indices, half, i, reach, near, True)
            here = i
        for v in indices[indptr[j] : indptr[j + 1]]:
            if near[v]:
                found[t, 0] += half[v] * half[v]
                found[t, 3] += 1.0
            found[t, 1] += reach[v] * half[v]
        found[t, 2] = near[j]
    return found


@kernel
def _visit(indptr, indices, half, i, reach, near, enter):
    """Note the neighbours of i and what is beyond them, or forget them again."""
    for u in indices[indptr[i] : indptr[i + 1]]:
        near[u] = enter
        for v in indices[indptr[u] : indptr[u + 1]]:
            reach[v] = reach[v] + half[u] if enter else 0.0


@kernel
def distances(indptr, indices, pairs, linked, order, far, most):
    """Steps from i to j without their own link; ``far`` where there are as many or no way within ``most`` links seen.

    Pairs without a link share one search from their first node; a linked pair needs its own, which ends at j.
    """
    n = len(indptr) - 1
    steps, queue = np.full((2, n), far), np.zeros((2, n), np.int64)
    found, here, size = np.zeros(len(pairs)), -1, 0
    for t in order:
        i, j = pairs[t]
        if linked[t]:
            last = _search(indptr, indices, i, j, steps[1], queue[1], most)
            found[t] = steps[1, j]
            steps[1][queue[1, :last]] = far
            continue
        if i != here:
            steps[0][queue[0, :size]] = far
            here, size = i, _search(indptr, indices, i, -1, steps[0], queue[0], most)
        found[t] = steps[0, j]
    return found


@kernel
def _search(indptr, indices, i, without, steps, queue, most):
    """Breadth first from i, its link to ``without`` left out, until that node is reached; how many were reached."""
    queue[0], steps[i], head, size, seen = i, 0, 0, 1, 0
    while head < size and seen < most:
        u = queue[head]
        head += 1
        for v in indices[indptr[u] : indptr[u + 1]]:
            seen += 1
            if v != i and steps[v] > steps[u] + 1 and not (u == i and v == without):
                steps[v] = steps[u] + 1
                queue[size] = v
                size += 1
                if v == without:
                    return size
    return size


@kernel
def push_walks(indptr, indices, alpha, rest, least, pairs, linked, order):
    """Entries ij of (D + rest - alpha A)^-1 without the pair's own link, by pushing what exceeds ``least``.

    Andersen, Chung, Lang (FOCS 2006), for this kernel: what is left at a node u moves on to its neighbours, alpha / d_u
    to each, until nowhere more than least d_u is left.
    """
    n = len(indptr) - 1
    walk = Walk(np.zeros(n), np.zeros(n), np.zeros(n, np.bool_), np.zeros(n, np.int64), np.zeros(n, np.int64))
    found, here, size = np.zeros(len(pairs)), -1, 0
    for t in order:
        i, j = pairs[t]
        if i != here or linked[t]:
            for u in walk.reached[:size]:
                walk.value[u] = walk.left[u] = 0.0
            size = _push(indptr, indices, alpha, rest, least, i, j if linked[t] else -1, walk)
            here = -1 if linked[t] else i
        found[t] = walk.value[j]
    return found


@kernel
def _push(indptr, indices, alpha, rest, least, i, other, walk):
    """Fill the walk with column i; the link i - other is left out. How many nodes were reached."""
    value, left, queued, queue, reached = walk
    n = len(value)
    head, tail, size = 0, 1, 1
    queue[0], queued[i], left[i], reached[0] = i, True, 1.0, i
    while head < tail:
        u = queue[head % n]
        head += 1
        queued[u] = False
        cut = u in (i, other) and other >= 0
        moved = left[u] / (indptr[u + 1] - indptr[u] - cut + rest)
        value[u] += moved
        left[u] = 0.0
        for v in indices[indptr[u] : indptr[u + 1]]:
            if cut and v in (i, other):
                continue
            if value[v] == 0.0 and left[v] == 0.0 and v != i:
                reached[size] = v
                size += 1
            left[v] += alpha * moved
            if not queued[v] and left[v] > least * (indptr[v + 1] - indptr[v] + rest):
                queued[v] = True
                queue[tail % n] = v
                tail += 1
    return size
