"""The sparse engine over shards: exact in every round, and the same whoever does the work."""

import contextlib
import logging
import os
import signal
import threading
from types import SimpleNamespace

import numpy as np
import oracles_sparse as oracle
import pytest
from test_sparse import dense_groups

import klafter as kl
from klafter.search.cluster import rounds
from klafter.search.cluster import shards as at
from klafter.search.cluster.dask_executor import DaskShardExecutor, cut_points, cut_rows
from klafter.search.cluster.executor import bare, by_shard, frame_of
from klafter.search.parallel import run
from klafter.search.sparse import engine
from klafter.search.sparse.exchange import NOTHING, Exchange
from klafter.search.sparse.fit import problem_of, state_of
from klafter.search.sparse.state import as_problem, as_state, empty_state

pytest.importorskip("distributed")


class LocalShardExecutor:
    """Shards in this process: the protocol ``ShardExecutor`` without a cluster."""

    def __init__(self, shards: list[at.Shard], bounds: np.ndarray):
        self.shards, self.bounds = shards, bounds

    def each(self, work, shared, *columns):
        given = () if shared is None else (shared,)
        return [work(shard, *given, *args) for shard, *args in zip(self.shards, *columns)]

    def on_neighbourhoods(self, work, frame, snapshot, jobs):
        def rows(nodes):
            return [at.rows_of(*pair) for pair in zip(self.shards, by_shard(nodes, self.bounds))]

        return [work(frame, rows(nodes), snapshot, *args) for nodes, *args in jobs]


