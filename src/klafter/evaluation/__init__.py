"""How good is it: measures of predicted links and of found communities, and trivial baselines."""

from klafter.evaluation.baselines import BASELINES
from klafter.evaluation.communities import (
    average_f1,
    community_measures,
    coverage,
    matched_f1,
    omega_index,
    onmi,
    stability,
)
from klafter.evaluation.links import Calibration, calibration_curve, link_measures, precision_at

__all__ = [
    "BASELINES",
    "Calibration",
    "average_f1",
    "calibration_curve",
    "community_measures",
    "coverage",
    "link_measures",
    "matched_f1",
    "omega_index",
    "onmi",
    "precision_at",
    "stability",
]
