"""Bridges: affinities between communities, sought when the search for communities has ended, where they pay.

    x_ij = t_i r_j (e + sum_{k in z_i, l in z_j} L_kl),   Q as without bridges, and bridge_price for each

A pair of communities with C links still owed to the background, among pairs for which it expects e V, gains at least
C log(C / (e V)) - C + e V from a bridge. If that is below the price for every pair, nothing else is done or compiled.
Otherwise bridges are taken by their exact gain, and weights, flips and bridges take turns. Q never rises.
"""

# ruff: noqa: E741 - k and l are communities, as in the papers

from typing import NamedTuple

import numpy as np
from scipy import sparse

from klafter.search.sparse.affinities import (
    Ties,
    bridge_price,
    bridges,
    diagonal,
    n_bridges,
    renumbered,
    rows_of,
    set_strength,
    tie,
    with_pairs,
    without_idle,
)
from klafter.search.sparse.births import background_responsibility
from klafter.search.sparse.bridge_flips_kernels import flip_sweep_affinities, make_scratch, posterior_affinities
from klafter.search.sparse.bridge_splits import hidden_pattern, split, split_background
from klafter.search.sparse.bridges_kernels import factor_ties, responsibility_affinities, tally_ties, tie_worth
from klafter.search.sparse.membership_posterior import posterior_in_blocks
from klafter.search.sparse.state import Problem, State, copy_state, members, memberships, without_empty
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import FLOOR, factor_prior, prices
from klafter.search.sparse.workspace import open_workspace

LEAST_RESPONSIBILITY = 0.05  # share of a link owed to the background below which the search for bridges passes over it
HALVINGS = 30  # of the interval in which the best strength of a bridge lies
ROUNDS, FEWER, ENTRIES = 20, 4, 1_500_000  # of all moves at most: on large graphs fewer, for so many entries together
SMALL = 1e-5  # share of the objective that another round must gain
TURNS = 4  # of flips in a round
PATIENCE, MORE = 8, 64  # communities, the largest first, that are split in vain before there is any bridge, and later
NONE = np.zeros(0, np.bool_)


class TieTotals(NamedTuple):
    """Sums over all links and pairs, by rows of L and the background last; each dyad once for each source."""

    fit: float  # sum_links h
    credit: np.ndarray
    pairs: np.ndarray  # V_kl
    sent: np.ndarray
    received: np.ndarray


def bridge(problem: Problem, state: State, pool: ThreadPool) -> tuple[State, Ties] | None:
    """The state with bridges between its communities, or None if no bridge pays."""
    state = copy_state(state)
    state.size_at_split[:] = 0
    responsibility, ties = (
        link_responsibility(problem, state, None, pool),
        tie(state.strength, directed=problem.pair_weight == 1.0),
    )
    state, ties, begun = background_split(problem, state, ties, responsibility, pool)
    if not begun:
        state, ties, made = split(problem, state, ties, responsibility, PATIENCE)
        if made == 0 and len(promising(problem, state, ties, responsibility)[0]) == 0:
            return None
    state, ties = refine(problem, state, ties, pool)
    return (state, ties) if n_bridges(problem, ties) else None


