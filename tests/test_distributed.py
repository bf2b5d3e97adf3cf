"""The sparse engine over shards: exact in every round, and the same whoever does the work."""

import asyncio
import contextlib
import logging
import os
import signal
import threading
import time
from concurrent.futures import CancelledError
from functools import partial
from types import SimpleNamespace

import numpy as np
import oracles_sparse as oracle
import pytest
from scipy import sparse
from test_sparse import dense_groups

import klafter as kl
from klafter.datasets import make_overlapping
from klafter.search.cluster import acceptance, endings, retries, rounds
from klafter.search.cluster import shards as at
from klafter.search.cluster.acceptance_kernels import choose
from klafter.search.cluster.dask_executor import DaskShardExecutor, cut_points, cut_rows, volume_of
from klafter.search.cluster.executor import bare, frame_of
from klafter.search.cluster.neighbourhoods import make_neighbourhood, on_parts, part_of
from klafter.search.cluster.versions import BEHIND, Versions, run, snapshot_of, view_at
from klafter.search.parallel import run as run_tasks
from klafter.search.sparse import engine
from klafter.search.sparse.affinities import as_affinities
from klafter.search.sparse.exchange import NOTHING, Exchange, in_order
from klafter.search.sparse.fit import problem_of, state_of
from klafter.search.sparse.state import as_problem, as_state, empty_state
from klafter.search.sparse.weights import prices
from klafter.search.sparse.workspace import open_workspace

pytest.importorskip("distributed")


class LocalShardExecutor:
    """Shards in this process: the protocol ``ShardExecutor`` without a cluster."""

    def __init__(self, shards: list[at.Shard], bounds: np.ndarray):
        self.shards, self.bounds, self.versions = shards, bounds, Versions()

    def each(self, work, snapshot, *columns):
        update = self.versions.next(snapshot)
        column = list(zip(*columns)) if columns else [()] * len(self.shards)
        return [run(shard, update, work, *args) for shard, args in zip(self.shards, column)]

    def on_neighbourhoods(self, work, frame, snapshot, jobs):
        update, about = self.versions.next(snapshot), (tuple(bare(frame)), snapshot.communities)

        def parts(nodes):
            return [run(shard, update, part_of, nodes) for shard in self.shards]

        return [on_parts(work, about, parts(nodes), *args) for nodes, *args in jobs]


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


def random_state(frame, problem, rng, k=4):
    """Communities, affinities and degree factors at random."""
    z = sparse.csr_array((rng.random((frame.n, k)) < 0.3).astype(float))
    send = rng.uniform(0.5, 1.5, frame.n)
    receive = rng.uniform(0.5, 1.5, frame.n) if problem.pair_weight == 1.0 else send
    state = as_state(problem, z, as_affinities(rng.uniform(0.1, 0.5, k)), 0.05, send, receive)
    return as_state(frame_links(frame), engine.memberships(problem, state), state.affinities, 0.05, send, receive)


def frame_links(frame):
    """The frame with as many entries as it has room, for ``as_state``."""
    return frame._replace(node=np.zeros(frame.start[-1], np.int32))


def some_rows_changed(frame, state, rng):
    """The same state with other communities for some nodes, sums and all."""
    z = sparse.lil_array(engine.memberships(frame, state))
    for i in rng.choice(frame.n, 12, replace=False):
        z[i, :] = rng.random(z.shape[1]) < rng.choice([0.1, 0.9])
    return as_state(
        frame_links(frame), sparse.csr_array(z), state.affinities, state.background, state.send, state.receive
    )


