"""A fit that is cut off anywhere and called again ends where an uninterrupted one ends, to the last bit."""

import json
import threading
import time

import numpy as np
import pytest
from scipy import sparse

from klafter.datasets import load_karate, load_les_miserables
from klafter.graph import Graph
from klafter.models import EPM, IRM, LFRM, MMSB, KLafter, KLafterCV
from klafter.models.paper import PaperKLafter
from klafter.models.storage.checkpoint import MISSING, Checkpoint, CheckpointError, describe, run_kept
from klafter.models.storage.packing import Packer, unpack

SAMPLED = {"n_burn": 4, "n_draws": 6, "n_chains": 2, "random_state": 3}
MODELS = {
    "dense": KLafter(n_init=3, n_smooth=5, random_state=1),
    "sparse": KLafter(link="exposure", n_init=3, random_state=1),
    "counts": KLafter(family="poisson", n_init=2, n_smooth=4, structure=0.0, random_state=1),
    "gaussian": KLafter(family="gaussian", n_init=2, n_smooth=4, structure=0.0, random_state=1),
    "cv": KLafterCV([0.0, 1.0], cv=2, estimator=KLafter(n_init=2, n_smooth=2), random_state=0),
    "lfrm": LFRM(**SAMPLED),
    "irm": IRM(**SAMPLED),
    "mmsb": MMSB(n_communities=3, **SAMPLED),
    "epm": EPM(**SAMPLED),
    "paper": PaperKLafter(max_iter=5, random_state=0),
}


class Killed(BaseException):
    """What a fit does not catch."""


def fresh(name):
    from sklearn.base import clone

    return clone(MODELS[name])


def bits(value):
    """Everything of a value that a later run must give back."""
    if sparse.issparse(value):
        csr = sparse.csr_array(value)
        return [bits(part) for part in (csr.data, csr.indices, csr.indptr)]
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (list, tuple)):
        return [bits(part) for part in value]
    return value


def result(model):
    names = ("memberships_", "membership_proba_", "affinities_", "objective_", "draws_", "point_", "n_iter_")
    pairs = [(model.graph_.label(i), model.graph_.label(j)) for i, j in [(0, 5), (1, 7), (2, 9)]]
    history = [(line.run, line.step, line.objective) for line in model.history_]
    return {**{name: bits(getattr(model, name)) for name in names}, "p": bits(model.predict_proba(pairs)), "h": history}


class Bomb:
    """A callback that ends the fit when it has been called so often."""

    def __init__(self, calls):
        self.left = calls
        self.lock = threading.Lock()

    def __call__(self, progress):
        with self.lock:
            self.left -= 1
            if self.left == 0:
                raise Killed


def graph_of(name):
    return load_karate() if name in ("lfrm", "irm", "mmsb", "epm", "paper", "cv") else load_les_miserables().binarize()


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_that_was_cut_off_ends_where_it_would_have(tmp_path, name):
    graph, path = graph_of(name), tmp_path / "run.ckpt"
    whole = result(fresh(name).fit(graph))
    cut = 0
    for calls in (2, 3, 5, 9, 14):
        try:
            fresh(name).fit(graph, callback=Bomb(calls), checkpoint=path, checkpoint_every=0)
        except Killed:
            cut += 1
    assert cut >= 2
    resumed = fresh(name).fit(graph, checkpoint=path, checkpoint_every=0)
    assert result(resumed) == whole
    begun = time.perf_counter()
    assert result(fresh(name).fit(graph, checkpoint=path)) == whole  # the file stays: nothing is run again
    assert name == "paper" or time.perf_counter() - begun < 60


def test_the_number_of_jobs_may_change_on_the_way(tmp_path):
    graph, path = graph_of("dense"), tmp_path / "run.ckpt"
    whole = result(fresh("dense").fit(graph))
    with pytest.raises(Killed):
        fresh("dense").set_params(n_jobs=2).fit(graph, callback=Bomb(30), checkpoint=path, checkpoint_every=0)
    assert result(fresh("dense").fit(graph, checkpoint=path)) == whole


def test_a_fit_without_a_seed_goes_on_with_the_one_it_had(tmp_path):
    path, model = tmp_path / "run.ckpt", IRM(n_burn=2, n_draws=3)
    first = result(model.fit(load_karate(), checkpoint=path))
    assert result(IRM(n_burn=2, n_draws=3).fit(load_karate(), checkpoint=path)) == first


@pytest.mark.parametrize(
    ("other", "graph", "said"),
    [
        (IRM(n_burn=2, n_draws=3, random_state=1), None, "random_state=0; this fit has random_state=1"),
        (IRM(n_burn=2, n_draws=4, random_state=0), None, "n_draws=3; this fit has n_draws=4"),
        (LFRM(n_burn=2, n_draws=3, random_state=0), None, "model IRM; this is LFRM"),
        (IRM(n_burn=2, n_draws=3, random_state=0), Graph(np.eye(5, k=1)), "other data"),
    ],
)
def test_a_checkpoint_of_another_fit_is_refused(tmp_path, other, graph, said):
    path = tmp_path / "run.ckpt"
    IRM(n_burn=2, n_draws=3, random_state=0).fit(load_karate(), checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=said):
        other.fit(graph or load_karate(), checkpoint=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"ann bob\n", b"PK\x03\x04"])
