"""Compiled kernels on disk: found again, never stale, and no matter when they cannot be written or read."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import klafter
from klafter.jit import cache, stamps
from klafter.jit.target import GENERIC, Target

PACKAGE = Path(klafter.__file__).parent
INNER = "from klafter.jit.decorators import inner\n\n@inner\ndef part(x):\n    return x + {added}\n"
OUTER = """
from klafter.jit.decorators import kernel
from lab.parts import part

@kernel
def whole(x):
    return part(x) * 2
"""
MORE = """
from klafter.jit.decorators import kernel
from lab.wholes import whole

@kernel
def more(x):
    return whole(x) + 1
"""
RUN = """
import logging
from lab.wholes import whole
logging.basicConfig(format="%(message)s")
print(whole(3), sum(whole.stats.cache_hits.values()))
"""


@pytest.fixture
def lab(tmp_path):
    """A package of two modules: a kernel, and the inner kernel that it calls."""
    home = tmp_path / "lab"
    home.mkdir()
    (home / "__init__.py").touch()
    (home / "wholes.py").write_text(OUTER)
    (home / "parts.py").write_text(INNER.format(added=1))
    return home


def start(lab, folder, program=RUN, **environment):
    """Begin a process that runs the kernel."""
    paths = os.pathsep.join([str(lab.parent), str(PACKAGE.parent)])
    given = {**os.environ, "PYTHONPATH": paths, "KLAFTER_CACHE_DIR": str(folder), **environment}
    command = [sys.executable, "-c", program]
    return subprocess.Popen(command, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(lab, folder, **environment):
    """What the kernel gave, whether it came from disk, and what was said."""
    out, said = start(lab, folder, **environment).communicate()
    value, hits = map(int, out.split())
    return value, bool(hits), said


def test_a_kernel_is_compiled_once(lab, tmp_path):
    assert run(lab, tmp_path / "cache") == (8, False, "")
    assert run(lab, tmp_path / "cache") == (8, True, "")


def test_a_kernel_from_disk_is_linked_into_one_that_is_compiled(lab, tmp_path):
    run(lab, tmp_path)
    (lab / "mores.py").write_text(MORE)
    out, said = start(lab, tmp_path, f"{RUN}\nfrom lab.mores import more\nprint(more(3))").communicate()
    assert (out.split(), said) == (["8", "1", "9"], "")


def test_editing_an_inner_kernel_in_another_file_compiles_its_callers_again(lab, tmp_path):
    run(lab, tmp_path)
    (lab / "parts.py").write_text(INNER.format(added=5))
    assert run(lab, tmp_path) == (16, False, "")
    (lab / "parts.py").write_text(INNER.format(added=1))
    assert run(lab, tmp_path) == (8, True, "")


def test_another_processor_and_other_settings_have_entries_of_their_own(lab, tmp_path):
    run(lab, tmp_path)
    assert not run(lab, tmp_path, NUMBA_OPT="1")[1]
    assert not run(lab, tmp_path, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="+sse2")[1]


def test_two_processes_compile_at_once(lab, tmp_path):
    both = [start(lab, tmp_path / "cache") for _ in range(2)]
    assert [process.communicate()[0].split()[0] for process in both] == ["8", "8"]
    assert len(list((tmp_path / "cache").iterdir())) == 1


@pytest.mark.parametrize(
    "damage", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: data[:-1] + b"?"]
)
def test_a_damaged_entry_is_compiled_and_written_again(monkeypatch, tmp_path, damage):
    monkeypatch.setenv("KLAFTER_CACHE_DIR", str(tmp_path))
    make_twice()(2)
    (entry,) = tmp_path.iterdir()
    entry.write_bytes(damage(entry.read_bytes()))
    for found in (False, True):
        again = make_twice()
        assert again(2) == 4
        assert bool(again.stats.cache_hits) == found


def test_where_nothing_can_be_written_code_stays_in_memory_and_one_note_says_so(monkeypatch, tmp_path, caplog):
    (blocked := tmp_path / "file").touch()
    monkeypatch.setenv("KLAFTER_CACHE_DIR", str(blocked / "cache"))
    monkeypatch.setattr(cache, "SHIPPED", blocked / "kernels")
    cache._say_that_nothing_is_kept.cache_clear()
    twice = make_twice()
    assert (twice(2), twice(2.5)) == (4, 5.0)
    (record,) = caplog.records
    assert "set KLAFTER_CACHE_DIR to a folder that can be written" in record.getMessage()


def test_the_package_takes_entries_where_the_user_folder_cannot(monkeypatch, tmp_path):
    (blocked := tmp_path / "file").touch()
    monkeypatch.setenv("KLAFTER_CACHE_DIR", str(blocked / "cache"))
    monkeypatch.setattr(cache, "SHIPPED", tmp_path / "kernels")
    assert make_twice()(2) == 4
    assert len(list((tmp_path / "kernels").glob("*.nbc"))) == 1


def test_old_entries_of_a_kernel_make_room(monkeypatch, tmp_path):
    monkeypatch.setenv("KLAFTER_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache, "KEPT", 2)
    twice = make_twice()
    for value in (1, 1.0, 1j):
        twice(value)
    assert len(list(tmp_path.glob("*.nbc"))) == 2


def test_code_for_a_generic_processor_is_loaded_where_it_runs(lab, tmp_path):
    generic = GENERIC.get(os.uname().machine if hasattr(os, "uname") else "")
    if generic is None or not generic.runs_here():
        pytest.skip("this processor has no generic target")
    run(lab, tmp_path, NUMBA_CPU_NAME=generic.cpu, NUMBA_CPU_FEATURES=generic.features)
    assert run(lab, tmp_path) == (8, True, "")


def test_a_processor_without_a_feature_does_not_run_its_code():
    assert not Target("some", "+sse2,+no-such-feature").runs_here()


@pytest.mark.parametrize(
    ("environment", "platform", "folder"),
    [
        ({"KLAFTER_CACHE_DIR": "/a"}, "linux", "/a"),
        ({"XDG_CACHE_HOME": "/b"}, "linux", "/b/klafter/kernels"),
        ({"HOME": "/c"}, "linux", "/c/.cache/klafter/kernels"),
        ({"HOME": "/c"}, "darwin", "/c/Library/Caches/klafter/kernels"),
        ({"LOCALAPPDATA": "/d"}, "win32", "/d/klafter/kernels"),
    ],
)
def test_the_folder_is_the_users_own_or_the_one_that_is_named(monkeypatch, environment, platform, folder):
    for name in ("KLAFTER_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache.folders()[0] == Path(folder)


def test_imports_are_found_in_every_form():
    source = b"import a.b\nfrom c import (\n    d,\n    e,\n)\nfrom f import g as h\n\ndef later():\n    import i\n"
    found = set(stamps.imported(source))
    assert {"a.b", "c", "c.d", "c.e", "f", "f.g"} <= found
    assert "i" not in found


def test_kernels_see_nothing_of_the_package_that_no_stamp_looks_at():
    for path in PACKAGE.rglob("*.py"):
        if b"@kernel" in path.read_bytes() and path.parent.name != "jit":
            sources = {}
            module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
            import_module(module)
            stamps._collect(module, ("klafter",), sources)
            for name, source in sources.items():
                seen = {found for found in stamps.imported(source) if found.rpartition(".")[0] == stamps.OUTSIDE}
                assert {found for found in seen if found not in sources} <= {"klafter.graph.Graph"}, name


def make_twice():
    """A kernel that is new to this process."""
    from klafter.jit.decorators import kernel

    return kernel(twice)


def twice(x):
    return x * 2
