"""What people fit: KLafter and its siblings. Each is loaded when first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from klafter.models.base import NetworkModel
    from klafter.models.cv import KLafterCV
    from klafter.models.epm import EPM
    from klafter.models.interop.dyadic import LinkClassifier, LinkRegressor, dyad_samples
    from klafter.models.irm import IRM
    from klafter.models.klafter import KLafter
    from klafter.models.lfrm import LFRM
    from klafter.models.mmsb import MMSB
    from klafter.models.paper import PaperKLafter
    from klafter.models.results.places import Choice
    from klafter.models.storage.files import ModelFileError, load
    from klafter.prediction.explain import Explanation
    from klafter.search.progress import Progress, Step

__all__ = [
    "EPM",
    "IRM",
    "LFRM",
    "MMSB",
    "Choice",
    "Explanation",
    "KLafter",
    "KLafterCV",
    "LinkClassifier",
    "LinkRegressor",
    "ModelFileError",
    "NetworkModel",
    "PaperKLafter",
    "Progress",
    "Step",
    "dyad_samples",
    "load",
]
_HOMES = {
    "Choice": "klafter.models.results.places",
    "Explanation": "klafter.prediction.explain",
    "KLafterCV": "klafter.models.cv",
    "LinkClassifier": "klafter.models.interop.dyadic",
    "LinkRegressor": "klafter.models.interop.dyadic",
    "ModelFileError": "klafter.models.storage.files",
    "NetworkModel": "klafter.models.base",
    "PaperKLafter": "klafter.models.paper",
    "Progress": "klafter.search.progress",
    "Step": "klafter.search.progress",
    "dyad_samples": "klafter.models.interop.dyadic",
    "load": "klafter.models.storage.files",
}


if not TYPE_CHECKING:  # to whom a misspelt name is none

    def __getattr__(name: str) -> Any:
        if name in __all__:
            return getattr(import_module(_HOMES.get(name, f"{__name__}.{name.lower()}")), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
