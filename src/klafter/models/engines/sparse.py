"""Fits by the sparse engine: one search of a large graph, several of a smaller one."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from klafter.core.draws import Draw, ExposureDraw
from klafter.graph import Graph
from klafter.jit.compilation import announce_compilation
from klafter.models.base import Run
from klafter.models.engines.choice import LinkChoice
from klafter.models.results.levels import Level, Packed
from klafter.models.results.names import match_last, name_communities
from klafter.models.results.publish import Fitted, from_searches
from klafter.models.storage.checkpoint import MISSING, Store, run_kept
from klafter.search.config import SEARCH
from klafter.search.progress import Callback


class SparseFit(LinkChoice):
    """What ``KLafter`` does on graphs of which only links can be visited."""

    def _fit_sparse(
        self, graph: Graph, run: Run, point: ExposureDraw | None, found: Any, stop: threading.Event
    ) -> Fitted:
        """What searches found, or a cluster, and probabilities of memberships."""
        if run.client is not None:
            from klafter.models.engines import distributed

            return self._with_posterior(distributed.fit_graph(self, graph, run.seeds, run.callback, run.client), graph)
        self._announce_sparse(graph)
        return self._of_searches(graph, self._search_all(graph, run, point, found, stop))

    def _of_searches(self, graph: Graph, outcomes: list[Any]) -> Fitted:
        from klafter.search.sparse.everyone import everyone_shown

        return self._with_posterior(from_searches(everyone_shown(self._sparse_settings(), outcomes)), graph)

    def _search_all(
        self, graph: Graph, run: Run, point: ExposureDraw | None, found: Any, stop: threading.Event
    ) -> list[Any]:
        """One search on a large graph, n_init on a small one; threads work inside each.

        What was ``found`` already is the first.
        """
        from klafter.search.sparse import fit as sparse_fit  # the sparse engine, which small networks do without
        from klafter.search.sparse.combine import combined
        from klafter.search.sparse.sharing import share_if_better

        n_runs = (
            self._n_runs(graph.n_nodes, SEARCH.effort.sparse_restarts)
            if graph.n_nodes <= SEARCH.effort.several_limit
            else 1
        )
        with announce_compilation():
            tasks = [
                sparse_fit.Task(r, n_runs, seed, None if r else point, getattr(self, "degree_prior_", None))
                for r, seed in enumerate(run.seeds.spawn(n_runs))
            ]
            outcomes = [] if found is None else [found]
            if not outcomes or not stop.is_set():
                settings, store = self._sparse_settings(), self._store
                kept = run_kept(
                    store, "search", partial(_search, settings, graph, run.callback, store), tasks[len(outcomes) :],
                    stop=stop, outward=sparse_fit.bare,
                    inward=lambda task, saved: sparse_fit.restored(sparse_fit.problem_of(settings, graph), saved),
                )  # fmt: skip
                outcomes = sparse_fit.alike(settings, outcomes + list(kept.values()))
                if len(outcomes) > 1 and self.temperature > 0.0 and not stop.is_set():
                    outcomes = combined(settings, outcomes, run.seeds.spawn(1)[0])
                if self.temperature > 0.0 and not stop.is_set():
                    outcomes = share_if_better(settings, outcomes, run.seeds.spawn(1)[0])
        return outcomes

    def _prediction_draws(self) -> Sequence[Draw]:
        """Of the sparse engine, which runs no chain around its optimum, the probabilities of memberships."""
        if not isinstance(self.point_, ExposureDraw):
            return self.draws_
        if self._posterior_draws is None:
            from klafter.search.sparse import fit as sparse_fit

            draws = [draw for draw in self.draws_ if isinstance(draw, ExposureDraw)]
            settings, counts = self._fitted_settings(), self._counted()
            self._posterior_draws = sparse_fit.posterior_draws(settings, self.graph_, draws, counts=counts)
        return self._posterior_draws

    def _counted(self) -> bool:
        """Whether the score chose the prior that learns counts."""
        return getattr(self, "prior_", "buffet") == "counts"

    def _packed_levels(self) -> Packed | None:
        """Those of the fit, or those of the sparse engine, worked out on demand where its links are at hand."""
        known = super()._packed_levels()
        if known is not None or not isinstance(self.point_, ExposureDraw) or not self.graph_.n_links:
            return known
        if self._coarser is None and self.n_communities_:
            from klafter.models.results.coarser import packed_levels

            settings, counts = self._fitted_settings(), self._counted()
            with announce_compilation():
                self._coarser = packed_levels(settings, self.graph_, self.point_, self.objective_, counts=counts)
        return self._coarser

    def _knows_levels(self) -> bool:
        sparse = isinstance(self.point_, ExposureDraw) and super()._packed_levels() is None
        return not sparse or self._coarser is not None

    def _level_attributes(self, level: Level) -> dict[str, Any]:
        """Weights, probabilities and names for the cover of another level."""
        from klafter.models.results.coarser import fitted_level

        finest: Any = getattr(self, "finest_", self.point_)
        rows = np.arange(self.graph_.n_nodes)
        with announce_compilation():
            fitted = fitted_level(self._fitted_settings(), self.graph_, finest, level, counts=self._counted())
        same = match_last(self.memberships_, level.memberships, (rows, rows))
        names = {k: self.community_names_[was] for k, was in same.items()}
        return {
            **fitted,
            "finest_": finest,
            "n_communities_": level.n_communities,
            "objective_": level.score,
            "community_names_": name_communities(self.graph_, level.memberships, names),
        }


def _search(settings: Any, graph: Graph, callback: Callback, store: Store, task: Any, stop: threading.Event) -> Any:
    """A search that goes on from where it was, and keeps where it stands after every step."""
    from klafter.search.sparse import fit as sparse_fit

    key = f"step.{task.run}"
    saved = store.get(f"{key}.state")
    resume = None if saved is MISSING else sparse_fit.SearchState(*saved)
    return sparse_fit.search(settings, graph, callback, task, stop, resume, partial(store.state, key))
