"""Pipes, devices, folders and links to nowhere where a file is read: a sentence that says what they are."""

import os

import pytest
from test_cli import folder, run, sentence  # noqa: F401

import klafter
from klafter.graph import GraphFileError
from klafter.models.storage.files import ModelFileError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")
KINDS = {
    "pipe": "a pipe",
    "/dev/zero": "a device",
    "folder": "a folder",
    "dangling": "a symbolic link to gone, where nothing is",
    "circle": "a symbolic link that leads in a circle",
}


@pytest.fixture(params=KINDS)
def odd(request, tmp_path):
    """A path that is no file, and what it is."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to("gone")
    (tmp_path / "circle").symlink_to("circle")
    return tmp_path / request.param, KINDS[request.param]


def test_graphs_and_models_are_read_from_files(odd):
    path, kind = odd
    with pytest.raises(GraphFileError, match=f"found {kind}, but a graph is read from"):
        klafter.read_graph(path)
    with pytest.raises(ModelFileError, match=f"is {kind}, and a model is read from a file"):
        klafter.load(path)


def test_commands_say_what_they_were_given(odd, folder):  # noqa: F811
    path, kind = odd
    links, model = folder / "friends.tsv", folder / "m.npz"
    for words in (
        ["fit", path], ["look", path], ["tune", path], ["compare", path], ["fit", links, "--hidden", path],
        ["communities", path], ["predict", path, "--top", 3], ["predict", model, path], ["explain", path, "ann", "bob"],
        ["place", path, "ann"], ["report", path], ["export", path, folder / "x.json"], ["watch", links, "-m", path],
    ):  # fmt: skip
        assert f"{path} is {kind}" in sentence(run(*words)), words
    assert f"{path}: found {kind}" in sentence(run("fit", links, "--nodes", path))


def test_folders_of_results_and_data_are_folders(odd):
    path, kind = odd
    if kind != "a folder":
        for option in ("--results", "--data"):
            assert f"{path} is {kind}; name a folder" in sentence(run("reproduce", "table1", option, path))


@pytest.mark.parametrize(
    ("found", "content"), [("binary data", b"a\tb\n\0\1\2\tc\n"), ("a line of more", b"x" * 2**21)]
)
def test_a_stream_of_something_else_changes_no_model(tmp_path, folder, found, content):  # noqa: F811
    model, before = folder / "m.npz", (folder / "m.npz").read_bytes()
    (tmp_path / "noise").write_bytes(content)
    assert f"found {found}" in sentence(run("watch", tmp_path / "noise", "-m", model))
    assert "found binary data" in sentence(run("watch", "/dev/zero", "-m", model))
    assert model.read_bytes() == before


def test_what_is_not_there_is_not_called_anything_else(tmp_path, folder):  # noqa: F811
    assert "There is no file" in sentence(run("communities", tmp_path / "none.npz"))
    assert "There is no file" in sentence(run("watch", tmp_path / "none.tsv", "-m", folder / "m.npz"))
    assert "There is no file and no data set ''" in sentence(run("fit", ""))
