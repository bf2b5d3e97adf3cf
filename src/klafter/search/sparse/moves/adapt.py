"""Online: the state of an earlier fit goes on with a graph that changed, and adapts where it changed.

What it costs: two passes over the links for weights and objective, which is a few percent of a fit, and a search among
the ends of the links that came or went, the communities they are in and the nodes next to those that moved.
"""

import numpy as np

from klafter.search.config import SEARCH
from klafter.search.sparse.moves.birth import births
from klafter.search.sparse.moves.death import deaths
from klafter.search.sparse.moves.flip import flip_sweep
from klafter.search.sparse.moves.merge import merges, reassigns
from klafter.search.sparse.moves.split import splits
from klafter.search.sparse.state import Problem, State, changed_since_split, memberships, without_empty
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import weights


def adapt(problem: Problem, state: State, nodes: np.ndarray, rng: np.random.Generator, pool: ThreadPool) -> State:
    """Flips, births and all other moves around ``nodes``, whose links changed. None of them raises the objective."""
    state = weights(problem, state, pool, rounds=1)
    state = flip_sweep(problem, state, pool, among=nodes)
    state, born = births(problem, state, rng, pool, among=nodes)
    state = without_empty(mark_changed(problem, state, nodes))
    if not changed_since_split(state).any():
        return state
    for move in (merges, reassigns, deaths):
        state, made = move(problem, state, pool, local=True)
        state, born = without_empty(state), born + made
    state, made = splits(problem, state, pool)
    if born + made:
        state = flip_sweep(problem, without_empty(state), pool, among=nodes)
    return state


def mark_changed(problem: Problem, state: State, nodes: np.ndarray) -> State:
    """Mark the communities in which many links changed, so that moves consider them."""
    ends = np.zeros(problem.n)
    ends[nodes] = 1.0
    changed = memberships(problem, state).T @ ends > SEARCH.sparse.changed_ends * state.size
    state.size_at_split[changed], state.size_at_merge[changed] = 0, 0
    return state
