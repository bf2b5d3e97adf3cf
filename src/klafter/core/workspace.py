"""The workspace of kernels: the arrays of problem and state side by side, and what is derived from them.

Kernels receive one reference to a struct of these. As nested tuples, every call would hand over and count fifty arrays
one by one, and most of the time would go there, in running and even more in compiling.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.experimental import structref

from klafter.core.cover_price import count_memberships
from klafter.core.families import Law
from klafter.core.problem import BOUND, Priors
from klafter.core.responses import CLIP
from klafter.graph.dyads import Rows
from klafter.jit.decorators import bare, inner, kernel
from klafter.jit.structs import define_reference

SAFE = CLIP - 4 * BOUND  # effects up to here, with b and s on top, stay below CLIP


class Row(NamedTuple):
    """One node's dyads in one direction."""

    x: np.ndarray  # (n,)
    e: np.ndarray  # (n,) e^x, 0 where not observed
    seen: np.ndarray  # (n,) 1 where observed
    base: np.ndarray  # (3,) sum over observed j of loss(0, x_j), whether e^x had to be clipped, 1 if incoming


class Fields(NamedTuple):
    """What a workspace holds. Arrays of the state and those derived from it are changed in place by kernels."""

    law: Law
    priors: Priors
    n: int
    directed: bool
    lower: float
    has_offset: bool
    has_sociality: bool
    counts: bool
    selects: bool
    links_out: Rows
    links_in: Rows
    seen_out: np.ndarray
    seen_in: np.ndarray
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
    n_held: np.ndarray  # (n,) int64, communities of each node
    n_holding: np.ndarray  # (K + 2,) int64: how many nodes hold 0, 1, 2, ... communities
    held_total: np.ndarray  # (2,) int64: memberships in all, and communities with members
    effect_out: np.ndarray  # (K, n): (W z_j)_k, what j adds to x_ij for each community k of i
    effect_in: np.ndarray  # (K, n): (W' z_j)_k, what j adds to x_ji; the same array when undirected
    exp_out: np.ndarray  # (K, n): e^pull_out
    exp_in: np.ndarray
    exp_sender: np.ndarray  # (n,): e^s
    exp_receiver: np.ndarray
    max_effect: np.ndarray  # (K,): no effect of k is larger in size
    out: Row  # one node's dyads, outgoing and incoming
    into: Row


class WorkspaceType(types.StructRef):
    """The type of workspaces in kernels."""


class Workspace(structref.StructRefProxy):
    """A reference to the fields, as kernels take it."""


define_reference(Workspace, WorkspaceType, list(Fields._fields))


@inner
def new_row(n, side):
    return Row(np.empty(n), np.empty(n), np.empty(n), np.array([0.0, 0.0, side]))


@kernel
def open_workspace(problem, state):
    """The workspace of a state; its arrays are shared, and what is derived from them is worked out here."""
    dyads, n, directed, shape = problem.dyads, problem.dyads.n, problem.dyads.directed, state.z.shape
    effect_out, exp_out, exp_sender = np.empty(shape), np.empty(shape), np.empty(n)
    effect_in, exp_in, exp_receiver = effect_out, exp_out, exp_sender
    if directed:
        effect_in, exp_in, exp_receiver = np.empty(shape), np.empty(shape), np.empty(n)
    ws = Workspace(
        problem.law, problem.priors, n, directed, problem.lower, problem.has_offset, problem.has_sociality,
        problem.counts, problem.selects,
        dyads.links_out, dyads.links_in, problem.seen_out, problem.seen_in,
        dyads.covariates_out, dyads.covariates_in, dyads.which_out, dyads.which_in,
        state.z, state.w, state.offset, state.sender, state.receiver, state.coefficients,
        np.empty(shape[0], np.int64), np.empty(n, np.int64), np.empty(shape[0] + 2, np.int64), np.empty(2, np.int64),
        effect_out, effect_in, exp_out, exp_in, exp_sender, exp_receiver,
        np.empty(shape[0]), new_row(n, 0.0), new_row(n, 1.0),
    )  # fmt: skip
    refresh(ws, list_members(ws))
    count_memberships(ws)
    return ws


