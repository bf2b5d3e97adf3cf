"""What is remembered of merges and reassignments that were refused."""

import numpy as np
from scipy import sparse

from klafter.datasets import make_overlapping
from klafter.search.config import SEARCH
from klafter.search.sparse import engine
from klafter.search.sparse.moves import merge
from klafter.search.sparse.refusals import Refusals, unpacked
from klafter.search.sparse.state import as_problem
from klafter.search.sparse.threads import ThreadPool

NATS = SEARCH.sparse.refusal_nats
PAIRS = [(0, 1), (0, 2), (1, 2)]


def cover(*communities, n=12):
    z = np.zeros((n, len(communities)))
    for k, members in enumerate(communities):
        z[list(members), k] = 1.0
    return sparse.csr_array(z)


FIRST = cover(range(5), range(4, 9), range(7, 12))


def refused():
    memory = Refusals()
    assert memory.promising(FIRST, PAIRS) == PAIRS
    for pair, loss in zip(PAIRS, (1.5 * NATS, 50 * NATS, -1.0), strict=True):
        memory.note(pair, -loss)
    return memory


def test_what_lost_much_is_left_alone_and_what_lost_little_or_gained_is_tried():
    memory = refused()
    assert memory.promising(FIRST, PAIRS) == [(1, 2)]
    memory.note((1, 2), -50 * NATS)
    assert memory.promising(FIRST, PAIRS) == [(0, 1)]  # little enough by now: weights may have changed


def test_communities_that_changed_are_tried_again():
    changed = cover(range(5), range(4, 9), [1, 2, 3, *range(7, 12)])
    assert refused().promising(changed, PAIRS) == [(1, 2)]
    other = cover(range(5), range(4, 9), [0, 1, 2, 3])
    assert (0, 2) in refused().promising(other, PAIRS)


def test_communities_are_known_by_their_members_whatever_their_numbers():
    renumbered = cover([10, 11], range(5), range(4, 9), range(7, 12))
    pairs = [(0, 3), (1, 2), (1, 3), (2, 3)]
    assert refused().promising(renumbered, pairs) == [(0, 3), (2, 3)]


def test_what_is_remembered_can_be_kept():
    memory = refused()
    again = unpacked(memory.packed())
    assert again.promising(FIRST, PAIRS) == memory.promising(FIRST, PAIRS)
    assert unpacked(Refusals().packed()).promising(FIRST, PAIRS) == PAIRS


def test_a_second_look_at_the_same_state_tries_less(monkeypatch):
    graph, _ = make_overlapping(400, community_size=50, mean_degree=12, memberships=(1, 3), random_state=0)
    problem, tried = as_problem(graph), []
    propose = merge.reassign_proposal
    monkeypatch.setattr(merge, "reassign_proposal", lambda *given: tried.append(given[3]) or propose(*given))
    with ThreadPool(1) as pool:
        state = engine.init(problem, np.random.default_rng(0), pool)
        while merge.reassigns(problem, state, pool)[1]:
            pass
        tried.clear()
        merge.reassigns(problem, state, pool)
        second = len(tried)
    with ThreadPool(1) as pool:
        merge.reassigns(problem, state, pool)
    assert second < len(tried) - second
