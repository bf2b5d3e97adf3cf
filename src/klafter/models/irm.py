"""IRM: blocks of nodes that link alike, their number learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from klafter.core.families import BINARIZE
from klafter.graph import Graph
from klafter.models.checks import MOST_RUNS, check_choice, check_integer, check_real
from klafter.models.sampler import COUNTS_CURE, Sampler, check_links, check_prior
from klafter.sampling.irm import IRMEngine


@dataclass(kw_only=True, eq=False, repr=False)
class IRM(Sampler):
    """The infinite relational model: every node in one block, a link rate for each pair of blocks.

    z ~ CRP(alpha), eta_kl ~ Beta (0/1 links) or Gamma (counts), y_ij ~ eta_{z_i z_j}; eta is integrated out. Collapsed
    Gibbs with split-merge moves. A sweep costs the links and N K^2.

    Parameters
    ----------
    family : {"bernoulli", "poisson"}
        What link values are: 0/1 or counts.
    link_prior : (float, float)
        Beta(a, b) of a block pair's link probability, or Gamma(a, rate b) of its rate.
    concentration : float, optional
        alpha of the Chinese restaurant process; drawn with the rest when None.
    n_moves : int
        Split-merge moves in a sweep.
    n_burn, n_draws, n_chains, max_draws, structure, warm_start, n_jobs, random_state
        See ``Sampler``.

    Attributes
    ----------
    affinities_ : (K, K) array
        Link probability or rate of each pair of blocks, its mean given the blocks.
    trace_ : dict of (n_chains, n_sweeps) arrays
        ``log_posterior`` and ``n_communities`` after each sweep.
    memberships_, n_communities_, objective_, history_, n_iter_, sweep_seconds_, n_burned_, diagnostics_, link_,
    labels_in_
        See ``Sampler``.

    References
    ----------
    Kemp, Tenenbaum, Griffiths, Yamada, Ueda (2006), Learning systems of concepts with an infinite relational model.

    Examples
    --------
    >>> from klafter.datasets import load_karate
    >>> model = IRM(n_burn=20, n_draws=20, random_state=0).fit(load_karate())
    >>> model.memberships_.sum(axis=1).max()
    np.int64(1)
    """

    family: str = "bernoulli"
    link_prior: tuple[float, float] = (0.1, 1.0)
    concentration: float | None = None
    n_moves: int = 2
    n_burn: int = 150
    n_draws: int = 75

    def _check_parameters(self, graph: Graph) -> None:
        super()._check_parameters(graph)
        check_choice(self, "family", ("bernoulli", "poisson"))
        check_prior(self, "link_prior")
        check_integer(self, "n_moves", 0, MOST_RUNS)
        if self.concentration is not None:
            check_real(self, "concentration", low=0.0, strict=True)
        check_links(self, graph, self.family, COUNTS_CURE if self.family == "bernoulli" else BINARIZE)

    def _size(self, graph: Graph) -> float:
        """Chains begin with as many blocks as nodes have links, and may find more."""
        return float(max(np.log(graph.n_nodes + 1), 2 * graph.n_links / graph.n_nodes))

    def _sweep_seconds(self, graph: Graph) -> float:
        return float(5.5e-8 * graph.n_nodes * self._size(graph) ** 2)

    def _draw_bytes(self, graph: Graph) -> float:
        return 24.0 * graph.n_nodes  # one block each

    def _engine(self, graph: Graph, chosen: dict[str, Any]) -> IRMEngine:
        a, b = self.link_prior
        return IRMEngine(
            self.family, (float(a), float(b)), self.concentration and float(self.concentration), n_moves=self.n_moves
        )
