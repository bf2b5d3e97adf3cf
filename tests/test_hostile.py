"""Files from strangers are read or refused in a sentence: no crash, no endless wait, no memory beyond their size."""

import contextlib
import gzip
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import klafter
from klafter.datasets import load_karate, load_les_miserables
from klafter.graph import GraphFileError, read_graph
from klafter.graph.archives import RATIO_NAME
from klafter.models import EPM, IRM, LFRM, MMSB, KLafter, ModelFileError, load

sys.path.insert(0, str(Path(__file__).parent))
from hostile.make import FILES, MODELS, csr, make, make_model

READ = """
import re, sys
import klafter
from klafter.graph import GraphFileError
try:
    klafter.read_graph(sys.argv[1])
except GraphFileError as error:
    print(error)
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024)  # of this process alone
"""


@pytest.mark.parametrize("name", [name for name in FILES if "bomb" not in name])
def test_a_hostile_file_is_refused_in_a_sentence(tmp_path, name):
    if name.endswith(".feather"):
        pytest.importorskip("pyarrow")
    begun = time.perf_counter()
    with pytest.raises(GraphFileError, match=name.split(".")[0]) as error:
        read_graph(make(tmp_path, name))
    assert time.perf_counter() - begun < 5
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", [name for name in FILES if "bomb" in name])
def test_bombs_take_little_memory(tmp_path, name):
    path = make(tmp_path, name)
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, timeout=60)
    said, memory = done.stdout.strip().rsplit("\n", 1)
    assert done.returncode == 0, done.stderr
    assert "unpack" in said
    assert int(memory) < 1024 + 100 * path.stat().st_size / 2**20


def test_the_limit_of_unpacking_can_be_raised(tmp_path, monkeypatch):
    path = tmp_path / "g.txt.gz"
    path.write_bytes(gzip.compress(b"a b\n" * 3_000_000))
    monkeypatch.setattr("klafter.graph.archives.FREE", 1000)
    with pytest.raises(GraphFileError, match="far more data"):
        read_graph(path)
    monkeypatch.setenv(RATIO_NAME, "5000")
    assert read_graph(path).n_links == 1


def test_a_good_archive_is_read(tmp_path):
    (tmp_path / "g.npz").write_bytes(csr())
    assert read_graph(tmp_path / "g.npz").n_links == 2


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/urandom"])
def test_devices_are_refused(path):
    with pytest.raises(GraphFileError, match="a device"):
        read_graph(path)


def test_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(GraphFileError, match="a pipe"):
        read_graph(tmp_path / "pipe")
    with pytest.raises(ModelFileError):
        load(tmp_path / "pipe")


def test_one_long_name_does_not_widen_all(tmp_path):
    path = tmp_path / "g.tsv"
    path.write_text("\n".join(f"n{i}\tn{i + 1}" for i in range(3000)) + f"\nn0\t{'x' * 100_000}\n")
    graph = read_graph(path)
    assert graph.labels.nbytes < 10_000_000
    assert graph.index("x" * 100_000) >= 0
    assert read_graph(path).labels.tolist() == graph.labels.tolist()


@pytest.mark.parametrize("line", [b"a" + b" " * 10**6 + b"\tb\n", b" " * 10**6 + b"a\tb\n"])
def test_padded_fields_take_time_in_proportion(tmp_path, line):
    path = tmp_path / "g.tsv"
    path.write_bytes(b"a\tb\n" * 20 + line)
    begun = time.perf_counter()
    assert read_graph(path).n_nodes == 2
    assert time.perf_counter() - begun < 2


def test_fuzzed_matlab_files_do_not_end_the_process(tmp_path):
    good, rng = FILES["indices.mat"](), np.random.default_rng(0)
    for _ in range(100):  # make torture tries very many more
        data = bytearray(good)
        for place in rng.integers(100, len(data), 3):
            data[place] = rng.integers(256)
        (tmp_path / "g.mat").write_bytes(bytes(data))
        with contextlib.suppress(GraphFileError):
            read_graph(tmp_path / "g.mat")