@kinds
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_a_shard_that_follows_changes_has_the_state_to_the_last_bit_and_knows_what_they_did(directed, counts, share):
    graph, _ = dense_groups(80, 4, 0.4, 0.05, 1, directed, counts)
    graph = kl.split_dyads(graph, share, random_state=0)[0] if share else graph
    problem, frame, executor = in_shards(graph, counts)
    rng = np.random.default_rng(3)
    state = random_state(frame, problem, rng)
    versions = executor.versions
    before = rounds.objective(frame, state, executor)
    for _ in range(6):
        new = some_rows_changed(frame, state, rng)
        update = versions.next(snapshot_of(frame, new))
        for shard in executor.shards:
            known, alone = view_at(shard, update), view_at(at.Shard(shard.problem, shard.nodes), update)
            for i in range(len(shard.nodes)):
                first, other = known.problem.start[i], alone.problem.start[i]
                held = known.state.held[i]
                mine = known.state.member[first : first + held]
                np.testing.assert_array_equal(mine, alone.state.member[other : other + alone.state.held[i]])
            assert known.rise == alone.rise
            assert run(at.Shard(shard.problem, shard.nodes), update._replace(base=None), at.unexplained) == BEHIND
        after = rounds.objective(frame, new, executor)
        rise = sum(shard.view.rise for shard in executor.shards)
        assert rise + rest_of(frame, state) - rest_of(frame, new) == pytest.approx(before - after, abs=1e-7)
        state, before = new, after


def rest_of(frame, state):
    """Q without the terms of links and hidden dyads, slowly: all pairs in each community, and prices."""
    z = engine.memberships(frame, state).toarray()
    loss = prices(frame, state.size).sum()
    for k in range(z.shape[1]):
        inside = np.flatnonzero(z[:, k])
        pairs = np.outer(state.send[inside], state.receive[inside])
        loss += frame.pair_weight * state.strength[k] * (pairs.sum() - np.trace(pairs))
    return loss


@kinds
def test_flips_of_one_shard_lower_the_objective_by_what_they_claim_and_leave_it_as_it_was(directed, counts):
    graph, _ = dense_groups(80, 4, 0.4, 0.05, 1, directed, counts)
    graph = kl.split_dyads(graph, 0.1, random_state=0)[0]
    problem, frame, executor = in_shards(graph, counts)
    state = random_state(frame, problem, np.random.default_rng(4))
    before = rounds.objective(frame, state, executor)
    found = executor.each(at.sweep, snapshot_of(frame, state), [True] * 3, [True] * 3)
    assert rounds.objective(frame, state, executor) == before
    for flips in found:
        assert len(flips.nodes)
        new, _ = rounds.with_flips(frame, state, [flips])
        assert before - rounds.objective(frame, new, executor) == pytest.approx(flips.gain, abs=1e-7)
    new, fall = rounds.with_flips(frame, state, found)
    assert fall == pytest.approx(rest_of(frame, state) - rest_of(frame, new), abs=1e-7)


def test_flips_that_only_gain_apart_are_not_made_together(monkeypatch):
    graph, _ = dense_groups(80, 4, 0.4, 0.05, 1)
    problem, frame, executor = in_shards(graph)
    state = random_state(frame, problem, np.random.default_rng(4))
    before, tried = rounds.objective(frame, state, executor), []
    together = rounds.with_flips

    def worse(frame, state, flips):
        tried.append(len(flips))
        new, fall = together(frame, state, flips)
        return new, fall - 1e6 if len(flips) > 1 else fall

    monkeypatch.setattr(rounds, "with_flips", worse)
    state = rounds.flip_sweep(frame, state, executor, 2)
    assert tried[:2] == [3, 1]
    assert rounds.objective(frame, state, executor) < before


def test_a_neighbourhood_has_all_dyads_among_its_nodes_and_no_link_outside():
    graph, _ = dense_groups(60, 3, 0.5, 0.1, 2, directed=True)
    graph = kl.split_dyads(graph, 0.2, random_state=0)[0]
    problem, frame, executor = in_shards(graph)
    state, group = random_state(frame, problem, np.random.default_rng(0)), np.arange(5, 50, 3)
    snapshot = snapshot_of(frame, state)
    parts = executor.each(part_of, snapshot, [group] * 3)
    there, inner, nodes = make_neighbourhood(bare(frame), parts, snapshot.communities)
    np.testing.assert_array_equal(nodes, group)
    links, hidden = np.zeros((2, 60, 60))
    for v, i in enumerate(nodes):
        for p in range(there.start[v], there.middle[v]):
            if there.node[p] < len(nodes):
                links[i, nodes[there.node[p]]] = there.value[p]
        for p in range(there.hidden_start[v], there.hidden_middle[v]):
            hidden[i, nodes[there.hidden_node[p]]] = 1
    inside = np.isin(np.arange(60), nodes)
    np.testing.assert_array_equal(links, graph.links.toarray() * inside * inside[:, None])
    np.testing.assert_array_equal(hidden, graph.hidden.toarray() * inside * inside[:, None])
    number = np.diff(there.start)[:-1]
    np.testing.assert_array_equal(number, np.minimum(np.diff(problem.start)[nodes], number))
    assert (inner.held[:-1] <= number).all()
    assert not there.value[there.node == len(nodes)].any()
    z = engine.memberships(there, inner).toarray()[:-1]
    np.testing.assert_array_equal(z, engine.memberships(frame, state).toarray()[nodes])


