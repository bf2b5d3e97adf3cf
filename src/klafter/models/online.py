"""Networks that keep growing: ``partial_fit`` goes on from the communities of the last fit."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from scipy import sparse as sp

from klafter.core.draws import ExposureDraw, LinearDraw
from klafter.graph import Graph
from klafter.graph.changes import change_graph
from klafter.jit.compilation import announce_compilation
from klafter.models.base import NetworkModel
from klafter.models.results.publish import Fitted, from_searches, publish
from klafter.search.progress import Callback

if TYPE_CHECKING:
    from klafter.search.sparse.fit import Settings


class Growing(NetworkModel):
    """An estimator that learns from links that come and go."""

    family: str

    def fit(
        self, X: Any, y: Any = None, *, client: Any = None, callback: Callback | None = None, **options: Any
    ) -> Self:
        """Fit the model to a network.

        Parameters
        ----------
        X : Graph, numpy or scipy.sparse matrix, networkx or igraph graph, table of links, or Dask table
            The network. Every dyad that is neither a link nor hidden was observed not to be one. A Dask table (two
            columns of node numbers) is sharded by the cluster itself.
        y : ignored
        client : dask.distributed.Client, optional
            Runs restarts on a cluster.
        callback : callable, optional
            Called with a ``Progress`` after every step; returning True stops the fit and keeps the best so far.
        **options
            ``hidden``, dyads that nobody observed: (m, 2) pairs or (n, n) pattern; ``covariates``, what is known of
            each dyad: a mapping of name to (n, n) array; ``checkpoint`` and ``checkpoint_every``, a file from which
            the same call goes on after it was cut off, and the seconds between two writes.

        Returns
        -------
        self
        """
        if type(X).__module__.partition(".")[0].startswith("dask"):
            from klafter.models.engines import distributed

            distributed.fit_partitions(self, X, client, callback, **options)
            return self
        return super().fit(X, y, client=client, callback=callback, **options)

    def partial_fit(self, links: Any = (), removed: Any = (), *, callback: Callback | None = None) -> Self:
        """Adapt the fitted communities to links that came and links that went.

        On the sparse engine the search stays where the network changed, so that a small change costs a small part of
        a fit; on the dense engine the first restart goes on from the last communities. A model that is not fitted yet
        is fitted to ``links``.

        Parameters
        ----------
        links : list of pairs or triples (node, node, value), or (m, 2) integer array of rows
            New links. Nodes with names that the graph does not have are new nodes. A link that is there already adds
            to its value when links are counts, otherwise takes the new value. A hidden dyad becomes observed.
        removed : list of pairs, or (m, 2) integer array of rows
            Links that are gone.
        callback : callable, optional
            As for ``fit``; only the dense engine calls it.

        Returns
        -------
        self

        Examples
        --------
        >>> import klafter as kl
        >>> from klafter.datasets import load_les_miserables
        >>> model = kl.KLafter(link="exposure", n_init=1, random_state=0).fit(load_les_miserables())
        >>> came, went = [("Valjean", "newcomer"), ("newcomer", "Cosette")], [("Valjean", "Javert")]
        >>> model.partial_fit(came, removed=went).graph_
        Graph(78 nodes, 255 links, undirected)
        """
        graph = getattr(self, "graph_", None)
        if graph is None:
            empty, pairs = Graph(sp.csr_array((0, 0)), labels=[]), getattr(links, "tolist", lambda: list(links))()
            return self.fit(change_graph(empty, pairs, add=self.family == "poisson").graph, callback=callback)
        if self.n_communities_ and not graph.n_links:  # no search finds communities without a link
            raise ValueError(
                "The links of this model stayed on the cluster, so there is nothing to add to. "
                "Fit a table that has the new links too."
            )
        began = time.perf_counter()
        change = change_graph(graph, links, removed, add=self.family == "poisson")
        self._check_parameters(change.graph)
        if not isinstance(self.point_, ExposureDraw):
            _refit(self, change.graph, callback)
            return self
        from klafter.search.sparse import fit as sparse_fit  # the sparse engine, which small networks do without

        with announce_compilation():
            rng = np.random.default_rng(self._seeds())
            outcome = sparse_fit.adapt_to(self._fitted_settings(), self._optimum(), change, rng)
            fitted = self._with_posterior(from_searches([outcome]), change.graph)
        publish(self, change.graph, fitted, time.perf_counter() - began)
        return self

    def _with_posterior(self, fitted: Fitted, graph: Graph) -> Fitted:
        """What the sparse engine found, and P(z_ik = 1 | all the rest): it has no sweeps to average."""
        from klafter.search.sparse import fit as sparse_fit

        point = cast(ExposureDraw, fitted.point)
        counts = fitted.more.get("prior") == "counts"
        settings = self._sparse_settings(fitted.more.get("degree_prior"))
        (draw,) = sparse_fit.posterior_draws(settings, graph, [point], counts=counts)
        return replace(fitted, membership_proba=sp.csr_array(draw.memberships, dtype=np.float32))

    def _sparse_settings(self, degree_prior: float | None = None) -> Settings:
        """What the sparse engine is told of the parameters; another ``degree_prior`` if one was learned."""
        from klafter.search.sparse.fit import Settings

        settings = Settings(**{name: getattr(self, name) for name in Settings._fields})
        return settings if degree_prior is None else settings._replace(degree_prior=degree_prior)

    def _fitted_settings(self) -> Settings:
        """The same with what the fit has learned."""
        return self._sparse_settings(getattr(self, "degree_prior_", None))


def _refit(model: Any, graph: Graph, callback: Callback | None) -> None:
    """The dense engine: fit again, the first restart from the communities of the last fit."""
    extra = graph.n_nodes - model.graph_.n_nodes
    point: LinearDraw = model._optimum()
    model.finest_ = point._replace(
        memberships=sp.csr_array(
            (point.memberships.data, point.memberships.indices, _longer(point.memberships.indptr, extra, last=True)),
            shape=(graph.n_nodes, point.memberships.shape[1]),
        ),
        sender=_longer(point.sender, extra),
        receiver=_longer(point.receiver, extra),
    )
    warm, previous = model.warm_start, model.graph_
    model.warm_start, model.graph_ = True, graph
    try:
        model.fit(graph, callback=callback)
    except BaseException:
        model.finest_, model.graph_ = point, previous
        raise
    finally:
        model.warm_start = warm


def _longer(array: Any, extra: int, *, last: bool = False) -> Any:
    """Values of new nodes: 0, or the last one again."""
    if array is None:
        return None
    return np.concatenate([array, np.full(extra, array[-1] if last else 0, array.dtype)])
