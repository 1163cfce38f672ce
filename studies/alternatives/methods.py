"""Methods of the study that need other packages.

A study takes them as ``lightgbm=studies/alternatives/methods.py:lightgbm``.

All have the parameters that their packages give them. Each function takes the rule of its
thresholds: tuned for micro-F1 inside the training part as in preset ``best``, or "zero", which
leaves the decision of the package, a probability of at least one half.
"""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from skcamel import CamelClassifierCV
from skcamel.arrays import dense
from skcamel.baselines import BinaryRelevance
from skcamel.baselines.base import WithThresholds

TUNED_FOR = "micro_f1"


def hist_gradient_boosting() -> Any:
    """One boosted model for each label, on dense rows, which scikit-learn's histograms need."""
    return _of_dense_rows(BinaryRelevance(HistGradientBoostingClassifier(), threshold=TUNED_FOR))


def lightgbm() -> Any:
    """One boosted model for each label, on one core, as all other methods."""
    from lightgbm import LGBMClassifier

    return BinaryRelevance(LGBMClassifier(n_jobs=1, verbose=-1), threshold=TUNED_FOR)


def catboost(threshold: str = TUNED_FOR, task_type: str = "CPU") -> Any:
    """Boosted symmetric trees for all labels together, loss MultiLogloss.

    ``task_type="GPU"`` computes on a GPU, where CatBoost has other defaults in a few places.
    """
    from catboost import CatBoostClassifier

    learner = CatBoostClassifier(
        loss_function="MultiLogloss",
        allow_const_label=True,  # else it refuses folds in which a rare label is absent
        task_type=task_type,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
    )
    return _of_dense_rows(WithThresholds(learner, threshold=threshold))


def xgboost(threshold: str = TUNED_FOR) -> Any:
    """Boosted trees whose leaves hold a vector with an entry for each label, on one core."""
    from xgboost import XGBClassifier

    learner = XGBClassifier(multi_strategy="multi_output_tree", n_jobs=1)
    return _of_dense_rows(WithThresholds(learner, threshold=threshold))


def minimal_learning_machine(threshold: str = TUNED_FOR) -> Any:
    """Our reading of ML-MLM, on columns that range from 0 to 1."""
    from minimal_learning_machine import MinimalLearningMachine

    learner = WithThresholds(MinimalLearningMachine(), threshold=threshold)
    return _of_dense_rows(make_pipeline(MinMaxScaler(), learner))


def camel_alone() -> Any:
    """CAMEL's preset `quick` without collaboration: α = 0, the rest is selected for it."""
    return CamelClassifierCV.from_preset("quick", alphas=(0.0,), solver="spectral")


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
    return WithThresholds(
        make_pipeline(VarianceThreshold(), BoomerClassifier(**serial)), threshold=TUNED_FOR
    )


def mlknn() -> Any:
    """Ten neighbours in scaled columns; not centred, so that sparse rows stay sparse."""
    from skmultilearn.adapt import MLkNN

    return make_pipeline(
        StandardScaler(with_mean=False), WithThresholds(MLkNN(), threshold=TUNED_FOR)
    )


def _of_dense_rows(learner: Any) -> Any:
    return make_pipeline(FunctionTransformer(dense, accept_sparse=True), learner)