# ---- model files --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.npz"
    KLafter(n_init=1, n_smooth=3, random_state=0).fit(load_karate()).save(path)
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def write(path, arrays, header=None, **changes):
    parts = {**arrays, **changes}
    if header is not None:
        known = json.loads(parts["header"].tobytes())
        header(known)
        parts["header"] = np.frombuffer(json.dumps(known).encode(), np.uint8)
    np.savez(path, **parts)
    return path


@pytest.mark.parametrize("name", ["KLafterCV", "NetworkModel", "load", "Progress", "os", "__class__"])
def test_classes_come_from_a_closed_list(tmp_path, arrays, name):
    with pytest.raises(ModelFileError):
        load(write(tmp_path / "m.npz", arrays, lambda header: header.update({"class": name})))


def test_depth_and_numbers_are_bounded(tmp_path, arrays):
    np.savez(tmp_path / "deep.npz", header=np.frombuffer(b"[" * 500_000, np.uint8))
    with pytest.raises(ModelFileError):
        load(tmp_path / "deep.npz")
    for name, values in arrays.items():
        if values.dtype.kind == "f" and values.size and name.startswith(("point_", "draws_", "affinities_")):
            changed = values.copy()
            changed.flat[0] = np.nan
            with pytest.raises(ModelFileError):
                load(write(tmp_path / "m.npz", {**arrays, name: changed}))


@pytest.mark.slow
def test_changed_models_are_refused_or_answer(tmp_path, arrays):
    rng = np.random.default_rng(1)
    names = [name for name in arrays if arrays[name].size]
    for _ in range(150):
        name = names[rng.integers(len(names))]
        data = bytearray(arrays[name].tobytes())
        for place in rng.integers(0, len(data), 2):
            data[place] = rng.integers(256)
        changed = np.frombuffer(bytes(data), arrays[name].dtype).reshape(arrays[name].shape)
        try:
            model = load(write(tmp_path / "m.npz", {**arrays, name: changed}))
        except ModelFileError:
            continue
        p = model.predict_proba([(0, 1), (2, 30)])
        assert ((p >= 0) & (p <= 1)).all()
        model.communities()


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """The arrays of a model of counts with levels."""
    path = tmp_path_factory.mktemp("counts") / "m.npz"
    KLafter(family="poisson", n_init=1, n_smooth=3, random_state=0).fit(load_les_miserables()).save(path)
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


ANSWERED = ("narrow.npz", "many_counts.npz", "truth_values.npz")


@pytest.mark.parametrize("name", MODELS)
def test_a_hostile_model_is_refused_or_answers(tmp_path, counts, name):
    path = make_model(tmp_path, name, counts)
    if name not in ANSWERED:
        with pytest.raises(ModelFileError, match=f"{name} is a klafter model, but parts of it are missing or damaged"):
            load(path)
        return
    model = load(path)
    assert model.sample(0).links.data.max() <= 1e9
    assert model.levels()
    model.at_level(model.levels()[-1].n_communities)
    model.place([model.graph_.label(0)])
    model.to_frame()


# ---- numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1e300, 1e-300, 1e60])
def test_gaussian_weights_out_of_reach_are_refused(value):
    with pytest.raises(ValueError, match="another unit"):
        KLafter(family="gaussian", n_init=1, n_smooth=0).fit(np.eye(6, k=1) * value)


@pytest.mark.parametrize("scale", [1e-40, 1.0, 1e40])
def test_mixed_scales_give_finite_answers(scale):
    links = np.triu(np.random.default_rng(0).lognormal(0, 8, (8, 8)), 1) * scale
    model = KLafter(family="gaussian", n_init=1, n_smooth=3, random_state=0).fit(links)
    p = model.predict_proba([(0, 1), (3, 5)])
    assert np.isfinite(p).all()
    assert ((p >= 0) & (p <= 1)).all()
    assert np.isfinite(model.predict([(0, 1)])).all()


