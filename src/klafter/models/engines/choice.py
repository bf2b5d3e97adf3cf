"""Which link, and so which engine, a graph gets, and which parameters that engine has no use for."""

from __future__ import annotations

from typing import Any

from klafter.core.families import FAMILIES
from klafter.graph import Graph
from klafter.models.costs import announce, workers
from klafter.models.online import Growing
from klafter.models.paper import DYAD_BYTES
from klafter.search.config import SEARCH

LOGIT_ONLY = {
    "n_communities": None,
    "max_communities": None,
    "weight_scale": 3.2,
    "offdiagonal_scale": 1.4,
    "n_smooth": "auto",
}  # parameters that the sparse engine has no use for, with their defaults
RESTART_SECONDS = 60.0  # of the dense engine, on the most nodes for which it is the default
LINK_SECONDS = 1e-4  # of the sparse engine: measured were 15e-6 on planted networks, 650e-6 on ca_astroph
LINK_BYTES, NODE_BYTES = 60.0, 300.0  # at the peak of a fit by the sparse engine, the graph itself among them
EXPOSURE_ONLY = {"degree_prior": "auto"}  # and the dense engine


def by_size(n_nodes: int, choices: tuple[int, ...]) -> int:
    """The choice for a network of some dozens of nodes, of some hundreds, or larger."""
    return choices[(n_nodes > SEARCH.effort.dozens) + (n_nodes > SEARCH.effort.hundreds)]


class LinkChoice(Growing):
    """The choice of the engine, and of the number of its restarts."""

    def _link(self, graph: Graph) -> str:
        """The link that fits the family and the size."""
        own = FAMILIES[self.family].response
        if self.link in ("logit", "cloglog"):
            if self.family != "bernoulli":
                raise ValueError(
                    f'link="{self.link}" needs family="bernoulli"; it is {self.family!r}. Use link="auto".'
                )
            own = self.link
        large = graph.n_nodes > SEARCH.effort.dense_limit
        if self.link == "exposure" or (self.link == "auto" and large):
            self._check_sparse(graph)
            return "exposure"
        if not self._may_choose(graph):
            self._check_dense()
        self._announce_dense(graph)
        return own

    def _announce_dense(self, graph: Graph) -> None:
        """A restart of the most nodes for which it is the default takes a minute; communities grow with the network."""
        n_runs, n_nodes = self._n_runs(graph.n_nodes), float(graph.n_nodes)
        seconds = RESTART_SECONDS * (n_nodes / SEARCH.effort.dense_limit) ** 3 * n_runs / workers(self.n_jobs, n_runs)
        cure = "Use link='exposure' for 0/1 links or counts, or fewer nodes or restarts."
        announce(f"The dense engine on {graph.n_nodes:,} nodes", seconds, DYAD_BYTES * n_nodes**2, cure)

    def _announce_sparse(self, graph: Graph) -> None:
        """What a search takes depends on the communities that there are: planted ones are found at once."""
        n_bytes = LINK_BYTES * graph.n_links + NODE_BYTES * graph.n_nodes
        cure = "Fewer links take less, or a Dask cluster, see fit(client=...); a checkpoint keeps what was found."
        what = f"The sparse engine on {graph.n_nodes:,} nodes and {graph.n_links:,} links"
        announce(what, LINK_SECONDS * graph.n_links, n_bytes, cure)

    def _may_choose(self, graph: Graph) -> bool:
        """Whether ``link="auto"`` may try both links: either engine must be able to, and quick enough."""
        able = self.family == "bernoulli" and not self._covariates(graph) and self.temperature > 0.0
        return (
            self.link == "auto"
            and able
            and graph.n_nodes >= SEARCH.effort.choice_from
            and not self._changed(LOGIT_ONLY)
        )

    def _changed(self, defaults: dict[str, Any]) -> list[str]:
        """Those of some parameters that are not at their defaults, with their values."""
        return [f"{name}={getattr(self, name)!r}" for name, value in defaults.items() if getattr(self, name) != value]

    def _check_sparse(self, graph: Graph) -> None:
        """Refuse what the sparse engine cannot take."""
        who = "link='exposure'" if self.link == "exposure" else f"A graph of {graph.n_nodes:,} nodes"
        if self.family not in ("bernoulli", "poisson"):
            raise ValueError(
                f"{who} uses the sparse engine, which takes 0/1 or count links; the family is {self.family!r}. Up to "
                f"{SEARCH.effort.dense_limit:,} nodes use link='auto'; beyond, graph.binarize() and family='bernoulli'."
            )
        if self._covariates(graph):
            raise ValueError(
                f"{who} uses the sparse engine, which takes no covariates and no attributes. "
                "Use link='logit' for a smaller graph, or leave them out."
            )
        if changed := self._changed(LOGIT_ONLY):
            fewer = " (a higher penalty gives fewer communities)" if "communities=" in " ".join(changed) else ""
            raise ValueError(
                f"{who} uses the sparse engine, which has no use for {', '.join(changed)}. Leave "
                f"{'it at its default' if len(changed) == 1 else 'them at their defaults'}{fewer}, "
                "or use link='logit' for a smaller graph."
            )

    def _check_dense(self) -> None:
        """Refuse what the dense engine has no use for."""
        if changed := self._changed(EXPOSURE_ONLY):
            raise ValueError(
                f"{', '.join(changed)} is for link='exposure', and this fit uses the dense engine. "
                "Leave it at its default, or use link='exposure'."
            )

    def _n_runs(self, n_nodes: int, runs: tuple[int, ...] = SEARCH.effort.restarts) -> int:
        """Restarts: predictions gain from each, and small networks can afford them."""
        return by_size(n_nodes, runs) if self.n_init == "auto" else int(self.n_init)
