"""What type checkers say of the README's lines and of the gallery, and whether every public method is documented."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import klafter
from klafter import models

ROOT = Path(__file__).resolve().parents[1]
GALLERY = sorted((ROOT / "docs" / "examples").glob("*.py"))
CLASSES = [klafter.Graph, klafter.DyadKFold, *(vars(models).get(n) or getattr(models, n) for n in models.__all__)]
METHODS = [
    pytest.param(method, id=f"{owner.__name__}.{name}")
    for owner in CLASSES
    if inspect.isclass(owner) and not issubclass(owner, (tuple, Exception))
    for name, method in inspect.getmembers(owner, inspect.isfunction)
    if not name.startswith("_") and method.__module__.startswith("klafter.")
]


def snippets() -> str:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))


MISSPELT = "misspelt.py"
CHECKERS = {
    "mypy": ["--ignore-missing-imports", "--check-untyped-defs", "--follow-imports=silent"],
    "pyright": ["--pythonpath", sys.executable],
}


@pytest.fixture(scope="module", params=CHECKERS)
def faults(request, tmp_path_factory):
    """The lines with errors that a checker finds in the README, the gallery and a file with misspelt names."""
    pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    folder = tmp_path_factory.mktemp("typed")
    for path in GALLERY:
        (folder / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "readme.py").write_text(snippets(), encoding="utf-8")
    (folder / MISSPELT).write_text("import klafter\nklafter.KLaffter\nklafter.models.LFRN\n", encoding="utf-8")
    command = [sys.executable, "-m", request.param, *CHECKERS[request.param], "."]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert found.returncode == 1, found.stdout + found.stderr
    return [line for line in found.stdout.splitlines() if "error:" in line]


def test_type_checkers_read_the_readme_and_the_gallery(faults):
    assert not [line for line in faults if MISSPELT not in line]


def test_type_checkers_know_no_misspelt_names(faults):
    said = "\n".join(line for line in faults if MISSPELT in line)
    assert "KLaffter" in said
    assert "LFRN" in said


def test_type_checkers_find_what_is_loaded_late():
    """The imports for type checkers and the names at run time are the same."""
    source = inspect.getsource(klafter)
    for name in klafter.__all__:
        assert name == "__version__" or re.search(rf"^    from .* import .*\b{name}\b", source, re.MULTILINE), name
        assert getattr(klafter, name) is not None


@pytest.mark.parametrize("model", [m for m in CLASSES if hasattr(m, "fit")], ids=lambda model: model.__name__)
def test_editors_know_the_fitted_attributes(model):
    """Those that the docstring names are declared, or are properties."""
    _, _, told = (inspect.getdoc(model) or "").partition("Attributes\n----------\n")
    named = re.findall(r"\b[a-z]\w*_\b", "\n".join(line for line in told.splitlines() if re.match("[a-z]", line)))
    declared = {name for each in model.__mro__ for name in [*vars(each), *vars(each).get("__annotations__", {})]}
    assert not set(named) - declared


@pytest.mark.parametrize("method", METHODS)
def test_every_public_method_is_documented_and_typed(method):
    text = inspect.getdoc(method) or ""
    arguments = [name for name in inspect.signature(method).parameters if name not in ("self", "cls")]
    assert text
    assert "return" in method.__annotations__
    assert len(arguments) == 0 or "Parameters\n---" in text
    assert method.__annotations__["return"] in ("None", None) or "Returns\n---" in text or "Yields\n---" in text
    undescribed = [name for name in arguments if not re.search(rf"^[\w, *]*\b{name}\b.*", text, re.MULTILINE)]
    assert not undescribed
