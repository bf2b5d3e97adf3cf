"""How good is it: measures of predicted links and of found communities, baselines, comparisons, the paper again."""

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
from klafter.evaluation.compare import compare
from klafter.evaluation.comparison import Comparison
from klafter.evaluation.links import Calibration, calibration_curve, link_measures, precision_at

__all__ = [
    "BASELINES",
    "Calibration",
    "Comparison",
    "average_f1",
    "calibration_curve",
    "community_measures",
    "compare",
    "coverage",
    "link_measures",
    "matched_f1",
    "omega_index",
    "onmi",
    "precision_at",
    "stability",
]
