"""The weight a of the prior on degree factors, learned: how unlike the degrees are that communities leave to explain.

Of a node whose links have an expected count m, and would have A at a factor of 1, F holds

    A t - m log t + a T (t - 1 - log t) + T [log Gamma(a) - a log a + a + 1/2 log(a + m)],   t = (a T + m) / (a T + A)

so that a is a minimum along one line, the rest as it is. Weights follow, and the score judges.
"""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from klafter.search.config import SEARCH
from klafter.search.sparse.state import Problem, State, laid_out
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import totals, weights

SAME = 0.02  # change of log a that is none


def learn_degree_prior(problem: Problem, state: State, pool: ThreadPool) -> tuple[Problem, State]:
    """The problem with the weight that fits the state, and the state with weights that follow."""
    t = problem.temperature
    sums, a = totals(problem, state, pool), problem.shrinkage
    sides = [(sums.sent, state.send), (sums.received, state.receive)][: 2 if problem.pair_weight == 1.0 else 1]
    counts, factors = (np.concatenate(parts) for parts in zip(*((m[f > 0], f[f > 0]) for m, f in sides)))
    rates = np.maximum((a + counts) / factors - a, 0.0)
    low, high = np.log(SEARCH.sparse.degree_priors)
    best = minimize_scalar(lambda b: price(np.exp(b), t, counts, rates), bounds=(low, high), method="bounded").x
    if abs(best - np.log(a / t)) < SAME:
        return problem, state
    problem = problem._replace(shrinkage=float(np.exp(best)) * t)
    return problem, weights(problem, laid_out(problem, state), pool)


def price(a: float, temperature: float, counts: np.ndarray, rates: np.ndarray) -> float:
    """What F has of a, factors at their best."""
    weight = a * temperature
    t = (weight + counts) / (weight + rates)
    fit = rates * t - counts * np.log(t) + weight * (t - 1.0 - np.log(t))
    constant = gammaln(a) - a * np.log(a) + a
    return float(fit.sum() + temperature * (constant + 0.5 * np.log(a + counts)).sum())