@pytest.mark.parametrize("model", [KLafter(family="poisson"), EPM(family="poisson"), IRM(family="poisson")])
def test_counts_out_of_reach_are_refused_at_once(model):
    links = np.eye(6, k=1) + np.eye(6, k=-1)
    with pytest.raises(ValueError, match="up to 1e"):
        model.fit(links * 2.0**60)
    with pytest.raises(ValueError, match="events"):
        EPM(family="poisson").fit(links * 1e9)


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("link", ["auto", "exposure"])
def test_networks_without_anything_seen(hidden, link):
    graph = klafter.Graph(np.zeros((6, 6)), hidden=np.triu(np.ones((6, 6), bool), 1) if hidden else None)
    model = KLafter(link=link, random_state=0).fit(graph)
    p = model.predict_proba([(0, 1), (4, 5)])
    assert ((p >= 0) & (p <= 1)).all()


def test_huge_counts_are_described_by_no_more_communities_than_nodes():
    """Each count of 1e9 is known to a hundred-thousandth, and would be worth a community of its own."""
    graph = load_karate()
    upper = np.triu(graph.links.toarray()) * np.random.default_rng(0).integers(1, 10**9, (34, 34))
    begun = time.process_time()
    model = KLafter(family="poisson", n_init=1, n_smooth=0, max_iter=2, random_state=0)
    model.fit(graph.replace(links=upper + upper.T))
    assert model.n_communities_ <= 34
    assert np.isfinite(model.predict(np.array([[0, 1], [0, 33]]))).all()
    assert time.process_time() - begun < 60


def test_updates_of_a_model_without_communities(tmp_path):
    for link in ("auto", "exposure"):
        graph = klafter.Graph(np.zeros((8, 8)), labels=list("abcdefgh"))
        model = KLafter(link=link, random_state=0).fit(graph)
        model.save(tmp_path / "m.npz")
        model = load(tmp_path / "m.npz")
        model.partial_fit([("a", "b"), ("b", "new")])
        assert model.graph_.n_nodes == 9
        assert np.isfinite(model.predict_proba([("a", "new")])).all()
        model.partial_fit([], removed=[("a", "b")])


def test_memory_is_asked_for_before_it_is_taken():
    graph = klafter.Graph(sparse.csr_array((1_000_000, 1_000_000)))
    with pytest.raises(MemoryError, match=r"needs about .* GB of memory.*link='exposure'"):
        KLafter(link="logit").fit(graph)


def test_the_sparse_engine_says_what_memory_it_takes_and_refuses_too_much(monkeypatch, caplog):
    from klafter.models import checks

    graph = klafter.Graph(sparse.csr_array((10_000_000, 10_000_000)))
    KLafter()._announce_sparse(graph)
    assert "The sparse engine on 10,000,000 nodes and 0 links will take about" in caplog.text
    assert "3 GB of memory" in caplog.text
    monkeypatch.setattr(checks, "machine_memory", lambda: 2.0**30)
    with pytest.raises(MemoryError, match=r"nodes and 0 links needs about 3 GB of memory; there are 1\. Fewer links"):
        KLafter().fit(graph)


def test_the_published_algorithm_asks_for_memory_and_two_nodes():
    from klafter.models.paper import PaperKLafter

    with pytest.raises(MemoryError, match=r"PaperKLafter on 1,000,000 nodes needs about .* GB of memory"):
        PaperKLafter().fit(klafter.Graph(sparse.csr_array((1_000_000, 1_000_000))))
    with pytest.raises(ValueError, match="needs at least two nodes; this graph has 1"):
        PaperKLafter().fit(klafter.Graph(np.zeros((1, 1))))


