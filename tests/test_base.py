"""What every estimator shares, shown on KLafter: predictions, explanations, samples, seeds, stopping, starting warm."""

import threading

import numpy as np
import oracles
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from klafter.core.problem import State
from klafter.graph import Graph
from klafter.models import KLafter
from klafter.prediction import ranking
from klafter.search import parallel, progress
from klafter.search.parallel import run as run_tasks

QUICK = {"n_init": 2, "n_smooth": 9, "max_iter": 4, "random_state": 0}
N = 24


@pytest.fixture(scope="module")
def graph():
    """Two groups with labels, a covariate and some hidden dyads."""
    rng, group = np.random.default_rng(0), np.repeat([0, 1], N // 2)
    same = group[:, None] == group
    y = np.triu(rng.random((N, N)) < np.where(same, 0.6, 0.05), 1)
    near = 1.0 * (abs(np.subtract.outer(range(N), range(N))) == 1)
    hidden = np.array([[0, 1], [2, 20], [5, 6]])
    return Graph(y, hidden=hidden, labels=[f"n{i}" for i in range(N)], covariates={"near": near})


@pytest.fixture(scope="module")
def model(graph):
    return KLafter(**QUICK).fit(graph)


PAIRS = np.array([[0, 1], [2, 20], [3, 4], [23, 0]])


def test_the_predictor_of_a_draw_is_the_formula(graph, model):
    for draw in model.draws_:
        state = State(
            draw.memberships.toarray().T, draw.affinities, [draw.offset], draw.sender, draw.receiver, draw.coefficients
        )
        x = oracles.predictors(graph, state)
        assert draw.predictor(PAIRS, graph.covariates.values()) == pytest.approx(x[tuple(PAIRS.T)])


def test_probabilities_average_the_draws(graph):
    model = KLafter(**QUICK, structure=0.0).fit(graph)
    x = [draw.predictor(PAIRS, graph.covariates.values()) for draw in model.draws_]
    assert model.predict_proba(PAIRS) == pytest.approx(np.mean(1 / (1 + np.exp(-np.array(x))), axis=0))
    assert model.predict(PAIRS) == pytest.approx(model.predict_proba(PAIRS))


def test_labels_and_rows_name_the_same_pairs(model):
    by_label = model.predict_proba([("n0", "n1"), ("n23", "n0")])
    assert by_label == pytest.approx(model.predict_proba(np.array([[0, 1], [23, 0]])))


def test_the_structural_expert_adds_to_the_log_odds(graph):
    with_, without = KLafter(**QUICK).fit(graph), KLafter(**QUICK, structure=0.0).fit(graph)
    assert (with_.memberships_ == without.memberships_).all()
    assert not np.allclose(with_.predict_proba(PAIRS), without.predict_proba(PAIRS))


def test_score_is_the_mean_log_likelihood(model):
    p = model.predict_proba(PAIRS)
    assert model.score(PAIRS, np.array([1, 0, 1, 0])) == pytest.approx(np.log([p[0], 1 - p[1], p[2], 1 - p[3]]).mean())
    with pytest.raises(ValueError, match="score needs pairs and their link values"):
        model.score(PAIRS)


@pytest.mark.parametrize("values", [[1, 0], [1, 0, 1, np.nan], 1.0])
def test_score_needs_a_value_for_each_pair(model, values):
    with pytest.raises(ValueError, match="score needs one finite link value for each pair; there are 4 pairs"):
        model.score(PAIRS, values)


def test_a_score_of_nothing_is_refused(model):
    with pytest.raises(ValueError, match="there are 0 pairs"):
        model.score(PAIRS[:0], [])


@pytest.mark.parametrize("n", [-1, 2.5, "all"])
def test_how_many_links_is_a_whole_number(model, n):
    with pytest.raises(ValueError, match="top_links needs n to be a whole number of at least 0; it is"):
        model.top_links(n)
    with pytest.raises(ValueError, match="surprising_links needs n"):
        model.surprising_links(n)


def test_a_table_of_pairs_holds_labels(model):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"source": ["n0", "n3"], "target": ["n1", "n4"]})
    assert model.predict_proba(table).tolist() == model.predict_proba([("n0", "n1"), ("n3", "n4")]).tolist()


