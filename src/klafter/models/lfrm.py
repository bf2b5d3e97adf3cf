"""LFRM: the latent feature relational model by MCMC, the judge of K-LAFTER."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from klafter.core.families import FAMILIES, check_values
from klafter.graph import Graph
from klafter.models.checks import check_choice, check_family, check_real, check_scale
from klafter.models.sampler import Sampler
from klafter.sampling.lfrm_engine import LFRMEngine

PENALTIES = {"buffet": 0.0, "counts": 1.0}  # where none is given
LEAST_PENALTY = -30.0  # e^30 communities are proposed at once, and beyond e^43 none can be drawn


@dataclass(kw_only=True, eq=False, repr=False)
class LFRM(Sampler):
    """The latent feature relational model, sampled: the posterior whose mode K-LAFTER looks for at T = 1.

    Nodes belong to any number of communities, Z ~ IBP(alpha) or with learned counts (see Notes), and
    x_ij = b + s_i + r_j + z_i' W z_j gives the link. The number of communities is learned. A sweep costs N^2 K:
    comfortable to a few thousand nodes.

    W is drawn by slices along its entries. With memberships held, that gave 1,170 effective samples a second on NIPS234
    where Polya-Gamma augmentation gave 13, which mixes slowly when links are rare (``benchmarks/affinities.py``).

    Parameters
    ----------
    family : {"bernoulli", "poisson", "gaussian"}
        What link values are: 0/1, counts, or real numbers.
    prior : {"buffet", "counts"}
        Of memberships: the Indian buffet process, or the prior that learns how many communities a node holds.
    penalty : float, optional
        Price of one more community, -log alpha of the Indian buffet process; when learned, where the chain begins. With
        prior="counts" it is not learned, and above 0. None is 0 for the buffet and 1 for counts.
    sociality : bool
        Whether every node has its own tendency to link, s_i and r_i.
    weight_scale, offdiagonal_scale : float
        Standard deviation of W inside and between communities; when learned, the scale of its prior.
    learn : bool
        Whether alpha (of the buffet) and the scales of W are drawn with the rest.
    init : {"random", "irm", "klafter"}
        Where chains begin: ten random communities, the blocks of 20 sweeps of IRM, or a short K-LAFTER descent.
    n_burn, n_draws, n_chains, max_draws, structure, warm_start, n_jobs, random_state
        See ``Sampler``.

    Attributes
    ----------
    affinities_ : (K, K) array
        W of the best sweep.
    prior_ : str
        The prior of memberships.
    trace_ : dict of (n_chains, n_sweeps) arrays
        ``log_posterior`` and ``n_communities`` after each sweep.
    memberships_, n_communities_, objective_, history_, n_iter_, sweep_seconds_, n_burned_, diagnostics_, link_,
    labels_in_
        See ``Sampler``.

    Notes
    -----
    With prior="counts", n_m nodes hold m communities each, E = sum_m m n_m, and given K

        p(Z) ~ 1 / [C(N + K, K)  N! / prod_m n_m!  C(E - 1, K - 1)  E! / (prod_k S_k!  prod_i m_i!)],

    that is: any histogram of the number of memberships equally likely, then which nodes, any sizes of communities, then
    who is in which. K has weight exp(-penalty K), and without a penalty large K would have no end of weight. Being in
    no community is then as common as the data say.

    References
    ----------
    Miller, Griffiths, Jordan (2009), Nonparametric latent feature models for link prediction, NIPS.

    Examples
    --------
    >>> from klafter.datasets import load_karate
    >>> model = LFRM(n_burn=20, n_draws=30, init="klafter", random_state=0).fit(load_karate())
    >>> model.trace_["log_posterior"].shape
    (4, 50)
    >>> p = model.predict_proba(np.array([[0, 1], [16, 26]]))
    >>> p[0] > p[1]
    np.True_
    """

    family: str = "bernoulli"
    prior: str = "buffet"
    penalty: float | None = None
    sociality: bool = True
    weight_scale: float = 3.2
    offdiagonal_scale: float = 1.4
    learn: bool = True
    init: str = "random"

    prior_: str = field(init=False)
    _dyad_bytes = 10.0

    def _check_parameters(self, graph: Graph) -> None:
        super()._check_parameters(graph)
        check_family(self)
        check_choice(self, "prior", tuple(PENALTIES))
        check_choice(self, "init", ("random", "irm", "klafter"))
        for name in ("sociality", "learn"):
            check_choice(self, name, (True, False))
        if self.penalty is not None:
            counts = self.prior == "counts"
            check_real(self, "penalty", low=0.0 if counts else LEAST_PENALTY, strict=counts)
        for name in ("weight_scale", "offdiagonal_scale"):
            check_scale(self, name)
        check_values(FAMILIES[self.family], graph.links.data, type(self).__name__)

    def _unit(self, graph: Graph) -> float:
        """The size of real link values, 1 for others."""
        if self.family != "gaussian" or not graph.links.nnz:
            return 1.0
        return float(np.sqrt(np.mean(graph.links.data**2))) or 1.0

    def _observed(self, graph: Graph) -> Graph:
        unit = self._unit(graph)
        return graph if unit == 1.0 else graph.replace(links=graph.links / unit)

    def _choose(self, graph: Graph, seed: np.random.SeedSequence) -> dict[str, Any]:
        return {"prior": self.prior}

    def _sweep_seconds(self, graph: Graph) -> float:
        return 8.5e-10 * float(graph.n_nodes) ** 2 * self._size(graph)

    def _engine(self, graph: Graph, chosen: dict[str, Any]) -> LFRMEngine:
        return LFRMEngine(
            family=self.family,
            prior=self.prior,
            penalty=float(PENALTIES[self.prior] if self.penalty is None else self.penalty),
            sociality=bool(self.sociality),
            weight_scale=float(self.weight_scale),
            offdiagonal_scale=float(self.offdiagonal_scale),
            learn=bool(self.learn),
            start=self.init,
            unit=self._unit(graph),
        )

    def _precision(self, engine: Any, states: list[Any]) -> float:
        return float(np.mean([state.precision for state in states]) / engine.unit**2)
