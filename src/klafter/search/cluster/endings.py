"""What one worker does with all links, where it can hold them: births of communities of very few links, from the
embedding of the whole graph, and affinities between communities."""

from __future__ import annotations

import numpy as np

from klafter.search.cluster.executor import SHARD_LINKS, ShardExecutor
from klafter.search.cluster.versions import Snapshot, put_rows, snapshot_of
from klafter.search.config import SEARCH
from klafter.search.sparse.moves.birth import share_unexplained
from klafter.search.sparse.moves.off_diagonal import off_diagonal_search
from klafter.search.sparse.moves.perturb import births_from_embedding
from klafter.search.sparse.state import Problem, State, copy_state, without_empty
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import objective


def sparse_births(frame: Problem, state: State, executor: ShardExecutor, n_links: float, entropy: list[int]) -> State:
    """Births from the embedding, where that lowers the objective."""
    return _on_one(grow_sparse, frame, state, executor, n_links, entropy)[0]


def bridges(
    frame: Problem, state: State, executor: ShardExecutor, n_links: float, entropy: list[int]
) -> tuple[State, float | None]:
    """Affinities between communities, where they lower the objective, which is then returned too."""
    if len(frame.second_kind):  # as without a cluster
        return state, None
    return _on_one(add_bridges, frame, state, executor, n_links, entropy)


def _on_one(work, frame: Problem, state: State, executor: ShardExecutor, n_links: float, entropy: list[int]):
    if n_links > SHARD_LINKS or not len(state.size):
        return state, None
    jobs = [(np.arange(frame.n), entropy)]
    found, value = executor.on_neighbourhoods(work, frame, snapshot_of(frame, state), jobs)[0]
    if found is None or (found.held > np.diff(frame.start)).any():
        return state, None
    return state_of(frame, found), value


def state_of(frame: Problem, found: Snapshot) -> State:
    """The state of a snapshot."""
    member = np.zeros(frame.start[-1] + 1, np.int32)
    put_rows(member, frame.start, found.held, found.member)
    return copy_state(State(member, found.held, found.send, found.receive, *found.communities))


def whole(problem: Problem, state: State) -> tuple[Problem, State]:
    """A neighbourhood of all nodes without the node at its end, to which nothing leads."""
    names = ("start", "middle", "hidden_start", "hidden_middle")
    problem = problem._replace(**{name: getattr(problem, name)[:-1] for name in names})
    held, send, receive = state.held[:-1], state.send[:-1], state.receive[:-1]
    return problem, copy_state(state._replace(held=held, send=send, receive=receive))


def grow_sparse(problem: Problem, state: State, _, entropy: list[int]) -> tuple[Snapshot | None, float]:
    """Communities that many unexplained links show only together."""
    problem, state = whole(problem, state)
    pool, rng = ThreadPool(1), np.random.default_rng(entropy)
    value = objective(problem, state, pool)
    if share_unexplained(problem, state, pool) < SEARCH.sparse.background_discount:
        return None, value
    new = without_empty(births_from_embedding(problem, copy_state(state), rng, pool))
    found = objective(problem, new, pool)
    return (snapshot_of(problem, new), found) if found < value else (None, value)


def add_bridges(problem: Problem, state: State, _, entropy: list[int]) -> tuple[Snapshot | None, float]:
    """Off-diagonal affinities."""
    problem, state = whole(problem, state)
    new = off_diagonal_search(problem, state, np.random.default_rng(entropy), ThreadPool(1))
    return (None if new.affinities.diagonal else snapshot_of(problem, new)), objective(problem, new)
