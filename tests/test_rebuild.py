"""Rebuilding: a try never makes things worse, leaves what it was given alone, and leaves wrong optima."""

import numpy as np
import pytest
from scipy import sparse

from klafter.core.families import FAMILIES
from klafter.core.problem import copy_state, empty_state, make_priors, make_problem
from klafter.datasets import make_lfrm
from klafter.evaluation import matched_f1
from klafter.models import KLafter
from klafter.search.dense import engine as dense
from klafter.search.dense.score import score
from klafter.search.descend import Outcome, Task
from klafter.search.moves.flip import flip_sweep
from klafter.search.moves.proposal import accept
from klafter.search.moves.rebuild import propose_rebuild, related_communities
from klafter.search.restart import rebuilt


def planted(family="bernoulli", directed=False, n=60, **options):
    graph, truth = make_lfrm(n, 3, family=family, directed=directed, random_state=3)
    problem = make_problem(graph, FAMILIES[family].law(), make_priors(**options))
    z = np.ascontiguousarray(sparse.csr_array(truth.memberships).toarray().T.astype(np.uint8))
    return problem, z


def attempt(problem, state, value, rng, most=2**31):
    """One try to rebuild."""
    proposal = propose_rebuild(problem, state, value, rng, most)
    return (state, value) if proposal is None else accept(problem, state, value, proposal)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("family", ["bernoulli", "poisson", "gaussian"])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_try_never_raises_the_score(family, directed, temperature):
    problem, z = planted(family, directed, n=40, temperature=temperature)
    rng = np.random.default_rng(0)
    state = dense.init(problem, rng, z[:2])
    before = copy_state(state)
    here = value = score(problem, state)
    for _ in range(4):
        state, value = attempt(problem, state, value, rng)
        there = score(problem, state)
        assert there == pytest.approx(value)
        assert there <= here + 1e-9
        here = there
    again = dense.init(problem, np.random.default_rng(0), z[:2])
    assert all((a == b).all() for a, b in zip(before, again))  # the state that was given is as it was


def test_communities_that_share_the_work_of_others_in_a_wrong_way_are_rebuilt():
    graph, truth = make_lfrm(120, 6, related=0.3, random_state=5)
    problem = make_problem(graph, FAMILIES["bernoulli"].law(), make_priors(0.0, 1.0, 3.2, 1.4))
    z = np.ascontiguousarray(sparse.csr_array(truth.memberships).toarray().T.astype(np.uint8))
    rng = np.random.default_rng(0)
    best = score(problem, flip_sweep(problem, dense.init(problem, rng, z), rng))
    wrong = np.concatenate([[z[0] | z[1], z[0] & (1 - z[2])], z[2:]])
    start = dense.init(problem, rng, np.ascontiguousarray(wrong))
    state, value = dense.step(problem, start, score(problem, start), rng)
    assert value > best + 10.0
    for _ in range(40):
        state, value = attempt(problem, state, value, rng)
    assert score(problem, flip_sweep(problem, state, rng)) <= best + 1.0


def test_no_communities_stay_none_and_limits_hold():
    problem, z = planted()
    rng = np.random.default_rng(0)
    nothing = empty_state(problem)
    recipe = KLafter(n_smooth=0)._recipe(60)._replace(max_iter=0)
    outcome = Outcome(nothing, problem, score(problem, nothing), [], False, [])
    task = Task(0, 1, np.random.SeedSequence(0), None)
    assert not len(rebuilt(recipe, lambda progress: False, (task, outcome), None).state.z)
    state = dense.init(problem, rng, z[:1])
    value = score(problem, state)
    for _ in range(5):
        state, value = attempt(problem, state, value, rng, 2)
        assert len(state.z) <= 2


def test_those_given_up_are_different_and_have_to_do_with_the_first():
    problem, z = planted()
    state = dense.init(problem, np.random.default_rng(0), z)
    state.w[:] = np.array([[3.0, 2.0, 0.0], [2.0, 3.0, 0.0], [0.0, 0.0, 3.0]])
    rng = np.random.default_rng(1)
    chosen = {tuple(sorted(related_communities(state, rng).tolist())) for _ in range(60)}
    assert chosen == {(0,), (1,), (2,), (0, 1)}


def test_the_best_restarts_are_rebuilt_whatever_the_number_of_workers():
    graph, truth = make_lfrm(120, 6, related=0.3, random_state=5)
    options = {"n_init": 3, "n_smooth": 0, "random_state": 0}
    one, two = (KLafter(n_jobs=n_jobs, **options).fit(graph) for n_jobs in (1, 2))
    assert one.objective_ == two.objective_
    assert matched_f1(truth.communities(), one.communities()) > 0.95


def test_an_interrupt_while_rebuilding_keeps_what_the_restarts_found():
    def interrupt(progress):
        if progress.stage == "rebuilding":
            raise KeyboardInterrupt

    graph, _ = make_lfrm(60, 3, random_state=0)
    model = KLafter(n_init=2, n_smooth=12, random_state=0).fit(graph, callback=interrupt)
    assert len(model.restarts_) == 2
    assert model.n_communities_ >= 1


def test_whoever_stops_while_rebuilding_hears_no_more_and_keeps_the_best():
    told = []

    def stop(progress):
        told.append(progress)
        return progress.stage == "rebuilding" and progress.step == 3

    graph, _ = make_lfrm(60, 3, random_state=0)
    options = {"n_init": 2, "n_smooth": 0, "random_state": 0}
    stopped = KLafter(**options).fit(graph, callback=stop)
    assert (told[-1].stage, told[-1].step) == ("rebuilding", 3)
    assert len(stopped.restarts_) == 2
    problem = stopped._problem(graph)[0]._replace(counts=stopped.prior_ == "counts")
    assert stopped.objective_ == pytest.approx(score(problem, best_state(stopped, graph)))


def best_state(model, graph):
    return model._warm_state(graph, graph, model._optimum(), 1.0)