@pytest.mark.parametrize(
    ("network", "cure"),
    [
        (np.array([[0, np.nan], [np.nan, 0]]), "Pass unobserved dyads as hidden="),
        ("friends.tsv", r"Use klafter\.read_graph\('friends\.tsv'\)"),
        ([("ann", "bob"), ("bob", "eve")], r"networkx\.Graph\(pairs\)"),
        ([(0, 1), (1, 2)], r"such as \(0, 1\)\. .*networkx\.Graph\(pairs\)"),
        (np.array([[0, 1], [1, 2], [0, 3]]), r"If every row is a link, use networkx\.Graph\(X\.tolist\(\)\)"),
        (None, "this is NoneType"),
    ],
)
def test_what_is_no_network_is_refused_with_a_cure(network, cure):
    with pytest.raises(ValueError, match=cure):
        KLafter().fit(network)


def test_a_node_has_no_link_with_itself(model):
    pairs = [("n0", "n0"), ("n0", "n1")]
    assert model.predict_proba(pairs).tolist() == [0.0, model.predict_proba(pairs[1:])[0]]
    assert model.predict(pairs)[0] == 0.0
    for ask in (lambda: model.explain("n0", "n0"), lambda: model.score(pairs, [0, 1])):
        with pytest.raises(ValueError, match="no link with itself; 'n0' is there twice"):
            ask()


def test_top_links_are_the_likeliest_dyads_without_a_known_link(graph, model):
    i, j = np.triu_indices(N, 1)
    free = graph.links.toarray()[i, j] == 0
    pairs = np.column_stack([i, j])[free]
    p = np.sort(model.predict_proba(pairs))[::-1]
    top = model.top_links(5)
    assert [q for _, _, q in top] == pytest.approx(p[:5])
    assert all(graph.links[graph.index(a), graph.index(b)] == 0 for a, b, _ in top)
    assert {frozenset(t[:2]) for t in model.top_links(9, hidden_only=True)} == {
        frozenset(pair) for pair in (("n0", "n1"), ("n2", "n20"), ("n5", "n6"))
    }


def test_surprising_links_are_the_least_likely_ones(graph, model):
    pairs = np.argwhere(np.triu(graph.links.toarray()))
    assert [q for _, _, q in model.surprising_links(3)] == pytest.approx(np.sort(model.predict_proba(pairs))[:3])


def test_an_explanation_adds_up(graph, model):
    told = model.explain("n3", "n4")
    p = model.predict_proba([("n3", "n4")])[0]
    assert told.probability == p
    assert told.log_odds == pytest.approx(np.log(p / (1 - p)), abs=1e-9)
    assert sum(value for _, value in told.parts) == pytest.approx(told.log_odds, abs=1e-9)
    assert "covariate near" in str(told)


def test_samples_are_networks_of_the_same_nodes(graph, model):
    drawn = model.sample(random_state=0)
    assert drawn.labels.tolist() == graph.labels.tolist()
    assert drawn.n_hidden == 0
    assert (drawn.links != model.sample(random_state=0).links).nnz == 0
    density = np.mean([model.sample(random_state=s).n_links for s in range(30)])
    i, j = np.triu_indices(N, 1)
    x = model.point_.predictor(np.column_stack([i, j]), graph.covariates.values())
    assert density == pytest.approx((1 / (1 + np.exp(-x))).sum(), rel=0.1)


def test_communities_name_the_members(model):
    named = model.communities()
    assert [len(c) for c in named] == model.memberships_.sum(axis=0).tolist()
    everyone = set().union(*named, model.unassigned())
    assert everyone == {f"n{i}" for i in range(N)}


