"""Merges judged by the score: pieces of one community that share a few members.

Merges inside a step are judged by Q with the buffet's price. By that two pieces may stay apart whose members in common
hold two communities where nearly everyone holds one, which is dear where counts are learned, and each affinity costs
what integrates it out.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from klafter.search.config import SEARCH
from klafter.search.moves.proposal import LEAST_FALL
from klafter.search.sparse.affinities import as_affinities
from klafter.search.sparse.moves.merge import overlapping
from klafter.search.sparse.state import Problem, State, as_state, laid_out, memberships
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import weights


def unite(problem: Problem, here: Any, judge: Callable[[State], Any], pool: ThreadPool) -> Any:
    """What ``judge`` gives of the state after merges of communities that overlap, each as far as the score falls."""
    left = SEARCH.sparse.unite_links // max(len(problem.node) // 2, 1)
    state = laid_out(problem, here.state)
    pairs = overlapping(problem, state) if state.affinities.diagonal else []
    while pairs and left > 0:
        left -= 1
        there = judge(united(problem, state, pairs.pop(0), pool))
        if there.score < here.score - LEAST_FALL:
            here, state = there, there.state
            pairs = overlapping(problem, state)
    return here


def united(problem: Problem, state: State, pair: tuple[int, int], pool: ThreadPool) -> State:
    """The state with one community for two, and weights that follow."""
    z, others = memberships(problem, state).tocsc(), np.setdiff1d(np.arange(len(state.size)), pair)
    both = (sparse.csr_array(z[:, list(pair)]).sum(axis=1) > 0).astype(float)
    cover = sparse.csr_array(sparse.hstack([z[:, others], sparse.csc_array(both[:, None])]))
    strength = np.append(state.strength[others], state.strength[list(pair)].max())
    there = as_state(problem, cover, as_affinities(strength), state.background, state.send, state.receive)
    return weights(problem, there, pool)
