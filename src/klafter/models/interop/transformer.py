"""A fitted network as a table: membership probabilities, in the grammar of scikit-learn's transformers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from klafter.graph import Graph, as_graph
from klafter.graph.convert import is_foreign_graph


class MembershipTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """``transform`` and its kin of all models: one row for each node, one column for each community."""

    graph_: Graph
    membership_proba_: Any
    community_names_: list[str]

    def transform(self, X: Any) -> Any:
        """Probability of each node to be in each community.

        Parameters
        ----------
        X : network
            That of the fit, in any form that ``fit`` takes; ``model.graph_`` is one.

        Returns
        -------
        (n, K) array, sparse of the sparse engine, or the table that ``set_output`` asks for
        """
        check_is_fitted(self, "membership_proba_")
        self._check_same_network(X)
        return self._as_output(self.membership_proba_)

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Fit the model and give the membership probabilities of its nodes.

        Parameters
        ----------
        X : network
            As for ``fit``.
        y : ignored
        **options
            As for ``fit``.

        Returns
        -------
        As of ``transform``.
        """
        return self.fit(X, y, **options).transform(self.graph_)

    def fit_predict(self, X: Any, y: Any = None, **options: Any) -> np.ndarray:
        """Fit the model and give one community for each node, as scikit-learn's clusterers do: ``labels_``.

        Parameters
        ----------
        X : network
            As for ``fit``.
        y : ignored
        **options
            As for ``fit``.

        Returns
        -------
        (n,) array of community numbers
        """
        return np.asarray(self.fit(X, y, **options).labels_)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns of ``transform``: those of the communities.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        (K,) array of str
        """
        check_is_fitted(self, "community_names_")
        return np.array(self.community_names_, dtype=object)

    def _as_output(self, matrix: Any) -> Any:
        """A table cannot be sparse, so the matrix is not where ``set_output`` asks for one."""
        asked = getattr(self, "_sklearn_output_config", {}).get("transform") or get_config()["transform_output"]
        return matrix.toarray() if sparse.issparse(matrix) and asked != "default" else matrix

    def _check_same_network(self, X: Any) -> None:
        """Refuse a network that is not that of the fit."""
        if X is self.graph_:
            return
        other = as_graph(X)
        if is_foreign_graph(X) and getattr(self, "family", "bernoulli") == "bernoulli":
            other = other.binarize()  # as ``fit`` did
        if other.n_nodes == self.graph_.n_nodes:
            other = other.hide(self.graph_.hidden)
        if other.n_nodes != self.graph_.n_nodes or (other.links != self.graph_.links).nnz:
            raise ValueError(
                f"transform gives the memberships of the network of the fit, which has {self.graph_.n_nodes} nodes and "
                f"{self.graph_.n_links} links; this is another one, {other!r}. Use fit_transform, or place for new "
                "nodes."
            )

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """What a notebook shows: what was found; before the fit, scikit-learn's diagram of the parameters."""
        if not hasattr(self, "draws_"):
            shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
            return shown
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
