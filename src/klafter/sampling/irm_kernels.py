"""Kernels of the infinite relational model: block counts, collapsed Gibbs, split-merge.

Labels may be empty: an empty label has zero counts, so it is the new block that a node may open.
Undirected counts are stored both ways, and each pair inside a block counts once.
"""

# ruff: noqa: E741 - k and l are communities, as in the papers

from math import exp, lgamma, log, log1p
from typing import NamedTuple

import numpy as np

from klafter.jit.decorators import kernel

BERNOULLI, POISSON = 0, 1


class BlockLaw(NamedTuple):
    """Beta(a, b) on a link probability, or Gamma(a, rate b) on a link rate; ``base`` is the evidence of no data.

    ``tables`` holds lnGamma(a + m), lnGamma(b + m), lnGamma(a + b + m) and ln(b + m) for the first counts m.
    """

    code: int
    a: float
    b: float
    base: float
    tables: np.ndarray  # (4, M)


class Blocks(NamedTuple):
    """Sizes of blocks, and for pairs of blocks the links C, the observed dyads D and the log evidence of both."""

    size: np.ndarray  # (labels,) int64
    of_kind: np.ndarray  # (labels, kinds) int64, members of each kind; no columns where all may be linked
    links: np.ndarray  # (labels, labels)
    pairs: np.ndarray
    evidence: np.ndarray


@kernel
def log_gamma(law, row, shape, m):
    """lnGamma(shape + m), from the table where it reaches."""
    return law.tables[row, int(m)] if m < law.tables.shape[1] else lgamma(shape + m)


@kernel
def evidence(law, c, d):
    """log p of c links in d dyads: lnB(a + c, b + d - c) - lnB(a, b), or its gamma-Poisson counterpart."""
    if law.code == BERNOULLI:
        beta = log_gamma(law, 0, law.a, c) + log_gamma(law, 1, law.b, d - c) - log_gamma(law, 2, law.a + law.b, d)
        return beta - law.base
    log_rate = law.tables[3, int(d)] if d < law.tables.shape[1] else log(law.b + d)
    return log_gamma(law, 0, law.a, c) - (law.a + c) * log_rate - law.base


@kernel
def empty_blocks(labels, kinds):
    """Blocks for some labels, all empty."""
    shape = (labels, labels)
    of_kind = np.zeros((labels, kinds), np.int64)
    return Blocks(np.zeros(labels, np.int64), of_kind, np.zeros(shape), np.zeros(shape), np.zeros(shape))


@kernel
def grow(blocks):
    """The same blocks with twice as many labels."""
    labels = len(blocks.size)
    bigger = empty_blocks(2 * labels, blocks.of_kind.shape[1])
    for k in range(labels):
        bigger.size[k] = blocks.size[k]
        for c in range(blocks.of_kind.shape[1]):
            bigger.of_kind[k, c] = blocks.of_kind[k, c]
        for l in range(labels):
            bigger.links[k, l] = blocks.links[k, l]
            bigger.pairs[k, l] = blocks.pairs[k, l]
            bigger.evidence[k, l] = blocks.evidence[k, l]
    return bigger


@kernel
def count_row(rows, i, z, step, out):
    """Add ``step`` times the values of row i to the block of each neighbour."""
    for p in range(rows.start[i], rows.start[i + 1]):
        if z[rows.node[p]] >= 0:
            out[z[rows.node[p]]] += step * rows.value[p]


@kernel
def node_counts(dyads, i, z, blocks):
    """s_l and t_l, links and observed dyads between node i (in no block now) and each block; rows: out, in."""
    size, kind, linkable = blocks.size, dyads.kind, dyads.linkable
    s = np.zeros((2, len(size)))
    t = np.zeros((2, len(size)))
    for l in range(len(size)):
        t[0, l] = t[1, l] = size[l] if len(kind) == 0 else 0
        for c in range(len(linkable)):
            t[0, l] += blocks.of_kind[l, c] if linkable[kind[i], c] else 0
            t[1, l] += blocks.of_kind[l, c] if linkable[c, kind[i]] else 0
    count_row(dyads.links_out, i, z, 1.0, s[0])
    count_row(dyads.links_in, i, z, 1.0, s[1])
    count_row(dyads.hidden_out, i, z, -1.0, t[0])
    count_row(dyads.hidden_in, i, z, -1.0, t[1])
    return s, t