def chosen_slowly(frame, state, good, shared, alike, doubt):
    """Which exchanges are taken, one after the other."""
    taken, busy = [], set()
    room = {i: int(frame.start[i + 1] - frame.start[i] - state.held[i]) for i in range(frame.n)}
    z = engine.memberships(frame, state).toarray() > 0
    for e, exchange in enumerate(good):
        links = sum(shared[e, f] for f in taken)
        more = exchange.z.sum(axis=0) - z[exchange.nodes][:, exchange.out].sum(axis=1)
        fits = all(more[v] <= room[i] for v, i in enumerate(exchange.nodes.tolist()))
        if busy & set(exchange.out.tolist()) or any(alike[e, f] for f in taken) or not fits:
            continue
        if exchange.gain - links * doubt[e] <= 1e-9:
            continue
        for v, i in enumerate(exchange.nodes.tolist()):
            room[i] -= more[v]
        busy |= set(exchange.out.tolist())
        taken.append(e)
    return taken


@pytest.mark.parametrize("seed", range(6))
def test_exchanges_are_chosen_and_carried_out_as_one_after_the_other(seed):
    graph, _ = dense_groups(80, 4, 0.2, 0.05, seed)
    problem, frame, executor = in_shards(graph)
    rng = np.random.default_rng(seed)
    state = random_state(frame, problem, rng, k=6)
    good = []
    for _ in range(12):
        out = np.sort(rng.choice(6, rng.integers(0, 3), replace=False)) if rng.random() < 0.6 else NOTHING
        inside = engine.memberships(frame, state).toarray()[:, out].any(axis=1)
        nodes = np.flatnonzero(inside | (rng.random(80) < 0.1))
        z = rng.random((rng.integers(0 if len(out) else 1, 3), len(nodes))) < 0.5
        good.append(Exchange("any", rng.exponential(20.0), out, nodes, z, rng.uniform(0.1, 0.5, len(z))))
    good = in_order(good)
    plans = acceptance.plans_of(frame, state, good)
    across, shared = acceptance.links_between(frame, state, plans, executor)
    alike = acceptance.pieces(across, plans, state.background)
    inside = np.zeros((80, len(good)))
    for e, exchange in enumerate(good):
        inside[exchange.nodes, e] = 1
    links = graph.links.toarray()
    np.testing.assert_allclose(across.toarray(), inside.T @ links @ inside)
    both = np.einsum("ie,if,ij,je,jf->ef", inside, inside, np.triu(links), inside, inside, optimize=True)
    table = [sparse.csr_array((t.value, t.other, t.start), shape=(len(good),) * 2).toarray() for t in (shared, alike)]
    np.testing.assert_allclose(table[0], both)
    room = np.diff(frame.start) - state.held
    ws = open_workspace(frame, state)
    taken = choose(ws, plans, shared, alike, np.zeros(6, bool), room)
    expected = chosen_slowly(frame, state, good, *table, plans.doubt)
    assert np.flatnonzero(taken).tolist() == expected
    z = engine.memberships(frame, state).toarray()
    new = acceptance.carried_out(frame, state, good, plans, taken)
    columns = [z]
    for e in expected:
        z[:, good[e].out] = 0
        column = np.zeros((80, len(good[e].w)))
        column[good[e].nodes] = good[e].z.T
        columns.append(column)
    wanted = sorted(c for c in map(tuple, np.hstack(columns).T) if any(c))
    found = engine.memberships(frame, new).toarray()
    assert sorted(map(tuple, found.T)) == wanted
    np.testing.assert_allclose(new.send_sum, found.T @ new.send)


