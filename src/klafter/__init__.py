"""Overlapping communities, their number, and missing links in networks.

Names are loaded when first used, so that ``import klafter`` is quick.
"""

from importlib import import_module

__version__ = "0.1.0"

_CONTENTS = {
    "graph": ("Graph", "GraphFileError", "as_graph", "read_graph", "write_graph", "split_dyads", "DyadKFold"),
    "models": ("KLafter", "KLafterCV", "LFRM", "IRM", "MMSB", "EPM", "ModelFileError", "load"),
    "evaluation": ("compare",),
    "report": ("report",),
}
_HOMES = {name: room for room, names in _CONTENTS.items() for name in names}
_ROOMS = ("graph", "core", "search", "sampling", "models", "datasets", "evaluation", "report", "cli")
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*__all__, *_ROOMS])
