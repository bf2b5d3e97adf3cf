"""Shards: the rows of some nodes of a network, and what can be done with them at a version of the state.

The answer of every function here follows from its arguments, so that a task which is lost with its worker can be run
again. A shard knows its own nodes and their neighbours by place: own nodes first, then those of other shards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from klafter.graph.units import among, distinct
from klafter.search.cluster.shards_kernels import (
    changed_rows,
    flat_rows,
    hidden_rows,
    places_of,
    sweep_rows,
)
from klafter.search.cluster.versions import Shard, View
from klafter.search.config import SEARCH
from klafter.search.sparse.kernels.responsibility import responsibility_rows
from klafter.search.sparse.kernels.totals import tally_rows
from klafter.search.sparse.moves.birth import seed_order
from klafter.search.sparse.state import Problem
from klafter.search.sparse.weights import no_totals
from klafter.search.sparse.workspace import open_workspace

NO_NODES, NO_COUNTS = np.zeros(0, np.int64), np.zeros(0)
SUMS = ("size", "send_sum", "receive_sum")


class Partners(NamedTuple):
    """The other ends of some dyads of each node, by their number in the network, row after row."""

    length: np.ndarray
    as_source: np.ndarray  # entries of each row that have its node as source
    node: np.ndarray


class Rows(NamedTuple):
    """Rows of a shard to be: links, their values, and hidden dyads."""

    nodes: np.ndarray
    links: Partners
    value: np.ndarray
    hidden: Partners


class Flips(NamedTuple):
    """What a round of flips did with own nodes: the communities that those that changed are in now."""

    rise: float  # by the change before this round, as in the view
    gain: float  # if nothing changes elsewhere
    nodes: np.ndarray
    held: np.ndarray
    member: np.ndarray


def no_partners(n: int) -> Partners:
    """For n nodes."""
    return Partners(np.zeros(n, np.int64), np.zeros(n, np.int64), NO_NODES)


def make_shard(frame: Problem, rows: Rows) -> Shard:
    """A shard of rows in order. ``frame`` gives size, kind and prices."""
    touched = distinct(np.concatenate([rows.links.node, rows.hidden.node]))
    nodes = np.concatenate([rows.nodes, touched[~among(touched, rows.nodes)]])
    order = np.argsort(nodes, kind="stable")

    def placed(partners):
        start = np.concatenate([[0], np.cumsum(partners.length)]).astype(np.int64)
        place = order[np.searchsorted(nodes[order], partners.node)].astype(np.int32)
        return start, start[:-1] + partners.as_source, place

    start, middle, node = placed(rows.links)
    problem = Problem(*frame[:6], start, middle, node, np.asarray(rows.value, float), *placed(rows.hidden))
    return Shard(problem, nodes)


def tally(view: View, factors: bool):
    """This shard's part of the totals: sum_links h, sums by community and, for factors, expected counts by node."""
    part, sent, received = no_totals(view.state), np.zeros(view.own), np.zeros(view.own)
    fit = tally_rows(open_workspace(view.problem, view.state), 0, view.own, part, sent, received, True)
    if not factors:
        return fit, part, NO_COUNTS, NO_COUNTS
    return fit, part, sent, received if view.problem.pair_weight == 1.0 else NO_COUNTS


def sweep(view: View, everywhere: bool, look: bool) -> Flips:
    """Flips of own nodes, one after the other, while all others stay; of all, or of those around the last change.

    The view is left as it was. Without ``look`` nothing is tried.
    """
    problem, state, own = view.problem, view.state, view.own
    flags, links = np.full(own, everywhere), len(problem.node)
    ws = open_workspace(problem, state)
    flags[view.near] = True
    before = state.held[:own].copy(), state.member[:links].copy()
    sums = [getattr(state, name) for name in SUMS]
    kept = [array.copy() for array in sums]
    gain = sweep_rows(ws, own, flags, SEARCH.cluster.sweep_turns if look else 0)
    some = np.flatnonzero(changed_rows(problem.start, state.held[:own], state.member, problem.start, *before))
    held, flat = state.held[some], flat_rows(problem.start, state.held, state.member, some)
    state.held[:own], state.member[:links] = before
    for array, old in zip(sums, kept):
        array[:] = old
    return Flips(view.rise, gain, view.nodes[some], held, flat)


