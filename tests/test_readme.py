"""Every Python block of the README runs, in order, in one namespace; every command in it exists."""

import re
import runpy
from pathlib import Path

import pytest

from klafter.cli.app import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_python_blocks_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict = {}
    assert blocks("python")
    for number, block in enumerate(blocks("python"), 1):
        exec(compile(block, f"README block {number}", "exec"), namespace)
    assert (tmp_path / "novel.npz").is_file()


def test_commands_exist():
    known = {command.__name__ for group in COMMANDS.values() for command in group}
    named = set(re.findall(r"^klafter (\w+)", "\n".join(blocks("console")), re.MULTILINE))
    assert named
    assert named <= known


def test_the_page_of_commands_has_them_all(tmp_path):
    runpy.run_path(str(ROOT / "docs" / "commands.py"))["write_commands"](tmp_path / "generated" / "commands.md")
    page = (tmp_path / "generated" / "commands.md").read_text(encoding="utf-8")
    known = {command.__name__ for group in COMMANDS.values() for command in group}
    assert set(re.findall(r"^## klafter (\w+)", page, re.MULTILINE)) == known


def test_make_demo_and_make_test_stand_near_the_top():
    assert README.index("make demo") < README.index("make test") < 600


def test_images_and_linked_pages_exist():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).is_file(), target


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/api.md",
        "docs/attributes.md",
        "docs/results.md",
        "docs/scale.md",
        "docs/comparison.md",
        "docs/reliability.md",
        "docs/score.md",
        "docs/speed.md",
        "docs/two_mode.md",
        "paper/paper.md",
    ],
)
def test_tables_are_those_of_the_saved_measurements(name, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    tables = runpy.run_path(str(ROOT / "benchmarks" / "results_table.py"))
    page = (ROOT / name).read_text(encoding="utf-8")
    assert name in tables["PAGES"]
    assert "<!-- results: " in page
    assert page == tables["filled"](page), "run: python benchmarks/results_table.py --write"
