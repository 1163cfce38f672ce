"""The seven metrics of the paper with their conventions, per-label report, edge-case count and scorers."""

from skcamel.lazy import lazily
from skcamel.metrics.conventions import LOSSES, NAMES, RANKING
from skcamel.metrics.decision import hamming_loss, macro_f1, micro_f1
from skcamel.metrics.ranking import average_precision, coverage, one_error, ranking_loss
from skcamel.metrics.summary import EdgeCases, LabelReport, edge_cases, evaluate, report

__all__ = [
    "LOSSES",
    "NAMES",
    "RANKING",
    "EdgeCases",
    "LabelReport",
    "average_precision",
    "coverage",
    "edge_cases",
    "evaluate",
    "get_scorer",
    "hamming_loss",
    "macro_f1",
    "micro_f1",
    "one_error",
    "ranking_loss",
    "report",
]

# the only part of the metrics that needs scikit-learn
__getattr__, _ = lazily(__name__, {"get_scorer": "scorers"})
