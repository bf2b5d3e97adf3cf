"""Modules that are loaded when something in them is first used: a program's right, not a library's."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec
from threading import RLock
from types import ModuleType


class LazyModule(ModuleType):
    """A module that runs its code when it is asked for a name it does not have yet.

    A second thread that asks meanwhile waits until all names are there.
    """

    def __getattr__(self, name: str):
        own = vars(self)
        with own["__waking__"]:
            if "__awake__" not in own:
                own["__awake__"] = False
                own["__spec__"].loader.exec_module(self)  # which may ask for its own names
                self.__class__ = ModuleType  # type: ignore[assignment]
        return ModuleType.__getattribute__(self, name)


def postpone(*names: str) -> None:
    """Let ``import name`` cost nothing until something of the module is used.

    The standard library's ``LazyLoader`` does not serve: ``import`` itself looks at ``__spec__``, which wakes it.
    """
    for name in names:  # a package before what is in it
        spec = None if name in sys.modules else _find(name)
        if spec is not None and spec.loader is not None:
            sys.modules[name] = module = module_from_spec(spec)
            vars(module)["__waking__"] = RLock()
            module.__class__ = LazyModule
            parent, _, child = name.rpartition(".")
            if parent in sys.modules:  # else ``import a.b as c`` would wake a
                setattr(sys.modules[parent], child, module)


def _find(name: str) -> ModuleSpec | None:
    """The spec of a module, without running its parent package."""
    parent, _, _ = name.rpartition(".")
    if not parent:
        return find_spec(name)
    try:
        package = find_spec(parent)
    except ModuleNotFoundError:
        return None
    return None if package is None else PathFinder.find_spec(name, package.submodule_search_locations)
