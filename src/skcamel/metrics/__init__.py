"""The seven metrics of the paper with their conventions, per-label report, edge-case count and scorers."""

from typing import Any

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


def __getattr__(name: str) -> Any:
    """`get_scorer` on first use: it is the only part of the metrics that needs scikit-learn."""
    if name == "get_scorer":
        from skcamel.metrics.scorers import get_scorer

        return get_scorer
    raise AttributeError(f"module 'skcamel.metrics' has no attribute {name!r}")
