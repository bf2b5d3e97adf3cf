"""AUC of hidden dyads against seconds, step by step; only the steps are timed, not the measuring."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from klafter.core.families import FAMILIES
from klafter.core.problem import Problem, add_communities, make_priors, make_problem
from klafter.graph import Graph
from klafter.sampling import lfrm
from klafter.search import paper
from klafter.search.config import SEARCH
from klafter.search.dense import engine as dense
from klafter.search.restart import cooler, without_sociality
from klafter.search.starts import neighbourhoods

START = 10  # communities to begin with, as in the paper's Figure 1
RESTARTS, THREADS = 4, 2  # of K-LAFTER; a chain is one after the other by nature
SCALES = {"weight_scale": 3.2, "offdiagonal_scale": 1.4}


def timed(steps: Iterator, held, average: Callable) -> dict[str, list]:
    """Run the steps of a method; after each, its seconds so far (wall and CPU), its AUC, its number of communities.

    A step is a stage and a state, or several: those of restarts side by side.
    """
    curve: dict[str, list] = {"seconds": [], "cpu_seconds": [], "roc_auc": [], "n_communities": []}
    probabilities: list[np.ndarray] = []
    spent, begun = np.zeros(2), _clocks()
    for stage, found in steps:
        spent += _clocks() - begun
        states = found if isinstance(found, list) else [found]
        each = [expit(lfrm.as_draw(state).predictor(held.pairs)) for state in states]
        probabilities.append(np.mean(each, axis=0).astype(np.float32))
        auc = roc_auc_score(held.values > 0, average(stage, probabilities))
        size = float(np.mean([len(state.z) for state in states]))
        for name, value in zip(curve, (*spent.tolist(), float(auc), size)):
            curve[name].append(value)
        begun = _clocks()
    return curve


def _clocks() -> np.ndarray:
    return np.array([time.perf_counter(), time.process_time()])


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
    return make_problem(train, FAMILIES["bernoulli"].law(), make_priors(0.0, 1.0, **SCALES))


def klafter_steps(train: Graph, rng, n_smooth: int) -> Iterator:
    """Restarts of K-LAFTER side by side, a step is one of all: births, flips and weights, then sweeps.

    As in ``KLafter`` they grow to a richer state than the optimum, and every second one sweeps without sociality; the
    optimum itself, which predictions do not need, is not looked for.
    """
    problem, rngs = posterior(train), rng.spawn(RESTARTS)
    with ThreadPoolExecutor(THREADS) as pool:

        def each(step, states):
            return list(pool.map(step, states, rngs))

        states = each(lambda _, rng: dense.init(problem, rng, neighbourhoods(problem, START, rng)), rngs)
        yield "search", states
        cool = cooler(problem)
        states = each(lambda state, rng: dense.grow(cool, state, dense.score(cool, state), rng)[0], states)
        yield "search", states
        pairs = [without_sociality(problem, state) if r % 2 else (problem, state) for r, state in enumerate(states)]
        problems = [p._replace(priors=p.priors._replace(penalty=SEARCH.restart.smooth_penalty)) for p, _ in pairs]
        chains = [(p, lfrm.start(p, state)) for p, (_, state) in zip(problems, pairs)]
        for _ in range(n_smooth):
            chains = each(lambda pair, rng: (pair[0], lfrm.step(pair[0], pair[1], rng, learn=True)), chains)
            yield "smoothing", [chain.state for _, chain in chains]


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


def paper_steps(train: Graph, rng, n_iterations: int) -> Iterator:
    """The paper's algorithm."""
    price = 0.5 if train.directed else 0.25  # the paper sums over ordered pairs
    problem = make_problem(train, FAMILIES["bernoulli"].law(), make_priors(price, 0.0), offset=False, sociality=False)
    state = paper.init(problem, rng, START, 1.0)
    yield "search", state
    for _ in range(n_iterations):
        state = paper.step(problem, state, rng, sigma=1.0, whole_rows=False, method="gradient")
        yield "search", state
