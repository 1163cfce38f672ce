"""Comparison methods whose F is a probability."""

from __future__ import annotations

from skcamel.baselines.base import Baseline


class ProbabilisticBaseline(Baseline):
    """A method with `predict_proba` once it is fitted: F itself.

    Not offered after a fit on a 1-d y of three or more classes, whose F does not add up to one, nor for ``combine="vote"``: there F
    is ``decision_function`` plus 1/2, a share of votes.
    """

    def _has_probabilities(self) -> bool:
        return getattr(self, "_target", "multiclass") != "multiclass" and getattr(self, "combine", "confidence") != "vote"
