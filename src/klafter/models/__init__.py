"""What people fit: KLafter and its siblings."""

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
