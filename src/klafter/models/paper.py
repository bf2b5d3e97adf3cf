"""The paper's own K-LAFTER as an estimator, so that anyone can see what it does and costs."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from klafter.core.families import FAMILIES, check_values
from klafter.core.objective import objective
from klafter.core.problem import State, make_priors, make_problem
from klafter.graph import Graph
from klafter.jit.compilation import announce_compilation
from klafter.models.base import NetworkModel, Run
from klafter.models.checks import check_choice, check_integer, check_memory, check_nodes, check_real
from klafter.models.results.publish import Fitted, from_paper
from klafter.search import paper
from klafter.search.progress import Progress, Step, iterate

DYAD_BYTES = 10  # of engines that look at all dyads: memory for each


class PaperKLafter(NetworkModel):
    """K-LAFTER exactly as published: T = 0, no offset, random single-node births. Use ``KLafter`` for real work.

    Parameters
    ----------
    penalty : float
        lambda^2 of the paper, whose sum runs over ordered pairs. On an undirected graph each pair counts once here,
        so half of it is charged and ``objective_`` is half of the paper's Q.
    n_communities : int
        Communities to start with; the number is learned from there.
    whole_rows : bool
        K-LAFTER-I: every row is set to the best of its 2^K patterns while K is at most 12.
    weights : {"gradient", "derivative-free"}
        How W is fitted: L-BFGS-B, or Powell's search, which like the authors' asks for values of Q alone.
    sigma : float
        Standard deviation of fresh weights.
    max_iter, patience : int
        Most iterations, and how many without a fall of Q end the search.
    random_state : int, optional
        The same seed gives the same result.
    """

    structure = 0.0  # the paper predicts from x alone

    def __init__(
        self,
        *,
        penalty: float = 0.5,
        n_communities: int = 1,
        whole_rows: bool = False,
        weights: str = "gradient",
        sigma: float = 1.0,
        max_iter: int = 100,
        patience: int = 10,
        random_state: Any = None,
    ) -> None:
        self.penalty = penalty
        self.n_communities = n_communities
        self.whole_rows = whole_rows
        self.weights = weights
        self.sigma = sigma
        self.max_iter = max_iter
        self.patience = patience
        self.random_state = random_state

    def _check_parameters(self, graph: Graph) -> None:
        check_choice(self, "weights", ("gradient", "derivative-free"))
        check_real(self, "penalty", low=0.0)
        check_real(self, "sigma", low=0.0, strict=True)
        for name in ("n_communities", "max_iter", "patience"):
            check_integer(self, name, 1)
        check_nodes(self, graph.n_nodes)
        check_memory(
            DYAD_BYTES * float(graph.n_nodes) ** 2,
            f"PaperKLafter on {graph.n_nodes:,} nodes",
            "Use KLafter, whose sparse engine takes large networks, or fewer nodes.",
        )
        check_values(FAMILIES["bernoulli"], graph.links.data, type(self).__name__)

    def _fit(self, graph: Graph, run: Run) -> Fitted:
        rng = np.random.default_rng(run.seeds)
        penalty = self.penalty if graph.directed else self.penalty / 2
        problem = make_problem(
            graph, FAMILIES["bernoulli"].law(), make_priors(penalty, 0.0), offset=False, sociality=False
        )
        begun, quiet = time.perf_counter(), 0
        history: list[Step] = []

        def move(state: State) -> State:
            return paper.step(problem, state, rng, sigma=self.sigma, whole_rows=self.whole_rows, method=self.weights)

        def done(t: int, state: State) -> bool:
            nonlocal quiet
            value = objective(problem, state)
            quiet = 0 if not history or value < history[-1].objective - 1e-6 else quiet + 1
            history.append(Step(0, t + 1, time.perf_counter() - begun, value, len(state.z)))
            stop_now = run.callback(Progress("search", 0, 1, t + 1, self.max_iter, value, len(state.z)))
            return bool(stop_now) or quiet >= self.patience

        with announce_compilation():
            state = paper.init(problem, rng, self.n_communities, self.sigma)
            state = iterate(move, state, self.max_iter, done, threading.Event())
        return from_paper(problem, state, history)