def test_bridges_are_found_by_one_worker_that_has_all_links():
    rng = np.random.default_rng(0)
    block = np.repeat([0, 1, 2], 50)
    rate = np.array([[0.01, 0.4, 0.01], [0.4, 0.01, 0.01], [0.01, 0.01, 0.4]])[block][:, block]
    links = np.triu(rng.random((150, 150)) < rate, 1)
    problem, frame, executor = in_shards(kl.Graph(links + links.T))
    state = empty_state(frame, links.sum())
    z = sparse.csr_array((block[:, None] == 2).astype(float))
    state = as_state(frame_links(frame), z, as_affinities([0.5]), state.background, state.send, state.receive)
    before = rounds.objective(frame, state, executor)
    new, value = endings.bridges(frame, state, executor, links.sum(), [0])
    assert not new.affinities.diagonal
    assert value < before
    assert value == pytest.approx(engine.objective(problem, whole(problem, frame, new)))


def test_sparse_births_lower_the_objective_of_what_rounds_leave_unexplained():
    graph, _ = make_overlapping(1500, community_size=50, mean_degree=10, random_state=0)
    problem, frame, executor = in_shards(graph)
    state = empty_state(frame, graph.n_links)
    state, _ = rounds.births(frame, state, executor, [0])
    state = rounds.warm_up(frame, state, executor)
    before = engine.objective(problem, whole(problem, frame, state))
    new = endings.sparse_births(frame, state, executor, graph.n_links, [0])
    assert len(new.size) > len(state.size)
    assert engine.objective(problem, whole(problem, frame, new)) < before


def test_exchanges_that_share_links_are_not_both_made_on_old_gains():
    graph, _ = dense_groups(60, 1, 0.5, 0.0, 2)
    problem, frame, executor = in_shards(graph)
    state = empty_state(frame, problem.value.sum() / 2)
    nodes, w = np.arange(40), np.array([0.3])
    twice = [Exchange("birth", 10.0, NOTHING, nodes, np.ones((1, 40), bool), w) for _ in range(2)]
    _, made = acceptance.accept_bounded(frame, state, twice, executor)
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
@pytest.mark.parametrize("delay", [0.0, 0.03], ids=["between rounds", "inside a round"])
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


def test_work_that_no_worker_begins_is_not_waited_for_for_ever(monkeypatch):
    """Dask pauses a worker that has little memory left, and may never wake it; its tasks count as being processed."""
    monkeypatch.setattr(retries, "STALL", 0.5)
    monkeypatch.setattr(retries, "PATIENCE", 1.5)
    with client_of(n_workers=1, processes=False) as client:
        held = client.submit(abs, -1, pure=False, workers=["tcp://127.0.0.1:9"])
        monkeypatch.setattr(client, "processing", lambda: {"a paused worker": [held.key]})
        long = client.submit(time.sleep, 2.5)
        assert retries.some_done([long], client, all_of_them=True) == {long}  # who computes is waited for
        with pytest.raises(CancelledError, match="No worker computed anything"):
            retries.some_done([held], client, all_of_them=True)


def test_results_that_went_with_their_worker_are_not_waited_for_for_ever(monkeypatch):
    """A result that was there, and whose task may run only on a worker that is gone."""
    monkeypatch.setattr(retries, "LOOK", 0.2)
    with client_of(n_workers=1, processes=False) as client:
        gone = ["tcp://127.0.0.1:9"]
        lost = client.submit(abs, -1, pure=False, workers=gone)
        done, real = iter([{lost}]), retries.some_done
        monkeypatch.setattr(retries, "some_done", lambda *args, **how: next(done, None) or real(*args, **how))
        with pytest.raises(CancelledError, match="A worker that had shards is gone"):
            retries.gathered([lost], client, needed=gone)
        assert retries.gathered([client.submit(abs, -2)], client) == [2]


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
        return partial(work, *args)

    def who_has(self, shards):
        return {}

    async def gather(self, futures, asynchronous):
        return [future() for future in futures]

    def sync(self, ask):
        return asyncio.run(ask())

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