def test_parameters_are_kept_as_given_and_cloned():
    model = KLafter(penalty=0.3, n_init=4)
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(penalty=0.5).penalty == 0.5


@pytest.mark.parametrize(
    "bad",
    [
        {"penalty": "much"},
        {"n_init": 0},
        {"family": "beta"},
        {"tol": -1.0},
        {"n_smooth": 1.5},
        {"n_jobs": 0},
        {"n_jobs": "two"},
        {"n_jobs": 1.5},
        {"random_state": -1},
        {"random_state": 0.5},
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(bad, graph):
    name = next(iter(bad))
    with pytest.raises(ValueError, match=f"KLafter needs {name} to be .*; it is"):
        KLafter(**bad).fit(graph)


def test_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError):
        KLafter().predict_proba([(0, 1)])


def test_the_seed_decides_and_the_number_of_workers_does_not(graph, model):
    for n_jobs in (1, 2):
        again = KLafter(**QUICK, n_jobs=n_jobs).fit(graph)
        assert again.objective_ == model.objective_
        assert (again.predict_proba(PAIRS) == model.predict_proba(PAIRS)).all()


def test_a_callback_hears_every_step_and_may_stop(graph):
    heard = []
    KLafter(**QUICK).fit(graph, callback=heard.append)
    assert {p.stage for p in heard} == {"search", "smoothing", "rebuilding"}
    assert {p.run for p in heard} == {0, 1}
    stopped = KLafter(n_init=1, n_smooth=0, random_state=0).fit(graph, callback=lambda progress: True)
    assert stopped.n_iter_ == 1


def test_a_callback_ends_all_searches_of_the_sparse_engine(graph):
    runs = []
    plain = graph.replace(covariates={})
    KLafter(link="exposure", n_init=3, random_state=0).fit(plain, callback=lambda p: runs.append(p.run) or True)
    assert runs == [0]


def test_an_interrupt_keeps_the_best_so_far(graph):
    def interrupt(progress):
        if progress.step == 2:
            raise KeyboardInterrupt

    model = KLafter(**{**QUICK, "tol": 0.0}).fit(graph, callback=interrupt)
    assert model.predict_proba(PAIRS).shape == (4,)
    assert model.objective_ <= model.history_[0].objective


def test_an_interrupt_between_restarts_keeps_those_that_are_done():
    def job(task, stop):
        if task == 2:
            raise KeyboardInterrupt
        return task

    assert parallel.run(job, [0, 1, 2, 3]) == [0, 1]
    with pytest.raises(KeyboardInterrupt):
        parallel.run(job, [2, 3])


def test_an_interrupt_that_a_compiler_wraps_keeps_the_tasks_that_are_done():
    def job(task, stop):
        if task == 2:
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt as error:
                raise SystemError("returned a result with an exception set") from error
        return task

    stop = threading.Event()
    assert run_tasks(job, [0, 1, 2, 3], stop=stop) == [0, 1]
    assert stop.is_set()
    with pytest.raises(SystemError):
        run_tasks(job, [2, 3])


def test_a_fault_of_a_task_is_no_interrupt():
    def job(task, stop):
        if task == 1:
            raise SystemError("returned a result with an exception set")
        return task

    with pytest.raises(SystemError):
        run_tasks(job, [0, 1])


def test_an_interrupt_keeps_the_best_of_the_papers_search(graph):
    def interrupt(progress):
        if progress.step == 2:
            raise KeyboardInterrupt

    model = KLafter.paper(random_state=0).fit(graph, callback=interrupt)
    assert model.n_iter_ == 2
    assert model.predict_proba(PAIRS).shape == (4,)


def test_a_warm_start_goes_on_from_the_last_optimum(graph):
    model = KLafter(**{**QUICK, "n_smooth": 0}, warm_start=True).fit(graph)
    before = model.objective_
    assert model.fit(graph).history_[0].objective == pytest.approx(before)
    assert model.objective_ <= before + 1e-9
    with pytest.raises(ValueError, match="warm_start needs the nodes of the last fit"):
        model.fit(Graph(np.ones((3, 3))))


def test_the_loop_stops_when_told():
    assert progress.iterate(lambda s: s + 1, 0, 10, lambda t, s: s == 4, None) == 4
    assert progress.iterate(lambda s: s + 1, 0, 10, lambda t, s: False, None) == 10


def test_a_matrix_that_is_no_network_is_refused():
    with pytest.raises(ValueError, match="square"):
        KLafter().fit(np.zeros((3, 4)))


def test_a_notebook_shows_what_was_found_as_text():
    from report_models import Told, told, two_groups

    labels = ["<b>ann</b>", *"bcdefgh"]
    graph, z = two_groups(labels=labels)
    shown = told(graph, z)._repr_html_()
    assert "Told: 2 communities in 8 nodes" in shown
    assert "&lt;b&gt;ann&lt;/b&gt;" in shown
    assert "<b>" not in shown
    assert "1 nodes in several, 1 in none" in shown
    assert Told()._repr_html_().startswith("<pre>Told(")
    assert "0 communities" in told(graph, z[:, :0])._repr_html_()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    "options", [{}, {"link": "exposure", "n_smooth": "auto"}, {"family": "poisson"}, {"family": "gaussian"}]
)
def test_rows_of_dyads_are_predicted_as_pairs_are(graph, directed, options):
    plain = Graph(graph.links, directed=directed, covariates={} if "link" in options else graph.covariates)
    model = KLafter(**{**QUICK, **options}).fit(plain)
    rows = np.array([3, 0, 7])
    pairs = np.column_stack([np.repeat(rows, N), np.tile(np.arange(N), 3)])
    assert model._own_rows(rows).ravel() == pytest.approx(model._own_probability(pairs), abs=1e-12)


