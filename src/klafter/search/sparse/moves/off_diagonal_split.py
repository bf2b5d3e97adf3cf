"""Splits of a community in two with an affinity between: L_AA, L_AB, L_BA, L_BB in the place of one strength.

A search for diagonal affinities merges what links to each other, however unevenly; two sets that link to each other and
hardly inside are one community to it. With c_ij = m_ij w / u_ij, what the community is credited for each link, and
C = sum of c, V = pairs from one part to another, Jensen's inequality bounds the gain of any two parts from below:

    gain >= half sum_{parts} [C log(C / (w V)) - C + w V]

so parts are sought by that bound, and taken if it exceeds the price of the second community and of the affinities. The
background is a community of everyone: where it explains most links, as in a network of two kinds of nodes, it is split
likewise.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from klafter.search.config import SEARCH
from klafter.search.sparse.affinities import as_affinities, n_off_diagonal, off_diagonal_pairs
from klafter.search.sparse.exchange import members_of
from klafter.search.sparse.state import Problem, State, changed_since_split, copy_state, with_slots
from klafter.search.sparse.weights import off_diagonal_price, prices

POWER, TURNS = 30, 20  # steps to the direction in which links differ most from what is expected, and of the two parts


class Inside(NamedTuple):
    """What a community sees of its members."""

    credit: sparse.csr_array  # c_ij from sources to targets
    hidden: sparse.csr_array  # a_ij of hidden dyads
    send: np.ndarray
    receive: np.ndarray


class Parts(NamedTuple):
    """Two parts of a community: members of the second, L between them, and the bound of the gain."""

    second: np.ndarray
    strength: np.ndarray  # (2, 2)
    gain: float


def off_diagonal_splits(problem: Problem, state: State, responsibility: sparse.csr_array) -> tuple[State, int]:
    """Split communities, the largest first, while Q falls; ``responsibility`` has rho of every link from its source.

    Those that did not change since they were last tried are left alone, and after one in vain all others. Links of two
    communities are seen as they were before the first of them was split: the bound holds for both, as what one is
    credited does not depend on how the other shares its own.
    """
    made = 0
    hidden, members = hidden_pattern(problem), members_of(problem, state)
    some = np.flatnonzero(changed_since_split(state) & (state.size >= SEARCH.sparse.split_members))
    for k in some[np.argsort(-state.size[some], kind="stable")].tolist():
        mine, w = np.sort(members.of(k)), state.strength[k]
        parts = two_parts(inside(problem, state, responsibility, hidden, w, mine), w, problem.pair_weight)
        state.size_at_split[k] = state.size[k]
        if not opposed(problem, parts) or parts.gain <= split_price(problem, state, k, parts):
            break
        state, made = divided(problem, state, k, mine[parts.second], parts.strength), made + 1
    return state, made


def opposed(problem: Problem, parts: Parts) -> bool:
    """Whether members of the two parts link to each other clearly more than inside either.

    Else they are layers of one community, such as those who are in nothing else and those who are: the objective may
    gain by separating them, but a reader would not. Links that go one way separate parts by themselves.
    """
    within, least = np.diag(parts.strength), 1.0 if problem.pair_weight == 1.0 else SEARCH.off_diagonal.clearly
    return parts.gain > 0 and (parts.strength - np.diag(within)).max() > least * within.max()


def background_split(problem: Problem, state: State, responsibility: sparse.csr_array) -> State | None:
    """Two communities of all nodes with a slot for one more, for most of the background; None if that cannot lower Q.

    The bound covers those nodes alone, so the objective has to be compared.
    """
    e, mine = state.background, np.flatnonzero(np.diff(problem.start) > state.held)
    if (
        responsibility.sum() * 2 * problem.pair_weight < SEARCH.off_diagonal.background * problem.value.sum()
        or len(mine) < SEARCH.sparse.split_members
    ):
        return None
    parts = two_parts(inside(problem, state, responsibility, hidden_pattern(problem), e, mine), e, problem.pair_weight)
    sizes = np.bincount(parts.second, minlength=2)
    if parts.gain <= prices(problem, sizes).sum() + off_diagonal_price(problem, 2):
        return None
    rest = max(parts.strength.min(), SEARCH.off_diagonal.background_rest * e)
    strength, first = np.maximum(parts.strength - rest, 0.0), len(state.size)
    state = with_slots(copy_state(state), 2)._replace(background=rest)
    for k in range(2):
        enter(problem, state, first + k, mine[parts.second == k])
    state.strength[first:] = np.maximum(
        np.diag(strength), SEARCH.off_diagonal.background_rest * e
    )  # from nothing they could not grow
    return with_affinity_between(problem, state, first + between(problem, strength), strength)


def enter(problem: Problem, state: State, k: int, nodes: np.ndarray) -> None:
    """Nodes with a slot for one more become the members of an empty community."""
    state.member[problem.start[nodes] + state.held[nodes]] = k
    state.held[nodes] += 1
    state.size[k] = len(nodes)
    state.send_sum[k], state.receive_sum[k] = state.send[nodes].sum(), state.receive[nodes].sum()


def between(problem: Problem, strength: np.ndarray) -> np.ndarray:
    """Which of (A, B) and, directed, (B, A) are linked, as rows of 0 and 1."""
    pairs = np.array([[0, 1], [1, 0]])[: 2 if problem.pair_weight == 1.0 else 1]
    return pairs[strength[pairs[:, 0], pairs[:, 1]] > 0]


def with_affinity_between(
    problem: Problem, state: State, new: np.ndarray, strength: np.ndarray, old: int = -1
) -> State:
    """The state with affinities between two parts, the last community being B; those of ``old`` are B's too."""
    directed, last = problem.pair_weight == 1.0, len(state.size) - 1
    pairs, values = off_diagonal_pairs(state.affinities), state.affinities.value
    copied = (pairs == old).any(axis=1)
    side = (new == last).astype(int)
    affinities = as_affinities(
        state.strength,
        np.concatenate([pairs, np.where(pairs[copied] == old, last, pairs[copied]), new]),
        np.concatenate([values, values[copied], strength[side[:, 0], side[:, 1]]]),
        directed=directed,
    )
    return state._replace(affinities=affinities)