def in_shards(graph, counts=False, number=3):
    problem = as_problem(graph, counts=counts)
    bounds = np.array([problem.n * s // number for s in range(number + 1)])
    frame = frame_of(problem, np.diff(problem.start))
    shards = [at.make_shard(bare(frame), cut_rows(problem, a, b)) for a, b in zip(bounds[:-1], bounds[1:])]  # noqa: RUF007
    return problem, frame, LocalShardExecutor(shards, bounds)


def whole(problem, frame, state):
    """The same state laid out for the whole problem."""
    z = engine.memberships(frame, state)
    return as_state(problem, z, state.affinities, state.background, state.send, state.receive)


kinds = pytest.mark.parametrize(("directed", "counts"), [(False, False), (True, False), (False, True), (True, True)])


def after_falling_rounds(problem, frame, state, executor, turns):
    """The state after rounds of every kind, none of which may raise the objective that the whole graph has."""
    values = [rounds.objective(frame, state, executor)]
    work = (
        lambda s: rounds.births(frame, s, executor, [0])[0],
        lambda s: rounds.weights(frame, s, executor, rounds=1),
        lambda s: rounds.flip_sweep(frame, s, executor),
        lambda s: rounds.moves(frame, s, executor)[0],
    )
    for turn in range(turns):
        state = work[turn % 4](state)
        values.append(rounds.objective(frame, state, executor))
        assert values[-1] == pytest.approx(engine.objective(problem, whole(problem, frame, state)), rel=1e-10)
    assert (np.diff(values) <= 1e-7).all()
    return state


@kinds
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_every_round_over_shards_lowers_the_exact_objective(directed, counts, share):
    graph, truth = dense_groups(120, 4, 0.6, 0.02, 1, directed, counts)
    graph = kl.split_dyads(graph, share, random_state=0)[0] if share else graph
    problem, frame, executor = in_shards(graph, counts)
    state = empty_state(frame, problem.value.sum() / 2)
    empty = engine.objective(problem, empty_state(problem))
    assert rounds.objective(frame, state, executor) == pytest.approx(empty)
    state = after_falling_rounds(problem, frame, state, executor, 12)
    assert oracle.average_f1(truth, engine.memberships(frame, state).toarray()) > 0.95


def test_winners_are_never_linked():
    graph, _ = dense_groups(60, 3, 0.5, 0.1, 2)
    _, _, executor = in_shards(graph)
    rng = np.random.default_rng(0)
    gain, which = rng.integers(0, 4, 60), rng.integers(0, 3, 60)
    best = np.concatenate(executor.each(at.winners, np.array([gain, which], float)))
    assert len(best)
    assert not graph.links[best][:, best].nnz
    assert (gain[best] > 0).all()


def test_winners_of_one_community_share_no_hidden_dyad():
    graph, _ = dense_groups(60, 3, 0.3, 0.05, 2)
    graph = kl.split_dyads(graph, 0.2, random_state=0)[0]
    _, _, executor = in_shards(graph)
    rng = np.random.default_rng(0)
    gain, which = rng.random(60), rng.integers(0, 2, 60)
    best = np.concatenate(executor.each(at.winners, np.array([gain, which])))
    nearest = which[best][:, None] == which[best]
    assert len(best) > 1
    assert not (graph.hidden[best][:, best].toarray() * nearest).any()


def test_a_neighbourhood_has_all_dyads_among_its_nodes_and_no_link_outside():
    graph, _ = dense_groups(60, 3, 0.5, 0.1, 2, directed=True)
    graph = kl.split_dyads(graph, 0.2, random_state=0)[0]
    problem, frame, executor = in_shards(graph)
    nodes = np.arange(5, 50, 3)
    parts = [at.rows_of(*pair) for pair in zip(executor.shards, by_shard(nodes, executor.bounds))]
    neighbourhood = at.make_neighbourhood(bare(frame), parts)
    links, hidden = np.zeros((2, 60, 60))
    for v, i in enumerate(nodes):
        for p in range(neighbourhood.problem.start[v], neighbourhood.problem.middle[v]):
            links[i, neighbourhood.nodes[neighbourhood.problem.node[p]]] = neighbourhood.problem.value[p]
        for p in range(neighbourhood.problem.hidden_start[v], neighbourhood.problem.hidden_middle[v]):
            hidden[i, neighbourhood.nodes[neighbourhood.problem.hidden_node[p]]] = 1
    inside = np.isin(np.arange(60), nodes)
    np.testing.assert_array_equal(links, graph.links.toarray() * inside * inside[:, None])
    np.testing.assert_array_equal(hidden, graph.hidden.toarray() * inside * inside[:, None])
    np.testing.assert_array_equal(np.diff(neighbourhood.problem.start), np.diff(problem.start)[nodes])


def test_exchanges_that_share_links_are_not_both_made_on_old_gains():
    graph, _ = dense_groups(60, 1, 0.5, 0.0, 2)
    problem, frame, executor = in_shards(graph)
    state = empty_state(frame, problem.value.sum() / 2)
    nodes, w = np.arange(40), np.array([0.3])
    twice = [Exchange("birth", 10.0, NOTHING, nodes, np.ones((1, 40), bool), w) for _ in range(2)]
    _, made = rounds.accept_bounded(frame, state, twice, executor)
    assert made == 1


def cluster(**how):
    from dask.distributed import LocalCluster

    return LocalCluster(threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL, **how)


@contextlib.contextmanager
def client_of(**how):
    from dask.distributed import Client

    with cluster(**how) as group, Client(group) as client:
        yield client


@pytest.fixture(scope="module")
def planted():
    return dense_groups(300, 5, 0.4, 0.02, 3)


@pytest.fixture(scope="module")
def alone(planted):
    """The answer of one worker."""
    with client_of(n_workers=1, processes=False) as client:
        return kl.KLafter(link="exposure", random_state=0, max_iter=2).fit(planted[0], client=client)


def test_one_worker_finds_what_was_planted_and_counts_its_traffic(planted, alone, tmp_path):
    assert oracle.average_f1(planted[1], alone.memberships_) > 0.95
    assert (np.diff([line.objective for line in alone.history_]) <= 1e-6).all()
    assert alone.traffic_["tally"]["sent"] > 0
    alone.save(tmp_path / "m.npz")
    assert kl.load(tmp_path / "m.npz").traffic_["tally"]["rounds"] == alone.traffic_["tally"]["rounds"]
    assert alone.predict_proba([(0, 1)]).shape == (1,)


def test_ctrl_c_keeps_the_best_so_far(planted):
    def interrupt(progress):
        raise KeyboardInterrupt

    with client_of(n_workers=1, processes=False) as client:
        model = kl.KLafter(link="exposure", random_state=0).fit(planted[0], client=client, callback=interrupt)
    assert model.objective_ == model.history_[-1].objective < model.history_[0].objective


@pytest.mark.parametrize("workers", [2, 4])
def test_the_answer_does_not_depend_on_the_number_of_workers(planted, alone, workers):
    with client_of(n_workers=workers, processes=False) as client:
        model = kl.KLafter(link="exposure", random_state=0, max_iter=2).fit(planted[0], client=client)
    assert model.objective_ == alone.objective_
    assert (model.memberships_ != alone.memberships_).nnz == 0


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.0, 0.3], ids=["between rounds", "inside a round"])
def test_a_worker_that_dies_changes_nothing(planted, alone, delay):
    pids, killed = [], []

    def kill():
        os.kill(pids[0], signal.SIGKILL)
        killed.append(pids[0])

    def kill_one(progress):
        if not pids:
            pids.extend(client.run(os.getpid).values())
            threading.Timer(delay, kill).start() if delay else kill()

    with client_of(n_workers=2, processes=True) as client:
        model = kl.KLafter(link="exposure", random_state=0, max_iter=2)
        model.fit(planted[0], client=client, callback=kill_one)
        assert killed
    assert model.objective_ == alone.objective_
    assert (model.memberships_ != alone.memberships_).nnz == 0


