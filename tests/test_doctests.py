"""The examples in all docstrings run and tell the truth."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import klafter

NAMES = [module.name for module in pkgutil.walk_packages(klafter.__path__, "klafter.")]
MODULES = [name for name in NAMES if name != "klafter.__main__"]  # which runs the command line


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for examples that write files
    assert doctest.testmod(import_module(name)).failed == 0
