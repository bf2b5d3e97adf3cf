"""What the sparse engine works on: the problem it is given and the state it improves.

Rows of links and hidden dyads list, for each node, its dyads as source and then, when directed, as target.
Links of a two-mode network lead from its first kind to its second, and only the first kind sends (t = 0 on the second,
r = 0 on the first): T_k R_k is then the sum over the pairs that are possible, and no pair within a kind is ever listed.
By other rules of which kinds may be linked that sum is one over pairs of kinds, T_kc R_kd of those that may; sums by
community are then held for each kind as well.
Memberships lie as the links do, ``member[start[i] : start[i] + held[i]]``: no node needs more communities than links.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from klafter.graph import Graph
from klafter.graph.dyads import NO_TABLE, ONE_KIND, Rows
from klafter.search.sparse.affinities import Affinities, alive_only, as_affinities, copy_affinities, with_more

NO_COUNT_PRICE = np.zeros(2)
NO_SUMS = np.zeros((0, 0))
NODES_AT_ONCE = 1_000_000  # nodes


class Problem(NamedTuple):
    """Observations and prices, as kernels read them. Entries from ``middle[i]`` on have i as target."""

    n: int
    pair_weight: float  # 1/2 when a pair is one dyad, 1 when it is two
    counts: bool  # y ~ Poisson(x) when true, y = 1(Poisson(x) > 0) otherwise
    penalty: float  # lambda^2
    temperature: float  # T
    shrinkage: float  # a, the weight of the prior on degree factors
    start: np.ndarray  # (n + 1,) int64
    middle: np.ndarray  # (n,) int64
    node: np.ndarray  # int32
    value: np.ndarray  # float64
    hidden_start: np.ndarray
    hidden_middle: np.ndarray
    hidden_node: np.ndarray
    second_kind: np.ndarray = ONE_KIND  # (n,) 1 for nodes that only receive, of a two-mode network; else empty
    kind: np.ndarray = ONE_KIND  # (n,) int8 where another rule says which kinds may be linked; else empty
    linkable: np.ndarray = NO_TABLE  # (kinds, kinds) of bool, by kind of source and of target


class State(NamedTuple):
    """Communities, their affinities and the degree factors."""

    member: np.ndarray  # int32, laid out as the links
    held: np.ndarray  # (n,) int32, how many communities each node is in
    send: np.ndarray  # (n,) t, degree factor as source
    receive: np.ndarray  # (n,) r, degree factor as target, equal to t when undirected
    size: np.ndarray  # (K,) int64
    send_sum: np.ndarray  # (K,) T_k = sum_i t_i z_ik
    receive_sum: np.ndarray  # (K,) R_k = sum_i r_i z_ik
    affinities: Affinities  # L
    size_at_split: np.ndarray  # (K,) int64, its size when a split was last tried
    size_at_merge: np.ndarray  # (K,) int64, its size when merges with it were last tried
    background: float  # e
    count_price: np.ndarray = NO_COUNT_PRICE  # (M,) T times the price of holding 0, 1, 2, ... communities
    shared: bool = False  # whether nodes share their links among their communities: T_k = sum_i t_i z_ik / m_i
    is_packed: bool = False  # whether ``member`` has no empty slots, which no kernel can read
    send_by_kind: np.ndarray = NO_SUMS  # (K, kinds) the part of T_k that is of each kind; (0, 0) where there is no rule
    receive_by_kind: np.ndarray = NO_SUMS

    @property
    def strength(self) -> np.ndarray:
        """(K,) w_k, the diagonal of L."""
        return self.affinities.strength


ARRAYS = [name for name in State._fields if name not in ("affinities", "background", "shared", "is_packed")]


def as_problem(
    graph: Graph, *, penalty: float = 0.0, temperature: float = 1.0, shrinkage: float = 5.0, counts: bool = False
) -> Problem:
    """The arrays and prices of a graph; ``shrinkage=inf`` holds every degree factor at 1."""
    dyads = graph.dyads
    start, middle, node, value = _incident(dyads.links_out, dyads.links_in, graph.directed)
    hidden_start, hidden_middle, hidden_node, _ = _incident(dyads.hidden_out, dyads.hidden_in, graph.directed)
    pair_weight = 1.0 if graph.directed else 0.5
    if graph.second_kind is not None:
        pair_weight = 1.0
        middle, hidden_middle = (np.where(graph.second_kind, s[:-1], s[1:]) for s in (start, hidden_start))
    prices = (float(penalty), float(temperature), float(shrinkage))
    return Problem(
        dyads.n,
        pair_weight,
        bool(counts),
        *prices,
        start,
        middle,
        node,
        value,
        hidden_start,
        hidden_middle,
        hidden_node,
        ONE_KIND if graph.second_kind is None else graph.second_kind.astype(np.int8),
        *((dyads.kind, dyads.linkable) if graph.kind_pairs else (ONE_KIND, NO_TABLE)),
    )


def one_way(problem: Problem, send: np.ndarray, receive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Degree factors, those at 0 that a node of a two-mode network does not need."""
    if not len(problem.second_kind):
        return send, receive
    return np.where(problem.second_kind, 0.0, send), np.where(problem.second_kind, receive, 0.0)


