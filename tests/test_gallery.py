"""Every example of the documentation runs as it stands, and every page's Python blocks do."""

import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
EXAMPLES = sorted((DOCS / "examples").glob("*.py"))
PAGES = sorted(DOCS.glob("*.md"))
YOURS = re.compile(r"^[^#\n]*(read_graph\(|load\(|Client\()", re.MULTILINE)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch, unchecked):
    """A folder of its own, and figures that nobody sees."""
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    matplotlib.use("Agg")
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(script, request, monkeypatch, capsys):
    if "fetch_" in script.read_text(encoding="utf-8"):
        monkeypatch.setenv("KLAFTER_DATA", str(request.getfixturevalue("data_home")))
    runpy.run_path(str(script))
    assert capsys.readouterr().out


def test_there_are_at_most_ten_examples_and_each_has_its_place():
    order = runpy.run_path(str(DOCS / "gallery_order.py"))["ExampleOrder"]
    assert len(EXAMPLES) <= 10
    assert sorted(order.NAMES) == [script.stem for script in EXAMPLES]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_python_blocks_of_the_pages_run(page):
    """From top to bottom in one namespace, up to a block that needs a file or a cluster of the reader's."""
    namespace: dict = {}
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    code = [compile(block, str(page), "exec") for block in blocks]
    for block, compiled in zip(blocks, code):
        if YOURS.search(block):
            break
        exec(compiled, namespace)
