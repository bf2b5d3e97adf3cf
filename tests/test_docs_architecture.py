"""The page on architecture names files and functions that exist, and the journeys call them in that order."""

import ast
import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import klafter
from klafter.datasets import load_les_miserables, make_overlapping

ROOT = Path(klafter.__file__).parent
DOCS = Path(__file__).resolve().parents[1] / "docs"
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
BY_CHOICE = {"ExposureDraw.predictor", "LinearDraw.predictor", "LinearDraw.parts", "draw_network"}  # of one engine


def named(text: str) -> list[tuple[str, str]]:
    """Pairs of a file and a function in a text: the function is in the file that was named last before it."""
    found, file = [], ""
    for span in SPAN.findall(text):
        if re.fullmatch(r"[\w/]+\.py", span):
            file = span if "/" in span else next((f for f, _ in reversed(found) if f.endswith("/" + span)), span)
            found.append((file, ""))
        elif re.fullmatch(r"_?[A-Za-z][\w.]*\(\)", span):
            found.append((file, span[:-2]))
    return found


def defined(file: str) -> set[str]:
    """Functions of a file, those of classes as Class.method."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return names


def section(title: str) -> str:
    """The numbered steps of a journey."""
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    text = page.split(f"## {title}\n")[1].split("\n## ")[0]
    return re.search(r"^1\. .*?(?=\n\n\S|\Z)", text, re.DOTALL | re.MULTILINE)[0]


def without_bullets(text: str) -> str:
    """The steps without the details of the moves, which come again and again."""
    return re.sub(r"^   \* .*\n(     .*\n)*", "", text, flags=re.MULTILINE)


def called_by(work) -> list[tuple[str, str]]:
    """Functions of the package that some work calls, in the order of their first calls."""
    calls: dict[tuple[str, str], None] = {}

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(ROOT)):
            calls.setdefault((str(Path(code.co_filename).relative_to(ROOT)), code.co_qualname))

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return list(calls)


def check_journey(title: str, work) -> None:
    told = [pair for pair in dict.fromkeys(named(section(title))) if pair[1] and pair[1] not in BY_CHOICE]
    calls = called_by(work)
    missing = [pair for pair in told if pair not in calls]
    assert len(told) > 12
    assert not missing, f"{title}: never called: {missing}"
    steps = [pair for pair in dict.fromkeys(named(without_bullets(section(title)))) if pair in told]
    order = [calls.index(pair) for pair in steps]
    late = [steps[t] for t in range(1, len(order)) if order[t] < order[t - 1]]
    assert not late, f"{title}: called before what stands before them: {late}"


@pytest.mark.parametrize("page", ["architecture.md", "add_a_move.md", "score.md"])
def test_what_is_named_exists(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for file, function in named(text):
        if "/" not in file:
            assert not file or list(ROOT.rglob(file)), f"{page} names {file}"
            continue
        assert (ROOT / file).is_file() or (DOCS.parent / file).is_file(), f"{page} names {file}"
        public = hasattr(klafter.KLafter, function.removeprefix("KLafter."))  # what users call needs no file
        assert not function or public or function in defined(file), f"{page}: {file} has no function {function}"


def test_fit_of_77_nodes():
    model = klafter.KLafter(n_init=2, n_smooth=12, random_state=0)
    check_journey("A fit of 77 nodes", lambda: model.fit(load_les_miserables()))


def test_fit_of_a_large_graph():
    graph, _ = make_overlapping(400, mean_degree=14.0, community_size=40, random_state=0)
    model = klafter.KLafter(link="exposure", n_init=1, random_state=0)
    check_journey("A fit of 100,000 nodes", lambda: model.fit(graph))


def test_predict_and_report(tmp_path):
    model = klafter.KLafter(n_init=1, n_smooth=12, random_state=0).fit(load_les_miserables())

    def work():
        model.predict_proba([("Valjean", "Javert")])
        model.explain("Valjean", "Javert")
        klafter.report(model, tmp_path / "page.html")

    check_journey("Predict and report", work)


def test_the_picture_names_what_exists():
    texts = re.findall(r"<text [^>]*>([^<]*)</text>", (DOCS / "images" / "journeys.svg").read_text(encoding="utf-8"))
    files = [(file, name) for file, name in pairwise(texts) if file.endswith(".py")]
    assert len(files) == 21
    for file, name in files:
        paths = list(ROOT.glob(file))
        text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
        assert re.search(rf"^ *(def )?{name.split(',')[0].split('.')[-1]}\b", text, re.MULTILINE), f"{file}: {name}"
