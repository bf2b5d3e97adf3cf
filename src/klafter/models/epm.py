"""EPM: how much each node takes part in each community, by the edge partition model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from klafter.core.draws import LinearDraw
from klafter.core.families import BINARIZE
from klafter.graph import Graph
from klafter.models.checks import check_choice, check_integer
from klafter.models.sampler import COUNTS_CURE, Sampler, check_links
from klafter.sampling.epm import EPMEngine

FAINT = 1e-9  # expected links: a loading that explains fewer is not stored


class SparseEPMEngine(EPMEngine):
    """The engine with draws as sparse loadings: most vanish, and a chain keeps many draws."""

    def draw(self, graph: Graph, state: Any) -> LinearDraw:
        """Loadings and affinities of the communities that have any weight, faint loadings left out."""
        draw = super().draw(graph, state)
        phi = draw.memberships
        expected = phi * (draw.affinities @ phi.sum(axis=0))
        return draw._replace(memberships=sparse.csr_array(np.where(expected >= FAINT, phi, 0.0)))


MOST_EVENTS = 10_000_000  # a second or two for each sweep, and Ctrl-C is heard between sweeps


@dataclass(kw_only=True, eq=False, repr=False)
class EPM(Sampler):
    """The hierarchical gamma process edge partition model (HGP-EPM), by Gibbs sampling.

    m_ij ~ Poisson(phi_i' L phi_j) and y_ij = m_ij, or 1 where m_ij > 0 for 0/1 links; phi_ik says how much node i takes
    part in community k. Undirected graphs. A sweep costs links times communities, not N^2.

    Parameters
    ----------
    family : {"bernoulli", "poisson"}
        What link values are: 0/1 or counts.
    n_communities : int
        Truncation K of the gamma process: the most communities there can be. Their number is learned.
    n_burn, n_draws, n_chains, max_draws, structure, warm_start, n_jobs, random_state
        See ``Sampler``.

    Attributes
    ----------
    affinities_ : (K, K) array
        L of the best sweep.
    trace_ : dict of (n_chains, n_sweeps) arrays
        ``log_likelihood`` and ``n_communities`` after each sweep.
    memberships_, n_communities_, objective_, history_, n_iter_, sweep_seconds_, n_burned_, diagnostics_, link_,
    labels_in_
        See ``Sampler``.

    Notes
    -----
    The trace holds the log likelihood: the log posterior is dominated by parameters that vanish. ``objective_`` and
    the best sweep go by it too. A node is in a community when it expects at least half a link through it.

    References
    ----------
    Zhou (2015), Infinite edge partition models for overlapping community detection and link prediction, AISTATS.

    Examples
    --------
    >>> from klafter.datasets import load_karate
    >>> model = EPM(n_communities=20, n_burn=30, n_draws=30, random_state=0).fit(load_karate())
    >>> model.n_communities_ <= 20
    True
    """

    family: str = "bernoulli"
    n_communities: int = 100

    _density = "log_likelihood"

    def _check_parameters(self, graph: Graph) -> None:
        super()._check_parameters(graph)
        check_choice(self, "family", ("bernoulli", "poisson"))
        check_integer(self, "n_communities", 1)
        if graph.directed:
            raise ValueError(
                "EPM needs an undirected graph; this one is directed. Use klafter.as_graph(X).symmetrize()."
            )
        check_links(self, graph, self.family, COUNTS_CURE if self.family == "bernoulli" else BINARIZE)
        if (total := graph.links.data.sum() / 2) > MOST_EVENTS:
            raise ValueError(
                f"EPM draws a community for each of the events that links count, {MOST_EVENTS:,} at most; these are "
                f"{total:,.0f}. Count in larger units, or use {BINARIZE}."
            )

    def _size(self, graph: Graph) -> float:
        return float(self.n_communities)

    def _sweep_seconds(self, graph: Graph) -> float:
        return 1.5e-8 * self.n_communities * (graph.n_links + graph.n_nodes)

    def _engine(self, graph: Graph, chosen: dict[str, Any]) -> SparseEPMEngine:
        return SparseEPMEngine(self.family, self.n_communities)
