"""What all five models share: the input of ``fit`` is checked, the fit runs, and its result is published."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from klafter.graph import Graph, as_graph
from klafter.graph.checks import refuse_masked
from klafter.graph.convert import is_foreign_graph, without_weights
from klafter.models.checks import check_running
from klafter.models.communities import Communities
from klafter.models.interop.scoring import refuse_scorer
from klafter.models.predictions import Predictions
from klafter.models.results.publish import Fitted, publish
from klafter.models.storage.checkpoint import Store, opened
from klafter.search.blas import one_blas_thread
from klafter.search.progress import Callback, Step


class Run(NamedTuple):
    """How a fit runs: its seeds, who hears of its progress, a cluster, and the graph of the fit before."""

    seeds: np.random.SeedSequence
    callback: Callback
    client: Any
    previous: Graph | None


class NetworkModel(Predictions, Communities):
    """Base of the estimators. A subclass finds a ``Fitted`` in ``_fit``; the rest is here."""

    community_names_: list[str]
    affinities_: Any
    history_: list[Step]
    n_iter_: int
    notes_: list[str]
    link_: str
    fit_seconds_: float
    labels_in_: np.ndarray | None
    _store = Store()  # what a fit keeps, see ``klafter.models.storage.checkpoint``

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        hidden: Any = None,
        covariates: Mapping[str, Any] | None = None,
        callback: Callback | None = None,
        client: Any = None,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
    ) -> Self:
        """Fit the model to a network.

        Parameters
        ----------
        X : Graph, numpy or scipy.sparse matrix, networkx or igraph graph, or pandas, polars or Arrow table of links
            The network. Every dyad that is neither a link nor hidden was observed not to be one. Weights of a networkx
            or igraph graph are ignored, with a note, unless the family is one of counts or real values.
        y : ignored
        hidden : (m, 2) pairs or (n, n) pattern, optional
            Dyads that nobody observed.
        covariates : mapping of name to (n, n) array, optional
            What is known of each dyad.
        callback : callable, optional
            Called with a ``Progress`` after every step; returning True stops the fit and keeps the best so far.
        client : dask.distributed.Client, optional
            Runs restarts or chains on a cluster.
        checkpoint : path, optional
            A file that keeps what restarts, chains and folds have found. The same call after a crash, a kill or Ctrl-C
            goes on from there, to the result of an uninterrupted fit; other data or parameters are refused. The file
            stays when the fit has ended.
        checkpoint_every : float
            Seconds between two writes of it, at least; never so few that writing takes more than 2% of the time.

        Returns
        -------
        self
        """
        started = time.perf_counter()
        previous = getattr(self, "graph_", None)
        if not isinstance(X, Graph):
            X = self._validate_matrix(X)
        graph = as_graph(X, hidden=hidden, covariates=covariates)
        if is_foreign_graph(X) and getattr(self, "family", "bernoulli") == "bernoulli":
            graph = without_weights(graph, "family" in self.get_params(deep=False))
        check_running(self)
        refuse_scorer(self)
        self._check_parameters(graph)
        with (
            one_blas_thread(),
            opened(checkpoint, self, graph, self._seeds(), checkpoint_every) as (self._store, seeds),
        ):
            run = Run(seeds, callback or (lambda progress: None), client, previous)
            fitted = self._fit(graph, run)
        self._store = Store()
        with one_blas_thread():
            publish(self, graph, fitted, time.perf_counter() - started)
        return self

    def _validate_matrix(self, X: Any) -> Any:
        """numpy input is checked as scikit-learn does it, so that its messages are the familiar ones."""
        if isinstance(X, (list, tuple, np.ndarray)):
            from sklearn.utils.validation import validate_data

            _refuse_pairs(X)
            refuse_masked(X)
            # of NaN a graph says more: what nobody observed is hidden
            finite = {"ensure_all_finite": False}
            X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2, ensure_min_features=2, **finite)
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"A network needs a square matrix of links; this one has shape {X.shape}. If rows and columns are "
                    "two kinds of nodes, use klafter.Graph.from_biadjacency(X)."
                    + (" If every row is a link, use networkx.Graph(X.tolist())." if X.shape[1] == 2 else "")
                )
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.sparse = True
        tags.non_deterministic = False
        return tags

    def _seeds(self) -> np.random.SeedSequence:
        """The root of all randomness of a fit."""
        if self.random_state is None or isinstance(self.random_state, (int, np.integer)):
            return np.random.SeedSequence(self.random_state)
        if isinstance(self.random_state, np.random.Generator):
            return np.random.SeedSequence(int(self.random_state.integers(2**31)))
        return np.random.SeedSequence(check_random_state(self.random_state).randint(2**31))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file of arrays and JSON; read it with ``klafter.load``.

        Parameters
        ----------
        path : path of the file
        """
        from klafter.models.storage.files import save

        check_is_fitted(self, "draws_")
        save(self, path)

    def _repr_html_(self) -> str:
        from klafter.models.notebook import describe

        return describe(self)

    def _fit(self, graph: Graph, run: Run) -> Fitted:
        raise NotImplementedError

    def _check_parameters(self, graph: Graph) -> None:
        raise NotImplementedError


def _refuse_pairs(X: Any) -> None:
    """A list of pairs of names looks like a matrix of text, two pairs of numbers like a matrix of two nodes."""
    first = X[0] if len(X) else ()
    if not isinstance(X, (list, tuple)) or not isinstance(first, (list, tuple)):
        return
    if any(isinstance(v, str) for v in first) or (isinstance(first, tuple) and len(first) == 2):
        raise ValueError(
            f"A network is a matrix of links, not a list of pairs such as {first!r}. "
            "Use pandas.DataFrame(pairs, columns=['source', 'target']) or networkx.Graph(pairs)."
        )
