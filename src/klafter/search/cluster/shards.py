"""Shards: the rows of some nodes of a network, and what can be done with them against a frozen state.

Every function here is a pure function of its arguments, so that a task which is lost with its worker can be run again.
A shard knows its own nodes and their neighbours by place: own nodes first, then those of other shards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from klafter.graph.units import among, distinct
from klafter.search.cluster.shards_kernels import hidden_rows, local_best, propose_rows
from klafter.search.sparse.exchange import Exchange, members_of
from klafter.search.sparse.kernels.responsibility import responsibility_rows
from klafter.search.sparse.kernels.totals import tally_rows
from klafter.search.sparse.moves.birth import births_among, seed_order
from klafter.search.sparse.moves.death import death_proposal
from klafter.search.sparse.moves.merge import merge_proposal, reassign_proposal
from klafter.search.sparse.moves.split import may_split, split_proposal
from klafter.search.sparse.state import Problem, State, copy_state
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import no_totals
from klafter.search.sparse.workspace import open_workspace

NO_NODES = np.zeros(0, np.int64)


class Shard(NamedTuple):
    """Rows of own nodes; ``problem.n`` is the size of the whole network, ``problem.node`` are places in ``nodes``."""

    problem: Problem
    nodes: np.ndarray  # own nodes in order, then their neighbours elsewhere in order


class Snapshot(NamedTuple):
    """The state without empty slots: what goes to the shards."""

    start: np.ndarray  # (n + 1,) int64, where the communities of each node begin in member
    member: np.ndarray
    send: np.ndarray
    receive: np.ndarray
    communities: tuple  # the fields of the state from size on
    activity: np.ndarray  # (n,) int8, which nodes moved or wait for a move


class Partners(NamedTuple):
    """The other ends of some dyads of each node, by their number in the network, row after row."""

    length: np.ndarray
    as_source: np.ndarray  # entries of each row that have its node as source
    node: np.ndarray


class Rows(NamedTuple):
    """Rows cut out of a shard: links, their values, and hidden dyads."""

    nodes: np.ndarray
    links: Partners
    value: np.ndarray
    hidden: Partners


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


def make_neighbourhood(frame: Problem, parts: list[Rows]) -> Shard:
    """The rows of nodes from several shards; links that lead out of them keep their place, which are slots for
    communities, but have value 0, so that the background explains nothing of them. Hidden dyads that lead out are left
    out."""
    nodes, value = (np.concatenate([getattr(part, name) for part in parts]) for name in ("nodes", "value"))
    order = np.argsort(nodes, kind="stable")

    def in_order(name):
        length, as_source, node = map(np.concatenate, zip(*(getattr(part, name) for part in parts)))
        entry = np.argsort(np.repeat(np.argsort(order), length), kind="stable")
        return Partners(length[order], as_source[order], node[entry]), entry

    links, entry = in_order("links")
    value = np.where(np.isin(links.node, nodes), value[entry], 0.0)
    return make_shard(frame, Rows(nodes[order], links, value, _partners_among(in_order("hidden")[0], nodes)))


def _partners_among(partners: Partners, nodes: np.ndarray) -> Partners:
    """The partners that are among some nodes."""
    length, as_source, node = partners
    row = np.repeat(np.arange(len(length)), length)
    source = np.arange(len(node)) - np.repeat(np.cumsum(length) - length, length) < as_source[row]
    kept = np.isin(node, nodes)
    return Partners(
        np.bincount(row[kept], minlength=len(length)),
        np.bincount(row[kept & source], minlength=len(length)),
        node[kept],
    )


def unfold(shard: Shard, snapshot: Snapshot) -> tuple[Problem, State, int]:
    """Problem and state by place in the shard, and the number of own nodes; memberships of others lie at the end."""
    own, links = len(shard.problem.start) - 1, len(shard.problem.node)
    held = (snapshot.start[shard.nodes + 1] - snapshot.start[shard.nodes]).astype(np.int32)
    away = held[own:].astype(np.int64)
    first = np.concatenate([shard.problem.start[:-1], links + np.cumsum(away) - away, [links + away.sum()]])
    member = np.zeros(first[-1] + 1, np.int32)
    rank = np.arange(held.sum()) - np.repeat(np.cumsum(held) - held, held)
    member[np.repeat(first[:-1], held) + rank] = snapshot.member[np.repeat(snapshot.start[shard.nodes], held) + rank]
    state = State(member, held, snapshot.send[shard.nodes], snapshot.receive[shard.nodes], *snapshot.communities)
    return shard.problem._replace(start=first.astype(np.int64)), copy_state(state), own


def tally(shard: Shard, snapshot: Snapshot):
    """This shard's part of the totals: sum_links h, sums by community, expected counts of its nodes."""
    problem, state, own = unfold(shard, snapshot)
    part, sent, received = no_totals(state), np.zeros(own), np.zeros(own)
    return tally_rows(open_workspace(problem, state), 0, own, part, sent, received, True), part, sent, received


def propose(shard: Shard, snapshot: Snapshot):
    """The best flip of each own node that gains: (node, community, gain). Looks where nodes moved or wait."""
    problem, state, own = unfold(shard, snapshot)
    which, gain = np.full(own, -1), np.zeros(own)
    propose_rows(open_workspace(problem, state), own, snapshot.activity[shard.nodes], which, gain)
    found = np.flatnonzero(which >= 0)
    return shard.nodes[found], which[found], gain[found]