def both_ways(problem: Problem, state: State) -> tuple[np.ndarray, np.ndarray]:
    """The reverse: a factor of each node of a two-mode network, whichever end of a pair it is."""
    if not len(problem.second_kind):
        return state.send.copy(), state.receive.copy()
    return state.send + state.receive, state.send + state.receive


def n_pairs(problem: Problem) -> float:
    """Pairs that are possible, also hidden ones."""
    if len(problem.kind):
        return problem.pair_weight * float(permitted(problem, ones := np.ones(problem.n), ones))
    n, n_second = problem.n, float(problem.second_kind.sum())
    return n_second * (n - n_second) if len(problem.second_kind) else problem.pair_weight * n * (n - 1)


def permitted(problem: Problem, send: np.ndarray, receive: np.ndarray, nodes: np.ndarray | None = None) -> float:
    """sum of t_i r_j over ordered pairs i != j of nodes, all or some, that kinds permit, of a rule of these."""
    kind = problem.kind if nodes is None else problem.kind[nodes]
    n_kinds = len(problem.linkable)
    by_kind = [np.bincount(kind, t, n_kinds) for t in (send, receive)]
    own = np.diag(problem.linkable)[kind] @ (send * receive)
    return float(by_kind[0] @ problem.linkable @ by_kind[1] - own)


def sums_by_kind(problem: Problem, which: np.ndarray, nodes: np.ndarray, factors: np.ndarray, size: int) -> np.ndarray:
    """Sums of factors of nodes, by which community each is in and by its kind."""
    n_kinds = len(problem.linkable)
    if not n_kinds:
        return NO_SUMS.copy()
    flat = np.bincount(which * n_kinds + problem.kind[nodes], factors[nodes], size * n_kinds)
    return flat.astype(float).reshape(size, n_kinds)


def _incident(out: Rows, into: Rows, directed: bool):
    """Rows of all dyads that touch a node: as source, then as target."""
    if not directed:
        return out.start, out.start[1:], out.node, out.value
    n_out, n_in = np.diff(out.start), np.diff(into.start)
    start = out.start + into.start
    middle = start[:-1] + n_out
    node, value = np.empty(start[-1], np.int32), np.empty(start[-1])
    for rows, first, number in ((out, start[:-1], n_out), (into, middle, n_in)):
        place = np.repeat(first - rows.start[:-1], number) + np.arange(len(rows.node))
        node[place], value[place] = rows.node, rows.value
    return start, middle, node, value


def empty_state(problem: Problem, n_links: float | None = None) -> State:
    """No communities, every degree factor 1, and the background that explains all links, ``n_links`` if these are not
    here."""
    n, links = problem.n, problem.value.sum() / 2 if n_links is None else n_links
    pairs = n_pairs(problem) - len(problem.hidden_node) / 2
    density = links / pairs if pairs > 0 else 0.0
    background = density if problem.counts else -np.log1p(-min(density, 1 - 1e-9))
    none, no_nodes, by_kind = np.zeros(0), np.zeros(0, np.int64), np.zeros((0, len(problem.linkable)))
    return State(
        np.zeros(problem.start[-1] + 1, np.int32), np.zeros(n, np.int32), *one_way(problem, np.ones(n), np.ones(n)),
        no_nodes, none, none.copy(), as_affinities(none), no_nodes.copy(), no_nodes.copy(),
        float(max(background, 1e-300)), send_by_kind=by_kind, receive_by_kind=by_kind.copy(),
    )  # fmt: skip


