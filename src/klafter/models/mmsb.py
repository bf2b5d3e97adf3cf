"""MMSB: nodes that play several roles, one in each of their dyads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from klafter.core.families import BINARIZE
from klafter.graph import Graph, split_dyads
from klafter.models.checks import check_integer, check_real
from klafter.models.sampler import Sampler, check_links, check_prior
from klafter.sampling.mmsb import MMSBEngine

GRID = (2, 4, 7, 12, 20)  # numbers of roles that "auto" tries
TRIAL_SWEEPS = 100  # of burn-in, and of draws, for each


@dataclass(kw_only=True, eq=False, repr=False)
class MMSB(Sampler):
    """The mixed membership stochastic blockmodel, by collapsed Gibbs.

    pi_i ~ Dirichlet(alpha); in their dyad i and j take roles s ~ pi_i and r ~ pi_j, and y_ij ~ Bernoulli(eta_sr). Every
    observed dyad has two roles, so a sweep costs N^2 K^2: to a few thousand nodes.

    Parameters
    ----------
    n_communities : int or "auto" or None
        Number of roles K. "auto" or None chooses among 2, 4, 7, 12 and 20 by the likelihood of a fifth of the
        training dyads, hidden for that; short chains, but at K = 20 a sweep costs four times that of K = 10.
    alpha : float, optional
        Dirichlet parameter of the proportions; drawn with the rest when None.
    link_prior : (float, float)
        Beta(c_1, c_0) of a link between two roles.
    n_burn, n_draws, n_chains, max_draws, structure, warm_start, n_jobs, random_state
        See ``Sampler``.

    Attributes
    ----------
    affinities_ : (K, K) array
        eta: link probability of each pair of roles, its mean given the roles.
    trace_ : dict of (n_chains, n_sweeps) arrays
        ``log_posterior`` and ``n_communities`` after each sweep.
    memberships_, n_communities_, objective_, history_, n_iter_, sweep_seconds_, n_burned_, diagnostics_, link_,
    labels_in_
        See ``Sampler``.
    n_roles_ : int
        K as given or chosen; ``n_communities_`` counts the roles that some node plays more often than 1/K.
    selection_ : dict of arrays
        ``n_communities`` tried by "auto" and their ``log_likelihood`` per hidden dyad; empty when K is given.

    References
    ----------
    Airoldi, Blei, Fienberg, Xing (2008), Mixed membership stochastic blockmodels, JMLR 9.

    Examples
    --------
    >>> from klafter.datasets import load_karate
    >>> model = MMSB(n_communities=4, n_burn=20, n_draws=20, random_state=0).fit(load_karate())
    >>> model.n_communities_ <= 4
    True
    """

    n_communities: int | str | None = 10
    alpha: float | None = None
    link_prior: tuple[float, float] = (0.1, 1.0)
    n_burn: int = 150
    n_draws: int = 75

    n_roles_: int = field(init=False)
    selection_: dict[str, np.ndarray] = field(init=False)
    _dyad_bytes = 4.0

    def _check_parameters(self, graph: Graph) -> None:
        super()._check_parameters(graph)
        if self.n_communities != "auto":
            check_integer(self, "n_communities", 1, optional=True)
        check_prior(self, "link_prior")
        if self.alpha is not None:
            check_real(self, "alpha", low=0.0, strict=True)
        check_links(self, graph, "bernoulli", BINARIZE)

    def _choose(self, graph: Graph, seed: np.random.SeedSequence) -> dict[str, Any]:
        """The number of roles, and how those that were tried did."""
        if self.n_communities not in (None, "auto"):
            return {"selection": {}, "n_roles": int(self.n_communities)}
        tried = getattr(self, "selection_", None) if self.warm_start else None
        selection = tried or self._try_sizes(graph, seed)
        best = np.argmax(selection["log_likelihood"])
        return {"selection": selection, "n_roles": int(selection["n_communities"][best])}

    def _size(self, graph: Graph) -> float:
        return float(GRID[-1] if self.n_communities in (None, "auto") else self.n_communities)

    def _sweep_seconds(self, graph: Graph) -> float:
        return (4e-8 + 1.2e-9 * self._size(graph)) * float(graph.n_nodes) ** 2

    def _engine(self, graph: Graph, chosen: dict[str, Any]) -> MMSBEngine:
        c1, c0 = self.link_prior
        return MMSBEngine(chosen["n_roles"], self.alpha and float(self.alpha), prior=(float(c1), float(c0)))

    def _try_sizes(self, graph: Graph, seed: np.random.SeedSequence) -> dict[str, np.ndarray]:
        """Mean log likelihood of hidden training dyads for each K of the grid."""
        train, held = split_dyads(graph, 0.2, random_state=np.random.default_rng(seed))
        scores = []
        for size in GRID:
            trial = MMSB(
                n_communities=size, alpha=self.alpha, link_prior=self.link_prior, n_burn=TRIAL_SWEEPS,
                n_draws=TRIAL_SWEEPS, n_chains=1, random_state=int(seed.generate_state(1)[0]),
            )  # fmt: skip
            scores.append(trial.fit(train).score(held.pairs, held.values) if len(held.pairs) else -float(size))
        return {"n_communities": np.array(GRID), "log_likelihood": np.array(scores)}
