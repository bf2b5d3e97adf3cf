"""Where links are shared, everyone with links is shown in some community.

A node with a link or two into each of several communities has hardly a lower score in all of them than in none, where
the background explains its links. So nobody is known to be in none: such nodes are shown in the communities that are
as likely as the likeliest, but for two nats.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from klafter.search.sparse.fit import Outcome, Settings, n_threads
from klafter.search.sparse.membership_posterior import membership_posterior
from klafter.search.sparse.moves.share import FOLLOWING, in_shares
from klafter.search.sparse.state import Problem, State, as_state, memberships
from klafter.search.sparse.threads import ThreadPool
from klafter.search.sparse.weights import weights

NEAR = np.exp(-2.0)


def everyone_shown(settings: Settings, outcomes: list[Outcome]) -> list[Outcome]:
    """The searches; those whose nodes share their links, with everyone in some community. Scores are as they were."""
    with ThreadPool(n_threads(settings, outcomes[0].problem)) as pool:
        return [each._replace(state=with_everyone(each, pool)) if each.state.shared else each for each in outcomes]


def with_everyone(outcome: Outcome, pool: ThreadPool) -> State:
    """The cover with nodes in none where they probably are, and weights that fit."""
    problem, state = outcome.problem, outcome.state
    extra = likeliest(problem, state, counts=outcome.counts)
    if not extra.nnz:
        return state
    z = sparse.csr_array(memberships(problem, state) + extra)
    state = as_state(problem, z, state.affinities, state.background, state.send, state.receive)
    return weights(problem, in_shares(problem, state), pool, rounds=FOLLOWING)


def likeliest(problem: Problem, state: State, *, counts: bool) -> sparse.csr_array:
    """(n, K) of 0/1: of nodes in none the likeliest communities, no more than there are links."""
    proba = membership_posterior(problem, state, counts=counts).tocoo()
    highest = np.zeros(problem.n)
    np.maximum.at(highest, proba.row, proba.data)
    near = (state.held[proba.row] == 0) & (proba.data >= NEAR * highest[proba.row]) & (proba.data > 0.0)
    order = np.lexsort((-proba.data[near], proba.row[near]))
    row, col = proba.row[near][order], proba.col[near][order]
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    some = rank < np.diff(problem.start)[row]
    return sparse.csr_array((np.ones(some.sum()), (row[some], col[some])), shape=proba.shape)
