"""EPM: the hierarchical gamma process edge partition model, by Gibbs sampling.

    y_ij = 1(m_ij >= 1) or m_ij,   m_ij ~ Poisson(phi_i' L phi_j)       binary links or counts
    phi_ik ~ Gamma(a_i, rate c_i)                                       how much node i takes part in community k
    L_kl ~ Gamma(r_k r_l, rate e),  L_kk ~ Gamma(xi r_k, rate e)        how communities interact
    r_k ~ Gamma(g_0 / K, rate c_0)                                      a gamma process truncated at K communities
    a_i, c_i, e, g_0, c_0, xi ~ Gamma

A link's latent count is drawn and its tokens dealt to pairs of communities; given those, the rest are gamma draws.
Non-links only enter through sums of phi, so a sweep costs links times communities. A community whose L vanishes
(below 1e-40, as for most) can hold no token in the next sweep and is left out of the inner loops.

Departing from the paper, g_0 is slice sampled given ln r: its table augmentation is not exact here, since the r_k
enter as products.

Zhou (2015), Infinite edge partition models for overlapping community detection and link prediction.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from klafter.core.draws import LinearDraw
from klafter.core.families import FAMILIES, check_values
from klafter.graph.kinds.rule import Rule
from klafter.sampling import epm_kernels as kernels
from klafter.sampling.slicing import slice_positive

Prior = tuple[float, float]
FLOOR = 1e-300


class State(NamedTuple):
    """Everything but the latent counts, which each step draws anew."""

    loadings: np.ndarray  # phi, (n, K)
    shape: np.ndarray  # a, (n,)
    rate: np.ndarray  # c, (n,)
    affinities: np.ndarray  # L, (K, K)
    log_weights: np.ndarray  # ln r, (K,)
    inflation: float  # xi
    precision: float  # e
    mass: float  # g_0
    mass_rate: float  # c_0


@dataclass(frozen=True)
class EPMEngine:
    """The chain of the edge partition model, with the parameters of ``models.EPM``.

    Gamma priors are (shape, rate): ``shape_prior`` of a_i, ``rate_prior`` of c_i, ``hyper_prior`` of e, g_0, c_0, xi.
    """

    family: str = "bernoulli"
    n_communities: int = 100
    shape_prior: Prior = (0.01, 0.01)
    rate_prior: Prior = (1.0, 1.0)
    hyper_prior: Prior = (1.0, 1.0)

    @property
    def response(self) -> str:
        return "exposure" if self.family == "bernoulli" else "rate"

    def init(self, graph, rng) -> State:
        """Random loadings, equal weights."""
        if graph.directed:
            raise ValueError("EPM needs an undirected graph; this one is directed. Use graph.symmetrize().")
        check_values(FAMILIES[self.family], graph.links.data, "EPM")
        n, k = graph.n_nodes, self.n_communities
        loadings = rng.gamma(1.0, size=(n, k))
        weights = np.full(k, 1 / k)
        affinities = np.outer(weights, weights)
        np.fill_diagonal(affinities, weights)
        return State(
            loadings / loadings.sum(axis=1, keepdims=True), np.full(n, 0.01), np.ones(n), affinities,
            np.log(weights), 1.0, 1.0, 1.0, 1.0,
        )  # fmt: skip

    def step(self, graph, state: State, rng) -> State:
        """Latent counts of the links, then nodes, then communities."""
        order, n_active = _active_first(state.affinities)
        state = _reorder(state, order)
        phi, active = state.loadings, state.affinities[:n_active, :n_active].copy()
        head = np.ascontiguousarray(phi[:, :n_active])
        binary = self.family == "bernoulli"
        by_node, by_pair = kernels.split_tokens(graph.dyads.links_out, head, head @ active, active, binary, rng)
        state = self._draw_nodes(graph, state, by_node, active, rng)
        return self._draw_communities(graph, state, by_pair, rng)

    def _draw_nodes(self, graph, state: State, by_node, active, rng) -> State:
        phi, shape, rate = state.loadings.copy(), state.shape.copy(), state.rate.copy()
        priors = _floats(self.shape_prior + self.rate_prior)
        kernels.draw_loadings(graph.dyads, by_node, active, phi, shape, rate, priors, rng)
        return state._replace(loadings=phi, shape=shape, rate=rate)

    def _draw_communities(self, graph, state: State, by_pair, rng) -> State:
        k, (a, b) = self.n_communities, _floats(self.hyper_prior)
        n_active = len(by_pair)
        tokens = np.zeros((k, k), np.int64)
        tokens[:n_active, :n_active] = by_pair
        theta = pair_exposure(graph, state.loadings)
        log_weights, weights = state.log_weights.copy(), np.exp(state.log_weights)
        inflation = kernels.draw_weights(
            tokens,
            theta,
            state.precision,
            weights,
            state.inflation,
            state.mass / k,
            state.mass_rate,
            (a, b),
            log_weights,
            rng,
        )
        affinities = kernels.draw_affinities(tokens, theta, state.precision, weights, inflation, rng)
        mass = self._draw_mass(log_weights, state, rng)
        shapes = _affinity_shapes(weights, inflation)
        return state._replace(
            affinities=affinities,
            log_weights=log_weights,
            inflation=inflation,
            precision=_gamma(a + np.triu(shapes).sum(), b + np.triu(affinities).sum(), rng),
            mass=mass,
            mass_rate=_gamma(a + mass, b + weights.sum(), rng),
        )

    def _draw_mass(self, log_weights, state: State, rng) -> float:
        """g_0 given ln r and c_0: the density is prod_k c_0^(g_0/K) r_k^(g_0/K) / Gamma(g_0/K)."""
        a, b = self.hyper_prior
        k, slope = self.n_communities, np.log(state.mass_rate) + log_weights.mean()

        def log_density(mass: float) -> float:
            return (a - 1) * np.log(mass) + mass * (slope - b) - k * gammaln(mass / k)

        return slice_positive(log_density, state.mass, rng)

    def log_posterior(self, graph, state: State) -> float:
        """log p(y, parameters) up to a constant, as a density of the logarithms of the gamma variables."""
        a, b = self.hyper_prior
        weights, upper = np.exp(state.log_weights), np.triu_indices(self.n_communities)
        shapes = np.maximum(_affinity_shapes(weights, state.inflation)[upper], FLOOR)
        total = self.log_likelihood(graph, state)
        total += _log_gamma(state.loadings, state.shape[:, None], state.rate[:, None])
        total += _log_gamma(state.shape, *self.shape_prior) + _log_gamma(state.rate, *self.rate_prior)
        total += _log_gamma(state.affinities[upper], shapes, state.precision)
        shape = state.mass / self.n_communities
        total += (
            np.sum(shape * (np.log(state.mass_rate) + state.log_weights) - gammaln(shape))
            - state.mass_rate * weights.sum()
        )
        hyper = np.array([state.inflation, state.precision, state.mass, state.mass_rate])
        return float(total + _log_gamma(hyper, a, b))

    def log_likelihood(self, graph, state: State) -> float:
        """log p(y | phi, L); a steadier trace than the log posterior, which vanishing parameters dominate."""
        i, j = sparse.triu(graph.links, 1).nonzero()
        y = np.asarray(graph.links[i, j]).ravel()
        rate = np.einsum("mk,mk->m", (state.loadings @ state.affinities)[i], state.loadings[j])
        rate = np.maximum(rate, FLOOR)
        exposure = np.triu(state.affinities * pair_exposure(graph, state.loadings)).sum()
        gains = np.log(-np.expm1(-rate)) + rate if self.family == "bernoulli" else y * np.log(rate)
        return float(gains.sum() - exposure)

    def draw(self, graph, state: State) -> LinearDraw:
        """Loadings and affinities of the communities that have any weight."""
        order, n_active = _active_first(state.affinities)
        keep = order[:n_active]
        return LinearDraw(state.loadings[:, keep], state.affinities[np.ix_(keep, keep)])

    def communities(self, state: State) -> np.ndarray:
        """(n, K) of 0/1, columns as in ``draw``: the node expects a link through the community, rounded."""
        order, n_active = _active_first(state.affinities)
        phi = state.loadings
        expected = phi * (phi.sum(axis=0) @ state.affinities)
        return (expected[:, order[:n_active]] >= 0.5).astype(np.int8)

    def held(self, draw: LinearDraw) -> np.ndarray:
        """The same of a draw, in which communities without weight are left out."""
        phi = draw.memberships
        return (phi * (phi.sum(axis=0) @ draw.affinities) >= 0.5).astype(np.int8)


def pair_exposure(graph, phi: np.ndarray) -> np.ndarray:
    """theta_kl = sum over observed pairs i != j of phi_ik phi_jl, halved on the diagonal."""
    if graph.rule is None:
        total = phi.sum(axis=0)
        theta = np.outer(total, total) - phi.T @ phi
    else:
        theta = _exposure_by_kind(graph.rule, phi)
    if graph.hidden.nnz:
        theta -= phi.T @ (graph.hidden.astype(float) @ phi)
    np.fill_diagonal(theta, theta.diagonal() / 2)
    return np.maximum((theta + theta.T) / 2, 0.0)


def _exposure_by_kind(rule: Rule, phi: np.ndarray) -> np.ndarray:
    """sum over ordered pairs i != j that may be linked of phi_ik phi_jl."""
    theta = np.zeros((phi.shape[1], phi.shape[1]))
    of_kind = [phi[nodes] for nodes in rule.nodes()]
    for a, b in rule.cells(ordered=False)[0]:
        both = np.outer(of_kind[b].sum(axis=0), of_kind[a].sum(axis=0))
        theta += both - of_kind[a].T @ of_kind[a] if a == b else both + both.T
    return theta


def _active_first(affinities: np.ndarray) -> tuple[np.ndarray, int]:
    """Communities with any affinity, then those without, and how many of the first."""
    active = affinities.any(axis=0)
    return np.argsort(~active, kind="stable"), int(active.sum())


def _reorder(state: State, order: np.ndarray) -> State:
    return state._replace(
        loadings=state.loadings[:, order],
        affinities=state.affinities[np.ix_(order, order)],
        log_weights=state.log_weights[order],
    )


def _affinity_shapes(weights: np.ndarray, inflation: float) -> np.ndarray:
    """r_k r_l, and xi r_k on the diagonal."""
    shapes = np.outer(weights, weights)
    np.fill_diagonal(shapes, inflation * weights)
    return shapes


def _floats(values) -> tuple[float, ...]:
    return tuple(float(v) for v in values)


def _gamma(shape: float, rate: float, rng) -> float:
    return float(max(rng.gamma(shape) / rate, FLOOR))


def _log_gamma(x, shape, rate) -> float:
    """log density of ln x, summed, x ~ Gamma(shape, rate); finite where x vanishes."""
    x = np.maximum(x, FLOOR)
    return float(np.sum(shape * (np.log(rate) + np.log(x)) - rate * x - gammaln(shape)))
