"""Deaths: communities whose removal lowers the objective."""

import numpy as np

from klafter.search.sparse.exchange import (
    NOTHING,
    Exchange,
    Members,
    accept_exact,
    carry_out,
    concerned,
    members_of,
    propose,
)
from klafter.search.sparse.state import Problem, State, changed_since_split, without_empty
from klafter.search.sparse.threads import ThreadPool


def deaths(problem: Problem, state: State, pool: ThreadPool, *, local: bool = False) -> tuple[State, int]:
    """Give up communities whose removal lowers the objective; ``local``: only those that changed."""
    return accept_exact(problem, state, death_proposals(problem, state, pool, local), pool)[:2]


def death_proposals(problem: Problem, state: State, pool: ThreadPool, local: bool = False) -> list[Exchange]:
    """Each community for nothing."""
    inside = members_of(problem, state)
    some = np.flatnonzero((state.size > 0) & (changed_since_split(state) | (not local)))
    return pool.map(lambda k: death_proposal(problem, state, inside, k, pool), some)


def death_proposal(problem: Problem, state: State, inside: Members, k: int, pool: ThreadPool) -> Exchange:
    """Nothing for a community."""
    nodes = concerned(state, inside, [k])
    return propose("death", problem, state, [k], nodes, np.zeros((0, len(nodes)), bool), np.zeros(0), pool, rounds=0)


def without_communities(problem: Problem, state: State, some: np.ndarray) -> State:
    """The state without some communities."""
    inside = members_of(problem, state)
    for k in some:
        nodes = inside.of(k)
        nothing = np.zeros((0, len(nodes)), bool), np.zeros(0)
        state = carry_out(problem, state, Exchange("death", 0.0, np.array([k]), nodes, *nothing), NOTHING)
    return without_empty(state)