def hidden_pattern(problem: Problem) -> sparse.csr_array:
    """Hidden dyads from their sources."""
    entry = np.arange(len(problem.hidden_node))
    row = np.searchsorted(problem.hidden_start, entry, side="right") - 1
    entry = entry[entry < problem.hidden_middle[row]] if len(entry) else entry
    where = (row[entry], problem.hidden_node[entry])
    return sparse.csr_array((np.ones(len(entry)), where), shape=(problem.n, problem.n))


def inside(problem: Problem, state: State, responsibility, hidden, w: float, mine: np.ndarray) -> Inside:
    """The links and hidden dyads among some nodes: c = m w / u with u = y e / rho."""
    send, receive, background = state.send[mine], state.receive[mine], state.background
    links = sparse.coo_array(responsibility[mine][:, mine])
    credit = links.data.astype(float) * w / background
    if not problem.counts:
        x = send[links.row] * receive[links.col] * background / links.data
        credit *= x / -np.expm1(-x)
    taken = sparse.csr_array(sparse.diags_array(send) @ hidden[mine][:, mine] @ sparse.diags_array(receive))
    return Inside(sparse.csr_array((credit, (links.row, links.col)), shape=links.shape), taken, send, receive)


def two_parts(see: Inside, w: float, pair_weight: float) -> Parts:
    """Parts that lower the loss most, from the direction in which links differ most from what is expected."""
    second = direction(see) > 0
    best = Parts(second, np.full((2, 2), w), 0.0)
    for _ in range(TURNS):
        if not 1 < second.sum() < len(second) - 1 or w <= 0:
            break
        part = np.column_stack([~second, second]).astype(float)
        out, into = see.credit @ part, see.credit.T @ part
        credit, pairs = part.T @ out, pairs_between(see, part)
        strength = np.where(pairs > 0, credit / np.maximum(pairs, 1e-300), 0.0)
        log = np.log(np.maximum(strength, 1e-9 * w))
        gain = pair_weight * (credit * (log - np.log(w)) - credit + w * pairs).sum()
        if gain > best.gain:
            best = Parts(second, strength, float(gain))
        near = np.outer(see.send, strength @ (part.T @ see.receive))
        near += np.outer(see.receive, (part.T @ see.send) @ strength)
        better = (out @ log.T + into @ log - near) @ np.array([-1.0, 1.0]) * np.where(second, -1.0, 1.0)
        if not (better > 0).any():
            break
        # all at once they would come back again and again
        second = second ^ (better > max(np.median(better[better > 0]) * (1 - 1e-9), 0.0))
    return best


def pairs_between(see: Inside, part: np.ndarray) -> np.ndarray:
    """V between parts: T R' - sum t_i r_i - hidden."""
    own = part.T @ (part * (see.send * see.receive)[:, None])
    return np.outer(part.T @ see.send, part.T @ see.receive) - own - part.T @ (see.hidden @ part)


def direction(see: Inside) -> np.ndarray:
    """The eigenvector of the largest eigenvalue, of either sign, of links less what degrees expect."""
    both = see.credit + see.credit.T
    degree = np.asarray(both.sum(axis=1)).ravel()
    scale = 1 / np.sqrt(np.maximum(degree, 1e-300)) * (degree > 0)
    flat = np.sqrt(degree / max(degree.sum(), 1e-300))
    v = np.cos(np.arange(len(degree)) * 2.399963)  # any vector that is independent of the links
    for _ in range(POWER):
        v = scale * (both @ (scale * v)) - flat * (flat @ v)
        v = v / max(np.sqrt(v @ v), 1e-300)
    return v


def split_price(problem: Problem, state: State, k: int, parts: Parts) -> float:
    """What two communities with affinities between cost more than one."""
    number, before = len(state.size), n_off_diagonal(state.affinities)
    sizes = np.append(np.bincount(parts.second, minlength=2), len(parts.second))
    columns = prices(problem, sizes) @ np.array([1.0, 1.0, -1.0])
    copied = (off_diagonal_pairs(state.affinities) == k).any(axis=1).sum()
    after = before + len(between(problem, parts.strength)) + copied
    return float(
        columns + after * off_diagonal_price(problem, number + 1) - before * off_diagonal_price(problem, number)
    )


def divided(problem: Problem, state: State, k: int, nodes: np.ndarray, strength) -> State:
    """Some members of k become a new community, with the affinities of k to others."""
    new = len(state.size)
    state = with_slots(state, 1)
    state.size_at_split[k] = 0
    entry = np.concatenate([np.arange(problem.start[i], problem.start[i] + state.held[i]) for i in nodes])
    state.member[entry[state.member[entry] == k]] = new
    moved = len(nodes), state.send[nodes].sum(), state.receive[nodes].sum()
    for sums, each in zip((state.size, state.send_sum, state.receive_sum), moved):
        sums[k] -= each
        sums[new] += each
    state.strength[k], state.strength[new] = np.diag(strength)
    pairs = np.array([k, new])[between(problem, strength)].reshape(-1, 2)
    return with_affinity_between(problem, state, pairs, strength, old=k)
