"""Fixtures that several test files share."""

import importlib
import os
import sys
from functools import cache
from pathlib import Path

import pytest
import typer.testing
from hypothesis import settings

os.environ["OMP_NUM_THREADS"] = "1"  # scikit-learn's trees: threads that wait for each other took most of their time
settings.register_profile("repeatable", derandomize=True)  # --hypothesis-profile=default explores
settings.load_profile("repeatable")
os.environ["KLAFTER_CHECK_CLAIMS"] = "1"  # after every accepted move the claimed change is the change of the objective
typer.testing._get_command = cache(typer.testing._get_command)  # making all commands took a fifth of a short one


@pytest.fixture
def unchecked(monkeypatch):
    """No claims are compared with the objective: for tests of large fits, where that takes longer than the fit."""
    importlib.import_module("klafter.search.sparse.fit")  # and with it all that asks
    for name, module in list(sys.modules.items()):
        if name.startswith("klafter.search.") and hasattr(module, "CHECKED"):
            monkeypatch.setattr(module, "CHECKED", False)


@pytest.fixture(scope="session")
def data_home() -> Path:
    """A folder with the public data files: KLAFTER_DATA, or shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    home = Path(os.environ.get("KLAFTER_DATA") or beside)
    if not (home / "Protein230.mat").is_file() and not (home / "raw" / "Protein230.mat").is_file():
        pytest.skip(f"the public data files are not in {home}: set KLAFTER_DATA to a folder that holds them")
    return home
