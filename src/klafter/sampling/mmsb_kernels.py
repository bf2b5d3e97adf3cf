"""Kernel of the mixed membership blockmodel: one pass over the observed dyads, resampling both roles of each."""

# ruff: noqa: E741 - k and l are communities, as in the papers

from typing import NamedTuple

import numpy as np

from klafter.jit.decorators import kernel


class Counts(NamedTuple):
    """What the roles add up to: by node and role, and by value of the dyad and pair of roles."""

    shares: np.ndarray  # (n, K): n_ik, dyads in which node i plays role k
    role_pairs: np.ndarray  # (2, K, K): tau^y_kl; both ways when undirected


@kernel
def advance(rows, p, i, j):
    """The first place from p on, in row i, whose node is j or later."""
    while p < rows.start[i + 1] and rows.node[p] < j:
        p += 1
    return p


@kernel
def holds(rows, p, i, j):
    """Whether place p is the dyad (i, j)."""
    return p < rows.start[i + 1] and rows.node[p] == j


@kernel
def update(counts, probability, prior, directed, y, k, l, step):
    """Add ``step`` to tau^y_kl and refresh the probability of both values, (tau^y_kl + c_y) / (tau_kl + c_0 + c_1)."""
    role_pairs = counts.role_pairs
    role_pairs[y, k, l] += step
    if not directed and k != l:
        role_pairs[y, l, k] += step
    total = role_pairs[0, k, l] + role_pairs[1, k, l] + prior[0] + prior[1]
    for v in range(2):
        probability[v, k, l] = (role_pairs[v, k, l] + prior[v]) / total
        if not directed:
            probability[v, l, k] = probability[v, k, l]


@kernel
def pick(weight, total, rng):
    """An index drawn in proportion to weight."""
    left = rng.random() * total
    k = 0
    while k < len(weight) - 1 and left >= weight[k]:
        left -= weight[k]
        k += 1
    return k


@kernel
def draw_roles(probability, mine, theirs, alpha, weight, rng):
    """(s, r) in proportion to (n_ik + alpha) p_kl (n_jl + alpha): s first, then r given s."""
    n_roles, total = len(mine), 0.0
    for k in range(n_roles):
        expected = 0.0
        for l in range(n_roles):
            expected += probability[k, l] * (theirs[l] + alpha)
        weight[k] = (mine[k] + alpha) * expected
        total += weight[k]
    s = pick(weight, total, rng)
    total = 0.0
    for l in range(n_roles):
        weight[l] = probability[s, l] * (theirs[l] + alpha)
        total += weight[l]
    return s, pick(weight, total, rng)


@kernel
def sweep(dyads, roles, counts, prior, alpha, rng):
    """Resample the roles of every observed dyad, row by row; a role of -1 is not yet counted."""
    directed, links, hidden, kind = dyads.directed, dyads.links_out, dyads.hidden_out, dyads.kind
    n, n_roles = counts.shares.shape
    shares, probability, weight = counts.shares, np.zeros((2, n_roles, n_roles)), np.zeros(n_roles)
    for k in range(n_roles):
        for l in range(n_roles):
            update(counts, probability, prior, directed, 0, k, l, 0.0)
    d = 0
    for i in range(n):
        at_link, at_hidden = links.start[i], hidden.start[i]
        for j in range(0 if directed else i + 1, n):
            at_link, at_hidden = advance(links, at_link, i, j), advance(hidden, at_hidden, i, j)
            if i == j or (len(kind) and not dyads.linkable[kind[i], kind[j]]) or holds(hidden, at_hidden, i, j):
                continue
            y = 1 if holds(links, at_link, i, j) else 0
            s, r = roles[d, 0], roles[d, 1]
            if s >= 0:
                shares[i, s] -= 1.0
                shares[j, r] -= 1.0
                update(counts, probability, prior, directed, y, s, r, -1.0)
            s, r = draw_roles(probability[y], shares[i], shares[j], alpha, weight, rng)
            shares[i, s] += 1.0
            shares[j, r] += 1.0
            update(counts, probability, prior, directed, y, s, r, 1.0)
            roles[d, 0], roles[d, 1] = s, r
            d += 1