def test_the_order_of_lines_changes_nothing(tmp_path):
    graph = load_karate()
    rows, columns = graph.links.nonzero()
    lines = [f"p{i}\tp{j}" for i, j in zip(rows.tolist(), columns.tolist()) if i < j]
    answers = []
    for seed in (0, 1):
        path = tmp_path / f"{seed}.tsv"
        path.write_text("\n".join(np.random.default_rng(seed).permutation(lines).tolist()) + "\n")
        model = KLafter(n_init=2, n_smooth=5, random_state=0).fit(read_graph(path))
        chances = model.predict_proba([("p0", "p33"), ("p5", "p9")]).tolist()
        answers.append((chances, sorted(map(sorted, model.communities()))))
    assert answers[0] == answers[1]


# ---- what a fit will take is told before it takes it


def large(n, degree=10):
    """A network of n nodes in which each is linked to the next ones."""
    ends = np.arange(n)
    rows, columns = np.tile(ends, degree // 2), np.concatenate([(ends + k + 1) % n for k in range(degree // 2)])
    links = sparse.coo_array((np.ones(2 * len(rows)), (np.r_[rows, columns], np.r_[columns, rows])), shape=(n, n))
    return klafter.Graph(links.tocsr())


@pytest.mark.parametrize(
    ("model", "n", "said"),
    [
        (IRM(), 300_000, r"IRM on 300,000 nodes will take about .* (minutes|hours)\. KLafter"),
        (
            IRM(concentration=1.0),
            3_000_000,
            r"IRM on 3,000,000 nodes will take about .* and \d+ GB of memory\. KLafter",
        ),
        (LFRM(), 20_000, r"LFRM on 20,000 nodes will take about \d+ minutes and \d+ GB of memory"),
        (MMSB(), 10_000, r"MMSB on 10,000 nodes will take about \d+ minutes"),
        (EPM(), 50_000, r"EPM on 50,000 nodes will take about \d+ minutes and \d+ GB of memory"),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else None,
)
def test_samplers_say_what_they_will_take(model, n, said, caplog, monkeypatch):
    monkeypatch.setattr("klafter.models.checks.machine_memory", lambda: 64 * 2.0**30)
    graph = large(n, degree=2 if n > 10**6 else 10)
    model._announce(graph)
    assert re.search(said, caplog.text)
    caplog.clear()
    model._announce(load_karate())
    assert not caplog.text
    monkeypatch.setattr("klafter.models.checks.machine_memory", lambda: 10**6)
    with pytest.raises(MemoryError, match=r"needs about .* GB of memory; there are 0\. KLafter takes large"):
        model._announce(graph)


@pytest.mark.parametrize("model", [MMSB(n_communities=10**5), EPM(n_communities=10**5)], ids=["MMSB", "EPM"])
def test_affinities_of_many_communities_count_too(model, monkeypatch):
    monkeypatch.setattr("klafter.models.checks.machine_memory", lambda: 64 * 2.0**30)
    with pytest.raises(MemoryError, match=r"on 34 nodes needs about [\d,]+ GB of memory; there are 64\. KLafter takes"):
        model.fit(load_karate())


def test_a_fit_says_so_before_its_first_sweep(caplog, monkeypatch):
    monkeypatch.setattr("klafter.models.costs.LONG", 0.0)
    heard = []
    for model in (IRM(n_draws=2, n_burn=0), KLafter(n_init=1, n_smooth=0, max_iter=1), KLafter(link="exposure")):
        caplog.clear()
        model.fit(load_karate(), callback=lambda progress: heard.append(caplog.text) or True)
        assert "will take about a minute" in heard[-1]


def test_both_engines_say_what_they_will_take(caplog, monkeypatch):
    monkeypatch.setattr("klafter.models.checks.machine_memory", lambda: 64 * 2.0**30)
    KLafter(link="logit")._link(large(10_000))
    assert re.search(
        r"The dense engine on 10,000 nodes will take about \d\.\d hours\. Use link='exposure'", caplog.text
    )
    monkeypatch.setattr("klafter.models.checks.machine_memory", lambda: 10**6)
    with pytest.raises(MemoryError, match=r"100,000 nodes and 500,000 links needs about .*Fewer links take less"):
        KLafter().fit(large(100_000))
