"""Sums over the neighbourhoods of pairs, a first node at a time."""

import numpy as np

from klafter.jit.decorators import kernel


@kernel
def walk_pairs(indptr, indices, half, pairs, order):
    """(m, 3) of each pair: common neighbours over degree, links u - v between the two over sqrt(d_u d_v), own link.

    ``order`` brings pairs with the same first node together: what is two steps away from it is summed once,
    reach_v = sum_u a_iu a_uv / sqrt(d_u), and each pair then visits only the neighbours of its second node.
    """
    found = np.zeros((len(pairs), 3))
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
