"""The tutorial: what it shows is there, and its commands still say it."""

import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from klafter.cli.app import app

DOCS = Path(__file__).resolve().parents[1] / "docs"
SHOWN = re.compile(r"\]\((images/[^)]+)\)|literalinclude\} (\S+)|<(tutorial/[^>]+)>")


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_pictures_and_output_of_a_page_are_there(page):
    named = [name for found in SHOWN.findall((DOCS / page).read_text(encoding="utf-8")) for name in found if name]
    assert [name for name in named if not (DOCS / name).is_file()] == []


def test_the_workbook_is_read_as_the_tutorial_says(tmp_path, monkeypatch):
    pytest.importorskip("openpyxl")
    shutil.copy(DOCS / "tutorial" / "staff.xlsx", tmp_path)
    monkeypatch.chdir(tmp_path)
    command, _, said = (DOCS / "tutorial" / "look.txt").read_text(encoding="utf-8").partition("\n")
    shown = CliRunner(env={"COLUMNS": "92", "NO_COLOR": "1"}).invoke(app, command.split()[2:], prog_name="klafter")
    assert [line.rstrip() for line in shown.stdout.splitlines()] == said.splitlines()
