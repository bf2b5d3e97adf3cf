"""The chain of the latent feature relational model as an engine: ``lfrm`` holds the sweep, this its priors and starts.

    Z ~ IBP(alpha)    W_kk ~ N(0, sw^2)    W_kl ~ N(0, so^2)    s_i, r_i ~ N(0, 1)    y_ij ~ family(x_ij)

or Z with learned counts, see ``lfrm``. With ``learn``: alpha ~ Gamma(1, 1), and 1 / sw^2 ~ Gamma(3, rate 3 scale^2),
likewise 1 / so^2. The precision of Gaussian link values is always drawn, from Gamma(1, 1) a priori, link values being
measured in units of their size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np

from klafter.core.draws import LinearDraw
from klafter.core.families import FAMILIES
from klafter.core.objective import data_loss, objective
from klafter.core.problem import Priors, Problem, State, add_communities, make_priors, make_problem
from klafter.core.workspace import open_workspace
from klafter.sampling import lfrm
from klafter.sampling.irm import IRMEngine
from klafter.search.dense import engine as dense
from klafter.search.dense.communities import drop_empty
from klafter.search.starts import neighbourhoods

PRECISION_SHAPE, PRECISION_RATE = 1.0, 1.0


class LFRMState(NamedTuple):
    """Parameters, the prices drawn with them, and the precision of Gaussian link values."""

    state: State
    priors: Priors
    precision: float


@dataclass(frozen=True)
class LFRMEngine:
    """The chain of the latent feature relational model, with the parameters of ``models.LFRM``.

    ``penalty`` and the scales are those at the start when they are learned, ``unit`` is the unit in which link values
    were measured; draws undo it.
    """

    family: str = "bernoulli"
    prior: str = "buffet"
    penalty: float = 0.0
    sociality: bool = True
    weight_scale: float = 3.2
    offdiagonal_scale: float = 1.4
    learn: bool = True
    start: str = "random"
    unit: float = 1.0

    @property
    def response(self) -> str:
        return FAMILIES[self.family].response

    @property
    def _first(self) -> Priors:
        """The prices and scales given."""
        return make_priors(self.penalty, 1.0, self.weight_scale, self.offdiagonal_scale)

    # ---- starts -------------------------------------------------------------------------------------------------

    def init(self, graph, rng) -> LFRMState:
        """A first state, by the start asked for."""
        priors, problem = self._first, self._problem(graph, self._first, 1.0)
        starts: dict[str, Callable] = {"random": self._scatter, "irm": self._blocks, "klafter": self._descend}
        state = LFRMState(drop_empty(starts[self.start](graph, problem, rng)), priors, 1.0)
        return state._replace(precision=self._draw_precision(graph, state, rng))

    def _scatter(self, graph, problem: Problem, rng, size: int = 10, share: float = 0.1) -> State:
        """Random memberships, W from the prior, the rest fitted without them."""
        state = dense.init(problem, rng)
        members = (rng.random((size, graph.n_nodes)) < share).astype(np.uint8)
        state = add_communities(state, members, 0.0)
        w = rng.normal(0.0, self.offdiagonal_scale, (size, size))
        np.fill_diagonal(w, rng.normal(0.0, self.weight_scale, size))
        return state._replace(w=w if graph.directed else np.triu(w) + np.triu(w, 1).T)

    def _blocks(self, graph, problem: Problem, rng, n_sweeps: int = 20) -> State:
        """One community for each block, W fitted."""
        counts = self.family == "poisson"
        engine, observed = IRMEngine("poisson" if counts else "bernoulli"), graph if counts else graph.binarize()
        blocks = engine.init(observed, rng)
        for _ in range(n_sweeps):
            blocks = engine.step(observed, blocks, rng)
        return dense.init(problem, rng, np.ascontiguousarray(engine.communities(blocks).T.astype(np.uint8)))

    def _descend(self, graph, problem: Problem, rng, n_steps: int = 10, tol: float = 1e-3) -> State:
        """An optimum of K-LAFTER at T = 1."""
        state = dense.init(problem, rng, neighbourhoods(problem, int(np.sqrt(graph.n_nodes)), rng))
        value = dense.score(problem, state)
        for _ in range(n_steps):
            before = value
            state, value = dense.step(problem, state, value, rng)
            if before - value < tol * abs(value):
                break
        return state

    # ---- sweeps -------------------------------------------------------------------------------------------------

    def step(self, graph, state: LFRMState, rng) -> LFRMState:
        """Memberships, weights, then what is learned of the priors."""
        problem = self._problem(graph, state.priors, state.precision)
        chain = lfrm.step(problem, lfrm.Chain(state.state, state.priors, self._first), rng, learn=self.learn)
        state = LFRMState(chain.state, chain.priors, state.precision)
        return state._replace(precision=self._draw_precision(graph, state, rng))

    def _problem(self, graph, priors: Priors, precision: float) -> Problem:
        law = FAMILIES[self.family].law(precision)
        return make_problem(graph, law, priors, sociality=self.sociality, counts=self.prior == "counts")

    def _draw_precision(self, graph, state: LFRMState, rng) -> float:
        """tau ~ Gamma(a + dyads / 2, rate b + sum of squares / 2)."""
        if not FAMILIES[self.family].quadratic:
            return 1.0
        half_squares = self._loss(graph, state._replace(precision=1.0))
        return float(rng.gamma(PRECISION_SHAPE + graph.n_dyads / 2) / (PRECISION_RATE + half_squares))

    def _loss(self, graph, state: LFRMState) -> float:
        problem = self._problem(graph, state.priors, state.precision)
        return float(data_loss(open_workspace(problem, state.state)))

    # ---- what it says -------------------------------------------------------------------------------------------

    def log_posterior(self, graph, state: LFRMState) -> float:
        """log p(y, Z, W, ...) up to a constant: minus the objective, and the log prior of what is learned.

        A density of W in units of its scale, W / sw, so that states with different K compare as in K-LAFTER.
        """
        priors = state.priors
        total = -objective(self._problem(graph, priors, state.precision), state.state)
        if self.learn:
            total += lfrm.log_precision(priors.diagonal, self._first.diagonal)
            total += lfrm.log_precision(priors.offdiagonal, self._first.offdiagonal)
        if self.learn and self.prior == "buffet":
            rate = lfrm.ALPHA_RATE + lfrm.harmonic(graph.n_nodes)
            total += (1 - lfrm.ALPHA_SHAPE) * priors.penalty - rate * np.exp(-priors.penalty)
        if FAMILIES[self.family].quadratic:
            total += (PRECISION_SHAPE - 1) * log(state.precision) - PRECISION_RATE * state.precision
        return float(total)

    def draw(self, graph, state: LFRMState) -> LinearDraw:
        """Memberships and weights in the units of the links; communities with the same members are one."""
        return lfrm.as_draw(merge_twins(state.state), self.unit)

    def communities(self, state: LFRMState) -> np.ndarray:
        """(n, K) of 0/1, columns as in ``draw``."""
        return merge_twins(state.state).z.T.astype(np.int8)

    def held(self, draw: LinearDraw) -> np.ndarray:
        """The same of a draw."""
        return draw.memberships.toarray().astype(np.int8)


def merge_twins(state: State) -> State:
    """Communities with the same members as one, their weights added up: x stays the same."""
    rows = [row.tobytes() for row in state.z]
    names = list(dict.fromkeys(rows))
    if len(names) == len(rows):
        return state
    first = [rows.index(name) for name in names]
    fold = np.array([[row == name for name in names] for row in rows], float)
    return state._replace(z=np.ascontiguousarray(state.z[first]), w=fold.T @ state.w @ fold)
