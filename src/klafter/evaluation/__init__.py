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
from klafter.evaluation.protocols import degree_corrected_auc
from klafter.evaluation.rivals import RIVALS
from klafter.evaluation.stack import Stack

__all__ = [
    "BASELINES",
    "RIVALS",
    "Calibration",
    "Comparison",
    "Stack",
    "average_f1",
    "calibration_curve",
    "community_measures",
    "compare",
    "coverage",
    "degree_corrected_auc",
    "link_measures",
    "matched_f1",
    "omega_index",
    "onmi",
    "precision_at",
    "stability",
]
