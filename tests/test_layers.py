"""Imports go one way, and importing the package is quick."""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import klafter

LAYERS = [
    "graph", "jit", "core", "search", "sampling", "prediction", "models", "datasets", "evaluation", "report", "cli",
]  # fmt: skip
ROOT = Path(klafter.__file__).parent
FILES = [path for path in sorted(ROOT.rglob("*.py")) if path.parent != ROOT]
HEAVY = {"dask", "matplotlib", "bokeh", "pandas", "arviz", "sklearn", "numba", "networkx"}


def imported_layers(path):
    """The parts of the package that a file imports, at its top or inside functions."""
    package = path.relative_to(ROOT.parent).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, [base, node.module]))
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "klafter" else [module]
        for name in names:
            parts = name.split(".")
            if parts[0] == "klafter" and len(parts) > 1 and parts[1] in LAYERS:
                yield node.lineno, parts[1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_layer_imports_only_from_those_above_it(path):
    layer = path.relative_to(ROOT).parts[0].removesuffix(".py")
    assert layer in LAYERS, f"{path} is in no layer"
    allowed = LAYERS[: LAYERS.index(layer) + 1]
    wrong = [f"line {line} imports {name}" for line, name in imported_layers(path) if name not in allowed]
    assert not wrong, f"{layer} may import only from {allowed}: {wrong}"


def test_every_import_of_the_package_names_a_module():
    """mypy is told to pass over modules that are missing, and some imports are inside functions."""
    wrong = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("klafter."):
                place = ROOT.parent.joinpath(*node.module.split("."))
                if not place.is_dir() and not place.with_suffix(".py").is_file():
                    wrong.append(f"{path.relative_to(ROOT)}, line {node.lineno}: {node.module}")
    assert not wrong


def test_no_folder_holds_more_than_eighteen_files():
    sizes = Counter(path.parent for path in ROOT.rglob("*") if path.suffix in (".py", ".js", ".css", ".html"))
    assert not {str(folder.relative_to(ROOT)): size for folder, size in sizes.items() if size > 18}


@pytest.mark.parametrize("module", ["klafter", "klafter.graph"])
def test_import_is_light(module):
    code = f"import sys, {module}; print(*{{name.split('.')[0] for name in sys.modules}})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not HEAVY & set(loaded)


def test_every_public_name_is_found():
    assert set(klafter.graph.__all__) <= set(dir(klafter.graph))


def test_contributors_are_told_the_layers_that_are_checked():
    guide = Path(__file__).resolve().parents[1] / "CONTRIBUTING.md"
    assert " -> ".join(LAYERS) in guide.read_text(encoding="utf-8").splitlines()