def on_client(client):
    """An executor of two shards of 30 nodes, which are here, and a state."""
    problem, frame, executor = in_shards(dense_groups(60, 3, 0.5, 0.1, 2)[0], number=2)
    for number, shard in enumerate(executor.shards):
        shard.key, shard.status = number, "finished"
    state = empty_state(frame, problem.value.sum() / 2)
    return DaskShardExecutor(client, executor.shards, executor.bounds), snapshot_of(frame, state)


def test_tasks_that_nobody_works_on_are_submitted_again(monkeypatch):
    client = Stuck()
    monkeypatch.setattr("distributed.wait", client.wait)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    executor, snapshot = on_client(client)
    assert executor.each(lambda view, more: view.own + more, snapshot, [100, 200]) == [130, 230]
    assert client.rounds == 2


def test_a_shard_that_lost_its_state_is_given_it_whole(monkeypatch):
    client = Stuck()
    client.rounds = 1
    monkeypatch.setattr("distributed.wait", client.wait)
    executor, first = on_client(client)
    executor.each(at.unexplained, first)
    second = first._replace(send=first.send * 1.1, receive=first.receive * 1.1)
    expected = executor.each(at.tally, second, [True] * 2)
    third = second._replace(send=second.send / 1.1, receive=second.receive / 1.1)
    known = executor.each(at.tally, third, [True] * 2)
    executor.shards[1].at = ("another fit", 7)
    again = executor.each(at.tally, second, [True] * 2)
    assert [part[0] for part in again] == [part[0] for part in expected] != [part[0] for part in known]
    lines = [line for line in executor.traffic if line.work == "tally"]
    assert len(lines) == 4  # the last of them for one shard
    assert lines[-1].sent > lines[-2].sent
    assert lines[0].sent < volume_of(first)


def test_a_cluster_without_workers_ends_the_fit_with_a_sentence(monkeypatch):
    client = Stuck(workers=False)
    monkeypatch.setattr("distributed.wait", client.wait)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    executor, snapshot = on_client(client)
    with pytest.raises(RuntimeError, match="has had no worker for"):
        executor.each(lambda view: view.own, snapshot)


class Forgetful:
    """A client that loses the first results of every work, as when its scheduler begins anew."""

    def __init__(self, losses):
        self.losses, self.submitted = losses, []

    def submit(self, work, task, stop, pure):
        self.submitted.append(task)
        return Lost() if len(self.submitted) <= self.losses else Done(work, task, stop)

    async def gather(self, futures, asynchronous):
        return [future.result() for future in futures]

    def sync(self, ask):
        return asyncio.run(ask())

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
            run_tasks(lambda task, stop: 10 * task, [1, 2], client=client)
        return
    assert run_tasks(lambda task, stop: 10 * task, [1, 2], client=client, keep=kept.__setitem__) == [10, 20]
    assert kept == {0: 10, 1: 20}


def test_faults_of_a_job_are_not_losses(monkeypatch):
    client = Forgetful(0)
    monkeypatch.setattr("distributed.wait", client.wait)
    with pytest.raises(ZeroDivisionError):
        run_tasks(lambda task, stop: task / 0, [1], client=client)
    assert len(client.submitted) == 1


def test_shards_follow_from_the_graph_alone():
    assert len(cut_points(100, 500)) == 5
    assert len(cut_points(3, 2)) == 4
    assert len(cut_points(10**6, 10**8)) == 21


def test_a_cluster_does_not_learn_counts_and_says_so():
    with pytest.raises(ValueError, match=r"prior='counts'.*a search on a cluster does not\. Use prior='auto'"):
        kl.KLafter(link="exposure", prior="counts").fit(make_overlapping(50, random_state=0)[0], client=object())