def hidden_rates(shard: Shard, snapshot: Snapshot) -> np.ndarray:
    """(2, own): sums over hidden dyads of r_j u_ij, and of t_j u_ji, of each own node i."""
    problem, state, own = unfold(shard, snapshot)
    rates = np.zeros((2, own))
    hidden_rows(open_workspace(problem, state), own, rates)
    return rates


def winners(shard: Shard, proposals: np.ndarray) -> np.ndarray:
    """Own nodes whose proposal gains more than those of all their neighbours, and those of the same community of all
    nodes that they share a hidden dyad with: no two winners change each other's gain.

    ``proposals`` (2, n) are gains, 0 where there is none, and communities.
    """
    problem, own = shard.problem, len(shard.problem.start) - 1
    gain, which = proposals[:, shard.nodes]
    best = local_best(problem.start, problem.node, own, gain, np.zeros_like(which), shard.nodes)
    best &= local_best(problem.hidden_start, problem.hidden_node, own, gain, which, shard.nodes)
    return shard.nodes[:own][best]


def seeds(shard: Shard, snapshot: Snapshot, number: int, entropy: list[int]) -> np.ndarray:
    """Own nodes at random, those with a larger share of unexplained links sooner."""
    rng = np.random.default_rng(entropy)
    return shard.nodes[seed_order(shard.problem, node_responsibility(shard, snapshot), rng)[:number]]


def neighbours(shard: Shard, groups: list[np.ndarray]) -> list[np.ndarray]:
    """The neighbours of each group of own nodes."""
    return [distinct(rows_of(shard, nodes).links.node) for nodes in groups]


def shared_links(shard: Shard, inside: sparse.csr_array) -> sparse.csr_array:
    """Values of links of own nodes that lie inside two sets, by pairs of sets; ``inside`` is (n, sets)."""
    own = np.repeat(shard.nodes[: len(shard.problem.start) - 1], np.diff(shard.problem.start))
    both = sparse.csr_array(inside[own].multiply(inside[shard.nodes[shard.problem.node]]))
    return sparse.csr_array(both.T @ (sparse.diags_array(shard.problem.value) @ both))


def rows_of(shard: Shard, nodes: np.ndarray) -> Rows:
    """The rows of own nodes."""
    problem = shard.problem
    i = np.searchsorted(shard.nodes[: len(problem.start) - 1], nodes)

    def cut(start, middle, node):
        length = start[i + 1] - start[i]
        entry = np.repeat(start[i] - np.cumsum(length) + length, length) + np.arange(length.sum())
        return Partners(length, middle[i] - start[i], shard.nodes[node[entry]]), entry

    links, entry = cut(problem.start, problem.middle, problem.node)
    hidden, _ = cut(problem.hidden_start, problem.hidden_middle, problem.hidden_node)
    return Rows(nodes, links, problem.value[entry], hidden)


def responsibilities(problem: Problem, state: State, own: int) -> tuple[np.ndarray, np.ndarray]:
    """rho of every entry in the rows of own nodes, and its sum by node."""
    responsibility, residual = np.zeros(len(problem.node), np.float32), np.zeros(own)
    responsibility_rows(open_workspace(problem, state), np.arange(own, dtype=np.int32), responsibility, residual)
    return responsibility, residual


def node_responsibility(shard: Shard, snapshot: Snapshot) -> np.ndarray:
    """How much of its links the background explains, for each own node."""
    return responsibilities(*unfold(shard, snapshot))[1]


def neighbourhood_births(
    frame: tuple, parts: list[Rows], snapshot: Snapshot, around: np.ndarray, background_discount: float
) -> list[Exchange]:
    """Communities born around seeds, one after the other."""
    neighbourhood = make_neighbourhood(Problem(*frame), parts)
    problem, state, own = unfold(neighbourhood, snapshot)
    responsibility, residual = responsibilities(problem, state, own)
    residual = np.append(residual, np.zeros(len(neighbourhood.nodes) - own))
    seeds = np.searchsorted(neighbourhood.nodes[:own], around)
    born = births_among(problem, state, responsibility, residual, seeds, background_discount, ThreadPool(1))
    return [proposal._replace(nodes=neighbourhood.nodes[proposal.nodes]) for proposal in born]


def neighbourhood_moves(
    frame: tuple, parts: list[Rows], snapshot: Snapshot, some: list[int], pairs: dict
) -> list[Exchange]:
    """Deaths and splits of some communities, and merges with those that overlap them."""
    neighbourhood = make_neighbourhood(Problem(*frame), parts)
    problem, state, _ = unfold(neighbourhood, snapshot)
    pool, inside, large = ThreadPool(1), members_of(problem, state), set(may_split(state).tolist())
    proposals: list[Exchange | None] = []
    for k in some:
        proposals.append(death_proposal(problem, state, inside, k, pool))
        if k in large:
            proposals.append(split_proposal(problem, state, inside, k, pool))
        if pairs.get(k):
            proposals.append(reassign_proposal(problem, state, inside, (k, *pairs[k]), pool))
            proposals.extend(merge_proposal(problem, state, inside, (k, m), pool) for m in pairs[k] if k < m)
    return [t._replace(nodes=neighbourhood.nodes[t.nodes]) for t in proposals if t is not None and t.gain > 0]
