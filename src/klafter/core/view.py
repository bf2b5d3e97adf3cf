"""What kernels look at: the arrays of problem and state side by side, and what is derived from them.

Kernels receive one reference to a struct of these. As nested tuples, every call would hand over and count fifty arrays
one by one, and most of the time would go there, in running and even more in compiling.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.experimental import structref

from klafter.core.families import Law
from klafter.core.kernel import inner, kernel
from klafter.core.problem import BOUND, Priors, Problem, State
from klafter.core.responses import CLIP
from klafter.graph import Rows

SAFE = CLIP - 4 * BOUND  # pulls up to here, with b and s on top, stay below CLIP


class Row(NamedTuple):
    """One node's dyads in one direction."""

    x: np.ndarray  # (n,)
    e: np.ndarray  # (n,) e^x, 0 where not observed
    seen: np.ndarray  # (n,) 1 where observed
    base: np.ndarray  # (3,) sum over observed j of loss(0, x_j), whether some x was clipped, 1 if incoming


class Fields(NamedTuple):
    """What a view holds. Arrays of the state and those derived from it are changed in place by kernels."""

    law: Law
    priors: Priors
    n: int
    directed: bool
    lower: float
    has_offset: bool
    has_sociality: bool
    links_out: Rows
    links_in: Rows
    hidden_out: Rows
    hidden_in: Rows
    covariates_out: Rows
    covariates_in: Rows
    which_out: np.ndarray
    which_in: np.ndarray
    z: np.ndarray
    w: np.ndarray
    offset: np.ndarray
    sender: np.ndarray
    receiver: np.ndarray
    coefficients: np.ndarray
    size: np.ndarray  # (K,) int64, members
    pull_out: np.ndarray  # (K, n): (W z_j)_k, what j adds to x_ij for each community k of i
    pull_in: np.ndarray  # (K, n): (W' z_j)_k, what j adds to x_ji; the same array when undirected
    exp_out: np.ndarray  # (K, n): e^pull_out
    exp_in: np.ndarray
    exp_sender: np.ndarray  # (n,): e^s
    exp_receiver: np.ndarray
    reach: np.ndarray  # (K,): no pull of k is larger in size
    out: Row  # room for one node's dyads, outgoing and incoming
    into: Row


@structref.register
class ViewType(types.StructRef):
    """The type of views in kernels."""


class View(structref.StructRefProxy):
    """A reference to the fields, as kernels take it."""


structref.define_proxy(View, ViewType, list(Fields._fields))
DERIVED = ("size", "pull_out", "pull_in", "exp_out", "exp_in", "exp_sender", "exp_receiver")


def _exp(x: np.ndarray) -> np.ndarray:
    return np.exp(np.minimum(np.maximum(x, -CLIP), CLIP))


def new_row(n: int, side: int) -> Row:
    return Row(np.empty(n), np.empty(n), np.empty(n), np.array([0.0, 0.0, side]))


def derive(problem: Problem, state: State) -> Fields:
    """The fields of a view, everything derived from scratch."""
    dyads, directed = problem.dyads, problem.dyads.directed
    z = state.z.astype(float)
    pull_out = pull_in = np.ascontiguousarray(state.w @ z)
    exp_out = exp_in = _exp(pull_out)
    exp_sender = exp_receiver = np.exp(state.sender)
    reach = np.abs(pull_out).max(axis=1, initial=0.0)
    if directed:
        pull_in = np.ascontiguousarray(state.w.T @ z)
        exp_in, exp_receiver = _exp(pull_in), np.exp(state.receiver)
        reach = np.maximum(reach, np.abs(pull_in).max(axis=1, initial=0.0))
    return Fields(
        problem.law, problem.priors, dyads.n, directed, problem.lower, problem.has_offset, problem.has_sociality,
        *dyads[2:],
        *state,
        state.z.sum(axis=1, dtype=np.int64), pull_out, pull_in, exp_out, exp_in, exp_sender, exp_receiver, reach,
        new_row(dyads.n, 0), new_row(dyads.n, 1),
    )  # fmt: skip


@kernel
def as_view(fields):
    """A view of the fields; their arrays are shared."""
    return View(
        fields.law, fields.priors, fields.n, fields.directed, fields.lower, fields.has_offset, fields.has_sociality,
        fields.links_out, fields.links_in, fields.hidden_out, fields.hidden_in, fields.covariates_out,
        fields.covariates_in, fields.which_out, fields.which_in, fields.z, fields.w, fields.offset, fields.sender,
        fields.receiver, fields.coefficients, fields.size, fields.pull_out, fields.pull_in, fields.exp_out,
        fields.exp_in, fields.exp_sender, fields.exp_receiver, fields.reach, fields.out, fields.into,
    )  # fmt: skip


def look(problem: Problem, state: State) -> View:
    """The view of a state."""
    return as_view(derive(problem, state))


@inner
def refresh_pulls(view, i):
    """(W z_i)_k and (W' z_i)_k for all k, after z_i changed."""
    z, w, reach, n_communities = view.z, view.w, view.reach, view.z.shape[0]
    pull, exps = view.pull_out, view.exp_out
    for side in range(2 if view.directed else 1):
        if side == 1:
            pull, exps = view.pull_in, view.exp_in
        for k in range(n_communities):
            pull[k, i] = 0.0
        for m in range(n_communities):
            if z[m, i]:
                for k in range(n_communities):
                    pull[k, i] += w[m, k] if side == 1 else w[k, m]
        for k in range(n_communities):
            exps[k, i] = np.exp(min(max(pull[k, i], -CLIP), CLIP))
            reach[k] = max(reach[k], abs(pull[k, i]))


@inner
def refresh_column(view, k):
    """(W z_j)_k and (W' z_j)_k for all j, after the weights of k changed."""
    z, w, reach, n_communities, n = view.z, view.w, view.reach, view.z.shape[0], view.n
    pull, exps = view.pull_out, view.exp_out
    reach[k] = 0.0
    for side in range(2 if view.directed else 1):
        if side == 1:
            pull, exps = view.pull_in, view.exp_in
        for j in range(n):
            pull[k, j] = 0.0
        for m in range(n_communities):
            weight = w[m, k] if side == 1 else w[k, m]
            for j in range(n):
                pull[k, j] += weight * z[m, j]
        for j in range(n):
            exps[k, j] = np.exp(min(max(pull[k, j], -CLIP), CLIP))
            reach[k] = max(reach[k], abs(pull[k, j]))


@inner
def refresh_columns(view, members):
    """The same for all communities; the first size[k] of members[k] hold k."""
    w, reach, size, n_communities, n = view.w, view.reach, view.size, view.z.shape[0], view.n
    pull, exps = view.pull_out, view.exp_out
    for side in range(2 if view.directed else 1):
        if side == 1:
            pull, exps = view.pull_in, view.exp_in
        for k in range(n_communities):
            reach[k] = reach[k] if side == 1 else 0.0
            for j in range(n):
                pull[k, j] = 0.0
            for m in range(n_communities):
                weight = w[m, k] if side == 1 else w[k, m]
                for s in range(size[m]):
                    pull[k, members[m, s]] += weight
            for j in range(n):
                exps[k, j] = np.exp(min(max(pull[k, j], -CLIP), CLIP))
                reach[k] = max(reach[k], abs(pull[k, j]))
