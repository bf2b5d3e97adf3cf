"""The report as one page, figures for papers, and the facts behind both."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from klafter.report.facts import Facts, gather
    from klafter.report.figures import (
        plot_adjacency,
        plot_affinities,
        plot_history,
        plot_levels,
        plot_memberships,
        plot_network,
        plot_path,
        plot_roc,
    )
    from klafter.report.html import report

_HOMES = {"report": "html", "Facts": "facts", "gather": "facts"}  # others are figures
__all__ = [
    "Facts",
    "gather",
    "plot_adjacency",
    "plot_affinities",
    "plot_history",
    "plot_levels",
    "plot_memberships",
    "plot_network",
    "plot_path",
    "plot_roc",
    "report",
]


def __getattr__(name: str):
    if name in __all__:
        return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'figures')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return __all__


class _Callable(ModuleType):
    """``klafter.report(model, path)`` is ``klafter.report.report(model, path)``."""

    def __call__(self, model, path, *, held=None, title=None):
        return self.report(model, path, held=held, title=title)


sys.modules[__name__].__class__ = _Callable
