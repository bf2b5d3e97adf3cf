"""Growing one extremely randomised tree of two kinds of rows, and asking it about others."""

from typing import NamedTuple

import numpy as np

from klafter.jit.decorators import bare, kernel

SAME = 1e-7  # values of a feature no further apart are the same


class Tree(NamedTuple):
    """Node t asks whether feature[t] exceeds threshold[t]: then comes left[t] + 1, else left[t]; -1 asks nothing."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    share: np.ndarray  # of links among the rows that a leaf was grown from


class Cut(NamedTuple):
    """What a node asks, how many say no, and by how much that sorts the rows: the more the better."""

    feature: int
    threshold: float
    n_left: int
    purity: float


@kernel
def grow_tree(columns, linked, bag, leaf, n_tried, rng):
    """A tree of the rows in ``bag``, which is put in the order of the leaves; ``columns`` has a line for each feature.

    Of ``n_tried`` features each is cut at a random place, and the cut that leaves least impurity (Gini) is taken.
    """
    most = 2 * (bag.size // leaf) + 1
    tree = Tree(np.full(most, -1), np.zeros(most), np.zeros(most, np.int64), np.zeros(most))
    begin, end, which = np.zeros(most, np.int64), np.full(most, bag.size), np.arange(len(columns))
    grow_nodes(tree, columns, linked, bag, (begin, end), which, leaf, n_tried, rng)
    return tree


@bare
def grow_nodes(tree, columns, linked, bag, spans, which, leaf, n_tried, rng):
    n_nodes, t = 1, 0
    while t < n_nodes:
        begin, end = spans[0][t], spans[1][t]
        links = count_links(linked, bag, begin, end)
        tree.share[t] = links / (end - begin)
        if end - begin >= 2 * leaf and 0 < links < end - begin:
            cut = best_cut(columns, linked, bag, begin, end, links, which, leaf, n_tried, rng)
            if cut.feature >= 0:
                tree.feature[t], tree.threshold[t], tree.left[t] = cut.feature, cut.threshold, n_nodes
                partition(columns[cut.feature], cut.threshold, bag, begin, end)
                spans[0][n_nodes], spans[1][n_nodes] = begin, begin + cut.n_left
                spans[0][n_nodes + 1], spans[1][n_nodes + 1] = begin + cut.n_left, end
                n_nodes += 2
        t += 1


@bare
def count_links(linked, bag, begin, end):
    links = 0
    for s in range(begin, end):
        links += linked[bag[s]]
    return links


@bare
def best_cut(columns, linked, bag, begin, end, links, which, leaf, n_tried, rng):
    """The best of one random cut of each feature tried; feature -1 where none leaves ``leaf`` rows on either side.

    Where all features tried are constant more of them are.
    """
    best, varied = Cut(-1, 0.0, 0, -1.0), 0
    for t in range(which.size):
        if t >= n_tried and varied > 0:
            break
        other = t + np.int64(rng.random() * (which.size - t))
        which[t], which[other] = which[other], which[t]
        column = columns[which[t]]
        low, high = extremes(column, bag, begin, end)
        if high <= low + SAME:
            continue
        varied += 1
        threshold = low + rng.random() * (high - low)
        if threshold >= high:
            threshold = low
        n_left, links_left = count_left(column, threshold, linked, bag, begin, end)
        n_right, links_right = end - begin - n_left, links - links_left
        if n_left < leaf or n_right < leaf:
            continue
        purity = (links_left**2 + (n_left - links_left) ** 2) / n_left
        purity += (links_right**2 + (n_right - links_right) ** 2) / n_right
        if purity > best.purity:
            best = Cut(which[t], threshold, n_left, purity)
    return best


@bare
def extremes(column, bag, begin, end):
    low = high = np.float64(column[bag[begin]])
    for s in range(begin + 1, end):
        value = np.float64(column[bag[s]])
        low, high = min(low, value), max(high, value)
    return low, high


@bare
def count_left(column, threshold, linked, bag, begin, end):
    """How many rows do not exceed the threshold, and how many of them are links."""
    size, links = 0, 0
    for s in range(begin, end):
        here = 1 if column[bag[s]] <= threshold else 0  # no branch: a random cut is not to be foreseen
        size += here
        links += here * linked[bag[s]]
    return size, links


@bare
def partition(column, threshold, bag, begin, end):
    """Bring the rows that do not exceed the threshold to the front."""
    front = begin
    for s in range(begin, end):
        if column[bag[s]] <= threshold:
            bag[front], bag[s] = bag[s], bag[front]
            front += 1


@kernel
def add_votes(tree, rows, which, votes):
    """Add what the tree says of the rows in ``which`` to their votes."""
    for r in which:
        t = 0
        while tree.feature[t] >= 0:
            t = tree.left[t] + np.int64(rows[r, tree.feature[t]] > tree.threshold[t])
        votes[r] += tree.share[t]
