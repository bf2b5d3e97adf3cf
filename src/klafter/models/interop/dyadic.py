"""Dyads as the samples of scikit-learn: X holds pairs of nodes, y their link values, and folds are folds of dyads.

A network is one sample to ``fit``; cross-validation needs many. Here these are the dyads: those that a fold does not
list nobody observed, so what it tests is hidden from the fit.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from klafter.graph import Graph, as_graph
from klafter.graph.units import all_units, look_up, unit_pairs

MOST_NODES = 5_000  # dyads that are not listed are stored as hidden, about n^2 of them


def dyad_samples(graph: Any) -> tuple[np.ndarray, np.ndarray]:
    """All observed dyads of a network, as the X and y of ``LinkClassifier`` and ``LinkRegressor``.

    Parameters
    ----------
    graph : Graph, or what ``as_graph`` takes

    Returns
    -------
    pairs : (m, 2) array of rows
        Each undirected dyad once.
    values : (m,) array
        Their link values, 0 for a non-link.

    Examples
    --------
    >>> from klafter.datasets import load_karate
    >>> pairs, values = dyad_samples(load_karate())
    >>> pairs.shape, int(values.sum())
    ((561, 2), 78)
    """
    graph = as_graph(graph)
    _check_size(graph)
    pairs = unit_pairs(graph, all_units(graph))
    pairs = pairs[look_up(graph.hidden, pairs) == 0]
    return pairs, look_up(graph.links, pairs)


class _Likelihood:
    """A score that comes before those of scikit-learn's mixins."""

    model_: Any

    def score(self, X: Any, y: Any) -> float:
        """Mean log likelihood of link values: most dyads are not linked, so accuracy would tell little.

        Parameters
        ----------
        X : (m, 2) integer array of pairs
        y : (m,) array of link values

        Returns
        -------
        float
        """
        check_is_fitted(self, "model_")
        return float(self.model_.score(X, y))


class _DyadEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What the two share: the network that a list of dyads makes, and the model that is fitted to it."""

    def __init__(self, estimator: Any, graph: Graph) -> None:
        self.estimator = estimator
        self.graph = graph

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model to the dyads that are listed; all others nobody observed.

        Parameters
        ----------
        X : (m, 2) integer array
            Pairs of rows of ``graph``.
        y : (m,) array
            Their link values.

        Returns
        -------
        self
        """
        self.model_ = clone(self.estimator).fit(self._observed(X, y))
        self.n_features_in_ = 2
        return self

    def _observed(self, X: Any, y: Any) -> Graph:
        """The network in which only the listed dyads were observed."""
        graph = as_graph(self.graph)
        _check_size(graph)
        if y is None or np.shape(X) != (len(y), 2):
            raise ValueError(
                f"{type(self).__name__} needs pairs of nodes and a link value for each; X has shape {np.shape(X)}. "
                "Use pairs, values = klafter.models.dyad_samples(graph)."
            )
        pairs, values = _each_once(graph, graph.pair_indices(np.asarray(X)), np.asarray(y, float))
        n = graph.n_nodes
        links = sparse.coo_array((values, (pairs[:, 0], pairs[:, 1])), shape=(n, n)).tocsr()
        hidden = np.ones((n, n), bool)
        hidden[pairs[:, 0], pairs[:, 1]] = False
        if not graph.directed:
            hidden &= hidden.T
        np.fill_diagonal(hidden, False)
        return graph.replace(links=links, hidden=sparse.csr_array(hidden))


class LinkClassifier(_Likelihood, ClassifierMixin, _DyadEstimator):  # type: ignore[misc]
    """A model of 0/1 links as a classifier of dyads, for ``cross_val_score``, ``GridSearchCV`` and all scorers.

    Parameters
    ----------
    estimator : KLafter, LFRM, IRM, MMSB or EPM
        The model; its parameters are ``estimator__penalty`` and so on.
    graph : Graph
        The nodes, what is known of them, and whether links are directed. Its links are not looked at.

    Attributes
    ----------
    model_ : the fitted estimator
    classes_ : array of 0 and 1

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> import klafter as kl
    >>> from klafter.datasets import load_karate
    >>> graph = load_karate()
    >>> model = LinkClassifier(kl.KLafter(n_init=1, n_smooth=20, random_state=0), graph)
    >>> pairs, values = dyad_samples(graph)
    >>> scores = cross_val_score(model, pairs, values, cv=kl.DyadKFold(3), scoring="roc_auc")
    >>> scores.mean() > 0.6
    np.True_
    """

    classes_: np.ndarray

    def fit(self, X: Any, y: Any) -> Self:
        odd = np.setdiff1d(np.asarray(y), (0, 1))
        if len(odd):
            raise ValueError(f"LinkClassifier needs links of 0 or 1; there is {odd[0].item()!r}. Use LinkRegressor.")
        self.classes_ = np.array([0, 1])
        return super().fit(X, y)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities that pairs are not linked, and that they are.

        Parameters
        ----------
        X : (m, 2) integer array of pairs

        Returns
        -------
        (m, 2) array
        """
        check_is_fitted(self, "model_")
        p = self.model_.predict_proba(X)
        return np.column_stack([1 - p, p])

    def predict(self, X: Any) -> np.ndarray:
        """Which pairs are more likely linked than not.

        Parameters
        ----------
        X : (m, 2) integer array of pairs

        Returns
        -------
        (m,) array of 0 and 1
        """
        return (self.predict_proba(X)[:, 1] > 0.5).astype(int)


class LinkRegressor(_Likelihood, RegressorMixin, _DyadEstimator):  # type: ignore[misc]
    """A model of counts or real link values as a regressor of dyads.

    Parameters
    ----------
    estimator : KLafter, LFRM, IRM or EPM
        The model, with its family.
    graph : Graph
        The nodes, what is known of them, and whether links are directed. Its links are not looked at.

    Attributes
    ----------
    model_ : the fitted estimator
    """

    def predict(self, X: Any) -> np.ndarray:
        """Expected link values.

        Parameters
        ----------
        X : (m, 2) integer array of pairs

        Returns
        -------
        (m,) array
        """
        check_is_fitted(self, "model_")
        return np.asarray(self.model_.predict(X))


def _each_once(graph: Graph, pairs: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Dyads that stand several times, as in a bootstrap, once; of a pair in both orders, or none, a sentence."""
    ends = pairs if graph.directed else np.sort(pairs, axis=1)
    if (loops := ends[:, 0] == ends[:, 1]).any():
        node = graph.label(int(ends[loops][0, 0]))
        raise ValueError(f"A dyad has two nodes; {node!r} stands twice in one. Leave out pairs of a node with itself.")
    dyads, first, which = np.unique(ends, axis=0, return_index=True, return_inverse=True)
    if (differ := values != values[first][which.ravel()]).any():
        one, other = (graph.label(int(node)) for node in ends[differ][0])
        raise ValueError(
            f"A dyad has one link value; that of {one!r} and {other!r} is given twice, and differs. Keep one of them."
        )
    return dyads, values[first]


def _check_size(graph: Graph) -> None:
    if graph.n_nodes > MOST_NODES:
        raise ValueError(
            f"Dyads as samples are listed one by one; this graph has {graph.n_nodes:,} nodes, and {MOST_NODES:,} is "
            "the most. Use klafter.split_dyads or klafter.KLafterCV, which list only those that are hidden."
        )
