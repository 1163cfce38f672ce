"""CAMEL as a method of a study: what each preset searches, and the outcome under each of the seven criteria."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skcamel.arrays import Array
from skcamel.classifier import CamelClassifier
from skcamel.classifier_cv import CamelClassifierCV
from skcamel.experiment.jsonable import jsonable
from skcamel.experiment.outcome import Outcome
from skcamel.metrics.conventions import NAMES

GRIDS: dict[str, dict[str, Any]] = {
    "quick": {"alphas": (0.0, 0.3, 0.6, 0.9), "lambda2s": (0.01, 0.1, 1.0)},
    "paper": {},
    "best": {"scalings": ("none", "standard"), "kernels": ("rbf", "laplacian"), "bandwidths": (0.5, 1.0, 2.0)},
}
CUTS: dict[str, dict[str, Any]] = {  # of preset "best", where the criterion depends on decisions
    "hamming_loss": {"threshold": "common", "threshold_metric": "hamming_loss"},
    "macro_f1": {"threshold": "label"},
    "micro_f1": {"threshold": "common"},
}


class CamelMethod:
    """CAMEL with its hyper-parameters chosen by exact leave-one-out, under each criterion.

    Parameters
    ----------
    preset : {"quick", "paper", "best"}
    device : str, default=None
        "cuda" computes on a GPU.
    """

    name = "camel"

    def __init__(self, preset: str, *, device: str | None = None) -> None:
        self.preset = preset
        self.device = device
        self.settings: dict[str, Any] = {"grid": preset, "cv": "loo"}

    def fit(self, X: Array, Y: np.ndarray, *, seed: int) -> FittedCamel:
        """Choose and fit a model for each criterion; equal choices share one."""
        if self.preset == "best":
            searches = {name: self._search(X, Y, scoring=name, **CUTS.get(name, {})) for name in NAMES}
            return FittedCamel({name: (search, search.best_params_) for name, search in searches.items()})
        table = self._search(X, Y).cv_results_
        models: dict[int, CamelClassifier] = {}
        chosen = {}
        for name in NAMES:
            scores = np.nan_to_num(table[f"mean_test_{name}"], nan=-np.inf)
            best = int(scores.argmax())
            params = table["params"][best]
            if best not in models:
                penalties = {key: params[key] for key in ("alpha", "lambda1", "lambda2")}
                models[best] = CamelClassifier(**penalties, device=self.device).fit(X, Y)
            chosen[name] = (models[best], params)
        return FittedCamel(chosen)

    def _search(self, X: Array, Y: np.ndarray, **options: Any) -> CamelClassifierCV:
        return CamelClassifierCV(**GRIDS[self.preset], **options, device=self.device).fit(X, Y)


class FittedCamel:
    """Criterion ► the model chosen by it and its parameters."""

    def __init__(self, models: Mapping[str, tuple[Any, dict[str, Any]]]) -> None:
        self.models = models

    def outcomes(self, X: Array) -> dict[str, Outcome]:
        """The outcome under each criterion."""
        return {
            name: Outcome(model.decision_function(X), model.predict(X), jsonable(params)) for name, (model, params) in self.models.items()
        }
