"""Model files: what is saved comes back, and what is damaged, foreign or hostile is refused in a sentence."""

import json
from datetime import date

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from klafter.core.draws import ExposureDraw, LinearDraw
from klafter.datasets import load_les_miserables
from klafter.graph import Graph
from klafter.models import KLafter, load
from klafter.models.storage.files import ModelFileError

QUICK = {"n_init": 1, "max_iter": 2, "random_state": 0}


@pytest.fixture(scope="module", params=["logit", "exposure"])
def arrays(request, tmp_path_factory):
    """The arrays of a saved model."""
    path = tmp_path_factory.mktemp("files") / "m.npz"
    KLafter(**QUICK, link=request.param).fit(load_les_miserables()).save(path)
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def written(arrays, path, change=None, **replaced):
    """A file like a saved one, with its header or some arrays changed."""
    header = json.loads(arrays["header"].tobytes())
    if change is not None:
        change(header)
    header = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, **{**arrays, **replaced, "header": header})
    return path


def test_a_file_like_a_saved_one_is_read(arrays, tmp_path):
    assert load(written(arrays, tmp_path / "m.npz")).graph_.n_links == 254


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header.pop("version"),
        lambda header: header.update(version="1"),
        lambda header: header["fitted"].pop("draws_"),
        lambda header: header["fitted"].pop("point_"),
        lambda header: header["fitted"].pop("memberships_"),
        lambda header: header["fitted"].pop("response_"),
        lambda header: header["fitted"].update(response_={"plain": "magic"}),
        lambda header: header["fitted"].update(precision_={"plain": -1.0}),
        lambda header: header["fitted"].update(predict={"plain": 1}),
        lambda header: header["fitted"].update(n_communities_={"plain": 99}),
        lambda header: header["parameters"].update(structure=None),
        lambda header: header["parameters"].update(penalty={"plain": 1}),
        lambda header: header["parameters"].update(temperature="x"),
        lambda header: header["parameters"].update(n_jobs=0),
    ],
)
def test_a_header_with_parts_missing_or_wrong_is_refused(arrays, tmp_path, change):
    with pytest.raises(ModelFileError, match=r"m\.npz is"):
        load(written(arrays, tmp_path / "m.npz", change))


@pytest.mark.parametrize("name", ["graph.links", "draws_.memberships", "point_.memberships"])
def test_indices_that_point_outside_are_refused(arrays, tmp_path, name):
    indices = arrays[f"{name}/indices"] + 1_000_000
    with pytest.raises(ModelFileError, match="missing or damaged"):
        load(written(arrays, tmp_path / "m.npz", **{f"{name}/indices": indices}))


def test_numbers_beyond_what_any_fit_finds_are_refused(arrays, tmp_path):
    name = next(name for name in ("point_.affinities", "point_.affinities/data") if name in arrays)
    with pytest.raises(ModelFileError, match="missing or damaged"):
        load(written(arrays, tmp_path / "m.npz", **{name: np.full_like(arrays[name], -3e231)}))


def test_labels_of_all_kinds_come_back_as_they_were(tmp_path):
    graph = nx.Graph([(1, "a"), ("a", 2.5), (2.5, (3, ("x", 4))), ((3, ("x", 4)), 1)])
    KLafter(**QUICK).fit(graph).save(tmp_path / "m.npz")
    assert load(tmp_path / "m.npz").graph_.labels.tolist() == [1, "a", 2.5, (3, ("x", 4))]


def test_a_label_that_no_file_can_keep_is_refused_before_anything_is_written(tmp_path):
    graph = nx.Graph([(date(2024, 1, 1), date(2024, 1, 2)), (date(2024, 1, 2), "a")])
    with pytest.raises(ValueError, match="labels that are text, numbers or tuples"):
        KLafter(**QUICK).fit(graph).save(tmp_path / "m.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere to write m\.npz in"):
        KLafter(**QUICK).fit(load_les_miserables()).save(tmp_path / "nowhere" / "m.npz")


@pytest.mark.parametrize("directed", [False, True])
def test_a_file_of_version_1_with_the_background_as_a_community_is_read(directed, tmp_path):
    graph = load_les_miserables()
    if directed:
        links = sparse.triu(graph.links).tocsr() + sparse.tril(graph.links, -20).tocsr()
        graph = Graph(links, directed=True, labels=graph.labels)
    model = KLafter(**QUICK, link="exposure").fit(graph)
    path = tmp_path / "m.npz"
    model.draws_ = model.restarts_ = [_loadings(model.point_, directed)]
    new, model.point_ = model.point_, model.draws_[0]
    model.save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    old = load(written(arrays, path, lambda header: header.update(version=1)))
    pairs = np.argwhere(~np.eye(graph.n_nodes, dtype=bool))
    assert type(old.point_) is type(old.draws_[0]) is ExposureDraw
    np.testing.assert_allclose(old.point_.predictor(pairs), new.predictor(pairs))
    assert (old.point_.memberships != new.memberships).nnz == 0


def _loadings(draw: ExposureDraw, directed: bool) -> LinearDraw:
    """A draw of the sparse engine as version 1 wrote it: u_i = t_i (z_i, 1), directed (t_i (z_i, 1), r_i (z_i, 1))."""
    z = sparse.hstack([draw.memberships, np.ones((len(draw.send), 1))], format="csr")
    scale = sparse.block_diag([draw.affinities, np.array([[draw.background]])], format="csr")
    loadings = sparse.diags_array(draw.send) @ z
    if directed:
        loadings = sparse.hstack([loadings, sparse.diags_array(draw.receive) @ z], format="csr")
        scale = sparse.block_array([[None, scale], [sparse.csr_array(scale.shape), None]], format="csr")
    return LinearDraw(sparse.csr_array(loadings), sparse.csr_array(scale))