@inner
def list_members(ws):
    """(K, n): the members of each community, of which the first size[k] entries count; and the sizes."""
    members = np.empty(ws.z.shape, np.int64)  # a second width would compile every callee twice
    sort_members(ws.z, members, ws.size)
    return members


@bare
def sort_members(z, members, sizes):
    for k in range(z.shape[0]):
        size = 0
        for i in range(z.shape[1]):
            if z[k, i]:
                members[k, size] = i
                size += 1
        sizes[k] = size


@bare
def refresh(ws, members):
    """All that is derived from the state."""
    for i in range(ws.n):
        ws.exp_sender[i] = np.exp(ws.sender[i])
    for i in range(ws.n if ws.directed else 0):
        ws.exp_receiver[i] = np.exp(ws.receiver[i])
    refresh_columns(ws, members)


@bare
def refresh_effects(ws, i):
    """(W z_i)_k and (W' z_i)_k for all k, after z_i changed."""
    z, w, max_effect, n_communities = ws.z, ws.w, ws.max_effect, ws.z.shape[0]
    effect, exps = ws.effect_out, ws.exp_out
    for side in range(2 if ws.directed else 1):
        if side == 1:
            effect, exps = ws.effect_in, ws.exp_in
        for k in range(n_communities):
            effect[k, i] = 0.0
        for m in range(n_communities):
            if z[m, i]:
                for k in range(n_communities):
                    effect[k, i] += w[m, k] if side == 1 else w[k, m]
        for k in range(n_communities):
            exps[k, i] = np.exp(min(max(effect[k, i], -CLIP), CLIP))
            max_effect[k] = max(max_effect[k], abs(effect[k, i]))


@bare
def refresh_column(ws, k):
    """(W z_j)_k and (W' z_j)_k for all j, after the weights of k changed."""
    z, w, max_effect, n_communities, n = ws.z, ws.w, ws.max_effect, ws.z.shape[0], ws.n
    effect, exps = ws.effect_out, ws.exp_out
    max_effect[k] = 0.0
    for side in range(2 if ws.directed else 1):
        if side == 1:
            effect, exps = ws.effect_in, ws.exp_in
        for j in range(n):
            effect[k, j] = 0.0
        for m in range(n_communities):
            weight = w[m, k] if side == 1 else w[k, m]
            for j in range(n):
                effect[k, j] += weight * z[m, j]
        for j in range(n):
            exps[k, j] = np.exp(min(max(effect[k, j], -CLIP), CLIP))
            max_effect[k] = max(max_effect[k], abs(effect[k, j]))


@bare
def refresh_columns(ws, members):
    """The same for all communities; the first size[k] of members[k] hold k."""
    w, max_effect, size, n_communities, n = ws.w, ws.max_effect, ws.size, ws.z.shape[0], ws.n
    effect, exps = ws.effect_out, ws.exp_out
    for side in range(2 if ws.directed else 1):
        if side == 1:
            effect, exps = ws.effect_in, ws.exp_in
        for k in range(n_communities):
            max_effect[k] = max_effect[k] if side == 1 else 0.0
            for j in range(n):
                effect[k, j] = 0.0
                exps[k, j] = 1.0
            for m in range(n_communities):
                weight = w[m, k] if side == 1 else w[k, m]
                factor = np.exp(weight)
                for s in range(size[m]):
                    effect[k, members[m, s]] += weight
                    exps[k, members[m, s]] *= factor
            for j in range(n):
                max_effect[k] = max(max_effect[k], abs(effect[k, j]))
            for j in range(n if max_effect[k] > CLIP else 0):
                exps[k, j] = np.exp(min(max(effect[k, j], -CLIP), CLIP))
