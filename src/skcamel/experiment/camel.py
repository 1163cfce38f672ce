"""CAMEL as a method of a study: what each preset searches, and the outcome under each of the seven criteria."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite

from skcamel import correlation
from skcamel.arrays import Array
from skcamel.classifier_cv import PAPER_ALPHAS, PAPER_LAMBDA2S
from skcamel.experiment.jsonable import jsonable
from skcamel.experiment.outcome import Outcome
from skcamel.inputs import SCORES_ALIVE, check_memory
from skcamel.selection.criteria import GROUPS, PARTS, SHORTLIST, Winner, predict, single, winners
from skcamel.selection.search import Data, Grid
from skcamel.selection.thresholds import PRIOR_POSITIVES

COARSE_ALPHAS, COARSE_LAMBDA2S = (0.0, 0.3, 0.6, 0.9), (0.01, 0.1, 1.0)
# Scaling, kernel and multiple of the mean distance that preset "best" tries: those that were best for some metric of some
# benchmark set, and their neighbours (docs/experiment.md).
REPRESENTATIONS = (
    ("none", "rbf", 1.0),
    ("none", "rbf", 0.5),
    ("none", "laplacian", 0.5),
    ("none", "exponential", 1.0),
    ("standard", "rbf", 1.0),
    ("standard", "laplacian", 0.5),
    ("standard", "laplacian", 1.0),
    ("standard", "exponential", 1.0),
    ("minmax", "laplacian", 0.5),
    ("minmax", "exponential", 1.0),
    ("unit", "rbf", 0.5),
    ("unit", "exponential", 1.0),
)
SCORES_OF_BEST = 72  # matrices of n x q alive at the peak, shown by tests/test_memory.py


class CamelMethod:
    """CAMEL with its hyper-parameters chosen by exact leave-one-out, under each criterion.

    Parameters
    ----------
    preset : {"quick", "paper", "best"}
        "quick" and "paper": raw features, Gaussian kernel, cut 0, a coarse grid or the paper's. "best": for each criterion its
        own scaling, kernel, bandwidth and rule for the cuts.
    device : str, default=None
        "cuda" computes on a GPU.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(30, 3)), rng.integers(2, size=(30, 2))
    >>> fitted = CamelMethod("quick").fit(X, Y, seed=0)
    >>> outcome = fitted.outcomes(X[:5])["one_error"]
    >>> outcome.scores.shape, sorted(outcome.params)
    ((5, 2), ['alpha', 'bandwidth', 'cuts', 'kernel', 'lambda1', 'lambda2', 'scaling'])
    """

    name = "camel"

    def __init__(self, preset: str, *, device: str | None = None) -> None:
        self.preset = preset
        self.device = device
        first = self._grids()[0]
        self.settings: dict[str, Any] = {
            "cv": "loo",
            "alphas": list(first.alphas),
            "lambda1s": list(first.lambda1s),
            "lambda2s": list(first.lambda2s),
            "representations": [[*grid.scalings, *grid.kernels, *grid.bandwidths] for grid in self._grids()],
            "correlation": jsonable({name: value for name, value in (correlation.learn.__kwdefaults__ or {}).items() if name != "centred"}),
            "cuts": {"parts": PARTS, "groups": GROUPS, "shortlist": SHORTLIST, "prior": PRIOR_POSITIVES} if preset == "best" else "zero",
        }

    def fit(self, X: Array, Y: np.ndarray, *, seed: int) -> FittedCamel:
        """Choose a model for each criterion; all α, λ1 and λ2 of a representation come from one decomposition."""
        check_memory(X, np.shape(Y)[1], self.device, scores=SCORES_OF_BEST if self.preset == "best" else SCORES_ALIVE)
        assert_all_finite(X, input_name="X")
        data = Data(X, np.where(np.asarray(Y) > 0, 1.0, -1.0), None)
        S = correlation.learn(data.Y).S
        found = winners(data, self._grids(), S, tuned=self.preset == "best", seed=seed, device=self.device)
        return FittedCamel(found, data, self.device)

    def _grids(self) -> Sequence[Grid]:
        if self.preset == "quick":
            return [single("none", "rbf", 1.0, alphas=COARSE_ALPHAS, lambda2s=COARSE_LAMBDA2S)]
        tried = REPRESENTATIONS if self.preset == "best" else REPRESENTATIONS[:1]
        return [single(*representation, alphas=PAPER_ALPHAS, lambda2s=PAPER_LAMBDA2S) for representation in tried]


class FittedCamel:
    """Criterion ► the model chosen by it."""

    def __init__(self, found: dict[str, Winner], data: Data, device: str | None) -> None:
        self.found, self.data, self.device = found, data, device

    def outcomes(self, X: Array) -> dict[str, Outcome]:
        """The outcome under each criterion."""
        assert_all_finite(X, input_name="X")
        answers = predict(self.found, self.data, X, self.device)
        return {
            criterion: Outcome(*answers[criterion], jsonable(winner.params | {"cuts": winner.rule.mode}))
            for criterion, winner in self.found.items()
        }
