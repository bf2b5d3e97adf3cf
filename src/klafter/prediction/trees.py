"""Extremely randomised trees (Geurts, Ernst, Wehenkel 2006), each grown on the features of a part of the pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

LEAF, TRIED = 5, 0.5
BAG, ODDS = 0.632, 5.0  # share of the links that a tree sees, and non-links for each of them
EDGE = 1e-3  # votes nearer to 0 or 1 count as so near


class Trees:
    """Trees, and the log odds of each pair they learned from by those that did not see it, ``left_out``."""

    def __init__(self, features: np.ndarray, linked: np.ndarray, n_trees: int):
        from sklearn.tree import ExtraTreeClassifier

        rng, rows = np.random.default_rng(0), features.astype(np.float32)
        links, nonlinks = np.flatnonzero(linked > 0), np.flatnonzero(linked == 0)
        n_links = max(1, round(BAG * len(links)))
        n_nonlinks = max(1, min(round(BAG * len(nonlinks)), round(ODDS * n_links)))
        self.trees, votes, asked = [], np.zeros(len(rows)), np.zeros(len(rows))
        for seed in range(n_trees):
            bag = np.concatenate(
                [rng.choice(links, n_links, replace=False), rng.choice(nonlinks, n_nonlinks, replace=False)]
            )
            tree = ExtraTreeClassifier(min_samples_leaf=LEAF, max_features=TRIED, random_state=seed)
            self.trees.append(tree.fit(rows[bag], linked[bag], check_input=False))
            outside = np.ones(len(rows), bool)
            outside[bag] = False
            votes[outside] += _vote(tree, rows[outside])
            asked += outside
        self.left_out = _log_odds(votes / np.maximum(asked, 1))

    def log_odds(self, features: np.ndarray) -> np.ndarray:
        """What the trees say of other pairs."""
        rows = features.astype(np.float32)
        return _log_odds(np.mean([_vote(tree, rows) for tree in self.trees], axis=0))


def _vote(tree: Any, rows: np.ndarray) -> np.ndarray:
    return np.asarray(tree.predict_proba(rows, check_input=False)[:, 1])


def _log_odds(votes: np.ndarray) -> np.ndarray:
    return np.asarray(logit(np.clip(votes, EDGE, 1 - EDGE)))
