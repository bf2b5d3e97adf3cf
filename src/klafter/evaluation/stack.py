"""A stacking of topological features: what link prediction without a model can do (Ghasemian et al., PNAS 2020).

A fifth of the visible links is taken out; a random forest, boosted trees and a logistic regression learn to tell these
from non-links by features of the rest, and the mean of their log odds predicts from features of all visible links.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit, logit
from sklearn.base import BaseEstimator

from klafter.evaluation.baselines import BASELINES
from klafter.evaluation.rivals import RIVALS
from klafter.graph import Graph, as_graph
from klafter.prediction.features import Neighbourhoods
from klafter.prediction.structure import visible_links, visible_nonlinks

OUT = 0.2
TREES = 200


class Stack(BaseEstimator):
    """Stacking of topological features, a contestant for ``compare``.

    Parameters
    ----------
    random_state : int, optional
        Seed of the links that are taken out and of the learners.

    Examples
    --------
    >>> from klafter.datasets import load_karate
    >>> Stack(random_state=0).fit(load_karate()).predict_proba(np.array([[0, 33]])).shape
    (1,)
    """

    def __init__(self, random_state: int | None = None):
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the visible links of a graph."""
        self.graph_ = as_graph(X)
        rng = np.random.default_rng(self.random_state)
        links, nonlinks = visible_links(self.graph_, rng), visible_nonlinks(self.graph_, rng)
        if len(links) < 5 or not len(nonlinks):
            raise ValueError(
                f"Stack needs at least five links and a non-link to learn from; this has {len(links)} links."
            )
        out = links[rng.random(len(links)) < OUT] if len(links) > 20 else links[::4]
        features = _features(self.graph_.hide(out), np.vstack([out, nonlinks]))
        linked = np.repeat([1, 0], [len(out), len(nonlinks)])
        n_links = self.graph_.n_links
        stands_for = np.where(linked > 0, n_links / len(out), (self.graph_.n_dyads - n_links) / len(nonlinks))
        self.learners_ = [
            learner.fit(features, linked, **{name: stands_for}) for learner, name in _learners(self.random_state)
        ]
        return self

    def predict_proba(self, pairs: Any) -> np.ndarray:
        """Probability that each pair is linked."""
        features = _features(self.graph_, self.graph_.pair_indices(pairs))
        votes = [np.clip(learner.predict_proba(features)[:, 1], 1e-5, 1 - 1e-5) for learner in self.learners_]
        return np.asarray(expit(np.mean(logit(votes), axis=0)))


def _learners(seed: int | None) -> list[tuple[Any, str]]:
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return [
        (RandomForestClassifier(TREES, min_samples_leaf=5, random_state=seed), "sample_weight"),
        (HistGradientBoostingClassifier(max_iter=60, random_state=seed), "sample_weight"),
        (make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)), "logisticregression__sample_weight"),
    ]


def _features(graph: Graph, pairs: np.ndarray) -> np.ndarray:
    """Those of the structural expert, and the scores of all baselines and rivals."""
    near = Neighbourhoods(graph.links, directed=graph.directed).features(pairs)
    scores = [score(graph, pairs) for score in (*BASELINES.values(), *RIVALS.values())]
    return np.column_stack([near, *(np.sign(s) * np.log1p(np.abs(s)) for s in scores)])
