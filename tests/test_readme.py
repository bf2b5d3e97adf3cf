"""Every Python block of the README runs, in order, in one namespace; every command in it exists."""

import re
from pathlib import Path

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
    assert named == known


def test_results_have_their_place_and_images_exist():
    assert README.index("<!-- results -->") < README.index("<!-- /results -->")
    for image in re.findall(r"!\[[^]]*\]\(([^)]+)\)", README):
        assert (ROOT / image).is_file()
