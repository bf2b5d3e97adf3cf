"""MMSB: the mixed membership stochastic blockmodel, by collapsed Gibbs.

    pi_i ~ Dirichlet(alpha, ..., alpha)             node i's proportions over K roles
    s_ij ~ pi_i,  r_ij ~ pi_j                       the roles that i and j play in their dyad
    y_ij ~ Bernoulli(eta_{s_ij r_ij}),  eta_kl ~ Beta(c_1, c_0)

eta is symmetric when the graph is undirected. pi and eta are integrated out, and both roles of a dyad drawn together,

    P(s, r = k, l | rest)  proportional to  (n_ik + alpha) (n_jl + alpha) (tau^y_kl + c_y) / (tau_kl + c_0 + c_1),

counts without the dyad. Every observed dyad has two roles, non-links too, so a sweep costs N^2 K^2 and the chain
remembers two small integers for each observed dyad: that is the model, and its limit is a few thousand nodes.
alpha is slice sampled. p_ij = sum_kl pi_ik eta_kl pi_jl.

Airoldi, Blei, Fienberg, Xing (2008), Mixed membership stochastic blockmodels.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, gammaln

from klafter.core.draws import LinearDraw
from klafter.sampling import mmsb_kernels as kernels
from klafter.sampling.irm import IRMEngine
from klafter.sampling.slicing import slice_positive


class State(NamedTuple):
    """Roles of the observed dyads in row order, what they add up to, and alpha."""

    roles: np.ndarray  # (dyads, 2) int16
    counts: kernels.Counts
    alpha: float
    directed: bool


@dataclass(frozen=True)
class MMSBEngine:
    """The chain of the mixed membership blockmodel, with the parameters of ``models.MMSB``.

    ``prior`` is its ``link_prior``, ``alpha_prior`` is (shape, rate) of alpha, drawn when none is given.
    """

    n_communities: int = 10
    alpha: float | None = None
    alpha_prior: tuple[float, float] = (1.0, 1.0)
    prior: tuple[float, float] = (0.1, 1.0)

    response = "probability"

    def init(self, graph, rng) -> State:
        """Roles drawn dyad by dyad, each given those before it and prior counts by a partition of the nodes.

        From random roles the chain needs thousands of sweeps to find the same.
        """
        if len(graph.links.data) and not (graph.links.data == 1).all():
            raise ValueError(
                f"MMSB needs links of 0 or 1; this graph has {graph.links.data.max():g}. Use graph.binarize()."
            )
        k = self.n_communities
        prior_counts = graph.n_nodes * first_blocks(graph, k, rng)
        counts = kernels.Counts(prior_counts, np.zeros((2, k, k)))
        alpha = 1 / (1 + graph.n_nodes) if self.alpha is None else self.alpha
        state = State(np.full((graph.n_dyads, 2), -1, np.int16), counts, float(alpha), graph.directed)
        state = self._sweep(graph, state, rng)
        return state._replace(counts=state.counts._replace(shares=state.counts.shares - prior_counts))

    def step(self, graph, state: State, rng) -> State:
        """All roles, then alpha."""
        state = self._sweep(graph, state, rng)
        if self.alpha is not None:
            return state
        return state._replace(alpha=self._draw_alpha(state, rng))

    def _sweep(self, graph, state: State, rng) -> State:
        roles, counts = state.roles.copy(), kernels.Counts(*(c.copy() for c in state.counts))
        prior = (float(self.prior[1]), float(self.prior[0]))
        kernels.sweep(graph.dyads, roles, counts, prior, state.alpha, rng)
        return state._replace(roles=roles, counts=counts)

    def _draw_alpha(self, state: State, rng) -> float:
        shape, rate = self.alpha_prior
        shares = state.counts.shares

        def log_density(alpha: float) -> float:
            return log_proportions(shares, alpha) + (shape - 1) * np.log(alpha) - rate * alpha

        return slice_positive(log_density, state.alpha, rng)

    def log_posterior(self, graph, state: State) -> float:
        """log p(y, roles, alpha), up to a constant."""
        c1, c0 = self.prior
        links = betaln(c1 + state.counts.role_pairs[1], c0 + state.counts.role_pairs[0]) - betaln(c1, c0)
        total = log_proportions(state.counts.shares, state.alpha)
        total += links.sum() if state.directed else np.triu(links).sum()
        if self.alpha is None:
            shape, rate = self.alpha_prior
            total += (shape - 1) * np.log(state.alpha) - rate * state.alpha
        return float(total)

    def draw(self, graph, state: State) -> LinearDraw:
        """Posterior means of pi and eta given the roles."""
        none, some = state.counts.role_pairs
        c1, c0 = self.prior
        return LinearDraw(self._proportions(state), (some + c1) / (some + none + c0 + c1))

    def communities(self, state: State) -> np.ndarray:
        """(n, K) of 0/1: the roles that a node plays at least 1/K of the time."""
        return self._played(self._proportions(state))

    def held(self, draw: LinearDraw) -> np.ndarray:
        """The same of a draw."""
        return self._played(draw.memberships)

    def _played(self, proportions: np.ndarray) -> np.ndarray:
        return (proportions >= 1 / self.n_communities - 1e-12).astype(np.int8)

    def _proportions(self, state: State) -> np.ndarray:
        weight = state.counts.shares + state.alpha
        return weight / weight.sum(axis=1, keepdims=True)


def first_blocks(graph, n_blocks: int, rng, n_sweeps: int = 20) -> np.ndarray:
    """(n, K) of 0/1: blocks of a short chain of the infinite relational model, the smallest put together."""
    engine = IRMEngine()
    state = engine.init(graph, rng)
    for _ in range(n_sweeps):
        state = engine.step(graph, state, rng)
    rank = np.argsort(np.argsort(-np.bincount(state.blocks), kind="stable"))
    return np.eye(n_blocks)[np.minimum(rank[state.blocks], n_blocks - 1)]


def log_proportions(shares: np.ndarray, alpha: float) -> float:
    """log p(roles | alpha) = sum_i ln G(K alpha)/G(K alpha + n_i) + sum_ik ln G(alpha + n_ik)/G(alpha), G = Gamma."""
    n, k = shares.shape
    roles = gammaln(alpha + shares).sum() - n * k * gammaln(alpha)
    return float(roles + n * gammaln(k * alpha) - gammaln(k * alpha + shares.sum(axis=1)).sum())
