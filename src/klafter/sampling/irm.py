"""IRM: the infinite relational model, by collapsed Gibbs with split-merge moves.

    z ~ CRP(alpha)                                blocks of nodes, their number unbounded
    eta_kl ~ Beta(a, b)     y_ij ~ Bernoulli(eta_{z_i z_j})     family "bernoulli"
    eta_kl ~ Gamma(a, b)    y_ij ~ Poisson(eta_{z_i z_j})       family "poisson", rate b

eta is integrated out. With C_kl links among D_kl observed dyads between blocks k and l, and s_l, t_l the links and
observed dyads of node i to block l,

    log P(z_i = k | rest) = log n_k + sum_l [f(C_kl + s_l, D_kl + t_l) - f(C_kl, D_kl)],

with log alpha for log n_k when the block is new; f is the log evidence of a block pair. A sweep costs the links, the
hidden dyads and N K^2 evaluations of f. alpha ~ Gamma by the auxiliary variable of Escobar and West (1995).

Kemp, Tenenbaum, Griffiths, Yamada, Ueda (2006), Learning systems of concepts with an infinite relational model.
Jain, Neal (2004), A split-merge Markov chain Monte Carlo procedure for the Dirichlet process mixture model.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import betaln, gammaln

from klafter.core.draws import LinearDraw
from klafter.core.families import FAMILIES, check_values
from klafter.sampling import irm_kernels as kernels

TABLE = 1 << 18  # counts whose log gamma is looked up; 8 MB


class State(NamedTuple):
    """Block of each node, 0 to K - 1, and the concentration alpha."""

    blocks: np.ndarray  # (n,) int64
    concentration: float


@dataclass(frozen=True)
class IRMEngine:
    """The chain of the infinite relational model, with the parameters of ``models.IRM``.

    ``prior`` is its ``link_prior``, ``concentration_prior`` (shape, rate) of alpha, drawn when none is given. A step
    has ``n_sweeps`` Gibbs sweeps and ``n_moves`` split-merge moves, each prepared by ``n_scans`` restricted scans.
    """

    family: str = "bernoulli"
    prior: tuple[float, float] = (0.1, 1.0)
    concentration: float | None = None
    concentration_prior: tuple[float, float] = (1.0, 1.0)
    n_sweeps: int = 1
    n_moves: int = 2
    n_scans: int = 2

    @property
    def response(self) -> str:
        return "probability" if self.family == "bernoulli" else "rate"

    def init(self, graph, rng) -> State:
        """Random blocks, about as many as nodes have links on average or log n, whichever is more."""
        check_values(FAMILIES[self.family], graph.links.data, "IRM")
        n = graph.n_nodes
        guess = max(np.log(n + 1), 2 * graph.n_links / max(n, 1))
        blocks = rng.integers(0, max(1, min(n, int(guess))), n)
        return State(
            compact(blocks), float(self.concentration or self.concentration_prior[0] / self.concentration_prior[1])
        )

    def step(self, graph, state: State, rng) -> State:
        """One Gibbs sweep over nodes, split-merge moves, then alpha."""
        z, labels = state.blocks.copy(), _size(state.blocks) + 8
        moves = (self.n_sweeps, self.n_moves, self.n_scans)
        kernels.step(graph.dyads, self._law(graph), z, labels, state.concentration, *moves, rng)
        blocks = compact(z)
        return State(blocks, self._concentration(state.concentration, _size(blocks), len(z), rng))

    def _concentration(self, alpha: float, n_blocks: int, n: int, rng) -> float:
        if self.concentration is not None or n == 0:
            return alpha
        return draw_concentration(alpha, n_blocks, n, self.concentration_prior, rng)

    def log_posterior(self, graph, state: State) -> float:
        """log p(y, z, alpha), up to a constant."""
        n, alpha = len(state.blocks), state.concentration
        joint = kernels.log_joint(graph.directed, self._tally(graph, state), alpha)
        joint += gammaln(alpha) - gammaln(alpha + n)
        if self.concentration is None:
            shape, rate = self.concentration_prior
            joint += (shape - 1) * np.log(alpha) - rate * alpha
        return float(joint)

    def draw(self, graph, state: State) -> LinearDraw:
        """One-hot memberships, and the posterior mean of eta given the blocks."""
        counts, (a, b) = self._tally(graph, state), self.prior
        trials = counts.pairs + (a + b if self.family == "bernoulli" else b)
        return LinearDraw(_one_hot(state.blocks), (a + counts.links) / trials)

    def communities(self, state: State) -> np.ndarray:
        """(n, K) of 0/1, a single 1 in each row."""
        return _one_hot(state.blocks).toarray().astype(np.int8)

    def held(self, draw: LinearDraw) -> np.ndarray:
        """The same of a draw."""
        return draw.memberships.toarray().astype(np.int8)

    def _law(self, graph) -> kernels.BlockLaw:
        size = min(graph.n_nodes**2 + 1, TABLE)
        return block_law(self.family, float(self.prior[0]), float(self.prior[1]), size)

    def _tally(self, graph, state: State) -> kernels.Blocks:
        return kernels.tally(graph.dyads, self._law(graph), state.blocks, _size(state.blocks))


@lru_cache(maxsize=16)
def block_law(family: str, a: float, b: float, size: int) -> kernels.BlockLaw:
    """The prior of a block as kernels see it, with tables for counts below ``size``."""
    m = np.arange(size)
    tables = np.array([gammaln(a + m), gammaln(b + m), gammaln(a + b + m), np.log(b + m)])
    if family == "bernoulli":
        return kernels.BlockLaw(kernels.BERNOULLI, a, b, float(betaln(a, b)), tables)
    return kernels.BlockLaw(kernels.POISSON, a, b, float(gammaln(a) - a * np.log(b)), tables)


def draw_concentration(alpha: float, n_blocks: int, n: int, prior: tuple[float, float], rng) -> float:
    """alpha | K: eta ~ Beta(alpha + 1, n), then a mixture of two gammas (Escobar and West 1995, equation 13)."""
    shape, rate = prior
    rate = rate - np.log(rng.beta(alpha + 1, n))
    odds = (shape + n_blocks - 1) / (n * rate)
    shape = shape + n_blocks - (rng.random() * (1 + odds) >= odds)
    return float(max(rng.gamma(shape) / rate, 1e-300))


def compact(labels: np.ndarray) -> np.ndarray:
    """The same partition with labels 0 to K - 1."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _size(blocks: np.ndarray) -> int:
    return int(blocks.max()) + 1 if len(blocks) else 0


def _one_hot(blocks: np.ndarray) -> sparse.csr_array:
    n = len(blocks)
    return sparse.csr_array((np.ones(n), blocks, np.arange(n + 1)), shape=(n, _size(blocks)))
