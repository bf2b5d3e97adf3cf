"""Proposals that failed are not made again before what they were made of has changed."""

import numpy as np
import pytest
from scipy import sparse

from klafter.core.families import FAMILIES
from klafter.core.problem import make_priors, make_problem
from klafter.datasets import load_karate, make_overlapping
from klafter.graph import as_graph
from klafter.search.dense import engine
from klafter.search.dense.birth_kernels import newly_underpredicted
from klafter.search.dense.score import score
from klafter.search.moves import birth, death, merge, split
from klafter.search.moves.failures import Failures


def problem_of(graph):
    return make_problem(graph, FAMILIES["bernoulli"].law(), make_priors())


def test_failures_are_of_a_move_and_its_members():
    failures = Failures()
    first, second = np.arange(34) < 5, np.arange(34) > 20
    failures.add("merge", first, second)
    assert failures.has("merge", first, second)
    assert not failures.has("death", first, second)
    assert not failures.has("merge", first, first)


def test_nothing_is_proposed_twice_where_nothing_changed(monkeypatch):
    problem = problem_of(make_overlapping(80, mean_degree=12.0, community_size=20, random_state=0)[0])
    rng, failures, made = np.random.default_rng(0), Failures(), []
    for module, name in ((merge, "propose_merge"), (split, "propose_split"), (death, "propose_death")):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, f=original, n=name: (made.append(n), f(*args))[1])
    next_birth = birth.next_birth

    def noted_birth(*args):
        found = next_birth(*args)
        made.extend(["propose_birth"] * found[3])
        return found

    monkeypatch.setattr(birth, "next_birth", noted_birth)
    state = engine.init(problem, rng)
    value = score(problem, state)
    for _ in range(20):
        made.clear()
        before = value
        state, value = engine.step(problem, state, value, rng, failures=failures)
        if before - value < 1e-9:
            break
    made.clear()
    engine.step(problem, state, value, rng, failures=failures)
    assert set(made) <= {"propose_birth"}  # of a kind that was not tried at that seed
    for _ in range(30):
        made.clear()
        engine.step(problem, state, value, rng, failures=failures)
    assert len(made) <= 1


@pytest.mark.parametrize("directed", [False, True])
def test_a_seed_is_tried_again_with_another_underpredicted_link(directed):
    links = load_karate().links
    problem = problem_of(as_graph(sparse.triu(links).toarray() if directed else links, directed=directed))
    state = engine.init(problem, np.random.default_rng(0))
    ws, noted = birth.open_workspace(problem, state), Failures().of_births(problem.dyads)[1]
    seed = int(np.argmax(np.diff(problem.dyads.links_out.start)))
    assert newly_underpredicted(ws, seed, *noted)
    assert not newly_underpredicted(ws, seed, *noted)
    links = slice(*problem.dyads.links_out.start[[seed, seed + 1]])
    noted[0][np.arange(noted[0].size)[links][0]] = 0
    assert newly_underpredicted(ws, seed, *noted)
