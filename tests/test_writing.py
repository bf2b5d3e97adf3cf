"""Files are written whole or not at all, where the user said, with the permissions that were there."""

import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from klafter.graph.writing import PREFIX, SUFFIX, check_place, write_file, write_text

ROOT = os.geteuid() == 0


def leftovers(folder):
    return [path for path in folder.iterdir() if path.name.startswith(PREFIX)]


def test_a_symbolic_link_stays_and_its_target_is_written(tmp_path):
    target, link = tmp_path / "there" / "target", tmp_path / "link"
    target.parent.mkdir()
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert [path.name for path in target.parent.iterdir()] == ["target"]


def test_a_link_to_a_file_that_is_not_there_makes_it(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "target").read_text() == "new"


def test_links_in_a_circle_are_refused(tmp_path):
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    with pytest.raises(OSError, match=r"could not be written: its symbolic links lead in a circle"):
        write_text(tmp_path / "one", "new")


def test_pipes_devices_and_folders_are_refused_and_left_alone(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="is a pipe; name an ordinary file"):
        write_text(pipe, "new")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader, writer = os.pipe()
    with pytest.raises(OSError, match="is a pipe"):  # as /dev/stdout is, whose target has no name
        write_text(f"/dev/fd/{writer}", "new")
    os.close(reader), os.close(writer)
    with pytest.raises(OSError, match="is a device"):
        write_text("/dev/null", "new")
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        write_text(tmp_path, "new")


def test_the_folder_must_be_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no folder .* make it first"):
        write_text(tmp_path / "no" / "file", "new")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_permissions_stay(tmp_path, mode):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_those_of_the_umask(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_text(tmp_path / "file", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~mask


@pytest.mark.skipif(ROOT, reason="root may write everywhere")
def test_protected_places_are_refused_before_work_begins(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="write-protected"):
        check_place(path)
    path.chmod(0o644)
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(PermissionError, match="may not be written to"):
            check_place(path)
    finally:
        tmp_path.chmod(0o755)


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail(file):
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_file(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_limit_on_file_sizes_is_a_sentence(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match=r"file could not be written.*ulimit -f.*untouched"):
            write_text(path, "x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_text() == "old"
    assert not leftovers(tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_a_sentence(tmp_path):
    def fill(file):
        with open("/dev/full", "wb", buffering=0) as full:
            full.write(b"x")

    with pytest.raises(OSError, match=r"the disk is full\. Free some space"):
        write_file(tmp_path / "file", fill)
    assert not list(tmp_path.iterdir())


KILLED = """
import os, signal, sys
from klafter.graph.writing import write_file
def half(file):
    file.write(b"half"); file.flush(); os.kill(os.getpid(), signal.SIGKILL)
write_file(sys.argv[1], half)
"""


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    assert len(leftovers(tmp_path)) == 1
    write_text(tmp_path / "other", "new")
    assert not leftovers(tmp_path)


def test_a_writer_at_work_is_not_taken_for_a_leftover(tmp_path):
    def slow(file):
        write_text(tmp_path / "other", "quick")
        file.write(b"slow")

    write_file(tmp_path / "file", slow)
    assert (tmp_path / "file").read_text() == "slow"


def test_threads_that_write_one_file_leave_one_of_theirs(tmp_path):
    path, texts = tmp_path / "file", [str(k) * 50_000 for k in range(8)]
    threads = [threading.Thread(target=write_text, args=(path, text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() in texts
    assert list(tmp_path.iterdir()) == [path]


def test_names_of_temporary_files_end_as_cleaning_expects(tmp_path):
    seen = []
    write_file(tmp_path / "file", lambda file: seen.extend(leftovers(tmp_path)))
    assert seen[0].name.endswith(SUFFIX)