@kernel
def count_member(dyads, blocks, i, k, step):
    """Add node i to the size of block k, or take it away."""
    blocks.size[k] += step
    if len(dyads.kind):
        blocks.of_kind[k, dyads.kind[i]] += step


@kernel
def shift(directed, law, blocks, k, s, t, sign):
    """Add (sign 1.0) or take away (sign -1.0) a node with counts s, t to block k."""
    for l in range(len(blocks.size)):
        blocks.links[k, l] += sign * s[0, l]
        blocks.pairs[k, l] += sign * t[0, l]
        if directed or l != k:
            blocks.links[l, k] += sign * s[1, l]
            blocks.pairs[l, k] += sign * t[1, l]
        blocks.evidence[k, l] = evidence(law, blocks.links[k, l], blocks.pairs[k, l])
        blocks.evidence[l, k] = evidence(law, blocks.links[l, k], blocks.pairs[l, k])


@kernel
def leave(dyads, law, blocks, z, i):
    """Take node i out of its block; its counts with all blocks."""
    k = z[i]
    z[i] = -1
    count_member(dyads, blocks, i, k, -1)
    s, t = node_counts(dyads, i, z, blocks)
    shift(dyads.directed, law, blocks, k, s, t, -1.0)
    return s, t


@kernel
def enter(dyads, law, blocks, z, i, k, s, t):
    """Put node i into block k."""
    z[i] = k
    count_member(dyads, blocks, i, k, 1)
    shift(dyads.directed, law, blocks, k, s, t, 1.0)


@kernel
def tally(dyads, law, z, labels):
    """The counts of an assignment, node by node."""
    blocks = empty_blocks(labels, len(dyads.linkable))
    placed = np.zeros(len(z), np.int64) - 1
    for i in range(len(z)):
        s, t = node_counts(dyads, i, placed, blocks)
        enter(dyads, law, blocks, placed, i, z[i], s, t)
    return blocks


@kernel
def join_gain(directed, law, blocks, k, s, t):
    """Rise of the log likelihood when a node with counts s, t joins block k (Kemp et al. 2006, collapsed)."""
    gain = 0.0
    for l in range(len(blocks.size)):
        if blocks.size[l] == 0:
            continue
        links, pairs = s[0, l], t[0, l]
        if directed and l == k:
            links, pairs = links + s[1, l], pairs + t[1, l]
        gain += evidence(law, blocks.links[k, l] + links, blocks.pairs[k, l] + pairs) - blocks.evidence[k, l]
        if directed and l != k:
            gain += evidence(law, blocks.links[l, k] + s[1, l], blocks.pairs[l, k] + t[1, l]) - blocks.evidence[l, k]
    return gain


@kernel
def empty_label(blocks):
    """The first label without members, or -1."""
    for k in range(len(blocks.size)):
        if blocks.size[k] == 0:
            return k
    return -1


@kernel
def choose(log_weight, rng):
    """An index drawn in proportion to exp(log_weight)."""
    top, total, last = -np.inf, 0.0, 0
    for k in range(len(log_weight)):
        top = max(top, log_weight[k])
    for k in range(len(log_weight)):
        total += exp(log_weight[k] - top)
    left = rng.random() * total
    for k in range(len(log_weight)):
        if log_weight[k] > -np.inf:
            left, last = left - exp(log_weight[k] - top), k
            if left < 0.0:
                break
    return last


@kernel
def gibbs(dyads, law, blocks, z, concentration, rng):
    """One sweep: each node leaves and picks a block, log n_k + gain, or a new one, log alpha + gain."""
    for i in range(len(z)):
        s, t = leave(dyads, law, blocks, z, i)
        if empty_label(blocks) < 0:
            blocks = grow(blocks)
            s, t = node_counts(dyads, i, z, blocks)
        new = empty_label(blocks)
        log_weight = np.zeros(len(blocks.size))
        for k in range(len(blocks.size)):
            log_weight[k] = -np.inf
            if blocks.size[k] > 0 or k == new:
                prior = concentration if k == new else float(blocks.size[k])
                log_weight[k] = log(prior) + join_gain(dyads.directed, law, blocks, k, s, t)
        enter(dyads, law, blocks, z, i, choose(log_weight, rng), s, t)
    return blocks


