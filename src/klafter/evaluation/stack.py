"""A stacking of topological features: what link prediction without a model can do (Ghasemian et al., PNAS 2020).

A fifth of the visible links is taken out, each in turn; a random forest, boosted trees and a logistic regression learn
to tell these from non-links by 40 features of the rest, and the mean of their log odds predicts from features of all
visible links.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit, logit
from sklearn.base import BaseEstimator

from klafter.evaluation.baselines import BASELINES
from klafter.evaluation.rivals import ALPHA, RIVALS, both_ways
from klafter.graph import Graph, as_graph
from klafter.prediction.features import Neighbourhoods
from klafter.prediction.structure import visible_links, visible_nonlinks

FOLDS = 5
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
        """Learn from the visible links of a graph.

        Parameters
        ----------
        X : Graph, or anything that ``as_graph`` takes
        y : ignored

        Returns
        -------
        self
        """
        self.graph_ = as_graph(X)
        rng = np.random.default_rng(self.random_state)
        links, nonlinks = visible_links(self.graph_, rng), visible_nonlinks(self.graph_, rng)
        if len(links) < 5 or not len(nonlinks):
            raise ValueError(
                f"Stack needs at least five links and a non-link to learn from; this has {len(links)} links."
            )
        parts = zip(*(np.array_split(rng.permutation(pairs), FOLDS) for pairs in (links, nonlinks)))
        asked = [(self.graph_.hide(out), np.vstack([out, beside]), len(out)) for out, beside in parts]
        features = np.vstack([_features(graph, pairs) for graph, pairs, _ in asked])
        linked = np.concatenate([np.arange(len(pairs)) < n_out for _, pairs, n_out in asked]).astype(int)
        n_links = self.graph_.n_links
        stands_for = np.where(linked > 0, n_links / len(links), (self.graph_.n_dyads - n_links) / len(nonlinks))
        self.learners_ = [
            learner.fit(features, linked, **{name: stands_for}) for learner, name in _learners(self.random_state)
        ]
        return self

    def predict_proba(self, pairs: Any) -> np.ndarray:
        """Probability that each pair is linked.

        Parameters
        ----------
        pairs : (m, 2) integer array of rows, or list of pairs of labels

        Returns
        -------
        (m,) array
        """
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
    """Those of the structural expert, the scores of all baselines and rivals, and what nodes and spectra say."""
    near = Neighbourhoods(graph.links, directed=graph.directed).features(pairs)
    a = both_ways(graph)
    scores = [score(graph, pairs) for score in (*BASELINES.values(), *RIVALS.values())]
    scores += [*_indices(a, pairs), *_spectral(a, pairs)]
    ends = [side for of in _nodes(a) for side in (of[pairs].min(axis=1), of[pairs].max(axis=1))]
    return np.column_stack([near, *(np.sign(s) * np.log1p(np.abs(s)) for s in scores), *ends])


def _indices(a: np.ndarray, pairs: np.ndarray) -> list[np.ndarray]:
    """Common neighbours over what degrees make of them: LHN, Salton, Sorensen, hub promoted, hub depressed."""
    i, j = pairs.T
    degree = np.maximum(a.sum(axis=1), 1.0)
    low, high = np.minimum(degree[i], degree[j]), np.maximum(degree[i], degree[j])
    common = (a @ a)[i, j]
    return [common / by for by in (low * high, np.sqrt(low * high), low + high, low, high)]


def _nodes(a: np.ndarray) -> list[np.ndarray]:
    """Of each node: PageRank, clustering, eigenvector centrality, and the mean of these over its neighbours."""
    degree = np.maximum(a.sum(axis=1), 1.0)
    rank = np.linalg.solve(np.eye(len(a)) - ALPHA * (a / degree[:, None]).T, np.full(len(a), 1 - ALPHA))
    triangles = ((a @ a) * a).sum(axis=1) / np.maximum(degree * (degree - 1), 1.0)
    central = np.abs(np.linalg.eigh(a)[1][:, -1])
    own = [np.log(rank), triangles, np.log(central + 1e-9)]
    return own + [a @ of / degree for of in own]


def _spectral(a: np.ndarray, pairs: np.ndarray) -> list[np.ndarray]:
    """The adjacency of low rank: averaged over the neighbours of either end, and the angle between its rows."""
    values, vectors = np.linalg.eigh(a)
    kept = np.argsort(-np.abs(values))[: max(1, round(np.sqrt(len(a))))]
    rows = vectors[:, kept] * values[kept]
    low, degree = rows @ vectors[:, kept].T, np.maximum(a.sum(axis=1), 1.0)
    mean, (i, j) = a @ low / degree[:, None], pairs.T
    size = np.maximum(np.linalg.norm(rows, axis=1), 1e-9)
    return [mean[i, j] + mean[j, i], (rows[i] * rows[j]).sum(axis=1) / (size[i] * size[j])]