def test_a_file_that_is_no_checkpoint_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "run.ckpt"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        IRM(n_burn=2, n_draws=3).fit(load_karate(), checkpoint=path)
    assert path.read_bytes() == content


def test_damaged_checkpoints_are_refused_or_harmless(tmp_path):
    path, model = tmp_path / "run.ckpt", IRM(n_burn=2, n_draws=3, random_state=0)
    model.fit(load_karate(), checkpoint=path)
    good, rng = path.read_bytes(), np.random.default_rng(0)
    for _ in range(60):
        data = bytearray(good)
        for place in rng.integers(0, len(data), 3):
            data[place] = rng.integers(256)
        path.write_bytes(bytes(data))
        try:
            IRM(n_burn=2, n_draws=3, random_state=0).fit(load_karate(), checkpoint=path)
        except CheckpointError:
            continue


def test_warm_starts_and_odd_intervals_are_refused(tmp_path):
    model = IRM(n_burn=2, n_draws=3, warm_start=True).fit(load_karate())
    with pytest.raises(ValueError, match="warm_start=True goes on"):
        model.fit(load_karate(), checkpoint=tmp_path / "run.ckpt")
    with pytest.raises(ValueError, match="number of seconds from 0"):
        IRM().fit(load_karate(), checkpoint=tmp_path / "run.ckpt", checkpoint_every=-1)


def test_writing_is_rare_where_it_is_slow(tmp_path, monkeypatch):
    store = Checkpoint(tmp_path / "run.ckpt", describe(IRM(), load_karate(), np.random.SeedSequence(0)), 0.0)
    writes = []

    def slow(path, write):
        writes.append(time.perf_counter())
        time.sleep(0.02)

    monkeypatch.setattr("klafter.models.storage.checkpoint.write_file", slow)
    begun = time.perf_counter()
    while time.perf_counter() - begun < 1.5:
        store.put("x", 1)
    assert 1 <= len(writes) <= 2


def _full(path, write):
    raise OSError(f"{path} could not be written: the disk is full.")


def test_a_checkpoint_that_cannot_be_written_costs_no_result(tmp_path, monkeypatch, caplog):
    path, whole = tmp_path / "run.ckpt", result(IRM(n_burn=2, n_draws=3, random_state=0).fit(load_karate()))
    with monkeypatch.context() as patched:
        patched.setattr("klafter.models.storage.checkpoint.write_file", _full)
        model = IRM(n_burn=2, n_draws=3, random_state=0)
        assert result(model.fit(load_karate(), checkpoint=path, checkpoint_every=0)) == whole
    assert caplog.text.count("the disk is full. The fit goes on.") == 1
    assert not path.exists()


def test_what_could_not_be_written_is_at_the_next_time(tmp_path, monkeypatch):
    store = Checkpoint(tmp_path / "run.ckpt", describe(IRM(), load_karate(), np.random.SeedSequence(0)), 0.0)
    with monkeypatch.context() as patched:
        patched.setattr("klafter.models.storage.checkpoint.write_file", _full)
        store.put("x", 1)
    store.write()
    again = Checkpoint(tmp_path / "run.ckpt", describe(IRM(), load_karate(), np.random.SeedSequence(0)), 0.0)
    assert again.get("x") == 1


def test_tasks_that_are_done_are_not_run_again(tmp_path):
    store = Checkpoint(tmp_path / "run.ckpt", describe(IRM(), load_karate(), np.random.SeedSequence(0)), 0.0)
    ran = []

    def job(task, stop):
        ran.append(task)
        return task * 10

    assert run_kept(store, "job", job, [1, 2]) == {0: 10, 1: 20}
    assert run_kept(store, "job", job, [1, 2, 3], n_jobs=2) == {0: 10, 1: 20, 2: 30}
    assert ran == [1, 2, 3]
    assert store.get("nothing") is MISSING


def test_values_come_back_to_the_last_bit_and_as_one_where_they_were_one():
    side = np.random.default_rng(0).normal(size=5)
    value = {"a": [side, side], "f": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "x": [0.1, float("inf"), 2**100]}
    value |= {"s": np.float32(0.3), "c": sparse.csr_array(np.eye(3)), "none": None}
    packer = Packer()
    recipe = json.loads(json.dumps(packer.pack(value)))
    back = unpack(recipe, packer.data)
    assert back["a"][0] is back["a"][1]
    assert back["f"].flags.f_contiguous
    assert back["s"].dtype == np.float32
    assert {k: bits(v) for k, v in back.items()} == {k: bits(v) for k, v in value.items()}
    with pytest.raises(TypeError, match="cannot keep"):
        packer.pack(threading.Lock())
    with pytest.raises(KeyError):
        unpack({"n": "os.system", "p": [{"v": "true"}]}, b"")