@kernel
def log_joint(directed, blocks, concentration):
    """log p(z, y) up to terms without z: K log alpha + sum_k lnGamma(n_k) + evidence of all block pairs."""
    total = 0.0
    for k in range(len(blocks.size)):
        if blocks.size[k] > 0:
            total += log(concentration) + lgamma(blocks.size[k])
        for l in range(0 if directed else k, len(blocks.size)):
            total += blocks.evidence[k, l]
    return total


@kernel
def restricted_scan(dyads, law, blocks, z, members, k, l, target, forced, rng):
    """Gibbs of the members between blocks k and l, or the forced path to ``target``; its log probability."""
    log_q = 0.0
    for i in members:
        s, t = leave(dyads, law, blocks, z, i)
        odds = log(blocks.size[k] / blocks.size[l])
        odds += join_gain(dyads.directed, law, blocks, k, s, t) - join_gain(dyads.directed, law, blocks, l, s, t)
        # log sigmoid both ways, so that certain choices lose no digits
        log_k = -log1p(exp(-odds)) if odds > 0 else odds - log1p(exp(odds))
        to_k = target[i] == k if forced else log(1.0 - rng.random()) < log_k
        log_q += log_k if to_k else log_k - odds
        enter(dyads, law, blocks, z, i, k if to_k else l, s, t)
    return log_q


@kernel
def others(z, i, j):
    """The nodes beside i and j in their blocks."""
    found = np.zeros(len(z), np.int64)
    count = 0
    for m in range(len(z)):
        if (z[m] == z[i] or z[m] == z[j]) and m != i and m != j:
            found[count] = m
            count += 1
    return found[:count]


@kernel
def relabel(dyads, law, blocks, z, target):
    """Move every node to its block in ``target``."""
    for i in range(len(z)):
        if z[i] != target[i]:
            s, t = leave(dyads, law, blocks, z, i)
            enter(dyads, law, blocks, z, i, target[i], s, t)


@kernel
def split_merge(dyads, law, blocks, z, concentration, n_scans, rng):
    """One split or merge of the blocks of two random nodes (Jain and Neal 2004, restricted Gibbs launch)."""
    i = int(rng.random() * len(z))
    j = (i + 1 + int(rng.random() * (len(z) - 1))) % len(z)
    if empty_label(blocks) < 0:
        blocks = grow(blocks)
    old, goal, members = z.copy(), z.copy(), others(z, i, j)
    splitting = z[i] == z[j]
    k, l = empty_label(blocks) if splitting else z[i], z[j]
    before = log_joint(dyads.directed, blocks, concentration)
    goal[i] = k
    for m in members:
        goal[m] = k if rng.random() < 0.5 else l
    relabel(dyads, law, blocks, z, goal)
    log_q = 0.0
    for scan in range(n_scans + 1):
        forced = scan == n_scans and not splitting
        log_q = restricted_scan(dyads, law, blocks, z, members, k, l, old, forced, rng)
    if not splitting:
        for m in range(len(z)):
            goal[m] = l if old[m] == k else old[m]
        relabel(dyads, law, blocks, z, goal)
    ratio = log_joint(dyads.directed, blocks, concentration) - before + (-log_q if splitting else log_q)
    if log(1.0 - rng.random()) >= ratio:
        relabel(dyads, law, blocks, z, old)
    return blocks


@kernel
def step(dyads, law, z, labels, concentration, n_sweeps, n_moves, n_scans, rng):
    """Gibbs sweeps, then split-merge moves; z changes in place."""
    blocks = tally(dyads, law, z, labels)
    for _ in range(n_sweeps):
        blocks = gibbs(dyads, law, blocks, z, concentration, rng)
    for _ in range(n_moves if len(z) > 1 else 0):
        blocks = split_merge(dyads, law, blocks, z, concentration, n_scans, rng)
