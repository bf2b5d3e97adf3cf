"""The tutorial: what it shows is there, and its commands still say it."""

import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from klafter.cli.app import app
from klafter.models import load
from klafter.report import gather

DOCS = Path(__file__).resolve().parents[1] / "docs"
SHOWN = re.compile(r"\]\((?!https?:)([^)#\s]+)|literalinclude\} (\S+)")
PAGE = (DOCS / "tutorial.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_what_a_page_shows_or_links_to_is_there(page):
    named = [name for found in SHOWN.findall((DOCS / page).read_text(encoding="utf-8")) for name in found if name]
    assert [name for name in named if not (DOCS / name).is_file()] == []


def shown_by(command):
    """The block of the tutorial with a command and what it prints: the words of the command, the lines."""
    block = re.search(rf"^```text\n\$ klafter ({command} [^\n]*)\n(.*?)\n```$", PAGE, re.DOTALL | re.MULTILINE)
    return block[1].split(), block[2].splitlines()


@pytest.fixture
def typed(tmp_path, monkeypatch):
    """What is printed after a command is typed beside the workbook."""
    pytest.importorskip("openpyxl")
    shutil.copy(DOCS / "tutorial" / "staff.xlsx", tmp_path)
    monkeypatch.chdir(tmp_path)

    def run(words):
        shown = CliRunner(env={"COLUMNS": "92", "NO_COLOR": "1"}).invoke(app, words, prog_name="klafter")
        return [line.rstrip() for line in shown.stdout.rstrip("\n").splitlines()]

    return run


def test_the_workbook_is_read_as_the_tutorial_says(typed):
    words, lines = shown_by("look")
    assert typed(words) == lines


def test_the_fit_is_described_as_the_tutorial_says(typed):
    typed(shown_by("fit")[0])
    _, opening, *_ = " ".join(gather(load("staff.npz")).words).split(". ")  # links, runs, seed, communities
    assert opening in " ".join(PAGE.split()), "run: python docs/screenshots.py tutorial"