def hidden_rates(view: View) -> np.ndarray:
    """(2, own): sums over hidden dyads of r_j u_ij, and of t_j u_ji, of each own node i."""
    rates = np.zeros((2, view.own))
    hidden_rows(open_workspace(view.problem, view.state), view.own, rates)
    return rates


def seeds(view: View, number: int, entropy: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Own nodes at random, those with a larger share of unexplained links sooner; with those near to them."""
    rng = np.random.default_rng(entropy)
    responsibility, residual = responsibilities(view.problem, view.state, np.arange(view.own, dtype=np.int32))
    some = seed_order(view.problem, residual[: view.own], rng)[:number]
    return view.nodes[some], _near(view, np.sort(some), responsibility)


def neighbours(view: View, groups: list[np.ndarray]) -> list[np.ndarray]:
    """The nodes that unexplained links join to each group of own nodes, and the group."""
    every = distinct(np.concatenate(groups)) - view.nodes[0]
    responsibility, _ = responsibilities(view.problem, view.state, every.astype(np.int32))
    return [_near(view, nodes - view.nodes[0], responsibility) for nodes in groups]


def _near(view: View, places: np.ndarray, responsibility: np.ndarray) -> np.ndarray:
    start, length = view.problem.start[places], np.diff(view.problem.start)[places]
    entry = np.repeat(start - np.cumsum(length) + length, length) + np.arange(length.sum())
    open_ones = entry[responsibility[entry] > SEARCH.sparse.unexplained * view.problem.value[entry]]
    marked = np.zeros(len(view.nodes), np.bool_)
    marked[view.problem.node[open_ones]] = marked[places] = True
    return np.sort(view.nodes[marked])


def responsibilities(problem: Problem, state, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """rho of every entry in some rows, and its sum by row; 0 elsewhere."""
    responsibility, residual = np.zeros(len(problem.node), np.float32), np.zeros(len(problem.start) - 1)
    responsibility_rows(open_workspace(problem, state), rows, responsibility, residual)
    return responsibility, residual


def unexplained(view: View) -> float:
    """How many links of own nodes the background explains."""
    return float(responsibilities(view.problem, view.state, np.arange(view.own, dtype=np.int32))[1].sum())


def links_between(view: View, length: np.ndarray, flat: np.ndarray) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Values of links from own nodes in one set to nodes of another, and of those that lie inside both.

    Sets are given by their length and their nodes, one after the other; both tables are by pairs of sets.
    """
    places = places_of(int(view.nodes[0]), view.own, view.nodes[view.own :], flat)
    which, known = np.repeat(np.arange(len(length)), length), places >= 0
    shape = len(view.nodes), len(length)
    inside = sparse.csr_array((np.ones(known.sum()), (places[known], which[known])), shape=shape)
    rows = np.flatnonzero(np.diff(inside.indptr[: view.own + 1]))
    problem, start = view.problem, view.problem.start
    number = start[rows + 1] - start[rows]
    entry = np.repeat(start[rows] - np.cumsum(number) + number, number) + np.arange(number.sum())
    near, far = np.repeat(rows, number), problem.node[entry]
    some = np.diff(inside.indptr)[far] > 0
    one, other = inside[near[some]], inside[far[some]]
    value = sparse.diags_array(problem.value[entry[some]])
    both = sparse.csr_array(one.multiply(other))
    return sparse.csr_array(one.T @ (value @ other)), sparse.csr_array(both.T @ (value @ both))
