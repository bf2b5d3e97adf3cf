"""The latent feature relational model by MCMC (Miller, Griffiths and Jordan, NIPS 2009): the posterior at T = 1.

A sweep draws (a) memberships that others share, by Gibbs with K-LAFTER's flip gain; (b) the communities that only one
node holds, jointly with fresh ones, by Metropolis; (c) W, sociality, offset and coefficients, by slices along lines;
(d) when ``learn`` is set, alpha | K ~ Gamma(a + K, b + H_N) and the variances of W, inverse gamma given W.

Z has the Indian buffet's prior or, where the problem says ``counts``, that of learned counts (``core.cover_price``):

    p([Z]) ~ exp(-penalty K - price(Z)) / prod_h K_h!    [Z]: its columns in any order, K_h of them alike, none empty

Summed over Z of K communities exp(-price) is at most 1, and falls as 1 / K when K is large: with a penalty above 0 this
can be normalised. There is no alpha to learn: the norm, a function of the penalty, is not known.
"""

from functools import lru_cache
from math import log
from typing import NamedTuple

import numpy as np

from klafter.core.draws import LinearDraw
from klafter.core.objective import objective
from klafter.core.problem import Priors, Problem, State, add_communities, copy_state, make_priors
from klafter.sampling.lfrm_kernels import sweep
from klafter.search.dense.communities import drop_empty

SLOTS = 8  # empty columns in which a sweep may start new communities
ALPHA_SHAPE, ALPHA_RATE = 1.0, 1.0
SCALE_SHAPE = 3.0  # of the inverse gamma priors on variances: as many pseudo-weights, at the scale given at the start
USUAL = make_priors(weight_scale=3.2, offdiagonal_scale=1.4)


class Chain(NamedTuple):
    """Where a chain stands: parameters, the prices drawn with them, and the prices it began with."""

    state: State
    priors: Priors
    first: Priors = USUAL


def at_temperature_one(problem: Problem) -> Problem:
    """The same problem as a posterior: T = 1."""
    priors, t = problem.priors, problem.priors.temperature
    if t == 1.0:
        return problem
    if t == 0.0:
        raise ValueError("A posterior needs temperature > 0; temperature=0 leaves W without a prior.")
    scaled = [getattr(priors, name) / t for name in Priors._fields[2:]]
    return problem._replace(priors=Priors(priors.penalty, 1.0, *scaled))


def start(problem: Problem, state: State) -> Chain:
    """A chain that begins at a state."""
    priors = at_temperature_one(problem).priors
    return Chain(copy_state(drop_empty(state)), priors, priors)


def step(problem: Problem, chain: Chain, rng, *, learn: bool = False, share: float = 1.0) -> Chain:
    """One sweep, which draws a random ``share`` of W off the diagonal; arrays of the chain given are left alone."""
    problem = problem._replace(priors=chain.priors)
    state = add_communities(copy_state(chain.state), np.zeros((SLOTS, problem.dyads.n), np.uint8), 0.0)
    fresh = rng.poisson(np.exp(-problem.priors.penalty) / problem.dyads.n, problem.dyads.n)
    sweep(problem, state, fresh, share, rng)
    state = drop_empty(state)
    return chain._replace(state=state, priors=draw_priors(problem, state, rng, chain.first) if learn else chain.priors)


def log_posterior(problem: Problem, chain: Chain) -> float:
    """Log density of the state, up to a constant."""
    return -objective(problem._replace(priors=chain.priors), chain.state)


def as_draw(state: State, scale: float = 1.0) -> LinearDraw:
    """What prediction needs; ``scale`` is the unit in which link values were measured."""
    from scipy import sparse

    which = np.nonzero(state.z.T)[1]  # the communities of the first node, of the second, ...
    start = np.concatenate([[0], np.cumsum(state.z.sum(axis=0, dtype=np.int64))])
    memberships = sparse.csr_array((np.ones(len(which)), which, start), shape=state.z.shape[::-1])
    return LinearDraw(
        memberships,
        state.w * scale,
        float(state.offset[0]) * scale,
        state.sender * scale,
        state.receiver * scale,
        state.coefficients * scale,
    )


def draw_priors(problem: Problem, state: State, rng, first: Priors = USUAL) -> Priors:
    """alpha, where the prior of Z has one, and the variances of W given the state."""
    inside, between = free_weights(state.w, problem.dyads.directed)
    penalty = problem.priors.penalty if problem.counts else draw_penalty(len(state.z), problem.dyads.n, rng)
    return problem.priors._replace(
        penalty=penalty,
        diagonal=draw_precision(inside, first.diagonal, rng),
        offdiagonal=draw_precision(between, first.offdiagonal, rng),
    )


def draw_penalty(k: int, n: int, rng) -> float:
    """-log alpha, alpha | K ~ Gamma(a + K, b + H_N)."""
    return -log(max(rng.gamma(ALPHA_SHAPE + k, 1.0 / (ALPHA_RATE + harmonic(n))), 1e-300))


def free_weights(w: np.ndarray, directed: bool) -> tuple[np.ndarray, np.ndarray]:
    """The entries of W inside and between communities, each free one once."""
    k = len(w)
    return np.diag(w), w[~np.eye(k, dtype=bool)] if directed else w[upper(k)]


@lru_cache
def upper(k: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the entries above the diagonal."""
    return np.triu_indices(k, 1)


@lru_cache
def harmonic(n: int) -> float:
    """H_N = 1 + 1/2 + ... + 1/N."""
    return float(np.sum(1.0 / np.arange(1, n + 1)))


def draw_precision(values: np.ndarray, first: float, rng) -> float:
    """1 / sw^2 | W ~ Gamma(a + m / 2, rate a / first + |w|^2 / 2): a priori its mean is the precision given first."""
    rate = SCALE_SHAPE / first + 0.5 * float((values**2).sum())
    return float(rng.gamma(SCALE_SHAPE + values.size / 2, 1.0 / rate))


def log_precision(precision: float, first: float) -> float:
    """Log density of its Gamma(a, rate a / first) prior, up to a constant."""
    return (SCALE_SHAPE - 1) * log(precision) - SCALE_SHAPE * precision / first
