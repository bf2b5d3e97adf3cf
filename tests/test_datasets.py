"""Data sets: real ones against their sources, downloads against a local server, simulated ones against theory."""

import hashlib
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import networkx as nx
import numpy as np
import pytest
from scipy.special import gammaln

from klafter import datasets
from klafter.core.responses import RESPONSES
from klafter.datasets.files import FILES, fetch_file


@pytest.mark.parametrize("info", datasets.list_datasets(), ids=lambda info: info.name)
def test_every_data_set_is_what_the_table_says(info, request):
    home = request.getfixturevalue("data_home") if info.downloaded else None
    graph = datasets.load_dataset(info.name, data_home=home)
    assert (graph.n_nodes, graph.n_links, graph.directed) == (info.n_nodes, info.n_links, info.directed)
    assert (graph.links.max() > 1) == (info.values == "counts")
    assert info.licence
    assert info.citation
    assert set(info.files) <= set(FILES)


def test_bundled_networks_keep_names_and_attributes():
    assert datasets.load_karate().attributes["club"][[0, 33]].tolist() == ["Mr. Hi", "Officer"]
    assert datasets.load_karate(weighted=True).links[0, 1] == 4


@pytest.mark.parametrize("weighted", [False, True])
def test_the_karate_club_is_that_of_networkx(weighted):
    net, graph = nx.karate_club_graph(), datasets.load_karate(weighted=weighted)
    there = nx.to_numpy_array(net, weight="weight" if weighted else None)
    assert (graph.links.toarray() == there).all()
    assert graph.attributes["club"].tolist() == [net.nodes[v]["club"] for v in net]
    graph = datasets.load_les_miserables(weighted=True)
    assert graph.links[graph.index("Myriel"), graph.index("MlleBaptistine")] == 8
    assert "Medici" in datasets.load_florentine_families().labels
    assert (datasets.load_southern_women().kinds == "event").sum() == 14


def test_lazega_tells_who_the_lawyers_are(data_home):
    graph = datasets.fetch_lazega("friend", data_home=data_home)
    first = {name: column[0] for name, column in graph.attributes.items()}
    assert first == {
        "status": "partner", "gender": "man", "office": "Boston", "seniority": 31, "age": 64,
        "practice": "litigation", "law_school": "Harvard or Yale",
    }  # fmt: skip
    assert (graph.attributes["status"] == "partner").sum() == 36
    with pytest.raises(ValueError, match='"advice", "work" or "friend"'):
        datasets.fetch_lazega("love", data_home=data_home)


def test_nips234_equals_the_published_pairs_entry_for_entry(data_home):
    published = next((p for p in data_home.glob("**/NIPS234.txt")), None)
    if published is None:
        pytest.skip(f"NIPS234.txt is not in {data_home}")
    pairs = np.sort(np.loadtxt(published, dtype=int) - 1, axis=1)
    graph = datasets.fetch_nips234(data_home=data_home)
    ours = np.array([(i, j) for i, j in zip(*graph.links.nonzero()) if i < j])
    assert {tuple(p) for p in pairs.tolist()} == {tuple(p) for p in ours.tolist()}
    assert graph.labels[:3].tolist() == ["Sejnowski_T", "Koch_C", "Jordan_M"]
    assert (np.diff(graph.links.indptr) == 0).sum() == 9
    counts = datasets.fetch_nips234(counts=True, data_home=data_home)
    assert counts.links[0, 10] == 3
    assert counts.attributes["papers"][0] == 48


