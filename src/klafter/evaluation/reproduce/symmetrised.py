"""Models of undirected graphs where others are fitted to a directed one: every link is taken both ways."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from klafter.graph import Graph, as_graph


class Symmetrised(BaseEstimator):
    """A model fitted to the symmetrised graph; a dyad is hidden where either direction is.

    Parameters
    ----------
    estimator : model
        The model of undirected graphs.
    structure : float or "auto"
        Weight of its structural expert.
    random_state : int, optional
        Its seed.

    Examples
    --------
    >>> from klafter.models import EPM
    >>> arcs = Graph(np.diag(np.ones(5), 1), directed=True)
    >>> model = Symmetrised(EPM(n_communities=2, n_burn=5, n_draws=5, n_chains=1), random_state=0).fit(arcs)
    >>> model.predict_proba([[0, 1], [1, 0]]).shape
    (2,)
    """

    def __init__(self, estimator: Any, *, structure: float | str = 0.0, random_state: int | None = None):
        self.estimator = estimator
        self.structure = structure
        self.random_state = random_state

    def _ready(self) -> Any:
        return clone(self.estimator).set_params(structure=self.structure, random_state=self.random_state)

    def _check_parameters(self, graph: Graph) -> None:
        self._ready()._check_parameters(graph.symmetrize())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model to the links in either direction."""
        self.fitted_ = self._ready().fit(as_graph(X).symmetrize())
        self.n_communities_ = self.fitted_.n_communities_
        return self

    def predict_proba(self, pairs: Any) -> np.ndarray:
        """Probability that each pair is linked, the same in both directions."""
        self.fitted_.set_params(structure=self.structure)
        return np.asarray(self.fitted_.predict_proba(pairs))