def test_partitions_of_an_edge_list_give_the_same_fit_as_the_graph(planted, alone, tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    links = planted[0].links.tocoo()
    keep = links.row < links.col
    table = pd.DataFrame({"a": links.row[keep], "b": links.col[keep]}).sample(frac=1, random_state=0)
    dd.from_pandas(table, npartitions=3).to_parquet(tmp_path / "links")
    with client_of(n_workers=2, processes=False) as client:
        model = kl.KLafter(random_state=0, max_iter=2).fit(dd.read_parquet(tmp_path / "links"), client=client)
        with pytest.raises(ValueError, match="needs penalty to be a finite number"):
            kl.KLafter(penalty="much").fit(dd.from_pandas(table, npartitions=1), client=client)
        with pytest.raises(ValueError, match="Number the nodes first"):
            kl.KLafter().fit(dd.from_pandas(table.astype(str), npartitions=1), client=client)
    assert model.objective_ == pytest.approx(alone.objective_, rel=1e-12)
    assert (model.memberships_ != alone.memberships_).nnz == 0
    assert model.graph_.n_links == 0


class Killed(BaseException):
    """What a fit does not catch."""


@pytest.mark.parametrize("kind", ["graph", "table"])
def test_a_fit_on_a_cluster_goes_on_from_its_checkpoint(planted, tmp_path, kind):
    data, path = planted[0], tmp_path / "run.ckpt"
    if kind == "table":
        dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
        links = planted[0].links.tocoo()
        keep = links.row < links.col
        data = dd.from_pandas(pd.DataFrame({"a": links.row[keep], "b": links.col[keep]}), npartitions=3)
    rounds_made = []

    def kill(progress):
        if progress.step == 2:
            raise Killed

    def fit(client, **how):
        return kl.KLafter(link="exposure", random_state=0, max_iter=3).fit(data, client=client, **how)

    with client_of(n_workers=2, processes=False) as client:
        whole = fit(client)
        with pytest.raises(Killed):
            fit(client, callback=kill, checkpoint=path, checkpoint_every=0)
        resumed = fit(client, callback=lambda p: rounds_made.append(p.step), checkpoint=path, checkpoint_every=0)
    assert rounds_made[0] == 2
    assert resumed.objective_ == whole.objective_
    assert (resumed.memberships_ != whole.memberships_).nnz == 0
    other = kl.Graph(np.eye(300, k=1))
    with client_of(n_workers=1, processes=False) as client, pytest.raises(ValueError, match="other data"):
        kl.KLafter(link="exposure", random_state=0, max_iter=3).fit(other, client=client, checkpoint=path)


def test_hidden_dyads_on_a_cluster_are_not_taken_for_nonlinks():
    graph, _ = dense_groups(120, 4, 0.6, 0.02, 1)
    train, held = kl.split_dyads(graph, 0.3, random_state=0)
    with client_of(n_workers=2, processes=False) as client:
        model = kl.KLafter(link="exposure", structure=0.0, random_state=0, max_iter=6).fit(train, client=client)
    assert model.graph_.n_hidden == train.n_hidden
    alone = kl.KLafter(link="exposure", prior="buffet", structure=0.0, random_state=0, n_init=1).fit(train)
    problem = problem_of(alone, train)
    value = engine.objective(problem, state_of(alone.point_, problem))
    assert model.objective_ == pytest.approx(value, rel=0.01)  # on a cluster it is Q
    expected = model.predict_proba(held.pairs).sum()
    assert expected == pytest.approx((held.values > 0).sum(), rel=0.2)


class Stuck:
    """A client whose first tasks wait for what a dead worker had, and whose later ones end."""

    def __init__(self, workers=True):
        self.rounds, self.workers = 0, workers

    def submit(self, work, *args, pure):
        return work, args

    def gather(self, futures):
        return [work(*args) for work, args in futures]

    def processing(self):
        return {"tcp://one": ()}

    def wait_for_workers(self, number, timeout):
        if not self.workers:
            raise TimeoutError

    def wait(self, futures, timeout, return_when):
        self.rounds += 1
        if self.rounds == 1:
            raise TimeoutError
        return SimpleNamespace(done=futures)


def test_tasks_that_nobody_works_on_are_submitted_again(monkeypatch):
    client = Stuck()
    monkeypatch.setattr("distributed.wait", client.wait)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    executor = DaskShardExecutor(client, [1, 2], np.array([0, 1, 2]))
    assert executor.each(lambda shard, more: shard + more, None, [10, 20]) == [11, 22]
    assert client.rounds == 2


def test_a_cluster_without_workers_ends_the_fit_with_a_sentence(monkeypatch):
    client = Stuck(workers=False)
    monkeypatch.setattr("distributed.wait", client.wait)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(RuntimeError, match="has had no worker for"):
        DaskShardExecutor(client, [1], np.array([0, 1])).each(lambda shard: shard, None)


class Forgetful:
    """A client that loses the first results of every work, as when its scheduler begins anew."""

    def __init__(self, losses):
        self.losses, self.submitted = losses, []

    def submit(self, work, task, stop, pure):
        self.submitted.append(task)
        return Lost() if len(self.submitted) <= self.losses else Done(work, task, stop)

    def wait_for_workers(self, number, timeout):
        pass

    def wait(self, futures, timeout, return_when):
        return SimpleNamespace(done=futures)


class Done:
    def __init__(self, work, *args):
        self.work, self.args = work, args

    def result(self):
        return self.work(*self.args)


class Lost:
    def result(self):
        raise Exception("RuntimeError('ConnectionPool is closed')")  # as distributed says it


@pytest.mark.parametrize("losses", [1, 2, 100])
def test_restarts_that_a_cluster_loses_are_asked_for_again(losses, monkeypatch):
    client = Forgetful(losses)
    monkeypatch.setattr("distributed.wait", client.wait)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    kept = {}
    if losses == 100:
        with pytest.raises(RuntimeError, match="lost the same work 5 times"):
            run(lambda task, stop: 10 * task, [1, 2], client=client)
        return
    assert run(lambda task, stop: 10 * task, [1, 2], client=client, keep=kept.__setitem__) == [10, 20]
    assert kept == {0: 10, 1: 20}


def test_faults_of_a_job_are_not_losses(monkeypatch):
    client = Forgetful(0)
    monkeypatch.setattr("distributed.wait", client.wait)
    with pytest.raises(ZeroDivisionError):
        run(lambda task, stop: task / 0, [1], client=client)
    assert len(client.submitted) == 1


def test_shards_follow_from_the_graph_alone():
    assert len(cut_points(100, 500)) == 9
    assert len(cut_points(3, 2)) == 4
    assert len(cut_points(10**6, 10**8)) == 21
