"""Problem and State: what is minimised, and over what.

    x_ij = b + s_i + r_j + z_i' W z_j + g' v_ij
    Q = sum_ij loss(y_ij, x_ij) + lambda^2 K
        + T { sum_k [log S_k + log C(N, S_k)] + |W|^2 / (2 sw^2) + (|s|^2 + |r|^2) / (2 ss^2) + |g|^2 / (2 sg^2)
              + b^2 / (2 sb^2) }

The sum runs over observed dyads: ordered pairs when directed, each pair once when undirected (then W is symmetric,
s = r, and each free entry of W counts once). W has one scale on the diagonal and another off it. T = 0 without b, s
and g is the objective of Arora et al. (IJCAI 2018); T = 1 is minus the log posterior of the latent feature relational
model of Miller, Griffiths and Jordan (NIPS 2009) with alpha = exp(-lambda^2).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from klafter.core.families import Law
from klafter.graph import Graph
from klafter.graph.dyads import Dyads

BOUND = 30.0  # no weight goes beyond: without a prior, separable data would send it to infinity
FLOOR = 1e-6  # the smallest background exposure: below it, an unexplained link would be impossible


class Priors(NamedTuple):
    """Prices and precisions, the temperature already multiplied in."""

    penalty: float  # lambda^2
    temperature: float  # T
    diagonal: float  # T / sw^2
    offdiagonal: float
    sociality: float
    coefficient: float
    offset: float


class Problem(NamedTuple):
    """The data, the family and the prices, as kernels read them. Which dyads are hidden is also told by ``seen``."""

    dyads: Dyads
    seen_out: np.ndarray  # (n, n) of 0/1, uint8: which dyads were observed, by source
    seen_in: np.ndarray  # by target; the same array when undirected
    law: Law
    priors: Priors
    lower: float  # of every parameter: 0 where x must not be negative
    has_offset: bool
    has_sociality: bool
    counts: bool  # whether the price of Z learns how many communities a node holds
    selects: bool  # whether sweeps may leave a coefficient at 0, which has probability 1/2 a priori
    n_covariates: int  # also those without an entry


class State(NamedTuple):
    """The parameters. Arrays are changed in place by kernels; births and deaths make new ones."""

    z: np.ndarray  # (K, n) of 0/1, uint8
    w: np.ndarray  # (K, K)
    offset: np.ndarray  # (1,)
    sender: np.ndarray  # (n,)
    receiver: np.ndarray  # (n,), the same array as sender when undirected
    coefficients: np.ndarray  # (p,)


def make_priors(
    penalty: float = 1.0, temperature: float = 1.0, weight_scale: float = 3.0, offdiagonal_scale: float | None = None,
    sociality_scale: float = 1.0, coefficient_scale: float = 3.0, offset_scale: float = 10.0,
) -> Priors:  # fmt: skip
    """Prices from scales (standard deviations)."""
    off = weight_scale if offdiagonal_scale is None else offdiagonal_scale
    precisions = [
        temperature / scale**2 for scale in (weight_scale, off, sociality_scale, coefficient_scale, offset_scale)
    ]
    return Priors(float(penalty), float(temperature), *map(float, precisions))


def make_problem(
    graph: Graph, law: Law, priors: Priors, *,
    offset: bool = True, sociality: bool = True, counts: bool = False, selects: bool = False,
) -> Problem:  # fmt: skip
    """The problem of a graph."""
    lower = 0.0 if law.nonnegative else -BOUND
    dyads = graph.dyads
    seen_out = _observed(dyads)
    seen_in = np.ascontiguousarray(seen_out.T) if dyads.directed else seen_out
    return Problem(
        dyads, seen_out, seen_in, law, priors, lower, bool(offset), bool(sociality), bool(counts), bool(selects),
        len(graph.covariates),
    )  # fmt: skip


def _observed(dyads: Dyads) -> np.ndarray:
    n, hidden = dyads.n, dyads.hidden_out
    seen = np.ones((n, n), np.uint8)
    np.fill_diagonal(seen, 0)
    seen[np.repeat(np.arange(n), np.diff(hidden.start)), hidden.node] = 0
    if len(dyads.kind):
        seen &= dyads.linkable[dyads.kind[:, None], dyads.kind]
    return seen


def n_observed(problem: Problem) -> int:
    """Ordered pairs that were observed."""
    return int(problem.seen_out.sum(dtype=np.int64))


def empty_state(problem: Problem) -> State:
    """No communities, and an offset that explains the density."""
    n, directed = problem.dyads.n, problem.dyads.directed
    sender = np.zeros(n)
    receiver = np.zeros(n) if directed else sender
    offset = np.array([0.1 if problem.law.nonnegative and problem.has_offset else 0.0])
    return State(np.zeros((0, n), np.uint8), np.zeros((0, 0)), offset, sender, receiver, np.zeros(problem.n_covariates))


def copy_state(state: State) -> State:
    """A copy that shares no array, receiver and sender staying one when they were."""
    sender = state.sender.copy()
    receiver = sender if state.receiver is state.sender else state.receiver.copy()
    return State(state.z.copy(), state.w.copy(), state.offset.copy(), sender, receiver, state.coefficients.copy())


def keep_communities(state: State, keep: NDArray[Any]) -> State:
    """The state with only some of its communities."""
    return state._replace(z=np.ascontiguousarray(state.z[keep]), w=np.ascontiguousarray(state.w[keep][:, keep]))


def add_communities(state: State, members: np.ndarray, w_diagonal: ArrayLike) -> State:
    """The state with further communities, (m, n) of 0/1, that touch the others with weight 0."""
    k, m = len(state.z), len(members)
    w = np.zeros((k + m, k + m))
    w[:k, :k] = state.w
    np.fill_diagonal(w[k:, k:], w_diagonal)
    return state._replace(z=np.concatenate([state.z, members.astype(np.uint8, copy=False)]), w=w)
