"""Any scikit-learn multi-label estimator as a method of a study."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from skcamel.arrays import Array
from skcamel.baselines.base import class_one
from skcamel.estimator import MultiLabelClassifier
from skcamel.experiment.identity import described
from skcamel.experiment.jsonable import jsonable
from skcamel.experiment.outcome import Fitted, Outcome
from skcamel.outputs import Outputs


class EstimatorMethod:
    """An estimator under a name; each unit fits a clone, whose unset ``random_state`` parameters get the seed.

    Parameters
    ----------
    name : str
    estimator : estimator
        With `fit`, `predict`, and `decision_function` or `predict_proba` for scores; without these two the decisions are the
        scores. All forms of scikit-learn are understood, lists with an array for each label too.
    settings : dict, default=None
        What decides beside the class and all its parameters, which are always part of the settings of a method.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> settings = EstimatorMethod("knn", KNeighborsClassifier(3)).settings
    >>> settings["class"], settings["params"]["n_neighbors"], settings["params"]["weights"]
    ('sklearn.neighbors._classification:KNeighborsClassifier', 3, 'uniform')
    """

    def __init__(self, name: str, estimator: Any, settings: dict[str, Any] | None = None) -> None:
        if isinstance(estimator, type) or not all(hasattr(estimator, part) for part in ("fit", "predict", "get_params")):
            needs = "needs fit, predict and get_params, as scikit-learn's estimators have them"
            raise TypeError(f"The method {name!r} {needs}, got {estimator!r}; pass an instance, as in MyMethod().")
        self.name = name
        self.estimator = estimator
        self.settings = described(estimator) | (settings or {})

    def fit(self, X: Array, Y: np.ndarray, *, seed: int) -> Fitted:
        """Fit a clone; a single label is given as a 1-d y, unless the estimator takes matrices only."""
        model = seeded(self.estimator, seed)
        return FittedEstimator(model.fit(X, target(model, Y)), Y.shape[1])


def seeded(estimator: Any, seed: int) -> Any:
    """A clone whose unset ``random_state`` parameters are the seed."""
    model = clone(estimator)
    unset = [key for key, value in model.get_params().items() if key.rpartition("__")[2] == "random_state" and value is None]
    return model.set_params(**dict.fromkeys(unset, seed))


def target(model: Any, Y: np.ndarray) -> np.ndarray:
    """Labels Y (n, q) as the estimator wants them: a single one 1-d, unless it takes matrices only."""
    return Y[:, 0] if Y.shape[1] == 1 and get_tags(model).target_tags.single_output else Y


@dataclass(frozen=True)
class FittedEstimator:
    """A fitted clone. A search tells its choice: `best_params_`, and the criterion in `scoring_` (skcamel's) if it has one."""

    model: Any
    q: int

    def outcomes(self, X: Array) -> dict[str, Outcome]:
        """The one outcome."""
        ours = self.model.outputs(X) if isinstance(self.model, MultiLabelClassifier) else None  # one evaluation gives both
        return {getattr(self.model, "scoring_", ""): self.outcome(X, ours)}

    def outcome(self, X: Array, ours: Outputs | None = None) -> Outcome:
        """Scores and decisions, from the outputs of the model where it has given them already."""
        decisions = self._columns(_dense(self.model.predict(X) if ours is None else ours.predictions), "predict", X.shape[0])
        if strange := set(np.unique(decisions).tolist()) - {-1, 0, 1}:
            raise ValueError(f"predict of {type(self.model).__name__} gave {min(strange)!r}; decisions are 0 and 1.")
        chosen = dict(getattr(self.model, "best_params_", {}))
        if hasattr(self.model, "threshold_rule_"):
            chosen["cuts"] = self.model.threshold_rule_
        scores = self._scores(X, decisions) if ours is None else ours.scores
        return Outcome(scores, (decisions == 1).astype(np.int64), jsonable(chosen))

    def _scores(self, X: Array, decisions: np.ndarray) -> np.ndarray:
        for answer in ("decision_function", "predict_proba"):
            if hasattr(self.model, answer):
                given = getattr(self.model, answer)(X)
                if isinstance(given, list):
                    return _of_each_label(given, self.model)
                columns = _dense(given).astype(np.float64)
                if self.q == 1 and columns.ndim == 2:  # one column for each class of the only label
                    columns = class_one(columns, self.model.classes_)
                return self._columns(columns, answer, X.shape[0])
        return decisions.astype(np.float64)

    def _columns(self, given: np.ndarray, answer: str, rows: int) -> np.ndarray:
        """An answer as (m, q); only that of a single label may be 1-d."""
        if given.shape not in ((rows, self.q), (rows,) * (self.q == 1)):
            name = f"{answer} of {type(self.model).__name__}"
            raise ValueError(f"{name} gave shape {given.shape} for {rows} rows and {self.q} labels; it must be {(rows, self.q)}.")
        return given.reshape(rows, self.q)


def imported(path: str) -> Any:
    """The estimator that ``package.module:Class`` names, made without arguments; an instance or a function that makes one will do too."""
    module, _, attribute = path.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (Exception, SystemExit) as error:  # a module of one's own may raise anything
        cure = "a method is package.module:Class, importable from here (PYTHONPATH names further folders)"
        told = str(error) if isinstance(error, (ImportError, AttributeError)) else f"{type(error).__name__} in its module: {error}"
        raise ImportError(f"{path}: {told}; {cure}.") from error
    try:
        return found() if callable(found) else found
    except (Exception, SystemExit) as error:
        cure = f'it is called without arguments; from Python, give ("name", {attribute}(...))'
        raise TypeError(f"{path}: {error}; {cure}.") from error


def _dense(given: Any) -> np.ndarray:
    return np.asarray(given.toarray() if hasattr(given, "toarray") else given)


def _of_each_label(given: list[Any], model: Any) -> np.ndarray:
    """Probabilities of class 1 (m, q) from scikit-learn's list of arrays (m, classes of the label)."""
    return np.column_stack([class_one(P, classes) for P, classes in zip(given, model.classes_, strict=True)])
