"""Overlapping communities, their number, and missing links in networks.

Names are loaded when first used, so that ``import klafter`` is quick.
"""

TYPE_CHECKING = False  # without typing, so that a command that begins can hear Ctrl-C some milliseconds earlier

if TYPE_CHECKING:  # what editors and type checkers read; at run time __getattr__ does it
    from klafter import cli as cli
    from klafter import core as core
    from klafter import datasets as datasets
    from klafter import evaluation as evaluation
    from klafter import graph as graph
    from klafter import models as models
    from klafter import sampling as sampling
    from klafter import search as search
    from klafter.evaluation.compare import compare as compare
    from klafter.graph import DyadKFold, Graph, GraphFileError, as_graph, read_graph, split_dyads, write_graph
    from klafter.models import EPM, IRM, LFRM, MMSB, KLafter, KLafterCV, ModelFileError, load
    from klafter.report import report

__version__ = "0.1.0"

_CONTENTS = {
    "graph": ("Graph", "GraphFileError", "as_graph", "read_graph", "write_graph", "split_dyads", "DyadKFold"),
    "models": ("KLafter", "KLafterCV", "LFRM", "IRM", "MMSB", "EPM", "ModelFileError", "load"),
    "evaluation": ("compare",),
    "report": ("report",),
}
_HOMES = {name: layer for layer, names in _CONTENTS.items() for name in names}
_LAYERS = ("graph", "core", "search", "sampling", "models", "datasets", "evaluation", "report", "cli")
__all__ = [
    "EPM",
    "IRM",
    "LFRM",
    "MMSB",
    "DyadKFold",
    "Graph",
    "GraphFileError",
    "KLafter",
    "KLafterCV",
    "ModelFileError",
    "__version__",
    "as_graph",
    "compare",
    "load",
    "read_graph",
    "report",
    "split_dyads",
    "write_graph",
]


if not TYPE_CHECKING:  # to whom a misspelt name is none

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name in _HOMES:
            return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        if name in _LAYERS:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_LAYERS])
