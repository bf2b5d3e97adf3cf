"""Extremely randomised trees (Geurts, Ernst, Wehenkel 2006), each grown on the features of a part of the pairs."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.special import logit

from klafter.prediction.tree_kernels import add_votes, grow_tree

LEAF, TRIED = 5, 0.5
BAG, ODDS = 0.632, 5.0  # share of the links that a tree sees, and non-links for each of them
EDGE = 1e-3  # votes nearer to 0 or 1 count as so near


class Trees:
    """Trees, each grown on a bag of the pairs."""

    def __init__(self, features: np.ndarray, linked: np.ndarray, n_trees: int):
        rng, self.rows, is_link = np.random.default_rng(0), features.astype(np.float32), (linked > 0).astype(np.int64)
        columns, n_tried = np.ascontiguousarray(self.rows.T), max(1, int(TRIED * self.rows.shape[1]))
        links, nonlinks = np.flatnonzero(is_link), np.flatnonzero(is_link == 0)
        n_links = max(1, round(BAG * len(links)))
        n_nonlinks = max(1, min(round(BAG * len(nonlinks)), round(ODDS * n_links)))
        self.trees, self.bags = [], []
        for _ in range(n_trees):
            chosen = rng.choice(links, n_links, replace=False), rng.choice(nonlinks, n_nonlinks, replace=False)
            self.bags.append(np.concatenate(chosen))
            self.trees.append(grow_tree(columns, is_link, self.bags[-1], LEAF, n_tried, rng))

    @cached_property
    def left_out(self) -> np.ndarray:
        """Log odds of each pair they learned from, by those that did not see it."""
        votes, asked = np.zeros(len(self.rows)), np.zeros(len(self.rows))
        for tree, bag in zip(self.trees, self.bags):
            outside = np.ones(len(self.rows), bool)
            outside[bag] = False
            add_votes(tree, self.rows, np.flatnonzero(outside), votes)
            asked += outside
        return _log_odds(votes / np.maximum(asked, 1))

    def log_odds(self, features: np.ndarray) -> np.ndarray:
        """What the trees say of other pairs."""
        rows = features.astype(np.float32)
        which, votes = np.arange(len(rows)), np.zeros(len(rows))
        for tree in self.trees:
            add_votes(tree, rows, which, votes)
        return _log_odds(votes / len(self.trees))


def _log_odds(votes: np.ndarray) -> np.ndarray:
    return np.asarray(logit(np.clip(votes, EDGE, 1 - EDGE)))
