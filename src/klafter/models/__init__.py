"""What people fit: KLafter and its siblings."""

from klafter.models.base import NetworkModel, Progress, Step
from klafter.models.explain import Explanation
from klafter.models.files import ModelFileError, load
from klafter.models.klafter import KLafter

__all__ = ["Explanation", "KLafter", "ModelFileError", "NetworkModel", "Progress", "Step", "load"]