def as_state(problem: Problem, z: sparse.csr_array, affinities: Affinities, background: float, send, receive) -> State:
    """Communities and weights that were found before, laid out for a problem that may have more nodes and other links.

    A node keeps at most as many communities as it has links. No split needs to be tried again.
    """
    extra = problem.n - z.shape[0]
    number = np.concatenate([np.diff(z.indptr), np.zeros(extra, z.indptr.dtype)])
    held = np.minimum(number, np.diff(problem.start)).astype(np.int32)
    owner = np.repeat(np.arange(problem.n), held)
    rank = np.arange(len(owner)) - np.repeat(np.cumsum(held) - held, held)
    kept = z.indices[z.indptr[owner] + rank] if len(owner) else np.zeros(0, np.int64)
    member = np.zeros(len(problem.node), np.int32)
    member[problem.start[owner] + rank] = kept
    send, receive = one_way(problem, *(np.concatenate([t, np.ones(extra)]) for t in (send, receive)))
    size = np.bincount(kept, minlength=z.shape[1])
    # of no memberships at all, bincount gives integers, whatever the weights
    send_sum, receive_sum = (np.bincount(kept, t[owner], z.shape[1]).astype(float) for t in (send, receive))
    by_kind = [sums_by_kind(problem, kept, owner, t, z.shape[1]) for t in (send, receive)]
    return State(
        member, held, send, receive, size, send_sum, receive_sum, copy_affinities(affinities), size.copy(), size.copy(),
        float(background), send_by_kind=by_kind[0], receive_by_kind=by_kind[1],
    )  # fmt: skip


def changed_since_split(state: State) -> np.ndarray:
    """Whether each community changed since a split of it was last tried."""
    return state.size != state.size_at_split


def changed_since_merge(state: State) -> np.ndarray:
    """Whether each community changed since merges with it were last tried."""
    return state.size != state.size_at_merge


def copy_state(state: State, **new: Any) -> State:
    """A state that may be changed in place, with ``new`` arrays in the place of some."""
    arrays: dict[str, Any] = {name: getattr(state, name).copy() for name in ARRAYS if name not in new}
    return state._replace(**arrays, **new, affinities=copy_affinities(state.affinities))


def packed(problem: Problem, state: State) -> State:
    """The state with the memberships alone, not laid out as the links: a fifth of the memory, to be kept for later."""
    if state.is_packed:
        return state
    member = np.concatenate([state.member[places(problem, state, some)] for some in blocks(state)])
    return state._replace(member=member, is_packed=True)


def laid_out(problem: Problem, state: State) -> State:
    """A copy of a state, packed or not, that may be changed in place."""
    if not state.is_packed:
        return copy_state(state)
    member, at = np.zeros(problem.start[-1] + 1, np.int32), 0
    for some in blocks(state):
        where = places(problem, state, some)
        member[where] = state.member[at : at + len(where)]
        at += len(where)
    return copy_state(state, member=member)._replace(is_packed=False)


def places(problem: Problem, state: State, some: slice) -> np.ndarray:
    """Where the memberships of some nodes stand."""
    held = state.held[some]
    first = problem.start[some.start : some.start + len(held)] - np.cumsum(held) + held
    return np.repeat(first, held) + np.arange(held.sum())


def blocks(state: State) -> list[slice]:
    """Nodes some at a time, so that what is worked out for them takes little memory."""
    return [slice(low, low + NODES_AT_ONCE) for low in range(0, max(len(state.held), 1), NODES_AT_ONCE)]


def with_slots(state: State, extra: int) -> State:
    """The same state with ``extra`` empty communities at the end."""
    return _by_community(
        state,
        lambda sums: np.concatenate([sums, np.zeros((extra, *sums.shape[1:]), sums.dtype)]),
        with_more(state.affinities, extra),
    )


def without_empty(state: State) -> State:
    """The same state with empty communities left out and the others renumbered."""
    alive = state.size > 0
    if alive.all():
        return state
    number = (np.cumsum(alive) - 1).astype(np.int32)
    state = state._replace(member=number[state.member])
    return _by_community(state, lambda sums: sums[alive], alive_only(state.affinities, alive))


def _by_community(state: State, change, affinities: Affinities) -> State:
    names = ["size", "send_sum", "receive_sum", "size_at_split", "size_at_merge"]
    names += ["send_by_kind", "receive_by_kind"] if state.send_by_kind.shape[1] else []
    return state._replace(**{name: change(getattr(state, name)) for name in names}, affinities=affinities)


def n_alive(state: State) -> int:
    """Communities that have members."""
    return int(np.count_nonzero(state.size))


def memberships(problem: Problem, state: State) -> sparse.csr_array:
    """Memberships: 0/1, shape (n, K)."""
    start = np.concatenate([[0], np.cumsum(state.held, dtype=np.int64)])
    shape = (len(state.held), len(state.size))
    member = state.member.copy() if state.is_packed else packed(problem, state).member
    matrix = sparse.csr_array((np.ones(start[-1]), member, start), shape=shape)
    matrix.sort_indices()
    return matrix


def members(problem: Problem, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Members of each community: community k has ``nodes[start[k]:start[k + 1]]``."""
    by_community = memberships(problem, state).tocsc()
    return by_community.indptr.astype(np.int64), by_community.indices.astype(np.int32)
