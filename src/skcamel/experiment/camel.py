"""CAMEL as a method of a study: the estimator of a preset, once, or once for each of the seven metrics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skcamel.arrays import Array
from skcamel.base import outputs_together
from skcamel.classifier_cv import CamelClassifierCV
from skcamel.experiment.estimators import EstimatorMethod, FittedEstimator, seeded, target
from skcamel.experiment.outcome import Fitted, Outcome
from skcamel.selection.engine import GROUPS, PARTS, SHORTLIST
from skcamel.selection.thresholds import PRIOR_POSITIVES

WHERE_NOT_WHAT = ("device", "callback", "random_state")  # parameters that decide about no result, or that the unit's seed sets


class CamelMethod(EstimatorMethod):
    """``CamelClassifierCV.from_preset(preset)``; records hold its outcome, or under each criterion that of its own model.

    Parameters
    ----------
    preset : {"quick", "paper", "best"}
    per_metric : bool, default=False
        Whether each metric is the outcome of a model selected for it.
    device : str, default=None
        "cuda" computes on a GPU.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(30, 3)), rng.integers(2, size=(30, 2))
    >>> fitted = CamelMethod("quick", per_metric=True).fit(X, Y, seed=0)
    >>> outcome = fitted.outcomes(X[:5])["one_error"]
    >>> outcome.scores.shape, sorted(outcome.params)
    ((5, 2), ['alpha', 'bandwidth', 'cuts', 'kernel', 'lambda1', 'lambda2', 'scaling'])
    """

    def __init__(self, preset: str, *, per_metric: bool = False, device: str | None = None) -> None:
        super().__init__("camel", CamelClassifierCV.from_preset(preset, device=device))
        self.per_metric, self.device = per_metric, device
        self.settings["params"] = {key: value for key, value in self.settings["params"].items() if key not in WHERE_NOT_WHAT}
        self.settings |= {"per_metric": per_metric}
        if self.estimator.threshold == "auto":
            self.settings["cuts"] = {"parts": PARTS, "groups": GROUPS, "shortlist": SHORTLIST, "prior": PRIOR_POSITIVES}

    def fit(self, X: Array, Y: np.ndarray, *, seed: int) -> Fitted:
        """Fit one model, or one for each metric from the same pass over the candidates."""
        if not self.per_metric:
            return super().fit(X, Y, seed=seed)
        model = seeded(self.estimator, seed)
        return _FittedEach({name: FittedEstimator(own, Y.shape[1]) for name, own in model.fit_each(X, target(model, Y)).items()})


@dataclass(frozen=True)
class _FittedEach:
    fitted: dict[str, FittedEstimator]

    def outcomes(self, X: Array) -> dict[str, Outcome]:
        """The outcome under each criterion."""
        outputs = outputs_together([own.model for own in self.fitted.values()], X)
        return {name: own.outcome(X, ours) for (name, own), ours in zip(self.fitted.items(), outputs, strict=True)}
