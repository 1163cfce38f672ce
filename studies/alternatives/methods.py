"""Methods of the study that need packages of others, or options of their own: ``lightgbm=studies/alternatives/methods.py:lightgbm``.

All have the parameters that their packages give them, and thresholds tuned for micro-F1 inside the
training part, as in preset ``best``.
"""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skcamel.arrays import dense
from skcamel.baselines import BinaryRelevance
from skcamel.baselines.base import WithCuts

TUNED_FOR = "micro_f1"


def hist_gradient_boosting() -> Any:
    """One boosted model for each label, on dense rows, which scikit-learn's histograms need."""
    learner = BinaryRelevance(HistGradientBoostingClassifier(), threshold=TUNED_FOR)
    return make_pipeline(FunctionTransformer(dense, accept_sparse=True), learner)


def lightgbm() -> Any:
    """One boosted model for each label, on one core, as all other methods."""
    from lightgbm import LGBMClassifier

    return BinaryRelevance(LGBMClassifier(n_jobs=1, verbose=-1), threshold=TUNED_FOR)


def boomer() -> Any:
    """Boosted rules for all labels together, on one core.

    It draws few columns for each rule and stops as soon as all of them are constant: on genbase,
    where nine in ten are, after two rules.
    So each fit drops the columns that are constant in its rows.
    """
    from mlrl.boosting import BoomerClassifier

    serial = dict.fromkeys(
        ("parallel_rule_refinement", "parallel_statistic_update", "parallel_prediction"), "false"
    )
    return WithCuts(
        make_pipeline(VarianceThreshold(), BoomerClassifier(**serial)), threshold=TUNED_FOR
    )


def mlknn() -> Any:
    """Ten neighbours in scaled columns; not centred, so that sparse rows stay sparse: a shift changes no distance."""
    from skmultilearn.adapt import MLkNN

    return make_pipeline(StandardScaler(with_mean=False), WithCuts(MLkNN(), threshold=TUNED_FOR))
