"""The examples in the docstrings of klafter.graph run and tell the truth."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import klafter.graph

MODULES = [f"klafter.graph.{module.name}" for module in pkgutil.iter_modules(klafter.graph.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(import_module(name)).failed == 0
