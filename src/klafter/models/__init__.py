"""What people fit: KLafter and its siblings. Each is loaded when first used."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from klafter.models.base import NetworkModel, Progress, Step
    from klafter.models.cv import KLafterCV
    from klafter.models.epm import EPM
    from klafter.models.explain import Explanation
    from klafter.models.files import ModelFileError, load
    from klafter.models.irm import IRM
    from klafter.models.klafter import KLafter
    from klafter.models.lfrm import LFRM
    from klafter.models.mmsb import MMSB
    from klafter.models.paper import PaperKLafter

__all__ = [
    "EPM",
    "IRM",
    "LFRM",
    "MMSB",
    "Explanation",
    "KLafter",
    "KLafterCV",
    "ModelFileError",
    "NetworkModel",
    "PaperKLafter",
    "Progress",
    "Step",
    "load",
]
_HOMES = {
    "Explanation": "explain",
    "KLafterCV": "cv",
    "ModelFileError": "files",
    "NetworkModel": "base",
    "PaperKLafter": "paper",
    "Progress": "base",
    "Step": "base",
    "load": "files",
}


def __getattr__(name: str):
    if name in __all__:
        return getattr(import_module(f"{__name__}.{_HOMES.get(name, name.lower())}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return list(__all__)
