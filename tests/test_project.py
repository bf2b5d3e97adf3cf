"""What is said in several places of the project is the same: versions, dependencies, addresses, links, Pythons."""

import re
import tomllib
from pathlib import Path

import pytest

import klafter

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ADDRESS = PROJECT["urls"]["Source"]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere():
    found = {
        "CITATION.cff": re.search(r"^version: (.+)$", text("CITATION.cff"), re.MULTILINE),
        "CHANGELOG.md": re.search(r"^## (\d\S+)", text("CHANGELOG.md"), re.MULTILINE),
        "conda/recipe.yaml": re.search(r'^  version: "(.+)"$', text("conda/recipe.yaml"), re.MULTILINE),
    }
    assert {name: match and match[1] for name, match in found.items()} == dict.fromkeys(found, klafter.__version__)


def test_conda_needs_what_pip_needs():
    run = text("conda/recipe.yaml").partition("  run:\n")[2].partition("\n\n")[0]
    named = [line.removeprefix("    - ").replace(" ", "") for line in run.splitlines()]
    assert named[1:] == PROJECT["dependencies"], "write the dependencies of pyproject.toml into conda/recipe.yaml"
    assert f'python_min: "{PROJECT["requires-python"].removeprefix(">=")}"' in text("conda/recipe.yaml")


def test_the_lowest_versions_compile_every_kernel():
    """The demo needs few of them: Numba 0.60 passed it, and could not compile the sparse engine."""
    recipe = text("Makefile").partition("\nminimum:\n")[2].partition("\n\n")[0]
    assert "klafter warmup" in recipe
    assert "--first" not in recipe
    assert "make minimum" in text(".github/workflows/test.yml")


def test_every_python_that_is_named_is_tested():
    named = [line.split(" :: ")[-1] for line in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", line)]
    tested = re.search(r"python: \[(.*)\]", text(".github/workflows/test.yml"))
    assert tested
    assert re.findall(r"3\.\d+", tested[1]) == named
    assert PROJECT["requires-python"] == f">={named[0]}"


def test_no_page_has_a_name_that_sphinx_needs():
    assert not {"search.md", "genindex.md", "modindex.md"} & {path.name for path in (ROOT / "docs").glob("*.md")}


def test_features_of_the_comparison_name_tests_that_exist():
    table = text("docs/comparison.md").partition("| feature | klafter | test |")[2].partition("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    named = [re.search(r"`(tests/\w+\.py)::(\w+)` \|$", line) for line in rows]
    assert rows
    for line, match in zip(rows, named):
        assert match, f"no test is named in {line!r}"
        assert re.search(rf"^def {match[2]}\(", text(match[1]), re.MULTILINE), f"there is no {match[2]} in {match[1]}"


def test_the_paper_cites_what_its_bibliography_holds():
    paper = text("paper/paper.md")
    held = re.findall(r"^@\w+\{(\w+),", text("paper/paper.bib"), re.MULTILINE)
    assert len(held) == len(set(held))
    assert set(re.findall(r"@(\w+)", paper.partition("# References")[0])) == set(held)
    wanted = ["Summary", "Statement of need", "State of the field", "Results", "References"]
    assert [title for title in re.findall(r"^# (.+)$", paper, re.MULTILINE) if title in wanted] == wanted


@pytest.mark.parametrize("name", ["conda/recipe.yaml", ".github/ISSUE_TEMPLATE/config.yml"])
def test_addresses_are_those_of_the_project(name):
    assert set(re.findall(r"https://github\.com/[\w-]+/[\w-]+", text(name))) == {ADDRESS}


def test_links_of_the_package_page_are_absolute():
    pytest.importorskip("hatchling")
    import runpy

    page = runpy.run_path(str(ROOT / "hatch_build.py"))["absolute_links"](text("README.md"), ADDRESS)
    targets = re.findall(r"\]\(([^)]+)\)", page)
    assert targets
    assert all(target.startswith(("https://", "#")) for target in targets)
    assert any(target.startswith(f"{ADDRESS}/raw/main/docs/images/") for target in targets)
