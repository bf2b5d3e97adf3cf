"""AUC of hidden dyads against seconds, step by step; only the steps are timed, not the measuring."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from klafter.core.draws import predictor
from klafter.core.families import BERNOULLI, Law
from klafter.core.objective import objective
from klafter.core.problem import Problem, add_communities, make_priors, make_problem
from klafter.graph import Graph
from klafter.models.restart import SMOOTH_PENALTY
from klafter.sampling import lfrm
from klafter.search import dense, paper
from klafter.search.starts import neighbourhoods

START = 10  # communities to begin with, as in the paper's Figure 1
SCALES = {"weight_scale": 3.2, "offdiagonal_scale": 1.4}


def timed(steps: Iterator, held, average: Callable) -> dict[str, list]:
    """Run the steps of a method; after each, its seconds so far, its AUC, its number of communities."""
    curve: dict[str, list] = {"seconds": [], "roc_auc": [], "n_communities": []}
    probabilities: list[np.ndarray] = []
    spent, begun = 0.0, time.perf_counter()
    for stage, state in steps:
        spent += time.perf_counter() - begun
        probabilities.append(expit(predictor(lfrm.as_draw(state), held.pairs)).astype(np.float32))
        auc = roc_auc_score(held.values > 0, average(stage, probabilities))
        for name, value in zip(curve, (spent, float(auc), len(state.z))):
            curve[name].append(value)
        begun = time.perf_counter()
    return curve


def last(stage: str, probabilities: list) -> np.ndarray:
    """A point estimate predicts by itself."""
    return probabilities[-1]


def later_half(stage: str, probabilities: list) -> np.ndarray:
    """A chain predicts by the mean of the later half of its sweeps."""
    return np.mean(probabilities[len(probabilities) // 2 :], axis=0)


class Smoothed:
    """While searching the last state predicts; while smoothing the mean of the later two thirds of the sweeps."""

    def __init__(self):
        self.n_search = 0

    def __call__(self, stage: str, probabilities: list) -> np.ndarray:
        if stage == "search":
            self.n_search = len(probabilities)
            return probabilities[-1]
        sweeps = probabilities[self.n_search :]
        return np.mean(sweeps[len(sweeps) // 3 :], axis=0)


def posterior(train: Graph) -> Problem:
    """The model of ``KLafter`` and ``LFRM`` with their default scales."""
    return make_problem(train, Law(BERNOULLI), make_priors(0.0, 1.0, **SCALES))


def klafter_steps(train: Graph, rng, n_smooth: int, max_iter: int = 20, tol: float = 1e-4) -> Iterator:
    """One descent of K-LAFTER at T = 1, then sweeps around its optimum, as a restart of ``KLafter`` makes them."""
    problem = posterior(train)
    state = dense.init(problem, rng, neighbourhoods(problem, START, rng))
    yield "search", state
    value = objective(problem, state)
    for _ in range(max_iter):
        state = dense.step(problem, state, rng)
        yield "search", state
        before, value = value, objective(problem, state)
        if before - value < tol * abs(value):
            break
    problem = problem._replace(priors=problem.priors._replace(penalty=SMOOTH_PENALTY))
    chain = lfrm.start(problem, state)
    for _ in range(n_smooth):
        chain = lfrm.step(problem, chain, rng, learn=True)
        yield "smoothing", chain.state


def lfrm_steps(train: Graph, rng, n_sweeps: int) -> Iterator:
    """LFRM-MCMC from random memberships: the same model, sampled."""
    problem = posterior(train)
    state = add_communities(dense.init(problem, rng), rng.random((START, train.n_nodes)) < 0.1, 0.0)
    w = rng.normal(0.0, SCALES["offdiagonal_scale"], (START, START))
    np.fill_diagonal(w, rng.normal(0.0, SCALES["weight_scale"], START))
    state = state._replace(w=w if train.directed else np.triu(w) + np.triu(w, 1).T)
    yield "start", state
    chain = lfrm.start(problem, state)
    for _ in range(n_sweeps):
        chain = lfrm.step(problem, chain, rng, learn=True)
        yield "sweep", chain.state


def paper_steps(train: Graph, rng, n_iterations: int, penalty: float = 0.5) -> Iterator:
    """The paper's algorithm."""
    price = penalty if train.directed else penalty / 2
    problem = make_problem(train, Law(BERNOULLI), make_priors(price, 0.0), offset=False, sociality=False)
    state = paper.init(problem, rng, START, 1.0)
    yield "search", state
    for _ in range(n_iterations):
        state = paper.step(problem, state, rng, sigma=1.0, whole_rows=False, method="gradient")
        yield "search", state