def refine(problem: Problem, state: State, ties: Ties, pool: ThreadPool) -> tuple[State, Ties]:
    """Splits, bridges, weights and flips in turns, until they gain little."""
    value = np.inf
    for _ in range(int(np.clip(ENTRIES // max(len(problem.node), 1), FEWER, ROUNDS))):
        responsibility = link_responsibility(problem, state, ties, pool)
        state, ties, made = split(problem, state, ties, responsibility, MORE)
        responsibility = link_responsibility(problem, state, ties, pool) if made else responsibility
        ties = taken(problem, state, ties, *promising(problem, state, ties, responsibility))
        state, ties = weights(problem, state, ties, pool)
        state, ties = flip_sweep(problem, state, ties, pool)
        before, value = value, objective(problem, state, ties, pool)
        if before - value <= SMALL * abs(value):
            break
    return state, taken(problem, state, ties, np.zeros((0, 2), np.int64), np.zeros(0))


def background_split(
    problem: Problem, state: State, ties: Ties, responsibility, pool: ThreadPool
) -> tuple[State, Ties, bool]:
    """Two communities for most of the background, if Q falls: the bound speaks of those with room for one more."""
    trial = split_background(problem, state, ties, responsibility)
    if trial is None or objective(problem, *trial, pool) >= objective(problem, state, ties, pool):
        return state, ties, False
    return *trial, True


def promising(
    problem: Problem, state: State, ties: Ties, responsibility: sparse.csr_array
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of communities whose bridge pays by the bound above, the best first, and a guess of their strengths.

    h(x + a b) - h(x) >= log(1 + b/u) >= rho log(1 + b/e) with rho = e/u, so b = C/V - e gains it. A link of two nodes
    that are both in both communities counts twice, which is too much; these leave little of it to the background.
    """
    k, l, count, pairs = across(problem, state, responsibility)
    expected = state.background * pairs
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(count > expected, count * np.log(count / expected) - count + expected, 0.0)
    good = np.flatnonzero((gain > bridge_price(problem, len(state.size))) & (pairs > 0))
    good = good[np.argsort(-gain[good], kind="stable")]
    found, guess = np.column_stack([k, l])[good].astype(np.int64), count[good] / pairs[good] - state.background
    new = ~np.isin(
        found @ [len(state.size), 1], bridges(ties, directed=problem.pair_weight == 1.0)[0] @ [len(state.size), 1]
    )
    return found[new], guess[new]


def across(problem: Problem, state: State, responsibility: sparse.csr_array):
    """Pairs k, l of communities with links owed to the background, how many, and V_kl."""
    z = memberships(problem, state)
    clear = np.flatnonzero(responsibility.data > LEAST_RESPONSIBILITY)
    row = np.searchsorted(responsibility.indptr, clear, side="right") - 1
    some = sparse.csr_array(
        (responsibility.data[clear].astype(float), (row, responsibility.indices[clear])), shape=responsibility.shape
    )
    found = sparse.coo_array(z.T @ (some @ z))
    apart = found.row != found.col if problem.pair_weight == 1.0 else found.row < found.col
    k, l, count = found.row[apart], found.col[apart], found.data[apart]
    pairs = state.send_sum[k] * state.receive_sum[l]
    if len(k):
        apart = sparse.eye_array(problem.n) + hidden_pattern(problem)  # nodes and themselves, and hidden dyads
        gone = (sparse.diags_array(state.send) @ z).T @ (apart @ (sparse.diags_array(state.receive) @ z))
        pairs = pairs - np.asarray(sparse.csr_array(gone)[k, l]).ravel()
    return k, l, count, pairs


def link_responsibility(problem: Problem, state: State, ties: Ties | None, pool: ThreadPool) -> sparse.csr_array:
    """rho of every link from its source."""
    if ties is None:
        responsibility, _ = background_responsibility(problem, state, pool)
    else:
        responsibility = np.zeros(len(problem.node), np.float32)
        pool.blocks(
            lambda low, high: responsibility_affinities(
                open_workspace(problem, state), ties, low, high, responsibility
            ),
            problem.n,
        )
    if problem.pair_weight < 1.0:
        return sparse.csr_array((responsibility, problem.node, problem.start), shape=(problem.n, problem.n))
    row = np.repeat(np.arange(problem.n), np.diff(problem.start))
    source = np.arange(len(responsibility)) < problem.middle[row]
    return sparse.csr_array((responsibility[source], (row[source], problem.node[source])), shape=(problem.n, problem.n))


def taken(problem: Problem, state: State, ties: Ties, pairs: np.ndarray, guess: np.ndarray) -> Ties:
    """Every bridge, old and new, at its best strength, one after the other; those that do not pay their price die."""
    directed, price = problem.pair_weight == 1.0, bridge_price(problem, len(state.size))
    old, strengths = bridges(ties, directed=directed)
    ties = with_pairs(problem, ties, pairs)
    start, nodes = members(problem, state)
    ws = open_workspace(problem, state)
    for (k, l), b, hint in zip(
        np.concatenate([pairs, old]).tolist(),
        np.concatenate([np.zeros(len(pairs)), strengths]),
        np.concatenate([guess, np.zeros(len(old))]),
    ):
        best, worth = tie_worth(ws, ties, nodes[start[k] : start[k + 1]], k, l, b, hint, HALVINGS)
        set_strength(problem, ties, k, l, best if worth > price else 0.0)
    return without_idle(problem, ties)


def totals(problem: Problem, state: State, ties: Ties, pool: ThreadPool) -> TieTotals:
    """One pass over the links."""
    sent, received = np.empty(problem.n), np.empty(problem.n)

    def block(low, high):
        part = np.zeros((3, len(ties.other) + 1))
        return tally_ties(open_workspace(problem, state), ties, low, high, part, sent, received), part

    parts = pool.blocks(block, problem.n)
    by_rows = np.append(np.argsort(ties.place, kind="stable"), len(ties.other))
    credit, own, hidden = np.sum([part[1] for part in parts], axis=0)[:, by_rows]
    send_sum = np.append(state.send_sum[rows_of(ties)], state.send.sum())
    receive_sum = np.append(state.receive_sum[ties.other], state.receive.sum())
    return TieTotals(sum(part[0] for part in parts), credit, send_sum * receive_sum - own - hidden, sent, received)


def objective(problem: Problem, state: State, ties: Ties, pool: ThreadPool | None = None) -> float:
    """Q = -sum_links h + half (e V_all + sum_kl L_kl V_kl) + prices of communities and bridges + prior of factors."""
    sums = totals(problem, state, ties, pool or ThreadPool(1))
    loss = -sums.fit + problem.pair_weight * (ties.strength @ sums.pairs[:-1] + state.background * sums.pairs[-1])
    price = n_bridges(problem, ties) * bridge_price(problem, len(state.size)) + prices(problem, state.size).sum()
    return float(loss + price + factor_prior(problem, state))


def weights(problem: Problem, state: State, ties: Ties, pool: ThreadPool, rounds: int = 2) -> tuple[State, Ties]:
    """Steps of L, e and t."""
    for _ in range(rounds):
        sums = totals(problem, state, ties, pool)
        old = np.append(ties.strength, state.background)
        with np.errstate(divide="ignore", invalid="ignore"):
            new = np.where(sums.pairs > 0, sums.credit / sums.pairs, old)
        ties = _with_strengths(ties, new[:-1])
        state = state._replace(background=max(float(new[-1]), min(FLOOR, state.background)))
        if np.isfinite(problem.shrinkage):
            state, ties = _factor_steps(problem, state, ties, sums)
        state.strength[:] = diagonal(ties)
    return state, ties


def _with_strengths(ties: Ties, strength: np.ndarray) -> Ties:
    return ties._replace(strength=strength, into_strength=strength[ties.place])


def _factor_steps(problem: Problem, state: State, ties: Ties, sums: TieTotals, rounds: int = 2) -> tuple[State, Ties]:
    """t, and r when directed; then mean degree factors of 1, every x unchanged."""
    ws, as_source, rows = open_workspace(problem, state), (state.send, state.send_sum), ties[:3]
    for _ in range(rounds):
        if problem.pair_weight == 1.0:
            as_target = (state.receive, state.receive_sum)
            factor_ties(ws, sums.sent, *as_source, *as_target, *rows, True)
            factor_ties(ws, sums.received, *as_target, *as_source, *ties[3:6], False)
        else:
            factor_ties(ws, sums.sent, *as_source, *as_source, *rows, True)
            state.receive[:], state.receive_sum[:] = state.send, state.send_sum
    send, receive = state.send.mean(), state.receive.mean()
    for values, mean in ((state.send, send), (state.send_sum, send), (state.receive, receive)):
        values /= mean
    state.receive_sum[:] /= receive
    return state._replace(background=state.background * send * receive), _with_strengths(
        ties, ties.strength * send * receive
    )


def flip_sweep(problem: Problem, state: State, ties: Ties, pool: ThreadPool) -> tuple[State, Ties]:
    """Flips: score all nodes in parallel, settle those that gain one after the other, then look around them."""
    size, flags = len(state.size), np.ones(problem.n, np.bool_)
    for _ in range(TURNS):

        def score(low, high, flags=flags):
            flip_sweep_affinities(
                open_workspace(problem, state),
                ties,
                low,
                high,
                flags,
                NONE,
                pool.scratch(lambda: make_scratch(size), size),
            )

        pool.blocks(score, problem.n)
        if not flags.any():
            break
        around = np.zeros(problem.n, np.bool_)
        flip_sweep_affinities(open_workspace(problem, state), ties, 0, problem.n, flags, around, make_scratch(size))
        flags = around
    return without_empty(problem, state), renumbered(problem, state, ties)


def membership_posterior(problem: Problem, state: State, ties: Ties) -> sparse.csr_array:
    """(n, K) chances of memberships given the rest, bridges included."""
    size, ws = len(state.size), open_workspace(problem, state)
    z, partners = memberships(problem, state), np.diff(ties.start) + np.diff(ties.into_start)
    links = sparse.csr_array((np.ones(len(problem.node)), problem.node, problem.start), shape=(problem.n, problem.n))
    room = np.minimum(state.held + links @ (z @ partners), size)
    space = make_scratch(size)
    return posterior_in_blocks(problem, state, room, lambda *rows: posterior_affinities(ws, ties, *rows, space))