def test_environment_names_the_data_home(data_home, monkeypatch):
    monkeypatch.setenv("KLAFTER_DATA", str(data_home))
    monkeypatch.setitem(sys.modules, "pooch", None)  # files that are there need no pooch
    assert datasets.fetch_protein230().n_links == 695


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"no data set 'karat'.*karate"):
        datasets.load_dataset("karat")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A mirror on this machine that publishes a co-work matrix and attributes of our own making."""
    links = np.triu(np.random.default_rng(0).random((71, 71)) < 0.1, 1)
    people = np.ones((71, 8), int)
    people[:, 0] = np.arange(1, 72)
    root = tmp_path / "server"
    for name, table in {"ELwork.dat": links | links.T, "ELattr.dat": people}.items():
        path = root / FILES[name].folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savetxt(path, table, fmt="%d")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        monkeypatch.setitem(FILES, name, FILES[name]._replace(sha256=digest))
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root))) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        monkeypatch.setenv("KLAFTER_DATA_URL", f"http://127.0.0.1:{httpd.server_port}/")
        yield root
        httpd.shutdown()


def test_download_arrives_is_kept_and_works_without_the_server_afterwards(server, tmp_path, monkeypatch):
    pytest.importorskip("pooch")
    home = tmp_path / "home"
    graph = datasets.fetch_lazega("work", data_home=home)
    assert sorted(p.name for p in home.iterdir()) == ["ELattr.dat", "ELwork.dat"]
    monkeypatch.setenv("KLAFTER_DATA_URL", "http://127.0.0.1:9")
    again = datasets.fetch_lazega("work", data_home=home)
    assert (graph.links != again.links).nnz == 0


def test_corrupt_file_says_which_and_what_to_do(server, tmp_path):
    (tmp_path / "ELwork.dat").write_text("0 1\n1 0\n")
    with pytest.raises(OSError, match=r"ELwork\.dat is corrupt.*expected [0-9a-f]{12}\. Delete the file"):
        fetch_file("ELwork.dat", tmp_path)


def test_changed_file_on_the_server_is_refused_and_not_kept(server, tmp_path):
    pytest.importorskip("pooch")
    (server / FILES["ELwork.dat"].folder / "ELwork.dat").write_text("0 1\n1 0\n")
    home = tmp_path / "home"
    with pytest.raises(OSError, match=r"ELwork\.dat has changed at http://127\.0\.0\.1.*Save the original"):
        fetch_file("ELwork.dat", home)
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("problem", ["no server", "no file"])
def test_failed_download_says_how_to_go_on(server, tmp_path, monkeypatch, problem):
    pytest.importorskip("pooch")
    if problem == "no server":
        monkeypatch.setenv("KLAFTER_DATA_URL", "http://127.0.0.1:9")
    else:
        (server / FILES["ELwork.dat"].folder / "ELwork.dat").unlink()
    with pytest.raises(
        ConnectionError, match=r"Could not download ELwork\.dat.*Check the network, or save the file in"
    ):
        fetch_file("ELwork.dat", tmp_path / "home")


@pytest.mark.parametrize(("limit", "said"), [("LARGEST", "is larger than"), ("LONGEST", "takes longer than 0 seconds")])
def test_a_download_without_end_is_given_up(server, tmp_path, monkeypatch, limit, said):
    pytest.importorskip("pooch")
    monkeypatch.setattr(f"klafter.datasets.files.{limit}", 0)
    with pytest.raises(ConnectionError, match=rf"ELwork\.dat.* was given up: it {said}.*yourself"):
        fetch_file("ELwork.dat", tmp_path / "home")
    assert not list((tmp_path / "home").iterdir())


def test_data_home_that_cannot_be_written(server, tmp_path):
    pytest.importorskip("pooch")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"Could not write ELwork\.dat .* Pass data_home="):
        fetch_file("ELwork.dat", tmp_path / "file")


def test_missing_pooch_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"ELwork\.dat needs pooch.*pip install 'klafter\[data\]'"):
        fetch_file("ELwork.dat", tmp_path)
    monkeypatch.delenv("KLAFTER_DATA", raising=False)
    with pytest.raises(ImportError, match="needs pooch"):
        fetch_file("ELwork.dat")


MAKERS = [datasets.make_lfrm, datasets.make_irm, datasets.make_mmsb, datasets.make_epm]


def expected_mean(truth, directed):
    """The mean link value over all dyads, by the model."""
    n = truth.memberships.shape[0]
    pairs = np.array([(i, j) for i in range(n) for j in range(n) if i != j and (directed or i < j)])
    return RESPONSES[truth.response].mean(truth.parameters.predictor(pairs)), pairs


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_simulated_graphs_follow_their_truth(make, directed):
    graph, truth = make(n=120, k=4, directed=directed, random_state=3)
    assert graph.directed == directed
    assert truth.memberships.shape == (120, 4)
    mean, pairs = expected_mean(truth, directed)
    error = np.sqrt((mean * (1 - mean)).sum())
    assert abs(graph.n_links - mean.sum()) < 4 * error
    np.testing.assert_allclose(truth.predict_proba(pairs[:50]), mean[:50])
    linked = np.asarray(graph.links[pairs[:, 0], pairs[:, 1]]).ravel() > 0
    assert abs((linked * mean).sum() - (mean**2).sum()) < 4 * np.sqrt((mean**3 * (1 - mean)).sum())


@pytest.mark.parametrize("make", [*MAKERS, partial(datasets.make_overlapping, community_size=20)])
def test_same_seed_same_graph(make):
    one, two, other = (make(n=80, random_state=seed)[0] for seed in (5, 5, 6))
    assert (one.links != two.links).nnz == 0
    assert (one.links != other.links).nnz > 0


def losses(family, y, x):
    """Minus log likelihood, slow and obvious."""
    if family == "poisson":
        return np.exp(x) - y * x + gammaln(y + 1)
    if family == "gaussian":
        return 2.0 * (y - x) ** 2
    p = 1 / (1 + np.exp(-x)) if family == "bernoulli" else -np.expm1(-np.maximum(x, 1e-9))
    return -np.log(np.where(y == 1, p, 1 - p))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("family", ["bernoulli", "poisson", "gaussian", "exposure"])
def test_lfrm_memberships_are_clear(family, directed):
    """Almost every single flip of a membership away from the truth makes the data less likely."""
    graph, truth = datasets.make_lfrm(family=family, directed=directed, random_state=1)
    z, w, b = truth.memberships.toarray(), truth.parameters.affinities, truth.parameters.offset
    y, better = graph.links.toarray(), 0
    for i in range(0, 200, 4):
        others = np.arange(200) != i
        for k in range(6):
            flipped = z[i].copy()
            flipped[k] = 1 - flipped[k]
            now, then = (losses(family, y[i], b + z @ w.T @ row)[others].sum() for row in (z[i], flipped))
            better += then < now
    assert better <= 3  # of 300


def test_lfrm_options():
    _, truth = datasets.make_lfrm(n=60, k=3, affinities=-np.eye(3), offset=2.0, memberships=(0, 3), random_state=0)
    assert truth.parameters.offset == 2.0
    assert truth.memberships.sum(axis=1).min() == 0
    assert truth.n_communities == 3
    _, related = datasets.make_lfrm(k=4, related=1.0, directed=True, random_state=0)
    assert (related.parameters.affinities > 0).all()
    with pytest.raises(ValueError, match="'binomial' is none of them"):
        datasets.make_lfrm(family="binomial")
    with pytest.raises(ValueError, match="least <= most <= 6"):
        datasets.make_lfrm(memberships=(1, 9))


@pytest.mark.parametrize("exponent", [None, 2.5])
def test_overlapping_links_follow_independent_exposure(exponent):
    """Links between nodes that share 0, 1, 2, 3 communities, beside their exact expectations."""
    graph, truth = datasets.make_overlapping(100, community_size=25, degree_exponent=exponent, random_state=7)
    mean, pairs = expected_mean(truth, False)
    shares = np.asarray((truth.memberships @ truth.memberships.T)[pairs[:, 0], pairs[:, 1]]).ravel()
    assert set(np.diff(truth.memberships.indptr)) == {1, 2, 3}
    for t in np.unique(shares):
        these = shares == t
        links = np.asarray(graph.links[pairs[these, 0], pairs[these, 1]]).sum()
        assert abs(links - mean[these].sum()) < 4 * np.sqrt((mean * (1 - mean))[these].sum())


def test_overlapping_is_large_and_quick():
    graph, truth = datasets.make_overlapping(20_000, random_state=0)
    degree = np.diff(graph.links.indptr)
    assert 19.5 < degree.mean() < 20.1
    assert truth.n_communities == 100
    assert all(300 < len(members) < 500 for members in truth.communities())
    hubs, _ = datasets.make_overlapping(20_000, degree_exponent=2.5, random_state=0)
    assert np.diff(hubs.links.indptr).max() > 5 * degree.max()


def test_overlapping_edges():
    assert datasets.make_overlapping(50, noise=1.0, random_state=0)[0].n_links > 0
    assert datasets.make_overlapping(50, mean_degree=0, random_state=0)[0].n_links == 0
    assert datasets.make_overlapping(1, random_state=0)[0].n_nodes == 1
    for wrong in ({"noise": 2}, {"n": 0}, {"mean_degree": -1}, {"degree_exponent": 1.5}):
        with pytest.raises(ValueError, match="make_overlapping needs"):
            datasets.make_overlapping(**{"n": 10, **wrong})