@pytest.mark.parametrize("shortlist", [3, 40, 10_000])
def test_a_short_list_keeps_the_best_in_the_order_of_pairs(graph, model, monkeypatch, shortlist):
    monkeypatch.setattr(ranking, "SHORTLIST", shortlist)
    monkeypatch.setattr(ranking, "CHUNK", 5 * N)  # five nodes at a time
    i, j = np.triu_indices(N, 1)
    p = np.where(graph.links.toarray()[i, j] == 0, np.round(model._own_probability(np.column_stack([i, j])), 2), -1.0)
    square = np.zeros((N, N))
    square[i, j] = p
    found, scores = ranking.best_pairs(None, lambda r: square[r].copy(), lambda s, _: s, graph, None, 4, False)
    order = np.argsort(-p, kind="stable")[:4]
    assert found.tolist() == np.column_stack([i, j])[order].tolist()
    assert scores.tolist() == p[order].tolist()


def test_a_budget_leaves_no_part_of_a_large_graph_out(monkeypatch):
    group = np.repeat(np.arange(30), 20)
    rng = np.random.default_rng(0)
    y = np.triu(rng.random((600, 600)) < np.where(group[:, None] == group, 0.5, 0.01), 1)
    graph, memberships = Graph(y), np.eye(30)[group]
    whole = np.vstack([*ranking._near(graph, memberships, None)])
    monkeypatch.setattr(ranking, "MAX_CANDIDATES", 6_000)
    some = np.vstack([*ranking._near(graph, memberships, None)])
    assert len(some) <= 6_000 < len(whole)
    monkeypatch.setattr(ranking, "LOOKED_AT", 900)
    assert len(np.vstack([*ranking._near(graph, memberships, None)])) <= 1_000
    together = some[group[some[:, 0]] == group[some[:, 1]]]
    assert set(group[together[:, 0]]) == set(range(30))
    degree = graph.links.sum(axis=1)
    mates = ranking._best_members(memberships, degree, 3_000)
    assert (mates.sum(axis=0) == 10).all()  # of twenty
    assert all(
        degree[group == k][mates.toarray()[group == k, k] > 0].min() >= np.median(degree[group == k]) for k in range(30)
    )
