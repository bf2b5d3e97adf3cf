"""Learners of pairs whose links are hidden a part at a time: features that see further than the pair's surroundings.

Visible pairs are dealt into PARTS. The links of a part are hidden, both directions of each, and the features of its
pairs are those of the rest (``klafter.prediction.topology``); trees and a logistic regression learn from all parts
together, and the mean of their log odds says what they think of other pairs.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.special import logit

from klafter.graph import Graph
from klafter.prediction.regression import Regression, fit_regression
from klafter.prediction.topology import Topology
from klafter.prediction.trees import Trees

PARTS = 5
TREES = 100
SHRINK = 0.1  # C of the regression
EDGE = 1e-4  # probabilities of the regression nearer to 0 or 1 count as so near
MOST_NODES = 20_000


class PartsExpert:
    """Trees and a regression fitted to pairs whose links were hidden."""

    def __init__(self, graph: Graph, pairs: np.ndarray, linked: np.ndarray):
        self.part, self.linked = _deal(graph.n_nodes, pairs), linked
        self.own = _features(graph, pairs, linked, self.part)
        self.topology = Topology(graph.links, directed=graph.directed)
        self.trees = Trees(self.own, linked, TREES)
        self.line = fit_regression(self.own, linked, SHRINK)

    def amid(self, links: sparse.csr_array) -> PartsExpert:
        """The same learners, whose pairs are now those of another network."""
        other = copy(self)
        other.topology = Topology(links, directed=self.topology.near.directed)
        return other

    @cached_property
    def left_out(self) -> np.ndarray:
        """What is said of each pair it learned from by those that did not see it."""
        return 0.5 * (self.trees.left_out + _left_out(self.own, self.linked, self.part, self.line))

    def log_odds(self, pairs: np.ndarray) -> np.ndarray:
        """What trees and regression say of each pair."""
        features = self.topology.features(pairs)
        return 0.5 * (self.trees.log_odds(features) + _log_odds(self.line, features))


def _deal(n: int, pairs: np.ndarray) -> np.ndarray:
    """The part of each pair, the same for both directions."""
    keys = pairs.min(axis=1) * n + pairs.max(axis=1)
    distinct, which = np.unique(keys, return_inverse=True)
    return (np.random.default_rng(0).permutation(len(distinct)) % PARTS)[which]


def _features(graph: Graph, pairs: np.ndarray, linked: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Features of each pair in the graph without the links of its part."""
    found: list[np.ndarray] = []
    for number in range(PARTS):
        mine = part == number
        out = pairs[mine & (linked > 0)]
        rest = graph.hide(np.vstack([out, out[:, ::-1]]) if graph.directed else out)
        found.append(Topology(rest.links, directed=graph.directed).features(pairs[mine]))
    features = np.zeros((len(pairs), found[0].shape[1]))
    for number, rows in enumerate(found):
        features[part == number] = rows
    return features


def _left_out(features: np.ndarray, linked: np.ndarray, part: np.ndarray, line: Regression) -> np.ndarray:
    """Log odds of each pair by a regression on the other parts; by that on all where these are of one kind."""
    said = _log_odds(line, features)
    for number in range(PARTS):
        mine = part == number
        if mine.any() and len(np.unique(linked[~mine])) == 2:
            said[mine] = _log_odds(fit_regression(features[~mine], linked[~mine], SHRINK), features[mine])
    return said


def _log_odds(line: Regression, features: np.ndarray) -> np.ndarray:
    return np.clip(line.log_odds(features), logit(EDGE), logit(1 - EDGE))
